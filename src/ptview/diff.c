/* SPDX-License-Identifier: MIT */
#include "ptview/diff.h"

#include <stdlib.h>
#include <string.h>

/* What is known of an object of the first recording. */
struct known {
	struct intern paths, names, ids; /* names: the last parts of paths */
	uint32_t *by_path, *by_name, *by_id; /* objects */
};

#define SEVERAL (UINT32_MAX - 1)

static uint32_t learn(
        struct intern *in, uint32_t *objects, const void *text, size_t n, uint32_t object)
{
	size_t before = in->count;
	uint32_t id = intern_add(in, text, n);

	if (id != INTERN_NONE) {
		objects[id] = in->count != before ? object : SEVERAL;
	}
	return id;
}

static int learn_objects(struct known *k, const struct timeline *t)
{
	for (uint32_t i = 0; i < timeline_objects(t); i++) {
		const struct timeline_object *o = timeline_object(t, i);
		const char *path = frame_object_name(t, o), *name = lines_file_name(path);

		if (learn(&k->paths, k->by_path, path, strlen(path), i) == INTERN_NONE ||
		        learn(&k->names, k->by_name, name, strlen(name), i) == INTERN_NONE ||
		        (o->build_id_size != 0 && learn(&k->ids, k->by_id, o->build_id,
		                                          o->build_id_size, i) == INTERN_NONE)) {
			return SONDE_ENOMEM;
		}
	}
	return 0;
}

static uint32_t recall(const struct intern *in, const uint32_t *objects, const void *text, size_t n)
{
	uint32_t id = in->count != 0 ? intern_find(in, text, n) : INTERN_NONE;

	return id != INTERN_NONE && objects[id] != SEVERAL ? objects[id] : UINT32_MAX;
}

/* Objects are the same by path, or else by build id, or else by the name of the file. */
static uint32_t match(
        const struct known *k, const struct timeline *t, const struct timeline_object *o)
{
	const char *path = frame_object_name(t, o), *name = lines_file_name(path);
	uint32_t object = recall(&k->paths, k->by_path, path, strlen(path));

	if (object == UINT32_MAX && o->build_id_size != 0) {
		object = recall(&k->ids, k->by_id, o->build_id, o->build_id_size);
	}
	return object != UINT32_MAX ? object : recall(&k->names, k->by_name, name, strlen(name));
}

static int match_objects(struct diff *d)
{
	const struct timeline *a = session_timeline(d->side[0].cover.walk.session);
	const struct timeline *b = session_timeline(d->side[1].cover.walk.session);
	size_t n = timeline_objects(a);
	struct known k = {.by_path = calloc(n + 1, sizeof(uint32_t)),
	        .by_name = calloc(n + 1, sizeof(uint32_t)),
	        .by_id = calloc(n + 1, sizeof(uint32_t))};
	int rc = k.by_path != NULL && k.by_name != NULL && k.by_id != NULL ? learn_objects(&k, a)
	                                                                   : SONDE_ENOMEM;

	for (size_t i = 0; i < n; i++) {
		d->side[0].keys[i] = hash_u64(i + 1);
	}
	for (uint32_t i = 0; rc >= 0 && i < timeline_objects(b); i++) {
		uint32_t object = match(&k, b, timeline_object(b, i));

		d->side[1].keys[i] = hash_u64(
		        object != UINT32_MAX ? object + UINT64_C(1) : (uint64_t)(i + 1) << 32);
	}
	intern_fini(&k.paths);
	intern_fini(&k.names);
	intern_fini(&k.ids);
	free(k.by_path);
	free(k.by_name);
	free(k.by_id);
	return rc;
}

/* Returns the next thread with branches from *i on, or NULL. */
static struct diff_thread *next_thread(struct diff_side *s, size_t *i)
{
	while (*i < s->nthreads && s->threads[*i].n == 0) {
		++*i;
	}
	return *i < s->nthreads ? &s->threads[(*i)++] : NULL;
}

