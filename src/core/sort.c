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

/* A sort by several workers: each has the same share of the positions in all passes. */
struct shared_sort {
	const uint64_t *keys;
	uint32_t *order;
	uint64_t *in, *out;
	size_t n;
	unsigned jobs;
	unsigned half;
	unsigned shift; /* of the digit of this pass */
	struct share {
		uint64_t varies; /* bits of keys that are not the same as in the first one */
		uint32_t at[DIGITS]; /* number of each digit, then the positions of the next ones */
	} * shares;
};

static size_t share_first(const struct shared_sort *s, size_t share)
{
	return s->n / s->jobs * share + (share < s->n % s->jobs ? share : s->n % s->jobs);
}

static int share_load(void *arg, unsigned worker, size_t share)
{
	const struct shared_sort *s = arg;
	size_t end = share_first(s, share + 1);
	uint64_t first = s->keys[s->order[0]], varies = 0;

	(void)worker;
	for (size_t i = share_first(s, share); i < end; i++) {
		uint64_t key = s->keys[s->order[i]];

		if (i + AHEAD < end) {
			__builtin_prefetch(&s->keys[s->order[i + AHEAD]]);
		}
		s->in[i] = key >> s->half << 32 | s->order[i];
		varies |= key ^ first;
	}
	s->shares[share].varies = varies;
	return 0;
}

static int share_count(void *arg, unsigned worker, size_t share)
{
	const struct shared_sort *s = arg;
	uint32_t *at = s->shares[share].at;

	(void)worker;
	memset(at, 0, sizeof(s->shares[share].at));
	for (size_t i = share_first(s, share); i < share_first(s, share + 1); i++) {
		at[s->in[i] >> s->shift & (DIGITS - 1)]++;
	}
	return 0;
}

static int share_move(void *arg, unsigned worker, size_t share)
{
	const struct shared_sort *s = arg;
	uint32_t *at = s->shares[share].at;

	(void)worker;
	for (size_t i = share_first(s, share); i < share_first(s, share + 1); i++) {
		s->out[at[s->in[i] >> s->shift & (DIGITS - 1)]++] = s->in[i];
	}
	return 0;
}

static int share_store(void *arg, unsigned worker, size_t share)
{
	const struct shared_sort *s = arg;

	(void)worker;
	for (size_t i = share_first(s, share); i < share_first(s, share + 1); i++) {
		s->order[i] = (uint32_t)s->in[i];
	}
	return 0;
}

/* One stable pass by a digit. */
static int shared_pass(struct shared_sort *s)
{
	uint64_t *swap = s->in;
	uint32_t sum = 0;

	TRY(pool_run(s->jobs, s->jobs, share_count, s));
	for (size_t d = 0; d < DIGITS; d++) {
		for (unsigned i = 0; i < s->jobs; i++) {
			uint32_t count = s->shares[i].at[d];

			s->shares[i].at[d] = sum;
			sum += count;
		}
	}
	TRY(pool_run(s->jobs, s->jobs, share_move, s));
	s->in = s->out;
	s->out = swap;
	return 0;
}

static int shared_half(struct shared_sort *s, unsigned half, uint64_t *varies)
{
	s->half = half;
	TRY(pool_run(s->jobs, s->jobs, share_load, s));
	*varies = 0;
	for (unsigned i = 0; i < s->jobs; i++) {
		*varies |= s->shares[i].varies;
	}
	for (unsigned k = 0; k < PASSES; k++) {
		s->shift = 32 + k * DIGIT_BITS;
		if ((*varies >> half << 32 >> s->shift & (DIGITS - 1)) != 0) {
			TRY(shared_pass(s));
		}
	}
	return pool_run(s->jobs, s->jobs, share_store, s);
}

int sort_order_jobs(const uint64_t *keys, uint32_t *order, uint64_t *spare, size_t n, unsigned jobs)
{
	struct shared_sort s = {
	        .keys = keys, .order = order, .in = spare, .out = spare + n, .n = n, .jobs = jobs};
	uint64_t varies;
	int rc;

	if (jobs < 2 || n < JOBS_MIN) {
		sort_order(keys, order, spare, n);
		return 0;
	}
	s.shares = malloc(jobs * sizeof(*s.shares));
	if (s.shares == NULL) {
		return SONDE_ENOMEM;
	}
	rc = shared_half(&s, 0, &varies);
	if (rc >= 0 && varies >> 32 != 0) {
		rc = shared_half(&s, 32, &varies);
	}
	free(s.shares);
	return rc;
}
