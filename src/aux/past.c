/* SPDX-License-Identifier: MIT */
/*
 * The way to samples of the recording (the letters G and L): while opening follows a trace, it keeps
 * the calls and branches of a sample's thread at the sample's time.
 *
 *	trace     branch  branch   branch        branch
 *	samples                  ^ has the calls after the second branch
 *
 * As in perf, the chain has the addresses to which calls return, without the sample's own.
 */
#include "aux/inside.h"

#include "core/array.h"

#include <stdlib.h>

void aux_pasts_fini(struct aux_pasts *p)
{
	free(p->items);
	free(p->words);
	*p = (struct aux_pasts){0};
}

int aux_add_point(struct aux *a, const struct aux_point *point)
{
	struct aux_pasts *p = &a->pasts;

	if (!array_reserve(&p->items, &p->cap, p->n + 1, sizeof(*p->items))) {
		return SONDE_ENOMEM;
	}
	p->items[p->n++] = (struct aux_past){.point = *point};
	return 0;
}

static int order(const struct aux_point *a, const struct aux_point *b)
{
	if (a->time != b->time) {
		return a->time < b->time ? -1 : 1;
	}
	if (a->tid != b->tid) {
		return a->tid < b->tid ? -1 : 1;
	}
	return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

static int by_point(const void *a, const void *b)
{
	const struct aux_past *x = a, *y = b;

	return order(&x->point, &y->point);
}

int aux_pasts_begin(struct aux *a)
{
	if (a->timeless || a->setup.itrace.quick != 0) {
		aux_pasts_fini(&a->pasts);
	}
	if (a->pasts.n != 0) {
		qsort(a->pasts.items, a->pasts.n, sizeof(*a->pasts.items), by_point);
	}
	return 0;
}

static bool is_of(const struct aux_queue *q, const struct aux_point *p)
{
	return q->cpu >= 0 ? p->cpu == (uint32_t)q->cpu : p->tid == (uint32_t)q->tid;
}

static void put_branches(const struct trail *t, uint64_t *to, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct trail_branch *b = trail_last(t, i);

		*to++ = b->from;
		*to++ = b->to;
		*to++ = 0;
	}
}

/* Keeps the calls and branches of a sample's thread. */
static int keep(struct aux_follower *f, struct aux_past *item)
{
	const struct itrace *w = &f->a->setup.itrace;
	struct aux_pasts *p = f->pasts;
	uint64_t words[TRAIL_CHAIN_WORDS];
	struct trail_chain chain = {.words = words, .max = w->other_chain};
	const struct trail *t;
	size_t number, branches;

	TRY(trails_find(&f->trails, item->point.tid, f->kept, &number));
	t = &f->trails.items[number].trail;
	branches = t->nbranches < w->other_last ? t->nbranches : w->other_last;
	trail_chain_calls(&chain, t);
	if (chain.n + branches == 0) {
		return 0;
	}
	if (!array_reserve(&p->words, &p->words_cap, p->nwords + chain.n + 3 * branches,
	            sizeof(*p->words))) {
		return SONDE_ENOMEM;
	}
	item->at = p->nwords;
	item->nchain = (uint32_t)chain.n;
	item->nbranches = (uint32_t)branches;
	memcpy(p->words + p->nwords, words, chain.n * sizeof(*words));
	put_branches(t, p->words + p->nwords + chain.n, branches);
	p->nwords += chain.n + 3 * branches;
	return 0;
}

int aux_pasts_reach(struct aux_follower *f, uint64_t time)
{
	struct aux_pasts *p = f->pasts;

	while (f->past < p->n && p->items[f->past].point.time < time) {
		struct aux_past *item = &p->items[f->past++];

		if (is_of(f->queue, &item->point)) {
			TRY(keep(f, item));
		}
	}
	return 0;
}

bool aux_way(const struct aux *a, const struct aux_point *point, struct aux_way *out)
{
	const struct aux_pasts *p = &a->pasts;
	const struct aux_past key = {.point = *point}, *found;

	if (p->n == 0) {
		return false;
	}
	found = bsearch(&key, p->items, p->n, sizeof(key), by_point);
	if (found == NULL || p->words == NULL) {
		return false;
	}
	*out = (struct aux_way){.chain = p->words + found->at,
	        .nchain = found->nchain,
	        .branches = p->words + found->at + found->nchain,
	        .nbranches = found->nbranches};
	return true;
}
