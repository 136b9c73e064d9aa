/* SPDX-License-Identifier: MIT */
#include "aux/trail.h"

#include "core/array.h"
#include "frame/frame.h"

#include <stdlib.h>
#include <string.h>

void trail_fini(struct trail *t)
{
	free(t->calls);
	free(t->branches);
	*t = (struct trail){0};
}

void trails_fini(struct trails *t)
{
	for (size_t i = 0; i < t->n; i++) {
		trail_fini(&t->items[i].trail);
	}
	free(t->items);
	index_fini(&t->by_tid);
	*t = (struct trails){0};
}

int trails_find(struct trails *t, uint32_t tid, const struct trails *from, size_t *number)
{
	size_t at;
	uint32_t id;

	TRY(index_room(&t->by_tid));
	id = index_find_u32(&t->by_tid, tid, &at);
	*number = id != INDEX_NONE ? id : t->n;
	if (id != INDEX_NONE) {
		return 0;
	}
	if (!array_reserve(&t->items, &t->cap, t->n + 1, sizeof(*t->items))) {
		return SONDE_ENOMEM;
	}
	t->items[t->n++] = (struct trail_of){.tid = tid};
	index_put_u32(&t->by_tid, tid, at, (uint32_t)*number);
	if (from != NULL) {
		size_t theirs;

		id = index_find_u32(&from->by_tid, tid, &theirs);
		if (id != INDEX_NONE) {
			return trail_copy(&t->items[*number].trail, &from->items[id].trail);
		}
	}
	return 0;
}

int trail_copy(struct trail *to, const struct trail *from)
{
	if (from->ncalls != 0) {
		if (!array_reserve(&to->calls, &to->calls_cap, from->ncalls, sizeof(*to->calls))) {
			return SONDE_ENOMEM;
		}
		memcpy(to->calls, from->calls, from->ncalls * sizeof(*to->calls));
		to->ncalls = from->ncalls;
		to->ended = from->ended;
	}
	if (from->size != 0) {
		to->branches = malloc(from->size * sizeof(*to->branches));
		if (to->branches == NULL) {
			return SONDE_ENOMEM;
		}
		memcpy(to->branches, from->branches, from->size * sizeof(*to->branches));
		to->nbranches = from->nbranches;
		to->next = from->next;
		to->size = from->size;
	}
	return 0;
}

int trail_call(struct trail *t, uint64_t back)
{
	if (t->ncalls == TRAIL_CALLS_MAX) {
		t->ncalls -= TRAIL_CALLS_MAX / 2;
		memmove(t->calls, t->calls + TRAIL_CALLS_MAX / 2, t->ncalls * sizeof(*t->calls));
	}
	if (!array_reserve(&t->calls, &t->calls_cap, t->ncalls + 1, sizeof(*t->calls))) {
		return SONDE_ENOMEM;
	}
	t->calls[t->ncalls++] = back;
	return 0;
}

void trail_return(struct trail *t, uint64_t to)
{
	for (size_t i = t->ncalls; i-- > 0;) {
		if (t->calls[i] == to) {
			t->ncalls = i;
			return;
		}
	}
}

int trail_branch(struct trail *t, size_t size, uint64_t from, uint64_t to)
{
	if (t->size != size) {
		t->branches = calloc(size, sizeof(*t->branches));
		t->size = t->branches != NULL ? size : 0;
	}
	if (t->size == 0) {
		return SONDE_ENOMEM;
	}
	t->branches[t->next] = (struct trail_branch){from, to};
	t->next = t->next + 1 < size ? t->next + 1 : 0;
	t->nbranches += t->nbranches < size;
	return 0;
}

const struct trail_branch *trail_last(const struct trail *t, size_t i)
{
	size_t back = i + 1;

	return &t->branches[t->next >= back ? t->next - back : t->next + t->size - back];
}

void trail_chain_add(struct trail_chain *c, uint64_t ip)
{
	bool kernel = ip >> 63 != 0;

	if (c->addresses == c->max) {
		return;
	}
	if (c->n == 0 || kernel != c->kernel) {
		c->words[c->n++] = kernel ? CALLCHAIN_KERNEL : CALLCHAIN_USER;
		c->kernel = kernel;
	}
	c->words[c->n++] = ip;
	c->addresses++;
}

void trail_chain_calls(struct trail_chain *c, const struct trail *t)
{
	for (size_t i = t->ncalls; i-- > 0 && c->addresses < c->max;) {
		trail_chain_add(c, t->calls[i]);
	}
}
