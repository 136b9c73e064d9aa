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

static size_t block_end(size_t n, size_t block)
{
	return n - block * CHAINS_AT_ONCE < CHAINS_AT_ONCE ? n : (block + 1) * CHAINS_AT_ONCE;
}

/* Calls `work` on all workers for each block of n chains. */
static int blocks_run(unsigned jobs, size_t n, pool_task_fn work, void *arg)
{
	return pool_run(jobs, (n + CHAINS_AT_ONCE - 1) / CHAINS_AT_ONCE, work, arg);
}

struct checking {
	const struct profile_counts *counts;
	bool *sorted; /* by block */
};

/* Checks each chain of a block and the one before it. */
static int block_check(void *arg, unsigned worker, size_t block)
{
	const struct checking *x = arg;
	const struct profile_chain *chains = x->counts->chains;
	size_t i = block != 0 ? block * CHAINS_AT_ONCE : 1;
	size_t end = block_end(x->counts->nchains, block);

	(void)worker;
	while (i < end && !first_before(&chains[i], &chains[i - 1])) {
		i++;
	}
	x->sorted[block] = i >= end;
	return 0;
}

/* Whether the chains are in order: 1, 0, SONDE_ENOMEM. */
static int is_sorted(const struct profile_counts *c, unsigned jobs)
{
	size_t blocks = (c->nchains + CHAINS_AT_ONCE - 1) / CHAINS_AT_ONCE, n = 0;
	struct checking x = {.counts = c, .sorted = calloc(blocks + 1, sizeof(*x.sorted))};

	if (x.sorted == NULL) {
		return SONDE_ENOMEM;
	}
	(void)blocks_run(jobs, c->nchains, block_check, &x);
	while (n < blocks && x.sorted[n]) {
		n++;
	}
	free(x.sorted);
	return n == blocks;
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

struct keying {
	const struct profile_counts *counts;
	struct sorting *s;
	bool by_thread; /* keys are threads instead of times */
};

static int block_keys(void *arg, unsigned worker, size_t block)
{
	const struct keying *x = arg;
	const struct profile_chain *chains = x->counts->chains;
	size_t end = block_end(x->counts->nchains, block);

	(void)worker;
	for (size_t i = block * CHAINS_AT_ONCE; i < end; i++) {
		x->s->keys[i] = x->by_thread ? chains[i].first_tid : chains[i].time;
	}
	return 0;
}

static int sort_by(const struct profile_counts *c, struct sorting *s, unsigned jobs, bool by_thread)
{
	struct keying x = {.counts = c, .s = s, .by_thread = by_thread};

	TRY(blocks_run(jobs, c->nchains, block_keys, &x));
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
		TRY(sort_by(c, s, jobs, true));
	}
	return sort_by(c, s, jobs, false);
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
	size_t end = block_end(x->n, block);

	(void)worker;
	for (size_t i = block * CHAINS_AT_ONCE; i < end; i++) {
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
	(void)blocks_run(jobs, x.n, block_gather, &x);
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
	int rc = SONDE_ENOMEM, sorted;

	empty_remove(c);
	sorted = is_sorted(c, jobs);
	if (sorted != 0) {
		return sorted < 0 ? sorted : 0;
	}
	s.keys = malloc((c->nchains + 1) * sizeof(*s.keys));
	s.spare = malloc((2 * c->nchains + 1) * sizeof(*s.spare));
	s.order = malloc((c->nchains + 1) * sizeof(*s.order));
	if (s.keys != NULL && s.spare != NULL && s.order != NULL) {
		rc = chains_order(c, &s, jobs, false);
		sorted = rc < 0 ? rc : is_sorted(c, jobs);
		rc = sorted < 0 ? sorted : rc;
	}
	if (rc >= 0 && sorted == 0) { /* threads of chains with equal times */
		rc = chains_order(c, &s, jobs, true);
	}
	free(s.keys);
	free(s.spare);
	free(s.order);
	return rc;
}
