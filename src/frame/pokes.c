/* SPDX-License-Identifier: MIT */
/*
 * Changes of the kernel's code: TEXT_POKE records replace bytes from a time on. Code that the kernel
 * makes at run time, such as trampolines, is in no file: all of its bytes are of such records.
 */
#include "frame/pokes.h"

#include "core/array.h"
#include "core/sort.h"

#include <stdlib.h>
#include <string.h>

int frame_pokes_add(struct frame_pokes *p, const struct frame_poke *poke)
{
	if (!array_reserve(&p->items, &p->cap, p->n + 1, sizeof(*poke))) {
		return SONDE_ENOMEM;
	}
	p->items[p->n++] = *poke;
	return 0;
}

int frame_pokes_sort(struct frame_pokes *p)
{
	uint64_t *times = calloc(3 * p->n + 1, sizeof(*times)); /* times, and room for pairs */
	uint32_t *order = calloc(p->n + 1, sizeof(*order));
	struct frame_poke *sorted = calloc(p->n + 1, sizeof(*sorted));
	int rc = times != NULL && order != NULL && sorted != NULL ? 0 : SONDE_ENOMEM;

	for (size_t i = 0; rc == 0 && i < p->n; i++) {
		times[i] = p->items[i].time;
		order[i] = (uint32_t)i;
	}
	if (rc == 0) {
		sort_order(times, order, times + p->n, p->n);
		for (size_t i = 0; i < p->n; i++) {
			sorted[i] = p->items[order[i]];
		}
		free(p->items);
		p->items = sorted;
		p->cap = p->n + 1;
		sorted = NULL;
	}
	free(times);
	free(order);
	free(sorted);
	return rc;
}

size_t frame_pokes_until(const struct frame_pokes *p, uint64_t time)
{
	size_t low = 0, high = p->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (p->items[middle].time <= time) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

/* Copies the part of a poke that is in [address, address + n), if it begins at or before `known`. */
static size_t apply(
        const struct frame_poke *poke, uint64_t address, uint8_t *to, size_t n, size_t known)
{
	uint64_t skip = address > poke->address ? address - poke->address : 0;
	uint64_t at = address > poke->address ? 0 : poke->address - address;
	size_t count;

	if (skip >= poke->bytes.n || at > known || at >= n) {
		return known;
	}
	count = poke->bytes.n - (size_t)skip;
	count = count < n - at ? count : n - (size_t)at;
	memcpy(to + at, poke->bytes.p + skip, count);
	return at + count > known ? (size_t)at + count : known;
}

size_t frame_pokes_apply(const struct frame_pokes *p, size_t pokes, uint64_t address, uint8_t *to,
        size_t n, size_t known)
{
	for (size_t i = 0; i < pokes; i++) {
		known = apply(&p->items[i], address, to, n, known);
	}
	return known;
}
