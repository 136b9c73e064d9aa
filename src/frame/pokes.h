/* SPDX-License-Identifier: MIT */
/* Changes of the kernel's code while a recording was made (TEXT_POKE records). */
#ifndef SONDE_FRAME_POKES_H
#define SONDE_FRAME_POKES_H

#include "core/span.h"
#include "core/status.h"

/* From a time on the kernel's code at an address is other bytes. */
struct frame_poke {
	uint64_t time; /* ns */
	uint64_t address;
	struct span bytes;
};

/* Sorted by time after frame_pokes_sort. */
struct frame_pokes {
	struct frame_poke *items;
	size_t n, cap;
};

int frame_pokes_add(struct frame_pokes *p, const struct frame_poke *poke); /* SONDE_ENOMEM */
int frame_pokes_sort(struct frame_pokes *p); /* SONDE_ENOMEM */
/* The number of pokes at or before a time. */
size_t frame_pokes_until(const struct frame_pokes *p, uint64_t time);
/*
 * Applies the first `pokes` pokes to n bytes of code at an address, of which the first `known` are
 * set. Returns how many are set then.
 */
size_t frame_pokes_apply(const struct frame_pokes *p, size_t pokes, uint64_t address, uint8_t *to,
        size_t n, size_t known);

#endif
