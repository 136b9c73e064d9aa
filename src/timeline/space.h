/* SPDX-License-Identifier: MIT */
/*
 * Address spaces as persistent treaps of disjoint ranges, ordered by start. A root is a number; 0
 * is the empty space. Inserting copies the path it changes (about 2 log n nodes) and returns a new
 * root; old roots stay.
 */
#ifndef SONDE_TIMELINE_SPACE_H
#define SONDE_TIMELINE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct space_node {
	uint64_t start, end; /* [start, end), what is visible of the mapping here */
	uint32_t mapping; /* index */
	uint32_t left, right;
	uint32_t priority; /* heap order; from a hash of a counter, so depth is about 2 log n for
	                      any input */
};

/* Zero-initialised is valid. */
struct space_pool {
	struct space_node *nodes; /* [0] is unused: index 0 means none */
	size_t count, cap;
	bool failed; /* out of memory: roots since then are not complete */
};

void space_pool_fini(struct space_pool *p);

/* The space `root` with [start, end) now belonging to `mapping`; what lay there is cut away. */
uint32_t space_insert(
        struct space_pool *p, uint32_t root, uint64_t start, uint64_t end, uint32_t mapping);

/* The node that covers addr, or NULL. */
static inline const struct space_node *space_find(
        const struct space_pool *p, uint32_t root, uint64_t addr)
{
	while (root != 0) {
		const struct space_node *n = &p->nodes[root];

		if (addr < n->start) {
			root = n->left;
		} else if (addr >= n->end) {
			root = n->right;
		} else {
			return n;
		}
	}
	return NULL;
}

#endif
