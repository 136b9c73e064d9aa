/* SPDX-License-Identifier: MIT */
/*
 * Private to symbol: ranges of addresses that lie over each other, such as functions and what was
 * inlined into them, made flat:
 *
 *	rank 2        |--c--|            a: value of the lowest rank
 *	rank 1    |----b---------|
 *	rank 0  |---------a---------|    flat:  a b c b a
 */
#ifndef SONDE_SYMBOL_COVER_H
#define SONDE_SYMBOL_COVER_H

#include <stddef.h>
#include <stdint.h>

/* [start, end) */
struct cover {
	uint64_t start, end;
	uint64_t rank; /* the highest one at an address wins; no two are equal */
	uint32_t value;
};

/* Empty when zero-initialised. */
struct covers {
	struct cover *v;
	size_t n, cap;
};

void covers_fini(struct covers *c);
int covers_add(struct covers *c, const struct cover *cover); /* SONDE_ENOMEM */

/* Sorts by start. */
void covers_sort(struct covers *c);

/* Sorts, and fills `out` with ranges that do not overlap, sorted. SONDE_ENOMEM. */
int covers_flatten(struct covers *c, struct covers *out);

#endif
