/* SPDX-License-Identifier: MIT */
/*
 * A sweep over the starts in order. The open ranges are in a heap by rank; one that has ended stays
 * there until it comes to the top, so that each enters and leaves once.
 */
#include "symbol/cover.h"

#include "core/array.h"
#include "core/status.h"

#include <stdlib.h>

/* The open ranges: indices of covers, the highest rank first. */
struct heap {
	const struct cover *v;
	size_t *at;
	size_t n, cap;
};

void covers_fini(struct covers *c)
{
	free(c->v);
	*c = (struct covers){0};
}

int covers_add(struct covers *c, const struct cover *cover)
{
	if (!array_reserve(&c->v, &c->cap, c->n + 1, sizeof(*c->v))) {
		return SONDE_ENOMEM;
	}
	c->v[c->n++] = *cover;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct cover *x = a, *y = b;

	if (x->start != y->start) {
		return x->start < y->start ? -1 : 1;
	}
	return (x->rank > y->rank) - (x->rank < y->rank);
}

void covers_sort(struct covers *c)
{
	for (size_t i = 1; i < c->n; i++) {
		if (by_start(&c->v[i - 1], &c->v[i]) > 0) {
			qsort(c->v, c->n, sizeof(*c->v), by_start);
			return;
		}
	}
}

static int heap_push(struct heap *h, size_t id)
{
	size_t i = h->n;

	if (!array_reserve(&h->at, &h->cap, h->n + 1, sizeof(*h->at))) {
		return SONDE_ENOMEM;
	}
	h->n++;
	while (i != 0 && h->v[h->at[(i - 1) / 2]].rank < h->v[id].rank) {
		h->at[i] = h->at[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	h->at[i] = id;
	return 0;
}

static void heap_pop(struct heap *h)
{
	size_t last = h->at[--h->n];
	size_t i = 0;

	while (2 * i + 1 < h->n) {
		size_t child = 2 * i + 1;

		if (child + 1 < h->n && h->v[h->at[child]].rank < h->v[h->at[child + 1]].rank) {
			child++;
		}
		if (h->v[h->at[child]].rank < h->v[last].rank) {
			break;
		}
		h->at[i] = h->at[child];
		i = child;
	}
	h->at[i] = last;
}

/* Adds [start, end) after the others, or to the last one. */
static int append(struct covers *out, uint64_t start, uint64_t end, uint32_t value)
{
	struct cover *last = out->n != 0 ? &out->v[out->n - 1] : NULL;

	if (last != NULL && last->end == start && last->value == value) {
		last->end = end;
		return 0;
	}
	return covers_add(out, &(struct cover){.start = start, .end = end, .value = value});
}

/* Appends what the open ranges have from `from` until the next one starts. */
static int flatten_until(struct heap *h, uint64_t from, uint64_t until, struct covers *out)
{
	while (from < until) {
		const struct cover *top;
		uint64_t end;

		while (h->n != 0 && h->v[h->at[0]].end <= from) {
			heap_pop(h);
		}
		if (h->n == 0) {
			return 0;
		}
		top = &h->v[h->at[0]];
		end = top->end < until ? top->end : until;
		TRY(append(out, from, end, top->value));
		from = end;
	}
	return 0;
}

int covers_flatten(struct covers *c, struct covers *out)
{
	struct heap h = {0};
	int rc = 0;

	out->n = 0;
	covers_sort(c);
	h.v = c->v;
	for (size_t i = 0; i < c->n && rc == 0; i++) {
		uint64_t until = i + 1 < c->n ? c->v[i + 1].start : UINT64_MAX;

		rc = heap_push(&h, i);
		rc = rc == 0 ? flatten_until(&h, c->v[i].start, until, out) : rc;
	}
	free(h.at);
	return rc;
}
