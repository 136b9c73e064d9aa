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

#define BRANCH_WORDS 3u /* from, to, flags */

int frame_chain_branches(
        struct frame_reader *r, const struct sonde_sample *s, struct frame_chain *chain)
{
	size_t kernel = 0; /* words of the kernel's part */
	size_t n;

	while (kernel < chain->n && chain->words[kernel] != CALLCHAIN_USER) {
		kernel++;
	}
	if (kernel == chain->n) {
		return 0;
	}
	n = ++kernel;
	if (!array_reserve(&r->joined, &r->joined_cap, kernel + 1 + (size_t)s->branch_len,
	            sizeof(*r->joined))) {
		return SONDE_ENOMEM;
	}
	memcpy(r->joined, chain->words, kernel * sizeof(*r->joined));
	r->joined[n++] = s->branches[1];
	for (uint64_t i = 0; i < s->branch_len; i++) {
		r->joined[n++] = s->branches[BRANCH_WORDS * i];
	}
	chain->words = r->joined;
	chain->n = n;
	return 0;
}
