/* SPDX-License-Identifier: MIT */
/*
 * The order of chains: by their first samples. A row is then made by the first of its samples, so
 * that it needs no members of that sample: it refers to the chain.
 */
#include "profile/profile.h"

#include "core/array.h"
#include "core/pool.h"
#include "core/sort.h"

#include <stdlib.h>

#define AHEAD          16u /* chains to prefetch */
#define CHAINS_AT_ONCE 4096u

struct sorting {
	uint64_t *keys, *spare;
	uint32_t *order;
};

static bool first_before(const struct profile_chain *a, const struct profile_chain *b)
{
	return a->time != b->time ? a->time < b->time : a->first_tid < b->first_tid;
}

static bool is_sorted(const struct profile_counts *c)
{
	for (size_t i = 1; i < c->nchains; i++) {
		if (first_before(&c->chains[i], &c->chains[i - 1])) {
			return false;
		}
	}
	return true;
}

/* Removes the chains that were added to equal ones. */
static void empty_remove(struct profile_counts *c)
{
	size_t n = 0;

	while (n < c->nchains && c->chains[n].samples != 0) {
		n++;
	}
	for (size_t i = n; i < c->nchains; i++) {
		if (c->chains[i].samples != 0) {
			c->chains[n++] = c->chains[i];
		}
	}
	c->nchains = n;
}

static int sort_by_time(const struct profile_counts *c, struct sorting *s, unsigned jobs)
{
	for (size_t i = 0; i < c->nchains; i++) {
		s->keys[i] = c->chains[i].time;
	}
	return sort_order_jobs(s->keys, s->order, s->spare, c->nchains, jobs);
}

/* Fills in the order: by time, or by thread and then by time. Equal chains keep their order. */
static int order_find(
        const struct profile_counts *c, struct sorting *s, unsigned jobs, bool by_thread)
{
	for (size_t i = 0; i < c->nchains; i++) {
		s->order[i] = (uint32_t)i;
	}
	if (by_thread) {
		for (size_t i = 0; i < c->nchains; i++) {
			s->keys[i] = c->chains[i].first_tid;
		}
		TRY(sort_order_jobs(s->keys, s->order, s->spare, c->nchains, jobs));
	}
	return sort_by_time(c, s, jobs);
}

/* Moves each chain to its position in the order, in place: along the cycles of the permutation. */
static void chains_move(struct profile_counts *c, uint32_t *order)
{
	for (uint32_t i = 0; i < c->nchains; i++) {
		struct profile_chain first;
		uint32_t at = i;

		if (order[i] == i) {
			continue;
		}
		first = c->chains[i];
		while (order[at] != i) {
			uint32_t from = order[at];

			__builtin_prefetch(&c->chains[order[order[from]]]);
			c->chains[at] = c->chains[from];
			order[at] = at;
			at = from;
		}
		c->chains[at] = first;
		order[at] = at;
	}
}

struct gathering {
	const struct profile_chain *from;
	struct profile_chain *to;
	const uint32_t *order;
	size_t n;
};

static int block_gather(void *arg, unsigned worker, size_t block)
{
	const struct gathering *x = arg;
	size_t i = block * CHAINS_AT_ONCE;
	size_t end = x->n - i < CHAINS_AT_ONCE ? x->n : i + CHAINS_AT_ONCE;

	(void)worker;
	for (; i < end; i++) {
		__builtin_prefetch(&x->from[x->order[i + AHEAD < end ? i + AHEAD : i]]);
		x->to[i] = x->from[x->order[i]];
	}
	return 0;
}

/* As chains_move, on all workers, which copy to a new array. False, without memory: nothing is done. */
static bool chains_gather(struct profile_counts *c, const uint32_t *order, unsigned jobs)
{
	struct gathering x = {.from = c->chains, .order = order, .n = c->nchains};
	size_t cap = 0;

	if (!array_reserve(&x.to, &cap, x.n, sizeof(*x.to))) {
		return false;
	}
	(void)pool_run(jobs, (x.n + CHAINS_AT_ONCE - 1) / CHAINS_AT_ONCE, block_gather, &x);
	free(c->chains);
	c->chains = x.to;
	c->chains_cap = cap;
	return true;
}

static int chains_order(struct profile_counts *c, struct sorting *s, unsigned jobs, bool by_thread)
{
	TRY(order_find(c, s, jobs, by_thread));
	if (jobs == 1 || !chains_gather(c, s->order, jobs)) {
		chains_move(c, s->order);
	}
	return 0;
}

int profile_chains_sort(struct profile_counts *c, unsigned jobs)
{
	struct sorting s;
	int rc = SONDE_ENOMEM;

	empty_remove(c);
	if (is_sorted(c)) {
		return 0;
	}
	s.keys = malloc(c->nchains * sizeof(*s.keys));
	s.spare = malloc(2 * c->nchains * sizeof(*s.spare));
	s.order = malloc(c->nchains * sizeof(*s.order));
	if (s.keys != NULL && s.spare != NULL && s.order != NULL) {
		rc = chains_order(c, &s, jobs, false);
	}
	if (rc >= 0 && !is_sorted(c)) { /* threads of chains with equal times */
		rc = chains_order(c, &s, jobs, true);
	}
	free(s.keys);
	free(s.spare);
	free(s.order);
	return rc;
}
