/* SPDX-License-Identifier: MIT */
/*
 * A red-black tree that only grows, for sorting by a comparison that is not transitive: the result
 * depends on the tree. Nodes are numbers: node i is the i-th inserted one, from 1; 0 is a leaf. The
 * caller fills in the members that it compares and searches the parent, so that comparing needs no
 * function call:
 *
 *	for (at = report_tree_top(&tree, group), parent = 0; at != 0;)
 *		parent = at, side = ..., at = tree.nodes[at].child[side];
 *	report_tree_insert(&tree, parent, side);
 *
 * Nodes belong to groups, and the comparison of groups is transitive: so the nodes of a group are
 * neighbours, one of them is an ancestor of all others, and the search for the parent of a new node
 * of the group can begin there.
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
	/* filled in by the caller */
	uint32_t rank;
	union {
		struct {
			uint32_t pid, tid;
		};
		uint64_t address;
	};
	uint32_t group; /* 0 to n - 1 */
	uint32_t depth : 31;
	uint32_t red : 1;
};

struct report_tree {
	struct report_tree_node *nodes; /* [0] is the leaf, which is black */
	uint32_t *after; /* next node in the order, by node; after[0]: the first node */
	uint32_t *tops; /* the uppermost node of each group; 0: none yet */
	uint32_t *lasts; /* the last node of each group in the order; 0: none yet */
	uint32_t root;
	uint32_t n; /* number of inserted nodes */
};

/*
 * Makes an empty tree for n nodes, fewer than UINT32_MAX, in `groups` groups. 0 or SONDE_ENOMEM.
 * nodes: an array of n + 1 that the caller owns, and fills before it inserts a node.
 */
int report_tree_init(
        struct report_tree *t, struct report_tree_node *nodes, size_t n, size_t groups);
void report_tree_fini(struct report_tree *t);

/* Returns the node where the search for a parent in a group begins; 0: the tree is empty. */
static inline uint32_t report_tree_top(const struct report_tree *t, uint32_t group)
{
	return t->tops[group] != 0 ? t->tops[group] : t->root;
}

/* Inserts the next node as a child of `parent`, which has none on that side; parent 0: as root. */
void report_tree_insert(struct report_tree *t, uint32_t parent, enum report_tree_side side);

/* Inserts the next node after the last one of its group, without a search. */
void report_tree_append(struct report_tree *t);

/* Returns the next node in the order of the tree, after node 0 the first one; 0: none. */
static inline uint32_t report_tree_next(const struct report_tree *t, uint32_t node)
{
	return t->after[node];
}

#endif
