/* SPDX-License-Identifier: MIT */
#include "timeline/space.h"

#include "core/array.h"
#include "core/hash.h"

#include <stdlib.h>

void space_pool_fini(struct space_pool *p)
{
	free(p->nodes);
	*p = (struct space_pool){0};
}

uint32_t space_add(struct space_pool *p, const struct space_node *n)
{
	if (p->count == 0) {
		p->count = 1;
	}
	if (p->count >= UINT32_MAX - 1 ||
	        !array_reserve(&p->nodes, &p->cap, p->count + 1, sizeof(*p->nodes))) {
		p->failed = true;
		return 0;
	}
	p->nodes[p->count] = *n;
	return (uint32_t)p->count++;
}

/* Returns a copy that may be changed: the node itself, if no other space has it. */
static uint32_t node_own(struct space_pool *p, uint32_t node)
{
	struct space_node n;

	if (node >= p->fresh) {
		return node;
	}
	n = p->nodes[node];
	return space_add(p, &n);
}

/* Splits a space into ranges that start below key and the others; copies one path. */
static void split(struct space_pool *p, uint32_t root, uint64_t key, uint32_t *low, uint32_t *high)
{
	uint32_t low_at = 0; /* node whose right link waits for the next piece */
	uint32_t high_at = 0; /* node whose left link waits for it */

	*low = 0;
	*high = 0;
	while (root != 0) {
		uint32_t n = node_own(p, root);
		bool is_low;

		if (n == 0) {
			return;
		}
		is_low = p->nodes[n].start < key;
		if (is_low) {
			*(low_at != 0 ? &p->nodes[low_at].right : low) = n;
			low_at = n;
			root = p->nodes[n].right;
			p->nodes[n].right = 0;
		} else {
			*(high_at != 0 ? &p->nodes[high_at].left : high) = n;
			high_at = n;
			root = p->nodes[n].left;
			p->nodes[n].left = 0;
		}
	}
}

/* Joins two spaces; every range of a is below every range of b. */
static uint32_t merge(struct space_pool *p, uint32_t a, uint32_t b)
{
	uint32_t root = 0;
	uint32_t at = 0;
	bool right = false;

	for (;;) {
		uint32_t next;

		if (a == 0 || b == 0) {
			next = a != 0 ? a : b;
		} else {
			bool take_a = p->nodes[a].priority > p->nodes[b].priority;

			next = node_own(p, take_a ? a : b);
			if (next == 0) {
				return root;
			}
		}
		if (at == 0) {
			root = next;
		} else if (right) {
			p->nodes[at].right = next;
		} else {
			p->nodes[at].left = next;
		}
		if (a == 0 || b == 0) {
			return root;
		}
		at = next;
		right = p->nodes[a].priority > p->nodes[b].priority;
		if (right) {
			a = p->nodes[a].right;
		} else {
			b = p->nodes[b].left;
		}
	}
}

static uint32_t last_node(const struct space_pool *p, uint32_t root)
{
	while (root != 0 && p->nodes[root].right != 0) {
		root = p->nodes[root].right;
	}
	return root;
}

static uint32_t node_make(struct space_pool *p, uint64_t start, uint64_t end, uint32_t mapping)
{
	struct space_node n = {.start = start, .end = end, .mapping = mapping};

	n.priority = (uint32_t)hash_u64(p->count + 0x9e37);
	return space_add(p, &n);
}

/* Shortens the last range so that it ends at `end`; copies the path to it. */
static uint32_t cut_last(struct space_pool *p, uint32_t root, uint64_t end)
{
	uint32_t low;
	uint32_t last;
	struct space_node n;

	if (root == 0) {
		return 0;
	}
	n = p->nodes[last_node(p, root)];
	split(p, root, n.start, &low, &last);
	if (n.start >= end) {
		return low;
	}
	return merge(p, low, node_make(p, n.start, end, n.mapping));
}

uint32_t space_insert(
        struct space_pool *p, uint32_t root, uint64_t start, uint64_t end, uint32_t mapping)
{
	uint32_t low;
	uint32_t rest;
	uint32_t inside;
	uint32_t high;
	struct space_node before = {0};
	struct space_node within = {0};

	p->fresh = p->count;
	split(p, root, start, &low, &rest);
	split(p, rest, end, &inside, &high);
	if (p->failed) {
		return root;
	}
	if (low != 0) {
		before = p->nodes[last_node(p, low)];
	}
	if (inside != 0) {
		within = p->nodes[last_node(p, inside)];
	}
	if (before.end > start) {
		low = cut_last(p, low, start);
	}
	low = merge(p, low, node_make(p, start, end, mapping));
	if (before.end > end) { /* the new range is inside an old one: keep its end */
		low = merge(p, low, node_make(p, end, before.end, before.mapping));
	}
	if (within.end > end) {
		low = merge(p, low, node_make(p, end, within.end, within.mapping));
	}
	return p->failed ? root : merge(p, low, high);
}
