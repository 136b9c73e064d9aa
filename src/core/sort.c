/* SPDX-License-Identifier: MIT */
#include "core/sort.h"

#include "core/pool.h"
#include "core/status.h"

#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGITS     ((size_t)1 << DIGIT_BITS)
#define AHEAD      32
#define PASSES     3 /* for the 32 bits of half a key */
#define JOBS_MIN   ((size_t)1 << 16) /* fewer numbers are sorted by one worker */

/* One stable pass by the digit at `shift`, of which at[] has the number of each value. */
static void pass(const uint64_t *in, uint64_t *out, size_t n, unsigned shift, uint32_t at[DIGITS])
{
	uint32_t sum = 0;

	for (size_t d = 0; d < DIGITS; d++) {
		uint32_t count = at[d];

		at[d] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++) {
		out[at[in[i] >> shift & (DIGITS - 1)]++] = in[i];
	}
}

/*
 * Sorts by half of the keys: each with its number beside it, so that memory is read in order.
 * Returns the bits that are not the same in all whole keys.
 */
static uint64_t sort_half(
        const uint64_t *keys, unsigned half, uint32_t *order, uint64_t *spare, size_t n)
{
	uint32_t counts[PASSES][DIGITS] = {0};
	uint64_t *in = spare;
	uint64_t *out = spare + n;
	uint64_t first = keys[order[0]];
	uint64_t varies = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t key = keys[order[i]];
		uint64_t part = key >> half << 32;

		if (i + AHEAD < n) {
			__builtin_prefetch(&keys[order[i + AHEAD]]);
		}
		in[i] = part | order[i];
		varies |= key ^ first;
		for (unsigned k = 0; k < PASSES; k++) {
			counts[k][part >> (32 + k * DIGIT_BITS) & (DIGITS - 1)]++;
		}
	}
	for (unsigned k = 0; k < PASSES; k++) {
		uint64_t *swap = in;

		if (((varies >> half << 32) >> (32 + k * DIGIT_BITS) & (DIGITS - 1)) == 0) {
			continue;
		}
		pass(in, out, n, 32 + k * DIGIT_BITS, counts[k]);
		in = out;
		out = swap;
	}
	for (size_t i = 0; i < n; i++) {
		order[i] = (uint32_t)in[i];
	}
	return varies;
}

void sort_order(const uint64_t *keys, uint32_t *order, uint64_t *spare, size_t n)
{
	if (n > 1 && sort_half(keys, 0, order, spare, n) >> 32 != 0) {
		(void)sort_half(keys, 32, order, spare, n);
	}
}

/*
 * A sort by the workers of a team: each has the same share of the positions in all passes. They wait
 * for each other before what they read from others' shares, and before these are overwritten.
 */
struct shared_sort {
	const uint64_t *keys;
	uint32_t *order;
	uint64_t *spare;
	size_t n;
	struct share {
		uint64_t varies; /* bits of keys that are not the same as in the first one */
		uint32_t counts[DIGITS]; /* of the digits in its share before a pass */
	} * shares;
};

/* A worker's part of it: positions [first, end). */
struct sharer {
	const struct shared_sort *s;
	struct pool_team *team;
	unsigned worker, size;
	size_t first, end;
	uint64_t *in, *out;
};

/* Reads the keys of a share. Returns the bits that are not the same in all keys. */
static uint64_t share_load(const struct sharer *h, unsigned half)
{
	const struct shared_sort *s = h->s;
	uint64_t first = s->keys[s->order[0]], varies = 0;

	for (size_t i = h->first; i < h->end; i++) {
		uint64_t key = s->keys[s->order[i]];

		if (i + AHEAD < h->end) {
			__builtin_prefetch(&s->keys[s->order[i + AHEAD]]);
		}
		h->in[i] = key >> half << 32 | s->order[i];
		varies |= key ^ first;
	}
	s->shares[h->worker].varies = varies;
	pool_team_wait(h->team);
	for (unsigned i = 0; i < h->size; i++) {
		varies |= s->shares[i].varies;
	}
	return varies;
}

/* One stable pass by the digit at `shift`. */
static void share_pass(struct sharer *h, unsigned shift)
{
	const struct share *shares = h->s->shares;
	uint32_t *counts = h->s->shares[h->worker].counts;
	uint32_t at[DIGITS] = {0}, sum = 0;
	uint64_t *swap = h->in;

	memset(counts, 0, sizeof(h->s->shares->counts));
	for (size_t i = h->first; i < h->end; i++) {
		counts[h->in[i] >> shift & (DIGITS - 1)]++;
	}
	pool_team_wait(h->team);
	for (size_t d = 0; d < DIGITS; d++) {
		for (unsigned i = 0; i < h->size; i++) {
			if (i == h->worker) {
				at[d] = sum;
			}
			sum += shares[i].counts[d];
		}
	}
	for (size_t i = h->first; i < h->end; i++) {
		h->out[at[h->in[i] >> shift & (DIGITS - 1)]++] = h->in[i];
	}
	h->in = h->out;
	h->out = swap;
	pool_team_wait(h->team);
}

/* Sorts by half of the keys. Returns the bits that are not the same in all whole keys. */
static uint64_t share_half(struct sharer *h, unsigned half)
{
	uint64_t varies = share_load(h, half);

	for (unsigned k = 0; k < PASSES; k++) {
		unsigned shift = 32 + k * DIGIT_BITS;

		if ((varies >> half << 32 >> shift & (DIGITS - 1)) != 0) {
			share_pass(h, shift);
		}
	}
	for (size_t i = h->first; i < h->end; i++) {
		h->s->order[i] = (uint32_t)h->in[i];
	}
	return varies;
}

static int share_sort(void *arg, unsigned worker, unsigned size, struct pool_team *team)
{
	const struct shared_sort *s = arg;
	size_t each = s->n / size, more = s->n % size;
	size_t first = each * worker + (worker < more ? worker : more);
	struct sharer h = {.s = s,
	        .team = team,
	        .worker = worker,
	        .size = size,
	        .first = first,
	        .end = first + each + (worker < more),
	        .in = s->spare,
	        .out = s->spare + s->n};

	if (share_half(&h, 0) >> 32 != 0) {
		pool_team_wait(team); /* until all keys are in order: their first one is compared */
		(void)share_half(&h, 32);
	}
	return 0;
}

int sort_order_jobs(const uint64_t *keys, uint32_t *order, uint64_t *spare, size_t n, unsigned jobs)
{
	struct shared_sort s = {.keys = keys, .order = order, .spare = spare, .n = n};
	int rc;

	if (jobs < 2 || n < JOBS_MIN) {
		sort_order(keys, order, spare, n);
		return 0;
	}
	s.shares = malloc(jobs * sizeof(*s.shares));
	if (s.shares == NULL) {
		return SONDE_ENOMEM;
	}
	rc = pool_team_run(jobs, share_sort, &s);
	free(s.shares);
	return rc;
}
