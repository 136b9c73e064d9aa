/* SPDX-License-Identifier: MIT */
/* A pass over one of two recordings that are compared. */
#include "ptview/diff.h"

#include "core/array.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define ENOUGH INT_MIN /* ends a walk: the pass needs no more */

/* Hashes of places that have no object in common. */
#define NOT_TRACED UINT64_C(0x51)
#define OUTSIDE    UINT64_C(0x52)

int diff_side_init(struct diff_side *d, struct sonde_session *s)
{
	TRY(cover_init(&d->cover, s));
	d->keys = calloc(timeline_objects(session_timeline(s)) + 1, sizeof(*d->keys));
	return d->keys != NULL ? 0 : SONDE_ENOMEM;
}

void diff_side_fini(struct diff_side *d)
{
	for (size_t i = 0; i < d->nthreads; i++) {
		free(d->threads[i].marks);
		trail_fini(&d->threads[i].trail);
	}
	free(d->threads);
	free(d->keys);
	cover_fini(&d->cover);
}

static struct diff_thread *thread_of(struct diff_side *d, size_t thread)
{
	for (; d->nthreads <= thread; d->nthreads++) {
		struct diff_thread t = {.step = 1, .limit = UINT64_MAX};

		if (!array_reserve(&d->threads, &d->threads_cap, thread + 1, sizeof(*d->threads))) {
			return NULL;
		}
		t.marks = calloc(DIFF_MARKS, sizeof(*t.marks));
		if (t.marks == NULL) {
			return NULL;
		}
		d->threads[d->nthreads] = t;
	}
	return &d->threads[thread];
}

/* Hash of a symbol's name and the offset in it: for code that each process makes anew. */
static int hash_by_name(
        struct diff_side *d, const struct timeline_view *view, uint64_t ip, uint64_t *out)
{
	const struct frame *f = frame_find(&d->cover.names.frames, view, ptview_mode(ip), ip);
	const char *name = "";

	if (f == NULL) {
		return SONDE_ENOMEM;
	}
	*out = f->address;
	if (f->symbol != NULL) {
		name = frame_symbol_name(d->cover.names.frames.resolver, f->object, f->symbol);
		*out = f->address - f->symbol->start;
	}
	if (name == NULL) {
		return SONDE_ENOMEM;
	}
	*out = hash_step(*out, hash_bytes(name, strlen(name)));
	return 0;
}

/* SONDE_ENOMEM. */
static int hash_place(struct diff_side *d, const struct timeline_view *view, uint64_t ip,
        uint64_t *hash, bool *wanted)
{
	struct frame_reader *frames = &d->cover.names.frames;
	const struct timeline *t = frames->resolver->timeline;
	struct frame f = frame_locate(frames, view, ptview_mode(ip), ip);
	const struct timeline_object *o;

	*wanted = cover_is_wanted(&d->cover, f.object);
	if (f.object == FRAME_NOWHERE) {
		*hash = ip;
		return 0;
	}
	o = timeline_object(t, f.object);
	if (o->kind == TIMELINE_ANON || o->kind == TIMELINE_JIT) {
		return hash_by_name(d, view, ip, hash);
	}
	*hash = hash_step(
	        f.address - (o->kind == TIMELINE_KERNEL ? o->base : 0), d->keys[f.object]);
	return 0;
}

/* ip 0: not traced */
static int find_hash(struct diff_side *d, const struct timeline_view *view, uint64_t ip,
        uint64_t *hash, bool *wanted)
{
	uint32_t root = frame_root(view, ptview_mode(ip));
	size_t slot = hash_u64(ip ^ (uint64_t)root << 40) & (DIFF_CACHE - 1);

	if (ip == 0) {
		*hash = NOT_TRACED;
		*wanted = false;
		return 0;
	}
	if (d->cache[slot].ip != ip || d->cache[slot].root != root) {
		TRY(hash_place(d, view, ip, hash, wanted));
		d->cache[slot].ip = ip;
		d->cache[slot].root = root;
		d->cache[slot].hash = *hash;
		d->cache[slot].wanted = *wanted;
		return 0;
	}
	*hash = d->cache[slot].hash;
	*wanted = d->cache[slot].wanted;
	return 0;
}

static int show_place(
        struct diff_side *d, const struct timeline_view *view, uint64_t ip, struct diff_place *out)
{
	const struct frame *f;
	int64_t function;

	*out = (struct diff_place){.ip = ip};
	if (ip == 0) {
		return 0;
	}
	f = frame_find(&d->cover.names.frames, view, ptview_mode(ip), ip);
	if (f == NULL) {
		return SONDE_ENOMEM;
	}
	out->address = f->address;
	out->offset = f->symbol != NULL ? f->address - f->symbol->start : f->address;
	function = ptview_function_of(&d->cover.names, f->object, f->symbol);
	out->function = (uint32_t)function;
	return function < 0 ? (int)function : 0;
}

/* The functions to which open calls return. */
static int show_stack(struct diff_side *d, struct diff_thread *t, const struct timeline_view *view)
{
	struct diff_place place;

	for (size_t i = t->trail.ncalls; i-- > 0 && t->nstack < DIFF_STACK;) {
		TRY(show_place(d, view, t->trail.calls[i], &place));
		t->stack[t->nstack++] = place.function;
	}
	return 0;
}

/* Follows calls up to the first branch that differs. */
static int follow(struct diff_thread *t, const struct ptview_branch *b)
{
	if (t->n > t->at || t->after != 0) {
		return 0;
	}
	if ((b->flags & AUX_FLAG_CALL) != 0) {
		return trail_call(&t->trail, b->from + b->size);
	}
	if ((b->flags & AUX_FLAG_RETURN) != 0) {
		trail_return(&t->trail, b->to);
	}
	return 0;
}

