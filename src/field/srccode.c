/* SPDX-License-Identifier: MIT */
#include "field/srccode.h"

#include "core/array.h"
#include "core/escape.h"
#include "core/index.h"
#include "frame/source.h"

#include <inttypes.h>
#include <stdlib.h>

/* The line that was printed last for a thread. */
struct last_line {
	const char *file; /* as in lines_frame; NULL: none */
	uint32_t line, tid;
};

struct srccode {
	struct frame_source *source;
	struct last_line *threads;
	size_t n, cap;
	struct index index; /* of threads, by tid */
};

struct srccode *srccode_new(const struct bundle *bundle)
{
	struct srccode *c = calloc(1, sizeof(*c));

	if (c == NULL) {
		return NULL;
	}
	c->source = frame_source_new(bundle);
	if (c->source == NULL) {
		free(c);
		return NULL;
	}
	return c;
}

void srccode_free(struct srccode *c)
{
	if (c == NULL) {
		return;
	}
	frame_source_free(c->source);
	index_fini(&c->index);
	free(c->threads);
	free(c);
}

/* NULL: out of memory. */
static struct last_line *thread_of(struct srccode *c, uint32_t tid)
{
	uint32_t hash = (uint32_t)hash_u64(tid);
	size_t at = hash;
	uint32_t id;

	if (index_room(&c->index) < 0) {
		return NULL;
	}
	while ((id = index_next(&c->index, hash, &at)) != INDEX_NONE) {
		if (c->threads[id].tid == tid) {
			return &c->threads[id];
		}
		at++;
	}
	if (!array_reserve(&c->threads, &c->cap, c->n + 1, sizeof(*c->threads))) {
		return NULL;
	}
	index_put(&c->index, hash, at, (uint32_t)c->n);
	c->threads[c->n] = (struct last_line){.tid = tid};
	return &c->threads[c->n++];
}

int srccode_find(
        struct srccode *c, const struct frame_resolver *r, const struct frame *at, struct span *out)
{
	struct lines_frame location;

	return frame_source_find(c->source, r, at, &location, out);
}

/* 1: printed; 0: not; SONDE_ENOMEM. */
static int put(struct srccode *c, const struct frame_resolver *r, const struct frame *at,
        uint32_t tid, struct text *out)
{
	struct last_line *last = thread_of(c, tid);
	struct lines_frame location;
	struct span code;
	size_t start;
	int rc;

	if (last == NULL) {
		return SONDE_ENOMEM;
	}
	rc = frame_source_find(c->source, r, at, &location, &code);
	if (rc <= 0 || (last->file != NULL && last->line == location.line &&
	                       strcmp(last->file, location.file) == 0)) {
		return rc < 0 ? rc : 0;
	}
	last->file = location.file;
	last->line = location.line;
	text_printf(out, "|%-8" PRIu32 " ", location.line);
	start = out->n;
	text_bytes(out, (const char *)code.p, code.n);
	if (!out->failed) {
		escape_plain_lines(out->p + start, out->n - start);
	}
	text_char(out, '\n');
	return 1;
}

void srccode_text(struct srccode *c, const struct frame_resolver *r, const struct frame *at,
        uint32_t tid, struct text *out)
{
	if (put(c, r, at, tid, out) < 0) {
		out->failed = true;
	}
}
