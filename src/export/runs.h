/* SPDX-License-Identifier: MIT */
/*
 * Sorts pairs of numbers that need not fit into memory: sorted runs go to a scratch file, and are merged
 * when they are read.
 */
#ifndef SONDE_EXPORT_RUNS_H
#define SONDE_EXPORT_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct run_pair {
	uint64_t key, id;
};

struct run; /* one that is merged */

/* Zero-initialised: empty. */
struct runs {
	struct run_pair *pairs; /* that are not in a run yet */
	struct run_pair *other; /* as many, to sort them */
	size_t npairs, cap;
	struct run *runs; /* a heap while they are read: the first has the smallest pair */
	size_t nruns, runs_cap;
};

/* Pairs of a run; the last one may have fewer. */
#define RUN_PAIRS ((size_t)1 << 18)

/*
 * Adds a pair, whose id is above those before it. scratch: a file for reading and writing, in which
 * several sorts may have runs. 0; SONDE_ENOMEM; SONDE_EOUTPUT, with the reason in errno.
 */
int runs_add(struct runs *r, int scratch, uint64_t key, uint64_t id);

/* Ends adding; pairs are read from here on. As runs_add. */
int runs_end(struct runs *r, int scratch);

/* 1: *pair is the next one by key, then id; 0: there is none; or as runs_add. */
int runs_next(struct runs *r, int scratch, struct run_pair *pair);

void runs_fini(struct runs *r);

#endif