/* Keeps the branches around the first that differs. */
static int show(struct diff_side *d, struct diff_thread *t, const struct ptview_branch *b)
{
	bool before = t->n < t->at;
	struct diff_step *s;

	if (t->n == t->at) {
		TRY(show_stack(d, t, b->view));
	}
	if (before ? t->at - t->n > DIFF_BEFORE : t->after == DIFF_AFTER) {
		return 0;
	}
	s = before ? &t->steps[t->before++] : &t->steps[DIFF_BEFORE + t->after++];
	s->time = b->time;
	TRY(show_place(d, b->view, b->from, &s->from));
	return show_place(d, b->view, b->to, &s->to);
}

static void add_mark(struct diff_side *d, struct diff_thread *t)
{
	if (t->n <= t->base || (t->n - t->base) % t->step != 0) {
		return;
	}
	if (t->nmarks == DIFF_MARKS && d->first) { /* keep every second one */
		for (size_t i = 0; i < DIFF_MARKS / 2; i++) {
			t->marks[i] = t->marks[2 * i + 1];
		}
		t->nmarks = DIFF_MARKS / 2;
		t->step *= 2;
		if ((t->n - t->base) % t->step != 0) {
			return;
		}
	}
	if (t->nmarks < DIFF_MARKS) {
		t->marks[t->nmarks++] = t->hash;
	}
}

/* Adds a branch to those that are compared. */
static int add(struct diff_side *d, struct diff_thread *t, const struct ptview_branch *b)
{
	uint64_t from, to;
	bool of_from, of_to;

	if (t->lost || t->n >= t->limit) {
		return 0;
	}
	TRY(find_hash(d, b->view, b->from, &from, &of_from));
	TRY(find_hash(d, b->view, b->to, &to, &of_to));
	if (!of_from && !of_to) {
		return t->showing ? follow(t, b) : 0;
	}
	t->comm = timeline_text(d->cover.names.frames.resolver->timeline, b->view->comm);
	if (t->showing) {
		TRY(show(d, t, b));
		TRY(follow(t, b));
	}
	t->hash = hash_step(hash_step(t->hash, of_from ? from : OUTSIDE), of_to ? to : OUTSIDE);
	t->n++;
	if (!d->last) {
		add_mark(d, t);
	}
	return t->n == t->limit && --d->waiting == 0 ? ENOUGH : 0;
}

/* Tracing starts again: nothing is to compare if it goes on where it stopped. */
static int resume(struct diff_side *d, struct diff_thread *t, struct ptview_branch b)
{
	bool same = t->stopped && (b.to == t->last.from || b.to == t->last.from + t->last.size);

	if (t->stopped) {
		b.from = t->last.from;
	}
	t->stopped = false;
	return same ? 0 : add(d, t, &b);
}

static int each_branch(void *arg, size_t thread, const struct ptview_branch *branch)
{
	struct diff_side *d = arg;
	struct diff_thread *t = thread_of(d, thread);
	struct ptview_branch b = *branch;

	if (t == NULL) {
		return SONDE_ENOMEM;
	}
	if (!d->kernel) { /* as a trace of user code would be */
		bool in_kernel = b.from >= PTVIEW_KERNEL_START;

		b.from = in_kernel ? 0 : b.from;
		b.to = b.to >= PTVIEW_KERNEL_START ? 0 : b.to;
		if (b.from == 0 && b.to == 0) {
			return 0;
		}
	}
	if (d->first) {
		TRY(cover_branch(&d->cover, thread, &b));
	}
	if (b.from == 0) {
		return resume(d, t, b);
	}
	if (b.to == 0 || (b.flags & AUX_FLAG_END) != 0) {
		t->stopped = true;
		t->last = b;
		return 0;
	}
	return add(d, t, &b);
}

static int each_loss(void *arg, size_t thread)
{
	struct diff_side *d = arg;
	struct diff_thread *t = thread_of(d, thread);

	if (t == NULL) {
		return SONDE_ENOMEM;
	}
	if (!t->lost && t->n < t->limit && t->limit != UINT64_MAX && --d->waiting == 0) {
		return ENOUGH;
	}
	t->lost = true;
	return d->first ? cover_lost(&d->cover, thread) : 0;
}

static int each_end(void *arg, size_t thread, uint64_t time, bool exec)
{
	struct diff_side *d = arg;
	struct diff_thread *t = thread_of(d, thread);

	if (t == NULL) {
		return SONDE_ENOMEM;
	}
	t->stopped = false;
	return d->first ? cover_ended(&d->cover, thread, time, exec) : 0;
}

int diff_side_pass(struct diff_side *d)
{
	struct ptview_walk *w = &d->cover.walk;
	int rc;

	w->arg = d;
	w->branch = each_branch;
	w->lost = each_loss;
	w->ended = each_end;
	w->forks = true;
	d->cover.objects = d->objects;
	d->waiting = 0;
	for (size_t i = 0; i < d->nthreads; i++) {
		struct diff_thread *t = &d->threads[i];

		t->n = t->hash = 0;
		t->nmarks = 0;
		t->lost = t->stopped = false;
		d->waiting += t->limit != UINT64_MAX && t->limit != 0;
	}
	if (!d->first && d->waiting == 0) {
		return 0;
	}
	rc = ptview_walk(w);
	return rc == ENOUGH ? 0 : rc;
}
