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
	uint64_t start, end; /* [start, end): the part of the mapping that no later one covers */
	uint32_t mapping; /* index */
	uint32_t left, right;
	uint32_t priority; /* heap order; the hash of a counter, so that no input makes the tree
	                      deeper than about 2 log n */
};

/* Empty when zero-initialised. */
struct space_pool {
	struct space_node *nodes; /* [0] is unused: index 0 means none */
	size_t count, cap;
	size_t fresh; /* nodes from here on belong to the space that is being made: they may change */
	bool failed; /* out of memory: later roots are incomplete */
};

void space_pool_fini(struct space_pool *p);

/* Adds a node as it is, with its links; 0: out of memory. */
uint32_t space_add(struct space_pool *p, const struct space_node *n);

/* Returns the root of a space where [start, end) belongs to `mapping`; older ranges are cut. */
uint32_t space_insert(
        struct space_pool *p, uint32_t root, uint64_t start, uint64_t end, uint32_t mapping);

/* Returns the node that covers addr, or NULL. */
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

/* Returns the first node that ends above addr, or NULL. */
static inline const struct space_node *space_next(
        const struct space_pool *p, uint32_t root, uint64_t addr)
{
	const struct space_node *next = NULL;

	while (root != 0) {
		const struct space_node *n = &p->nodes[root];

		next = addr < n->end ? n : next;
		root = addr < n->end ? n->left : n->right;
	}
	return next;
}

#endif