/* Threads are the same if they were started in the same order. */
static int make_pairs(struct diff *d)
{
	struct diff_side *a = &d->side[0], *b = &d->side[1];
	size_t i = 0, k = 0;

	d->pairs = calloc(a->nthreads + 1, sizeof(*d->pairs));
	if (d->pairs == NULL) {
		return SONDE_ENOMEM;
	}
	for (;;) {
		struct diff_thread *x = next_thread(a, &i), *y = next_thread(b, &k);

		if (x == NULL || y == NULL) {
			d->alone[0] += x != NULL;
			d->alone[1] += y != NULL;
			if (x == NULL && y == NULL) {
				return 0;
			}
			continue;
		}
		d->pairs[d->npairs++] = (struct diff_pair){.thread = {i - 1, k - 1},
		        .high = x->n < y->n ? x->n : y->n,
		        .total = {x->n, y->n},
		        .lost = {x->lost, y->lost},
		        .same = x->n == y->n && x->hash == y->hash};
	}
}

static struct diff_thread *thread_of(struct diff *d, const struct diff_pair *p, unsigned side)
{
	return &d->side[side].threads[p->thread[side]];
}

/* Narrows the range with the first branch that differs, by the hashes of the last pass. */
static void narrow(struct diff *d, struct diff_pair *p)
{
	const struct diff_thread *a = thread_of(d, p, 0), *b = thread_of(d, p, 1);
	uint64_t step = a->step > b->step ? a->step : b->step;

	for (uint64_t at = a->base + step; at <= p->high; at += step) {
		size_t i = (size_t)((at - a->base) / a->step) - 1;
		size_t k = (size_t)((at - b->base) / b->step) - 1;

		if (i >= a->nmarks || k >= b->nmarks) {
			break;
		}
		if (a->marks[i] != b->marks[k]) {
			p->high = at - 1; /* of the equal branches */
			break;
		}
		p->low = at;
	}
	p->found = step == 1 || p->low >= p->high;
}

/* Prepares a pass over the range of a pair. */
static void prepare(struct diff *d, const struct diff_pair *p)
{
	for (unsigned side = 0; side < 2; side++) {
		struct diff_thread *t = thread_of(d, p, side);

		t->base = p->low;
		t->step = (p->high - p->low + DIFF_MARKS - 1) / DIFF_MARKS;
		t->limit = p->high;
	}
}

/* Prepares the last pass, which shows the branches where threads differ. */
static void prepare_show(struct diff *d, const struct diff_pair *p)
{
	for (unsigned side = 0; side < 2; side++) {
		struct diff_thread *t = thread_of(d, p, side);

		t->showing = true;
		t->at = p->low;
		t->limit =
		        p->total[side] - p->low < DIFF_AFTER ? p->total[side] : p->low + DIFF_AFTER;
	}
}

static void need_nothing(struct diff_side *s)
{
	for (size_t i = 0; i < s->nthreads; i++) {
		s->threads[i].limit = 0;
	}
	s->first = false;
}

static int pass_both(struct diff *d)
{
	TRY(diff_side_pass(&d->side[0]));
	return diff_side_pass(&d->side[1]);
}

/* One more pass over the pairs that are not found yet; returns their number before it. */
static int search(struct diff *d)
{
	int open = 0;

	need_nothing(&d->side[0]);
	need_nothing(&d->side[1]);
	for (size_t i = 0; i < d->npairs; i++) {
		struct diff_pair *p = &d->pairs[i];

		if (!p->same && !p->found) {
			prepare(d, p);
			open = 1;
		}
	}
	if (open == 0) {
		return 0;
	}
	TRY(pass_both(d));
	for (size_t i = 0; i < d->npairs; i++) {
		if (!d->pairs[i].same && !d->pairs[i].found) {
			narrow(d, &d->pairs[i]);
		}
	}
	return open;
}

int diff_make(struct diff *d)
{
	int rc;

	TRY(match_objects(d));
	d->side[0].first = d->side[1].first = true;
	TRY(pass_both(d));
	for (unsigned side = 0; side < 2; side++) {
		TRY(cover_blocks(&d->side[side].cover));
		TRY(cover_sum(&d->side[side].cover));
	}
	TRY(make_pairs(d));
	for (size_t i = 0; i < d->npairs; i++) {
		if (!d->pairs[i].same) {
			narrow(d, &d->pairs[i]);
		}
	}
	while ((rc = search(d)) > 0) {
	}
	TRY(rc);
	d->side[0].last = d->side[1].last = true;
	need_nothing(&d->side[0]);
	need_nothing(&d->side[1]);
	for (size_t i = 0; i < d->npairs; i++) {
		if (!d->pairs[i].same) {
			prepare_show(d, &d->pairs[i]);
		}
	}
	return pass_both(d);
}
