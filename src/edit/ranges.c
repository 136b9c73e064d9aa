/* SPDX-License-Identifier: MIT */
#include "edit/ranges.h"

#include "core/array.h"

#include <sonde/base.h>
#include <stdlib.h>

#define RANGES_FIRST 1024u /* room for so many at first */

void ranges_fini(struct ranges *r)
{
	free(r->items);
	*r = (struct ranges){0};
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static bool are_one(const struct range *before, uint64_t start)
{
	return start <= before->end || start - before->end < RANGES_GAP;
}

/* Sorts the ranges and makes those that are close to each other one. */
static void join(struct ranges *r)
{
	size_t n = 0;

	if (r->n == 0) {
		return;
	}
	qsort(r->items, r->n, sizeof(*r->items), by_start);
	for (size_t i = 1; i < r->n; i++) {
		struct range *last = &r->items[n];

		if (!are_one(last, r->items[i].start)) {
			r->items[++n] = r->items[i];
		} else if (r->items[i].end > last->end) {
			last->end = r->items[i].end;
		}
	}
	r->n = n + 1;
}

/* The array grows only if joining leaves it more than half full. */
static int make_room(struct ranges *r)
{
	if (r->items != NULL && r->n < r->cap) {
		return 0;
	}
	join(r);
	if (r->n > r->cap / 2 || r->cap == 0) {
		size_t need = r->cap != 0 ? 2 * r->cap : RANGES_FIRST;

		return array_reserve(&r->items, &r->cap, need, sizeof(*r->items)) ? 0
		                                                                  : SONDE_ENOMEM;
	}
	return 0;
}

int ranges_add(struct ranges *r, uint64_t start, uint64_t end)
{
	struct range *last = r->n != 0 ? &r->items[r->n - 1] : NULL;
	int rc;

	start -= start % RANGES_PAGE;
	end = end > UINT64_MAX - RANGES_PAGE ? UINT64_MAX / RANGES_PAGE * RANGES_PAGE
	                                     : (end + RANGES_PAGE - 1) / RANGES_PAGE * RANGES_PAGE;
	if (end <= start || (last != NULL && start >= last->start && end <= last->end)) {
		return 0; /* most addresses are near the one before */
	}
	rc = make_room(r);
	if (rc == 0) {
		r->items[r->n++] = (struct range){.start = start, .end = end};
	}
	return rc;
}

bool ranges_place(struct ranges *r, uint64_t base, uint64_t limit)
{
	join(r);
	for (size_t i = 0; i < r->n; i++) {
		uint64_t size = r->items[i].end - r->items[i].start;

		if (base > limit || size > limit - base) {
			return false;
		}
		r->items[i].to = base;
		base += size + RANGES_GAP;
	}
	return true;
}

bool ranges_move(const struct ranges *r, uint64_t *address)
{
	size_t low = 0, high = r->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->items[middle].end <= *address) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	if (low == r->n || *address < r->items[low].start) {
		return false;
	}
	*address += r->items[low].to - r->items[low].start;
	return true;
}
