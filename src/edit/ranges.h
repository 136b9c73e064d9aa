/* SPDX-License-Identifier: MIT */
/*
 * Ranges of addresses and the places that they are moved to. Ranges that overlap, touch or are close to
 * each other are one, which moves as a whole: what was mapped in the same place at different times
 * still is, and distances within a range stay.
 */
#ifndef SONDE_EDIT_RANGES_H
#define SONDE_EDIT_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RANGES_PAGE 4096u /* places are multiples: offsets in pages stay */
#define RANGES_GAP  UINT64_C(0x100000) /* bytes between ranges: less makes them one */

struct range {
	uint64_t start, end; /* [start, end) */
	uint64_t to; /* where start is moved to */
};

/* Empty when zero-initialised. */
struct ranges {
	struct range *items;
	size_t n, cap;
};

void ranges_fini(struct ranges *r);

/* Adds the pages of [start, end). 0 or SONDE_ENOMEM. */
int ranges_add(struct ranges *r, uint64_t start, uint64_t end);

/* Places the ranges one after the other from `base` on; no range may be added afterwards. False: they
   do not fit below `limit`. */
bool ranges_place(struct ranges *r, uint64_t base, uint64_t limit);

/* Moves an address after ranges_place. False: it is in no range; *address stays. */
bool ranges_move(const struct ranges *r, uint64_t *address);

#endif
