/* SPDX-License-Identifier: MIT */
#include "export/runs.h"

#include "core/array.h"
#include "core/fd.h"
#include "core/status.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#define DIGIT   11u /* bits that one pass sorts by */
#define DIGITS  (1u << DIGIT)
#define MERGED  4096u /* pairs of a run that are in memory while runs are merged */
#define KEYBITS 64u

struct run {
	struct run_pair *pairs; /* in memory */
	size_t n, next;
	off_t at; /* of the others in the scratch file */
	size_t left; /* how many */
};

/* By key; those with the same key stay in their order. False: the result is in `other`. */
static bool sort_pairs(struct run_pair *pairs, struct run_pair *other, size_t n)
{
	uint64_t bits = 0;
	bool in_place = true;

	for (size_t i = 0; i < n; i++) {
		bits |= pairs[i].key;
	}
	for (unsigned shift = 0; shift < KEYBITS && bits >> shift != 0; shift += DIGIT) {
		struct run_pair *from = in_place ? pairs : other, *to = in_place ? other : pairs;
		size_t starts[DIGITS] = {0}, sum = 0;

		for (size_t i = 0; i < n; i++) {
			starts[from[i].key >> shift & (DIGITS - 1)]++;
		}
		for (size_t d = 0; d < DIGITS; d++) {
			size_t count = starts[d];

			starts[d] = sum;
			sum += count;
		}
		for (size_t i = 0; i < n; i++) {
			to[starts[from[i].key >> shift & (DIGITS - 1)]++] = from[i];
		}
		in_place = !in_place;
	}
	return in_place;
}

/* Sorts the pairs in memory, which came in the order of their ids. */
static void sort_memory(struct runs *r)
{
	if (!sort_pairs(r->pairs, r->other, r->npairs)) {
		struct run_pair *sorted = r->other;

		r->other = r->pairs;
		r->pairs = sorted;
	}
}

static int add_run(struct runs *r, const struct run *run)
{
	if (!array_reserve(&r->runs, &r->runs_cap, r->nruns + 1, sizeof(*r->runs))) {
		return SONDE_ENOMEM;
	}
	r->runs[r->nruns++] = *run;
	return 0;
}

static int write_run(struct runs *r, int scratch)
{
	struct run run = {.at = lseek(scratch, 0, SEEK_END), .left = r->npairs};

	sort_memory(r);
	if (run.at < 0 || !fd_write(scratch, r->pairs, r->npairs * sizeof(*r->pairs))) {
		return SONDE_EOUTPUT;
	}
	r->npairs = 0;
	return add_run(r, &run);
}

static int make_room(struct runs *r)
{
	size_t cap = r->cap != 0 ? r->cap * 2 : MERGED;
	struct run_pair *pairs = realloc(r->pairs, cap * sizeof(*pairs)), *other;

	r->pairs = pairs != NULL ? pairs : r->pairs;
	other = pairs != NULL ? realloc(r->other, cap * sizeof(*other)) : NULL;
	r->other = other != NULL ? other : r->other;
	r->cap = other != NULL ? cap : r->cap;
	return other != NULL ? 0 : SONDE_ENOMEM;
}

int runs_add(struct runs *r, int scratch, uint64_t key, uint64_t id)
{
	if (r->npairs == RUN_PAIRS) {
		TRY(write_run(r, scratch));
	} else if (r->npairs == r->cap) {
		TRY(make_room(r));
	}
	r->pairs[r->npairs++] = (struct run_pair){key, id};
	return 0;
}

/* ---- merging ---- */

static bool is_before(const struct run *a, const struct run *b)
{
	const struct run_pair *x = &a->pairs[a->next], *y = &b->pairs[b->next];

	return x->key != y->key ? x->key < y->key : x->id < y->id;
}

/* Moves the run at i down to its place. */
static void sift(struct runs *r, size_t i)
{
	struct run moved = r->runs[i];

	for (size_t child; (child = 2 * i + 1) < r->nruns; i = child) {
		child += child + 1 < r->nruns && is_before(&r->runs[child + 1], &r->runs[child]);
		if (!is_before(&r->runs[child], &moved)) {
			break;
		}
		r->runs[i] = r->runs[child];
	}
	r->runs[i] = moved;
}

/* Reads more pairs of a run, which has some. */
static int refill(struct run *run, int scratch)
{
	size_t n = run->left < MERGED ? run->left : MERGED, bytes = n * sizeof(*run->pairs);

	if (run->pairs == NULL) {
		run->pairs = malloc(bytes);
	}
	if (run->pairs == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t done = 0; done < bytes;) {
		ssize_t got = pread(
		        scratch, (uint8_t *)run->pairs + done, bytes - done, run->at + (off_t)done);

		if (got == 0 || (got < 0 && errno != EINTR)) {
			errno = got == 0 ? EIO : errno;
			return SONDE_EOUTPUT;
		}
		done += got > 0 ? (size_t)got : 0;
	}
	run->at += (off_t)bytes;
	run->left -= n;
	run->n = n;
	run->next = 0;
	return 0;
}

int runs_end(struct runs *r, int scratch)
{
	sort_memory(r);
	for (size_t i = 0; i < r->nruns; i++) {
		TRY(refill(&r->runs[i], scratch));
	}
	if (r->npairs != 0) { /* stays in memory */
		TRY(add_run(r, &(struct run){.pairs = r->pairs, .n = r->npairs}));
		r->pairs = NULL;
		r->npairs = r->cap = 0;
	}
	for (size_t i = r->nruns / 2; i-- > 0;) {
		sift(r, i);
	}
	return 0;
}

int runs_next(struct runs *r, int scratch, struct run_pair *pair)
{
	struct run *first = r->runs;

	if (r->nruns == 0) {
		return 0;
	}
	*pair = first->pairs[first->next++];
	if (first->next == first->n && first->left != 0) {
		TRY(refill(first, scratch));
	} else if (first->next == first->n) {
		free(first->pairs);
		*first = r->runs[--r->nruns];
	}
	if (r->nruns != 0) {
		sift(r, 0);
	}
	return 1;
}

void runs_fini(struct runs *r)
{
	for (size_t i = 0; i < r->nruns; i++) {
		free(r->runs[i].pairs);
	}
	free(r->runs);
	free(r->pairs);
	free(r->other);
	*r = (struct runs){0};
}
