/* SPDX-License-Identifier: MIT */
/*
 * Call stacks that the processor recorded in branch stacks (record --call-graph lbr): an entry for
 * each call that has not returned. As observed with perf 6.1, they replace the user part of a chain:
 *
 *	recorded chain                    branches, newest first     chain
 *	KERNEL, k1, k2, USER, u1, ...     c2 -> f2, c1 -> f1         KERNEL, k1, k2, USER, f2, c2, c1
 */
#include "core/array.h"
#include "frame/frame.h"
#include "frame/stitch.h"

#define BRANCH_WORDS 3u /* from, to, flags */

/* Sets *calls to the calls of a sample, with older ones if options.stitch_slots; their number. */
static int64_t calls_of(
        struct frame_reader *r, const struct sonde_sample *s, const uint64_t **calls)
{
	uint32_t slots = r->resolver->options.stitch_slots;

	if (slots == 0) {
		*calls = s->branches;
		return (int64_t)s->branch_len;
	}
	if (r->stitch == NULL) {
		r->stitch = frame_stitch_new(slots);
	}
	return r->stitch != NULL ? frame_stitch_add(r->stitch, s, calls) : SONDE_ENOMEM;
}

int frame_chain_branches(
        struct frame_reader *r, const struct sonde_sample *s, struct frame_chain *chain)
{
	size_t kernel = 0; /* words of the kernel's part */
	const uint64_t *calls;
	int64_t ncalls;
	size_t n;

	while (kernel < chain->n && chain->words[kernel] != CALLCHAIN_USER) {
		kernel++;
	}
	if (kernel == chain->n) {
		return 0;
	}
	ncalls = calls_of(r, s, &calls);
	if (ncalls <= 0) {
		return (int)ncalls;
	}
	n = ++kernel;
	if (!array_reserve(
	            &r->joined, &r->joined_cap, kernel + 1 + (size_t)ncalls, sizeof(*r->joined))) {
		return SONDE_ENOMEM;
	}
	memcpy(r->joined, chain->words, kernel * sizeof(*r->joined));
	r->joined[n++] = calls[1];
	for (int64_t i = 0; i < ncalls; i++) {
		r->joined[n++] = calls[BRANCH_WORDS * i];
	}
	chain->words = r->joined;
	chain->n = n;
	return 0;
}
