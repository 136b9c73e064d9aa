/* SPDX-License-Identifier: MIT */
#include "ptview/cover.h"

#include "core/array.h"

#include <stdlib.h>
#include <string.h>

#define RUN_MAX ((uint64_t)1 << 30) /* bytes without a branch; more is damage */

int cover_init(struct cover *c, struct sonde_session *s)
{
	c->walk = (struct ptview_walk){.session = s,
	        .arg = c,
	        .branch = cover_branch,
	        .lost = cover_lost,
	        .ended = cover_ended};
	return ptview_names_init(&c->names, session_frames(s));
}

void cover_fini(struct cover *c)
{
	free(c->threads);
	free(c->runs);
	free(c->calls);
	free(c->blocks);
	free(c->functions);
	free(c->files);
	free(c->lines);
	free(c->places);
	index_fini(&c->by_place);
	intern_fini(&c->paths);
	frame_code_free(c->code);
	ptview_walk_fini(&c->walk);
	ptview_names_fini(&c->names);
}

static int make_run(struct cover *c, const struct frame *f, uint64_t size, uint32_t *out)
{
	int64_t function = ptview_function_of(&c->names, f->object, f->symbol);
	size_t old = c->calls_cap;

	if (function < 0 ||
	        !array_reserve(&c->runs, &c->runs_cap, c->nruns + 1, sizeof(*c->runs)) ||
	        !array_reserve(&c->calls, &c->calls_cap, c->names.n, sizeof(*c->calls))) {
		return SONDE_ENOMEM;
	}
	if (c->calls_cap != old) {
		memset(c->calls + old, 0, (c->calls_cap - old) * sizeof(*c->calls));
	}
	*out = (uint32_t)c->nruns;
	c->runs[c->nruns++] = (struct cover_run){.start = f->address,
	        .end = f->address + size,
	        .ip = f->ip,
	        .object = f->object,
	        .function = (uint32_t)function,
	        .entry = ptview_is_start(&c->names, f)};
	return 0;
}

/* Finds or makes the run of `size` bytes at a run-time address. */
static int find_run(struct cover *c, const struct timeline_view *view, uint64_t start,
        uint64_t size, uint32_t *out)
{
	const struct frame *f = frame_find(&c->names.frames, view, ptview_mode(start), start);
	uint32_t hash, id;
	size_t at;

	if (f == NULL) {
		return SONDE_ENOMEM;
	}
	TRY(index_room(&c->by_place));
	hash = (uint32_t)hash_u64(hash_step(hash_step(f->address, size), f->object));
	at = hash;
	while ((id = index_next(&c->by_place, hash, &at)) != INDEX_NONE) {
		const struct cover_run *r = &c->runs[id];

		if (r->start == f->address && r->end - r->start == size && r->object == f->object) {
			*out = id;
			return 0;
		}
		at++;
	}
	TRY(make_run(c, f, size, out));
	index_put(&c->by_place, hash, at, *out);
	return 0;
}

/* Whether a run at the beginning of a function was entered by a call or from another function. */
static int is_call(struct cover *c, const struct cover_thread *t, const struct cover_run *r,
        const struct timeline_view *view)
{
	const struct frame *f;
	int64_t function;

	if ((t->flags & AUX_FLAG_CALL) != 0 || t->from == 0) {
		return 1;
	}
	if ((t->flags & AUX_FLAG_RETURN) != 0) {
		return 0;
	}
	f = frame_find(&c->names.frames, view, ptview_mode(t->from), t->from);
	if (f == NULL) {
		return SONDE_ENOMEM;
	}
	function = ptview_function_of(&c->names, f->object, f->symbol);
	return function < 0 ? (int)function : function != r->function;
}

static int add_run(struct cover *c, const struct cover_thread *t, const struct timeline_view *view,
        uint64_t end)
{
	uint32_t root = frame_root(view, ptview_mode(t->at));
	size_t slot = hash_u64(t->at ^ end << 24 ^ (uint64_t)root << 48) & (COVER_CACHE - 1);
	struct cover_run *r;
	uint32_t run;
	int rc;

	if (end <= t->at || end - t->at > RUN_MAX) {
		return 0;
	}
	if (c->cache[slot].start == t->at && c->cache[slot].end == end &&
	        c->cache[slot].root == root) {
		run = c->cache[slot].run;
	} else {
		TRY(find_run(c, view, t->at, end - t->at, &run));
		c->cache[slot].start = t->at;
		c->cache[slot].end = end;
		c->cache[slot].root = root;
		c->cache[slot].run = run;
	}
	r = &c->runs[run];
	r->count++;
	if (r->entry) {
		rc = is_call(c, t, r, view);
		TRY(rc);
		c->calls[r->function] += (uint64_t)rc;
	}
	return 0;
}

static struct cover_thread *thread_of(struct cover *c, size_t thread)
{
	size_t old = c->threads_cap;

	if (thread >= c->nthreads) {
		if (!array_reserve(&c->threads, &c->threads_cap, thread + 1, sizeof(*c->threads))) {
			return NULL;
		}
		memset(c->threads + old, 0, (c->threads_cap - old) * sizeof(*c->threads));
		c->nthreads = thread + 1;
	}
	return &c->threads[thread];
}

int cover_branch(void *arg, size_t thread, const struct ptview_branch *b)
{
	struct cover *c = arg;
	struct cover_thread *t = thread_of(c, thread);

	if (t == NULL) {
		return SONDE_ENOMEM;
	}
	if (b->from != 0) {
		if (b->from == t->at && b->size == 0) { /* interrupted before it ran */
			t->resume = t->at;
			t->resume_from = t->from;
			t->resume_flags = t->flags;
		}
		t->at = t->at != 0 ? t->at : b->from;
		TRY(add_run(c, t, b->view, b->from + b->size));
	}
	t->at = (b->flags & AUX_FLAG_END) != 0 ? 0 : b->to;
	t->from = b->from;
	t->flags = b->flags;
	if (t->at != 0 && t->at == t->resume &&
	        (b->from == 0 || (b->flags & AUX_FLAG_RETURN) != 0)) {
		t->from = t->resume_from;
		t->flags = t->resume_flags;
		t->resume = 0;
	}
	return 0;
}

int cover_lost(void *arg, size_t thread)
{
	struct cover *c = arg;

	if (thread < c->nthreads) {
		c->threads[thread] = (struct cover_thread){0};
	}
	return 0;
}

int cover_ended(void *arg, size_t thread, uint64_t time, bool exec)
{
	(void)time;
	(void)exec;
	return cover_lost(arg, thread);
}

int cover_read(struct cover *c)
{
	return ptview_walk(&c->walk);
}
