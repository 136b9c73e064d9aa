/* SPDX-License-Identifier: MIT */
/*
 * The source files of the functions in which samples and their callers are: all that the rows of
 * line tables in those functions name.
 */
#include "bundler/inside.h"

#include "core/array.h"
#include "frame/source.h"
#include "image/image.h"

#include <stdlib.h>

/* A function of an object. */
struct function {
	uint64_t start, end;
	uint32_t object;
};

struct sources {
	struct sonde_bundler *b;
	struct frame_reader frames;
	struct session_worker samples;
	struct function *functions; /* sorted before files are looked for */
	size_t n, cap;
	struct index index; /* of functions, by object and start */
	struct intern paths;
	uint32_t object; /* whose rows are read */
	size_t first, last; /* its functions */
};

/* Adds the function at an address. SONDE_ENOMEM. */
static int function_add(
        struct sources *s, const struct timeline_view *v, uint32_t mode, uint64_t ip)
{
	const struct frame *at = frame_find(&s->frames, v, mode, ip);
	uint32_t hash, id;
	size_t slot;

	if (at == NULL) {
		return SONDE_ENOMEM;
	}
	if (at->symbol == NULL || at->object == FRAME_NOWHERE) {
		return 0;
	}
	TRY(index_room(&s->index));
	hash = (uint32_t)hash_u64(at->symbol->start ^ (uint64_t)at->object << 40);
	slot = hash;
	while ((id = index_next(&s->index, hash, &slot)) != INDEX_NONE) {
		if (s->functions[id].object == at->object &&
		        s->functions[id].start == at->symbol->start) {
			return 0;
		}
		slot++;
	}
	if (!array_reserve(&s->functions, &s->cap, s->n + 1, sizeof(*s->functions))) {
		return SONDE_ENOMEM;
	}
	index_put(&s->index, hash, slot, (uint32_t)s->n);
	s->functions[s->n++] = (struct function){
	        .start = at->symbol->start, .end = at->symbol->end, .object = at->object};
	return 0;
}

static int sample_add(struct sources *s, const struct session_sample *sample)
{
	const struct sonde_attr *attr = &session_events(s->b->session)[sample->event].attr;
	struct frame_chain chain;
	uint64_t ip;

	if ((sample->s.present & SONDE_SAMPLE_IP) != 0) {
		TRY(function_add(s, sample->view, sample->cpumode, sample->s.ip));
	}
	TRY(frame_chain_open(&s->frames, &sample->s, sample->view, sample->cpumode, attr, &chain));
	while (frame_chain_next(&chain, &ip) > 0) {
		TRY(function_add(s, sample->view, chain.mode, ip));
	}
	return 0;
}

static int functions_find(struct sources *s)
{
	size_t n = session_chunks(s->b->session);
	struct session_sample sample;
	int rc = 0;

	for (size_t chunk = 0; chunk < n && rc >= 0; chunk++) {
		session_chunk_open(&s->samples, chunk);
		while (rc >= 0 && (rc = session_worker_next(&s->samples, &sample)) > 0) {
			rc = sample_add(s, &sample);
		}
	}
	return rc;
}

static int by_place(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->object != y->object) {
		return x->object < y->object ? -1 : 1;
	}
	return x->start < y->start ? -1 : x->start > y->start;
}

/* The last function of the object that begins at or before an address covers it. */
static int row_add(void *arg, const struct lines_row *row)
{
	struct sources *s = arg;
	size_t low = s->first, high = s->last;

	while (low < high) { /* the first one that begins at or after the end of the row */
		size_t middle = low + (high - low) / 2;

		if (s->functions[middle].start < row->end) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	if (low == s->first || s->functions[low - 1].end <= row->start) {
		return 0;
	}
	return intern_add(&s->paths, row->file, strlen(row->file)) != INTERN_NONE ? 0
	                                                                          : SONDE_ENOMEM;
}

static int paths_find(struct sources *s)
{
	if (s->n > 1) {
		qsort(s->functions, s->n, sizeof(*s->functions), by_place);
	}
	for (s->first = 0; s->first < s->n; s->first = s->last) {
		s->object = s->functions[s->first].object;
		for (s->last = s->first;
		        s->last < s->n && s->functions[s->last].object == s->object; s->last++) {
		}
		TRY(frame_rows(session_frames(s->b->session), s->object, row_add, s));
	}
	return 0;
}

/* Writes a source file, if it is there: those of libraries rarely are. */
static int path_put(struct sonde_bundler *b, const char *path)
{
	const struct bundle *bundle = session_frames(b->session)->options.bundle;
	struct image_text file = {0};
	struct error err = {0};
	struct span text = {NULL, 0};
	int rc = 0;

	if (bundle != NULL) {
		(void)bundle_file(bundle, path, &text);
	} else if (path[0] == '/') {
		rc = image_text_read(&file, path, &err);
		text = (struct span){file.bytes, file.size};
	}
	if (rc >= 0 && text.n != 0 && text.n <= FRAME_SOURCE_MAX) {
		rc = bundler_put_root(b, path, path, text);
	} else if (rc != SONDE_ENOMEM) {
		rc = 0;
	}
	free(file.bytes);
	return rc;
}

int bundler_put_sources(struct sonde_bundler *b)
{
	struct sources s = {.b = b};
	int rc = frame_reader_init(&s.frames, session_frames(b->session));

	session_worker_init(&s.samples, b->session);
	rc = rc >= 0 ? functions_find(&s) : rc;
	rc = rc >= 0 ? paths_find(&s) : rc;
	for (uint32_t i = 0; i < s.paths.count && rc >= 0; i++) {
		rc = path_put(b, intern_text(&s.paths, i));
	}
	session_worker_fini(&s.samples);
	frame_reader_fini(&s.frames);
	index_fini(&s.index);
	intern_fini(&s.paths);
	free(s.functions);
	return rc < 0 ? error_ensure(&b->error, rc) : 0;
}
