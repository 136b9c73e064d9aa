/* SPDX-License-Identifier: MIT */
/*
 * A red-black tree that only grows, for sorting by a comparison that is no order: what comes out
 * depends on the tree. Nodes are numbers: node i is the i-th that was inserted, from 1 on; 0 is a
 * leaf. Whoever inserts fills in what it compares and looks for the place, so that comparing is no
 * call:
 *
 *	for (at = report_tree_top(&tree, group), parent = 0; at != 0;)
 *		parent = at, side = ..., at = tree.nodes[at].child[side];
 *	report_tree_insert(&tree, parent, side);
 *
 * Nodes belong to groups, and groups are compared by an order: so a group's nodes are neighbours,
 * one of them is above all others, and the way to a new one leads through that one.
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
	/* of the one who inserts */
	uint32_t rank, pid, tid;
	uint32_t group; /* 0 to n - 1 */
	uint32_t depth : 31;
	uint32_t red : 1;
};

struct report_tree {
	struct report_tree_node *nodes; /* [0] is the leaf, which is black */
	uint32_t *after; /* the next node in the order; of 0: the first one */
	uint32_t *tops; /* the uppermost node of each group; 0: none yet */
	uint32_t root;
	uint32_t n; /* that were inserted */
};

/*
 * An empty tree with room for n nodes, fewer than UINT32_MAX, of so many groups; 0 or SONDE_ENOMEM.
 * nodes: room for n + 1, which stays the caller's; each is filled before it is inserted.
 */
int report_tree_init(
        struct report_tree *t, struct report_tree_node *nodes, size_t n, size_t groups);
void report_tree_fini(struct report_tree *t);

/* Where the search for the place of a new node of a group begins; 0: the tree is empty. */
static inline uint32_t report_tree_top(const struct report_tree *t, uint32_t group)
{
	return t->tops[group] != 0 ? t->tops[group] : t->root;
}

/* The next node becomes a child of `parent` where that has none; 0: the root of an empty tree. */
void report_tree_insert(struct report_tree *t, uint32_t parent, enum report_tree_side side);

/* The node after another one in the order of the tree; after 0 the first one; 0: none. */
static inline uint32_t report_tree_next(const struct report_tree *t, uint32_t node)
{
	return t->after[node];
}

#endif
