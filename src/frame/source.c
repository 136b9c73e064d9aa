/* SPDX-License-Identifier: MIT */
#include "frame/source.h"

#include "bundle/bundle.h"
#include "core/array.h"
#include "core/hash.h"
#include "image/image.h"

#include <stdlib.h>

struct source_file {
	char *path; /* NULL: free slot */
	const uint8_t *bytes; /* NULL: it cannot be read */
	uint8_t *own; /* the same, unless they are those of the bundle */
	size_t size;
	uint32_t *starts; /* offsets of the lines that were searched so far */
	size_t n, cap;
};

/* Direct-mapped by path. */
struct frame_source {
	struct source_file files[FRAME_SOURCE_FILES];
	const struct bundle *bundle; /* NULL: none */
};

struct frame_source *frame_source_new(const struct bundle *bundle)
{
	struct frame_source *s = calloc(1, sizeof(*s));

	if (s != NULL) {
		s->bundle = bundle;
	}
	return s;
}

static void file_fini(struct source_file *f)
{
	free(f->own);
	free(f->starts);
	free(f->path);
	*f = (struct source_file){0};
}

void frame_source_free(struct frame_source *s)
{
	for (size_t i = 0; s != NULL && i < FRAME_SOURCE_FILES; i++) {
		file_fini(&s->files[i]);
	}
	free(s);
}

/* SONDE_ENOMEM; a file that cannot be read has no bytes. */
static int file_read(struct source_file *f, const struct bundle *bundle)
{
	struct image_text text = {0};
	struct error err = {0};
	struct span member = {0};
	int rc = 0;

	if (bundle == NULL) {
		rc = image_text_read(&text, f->path, &err);
		f->own = text.bytes;
	} else if (bundle_file(bundle, f->path, &member)) {
		text.size = member.n;
	}
	if (rc >= 0 && text.size <= FRAME_SOURCE_MAX) {
		f->bytes = bundle != NULL ? member.p : text.bytes;
		f->size = text.size;
	}
	return rc;
}

/* NULL: out of memory. */
static struct source_file *file_of(struct frame_source *s, const char *path)
{
	struct source_file *f = &s->files[hash_bytes(path, strlen(path)) % FRAME_SOURCE_FILES];
	if (f->path != NULL && strcmp(f->path, path) == 0) {
		return f;
	}
	file_fini(f);
	f->path = strdup(path);
	if (f->path == NULL) {
		return NULL;
	}
	if (file_read(f, s->bundle) == SONDE_ENOMEM) {
		file_fini(f);
		return NULL;
	}
	return f;
}

/* The bytes from a position to the end of its line, with the newline. */
static struct span line_at(const struct source_file *f, size_t at)
{
	const uint8_t *end = memchr(f->bytes + at, '\n', f->size - at);

	return (struct span){
	        f->bytes + at, end != NULL ? (size_t)(end - (f->bytes + at)) + 1 : f->size - at};
}

/* Finds the start of the next line: 1, 0 at the end of the file, SONDE_ENOMEM. */
static int next_start(struct source_file *f)
{
	size_t last = f->n != 0 ? f->starts[f->n - 1] : 0;
	size_t at = f->n != 0 ? last + line_at(f, last).n : 0;

	if (at == f->size) {
		return 0;
	}
	if (!array_reserve(&f->starts, &f->cap, f->n + 1, sizeof(*f->starts))) {
		return SONDE_ENOMEM;
	}
	f->starts[f->n++] = (uint32_t)at;
	return 1;
}

int frame_source_line(struct frame_source *s, const char *path, uint32_t line, struct span *out)
{
	struct source_file *f = file_of(s, path);
	int rc = 1;

	if (f == NULL) {
		return SONDE_ENOMEM;
	}
	if (line == 0 || f->size == 0) {
		return 0;
	}
	while (f->n < line && (rc = next_start(f)) > 0) {
	}
	if (rc <= 0) {
		return rc;
	}
	*out = line_at(f, f->starts[line - 1]);
	out->n -= out->p[out->n - 1] == '\n';
	out->n -= out->n != 0 && out->p[out->n - 1] == '\r';
	return 1;
}

int frame_source_find(struct frame_source *s, const struct frame_resolver *r,
        const struct frame *frame, struct lines_frame *location, struct span *out)
{
	struct lines_place place;

	TRY(frame_lines(r, frame, &place));
	if (place.found != LINES_LINE || place.frames[0].file == NULL) {
		return 0;
	}
	*location = place.frames[0];
	return frame_source_line(s, location->file, location->line, out);
}
