/* SPDX-License-Identifier: MIT */
/*
 * A red-black tree that only grows, for sorting by a comparison that is no order: what comes out
 * depends on the tree. Nodes are numbers: node i is the i-th that was inserted, from 1 on; 0 is a
 * leaf. Whoever inserts looks for the place, so that comparing is no call:
 *
 *	for (at = tree.root, parent = 0; at != 0;)
 *		parent = at, side = ..., at = tree.nodes[at].child[side];
 *	report_tree_insert(&tree, parent, side);
 */
#ifndef SONDE_REPORT_TREE_H
#define SONDE_REPORT_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum report_tree_side { REPORT_TREE_LEFT, REPORT_TREE_RIGHT };

struct report_tree_node {
	uint32_t child[2];
	uint32_t parent;
	bool red;
};

struct report_tree {
	struct report_tree_node *nodes; /* [0] is the leaf, which is black */
	uint32_t root;
	uint32_t n; /* that were inserted */
};

/* An empty tree with room for n nodes, fewer than UINT32_MAX; 0 or SONDE_ENOMEM. */
int report_tree_init(struct report_tree *t, size_t n);
void report_tree_fini(struct report_tree *t);
/* The next node becomes a child of `parent` where that has none; 0: the root of an empty tree. */
void report_tree_insert(struct report_tree *t, uint32_t parent, enum report_tree_side side);
/*
 * Puts order[0..t->n), of which order[i - 1] belongs to node i, in the order of the tree. spare:
 * room for as many.
 */
void report_tree_order(const struct report_tree *t, uint32_t *order, uint32_t *spare);

#endif
