/* SPDX-License-Identifier: MIT */
/*
 * A red-black tree that only grows, for sorting by a comparison that is not transitive: the result
 * depends on the tree. Nodes are numbers from 1; 0 is a leaf. The caller compares and searches the
 * parent, so that comparing needs no function call:
 *
 *	for (at = report_tree_top(&tree, group), parent = 0; at != 0;)
 *		parent = at, side = ..., at = tree.nodes[at].child[side];
 *	report_tree_insert(&tree, node, parent, side);
 *
 * If it knows which node comes before the new one, it needs no search.
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

/* Half of a line of the processor's cache, with what a search compares. */
struct report_tree_node {
	uint32_t child[2];
	uint32_t parent;
	uint32_t group : 31; /* 0 to groups - 1; set by the caller */
	uint32_t red : 1;
	/* Only for the caller, who sets and compares them: */
	uint32_t tid;
	union {
		struct {
			uint32_t pid, depth;
		};
		uint64_t address;
	};
};

#define REPORT_TREE_MAX ((uint32_t)INT32_MAX) /* nodes */

struct report_tree {
	struct report_tree_node *nodes; /* [0] is the leaf, which is black */
	uint32_t *after; /* next node in the order, by node; after[0]: the first node */
	/* By group; 0: it has no node yet. */
	uint32_t *tops; /* its uppermost node */
	uint32_t *firsts, *lasts; /* in the order */
	uint32_t root;
};

/*
 * Makes an empty tree for n nodes, at most REPORT_TREE_MAX, in `groups` groups. 0 or SONDE_ENOMEM.
 * nodes: an array of n + 1 that the caller owns. It sets the group of each but nodes[0].
 */
int report_tree_init(
        struct report_tree *t, struct report_tree_node *nodes, size_t n, size_t groups);
void report_tree_fini(struct report_tree *t);

/* Removes all nodes; their groups remain. */
void report_tree_clear(struct report_tree *t, size_t groups);

/* Returns the node where the search for a parent in a group begins; 0: the tree is empty. */
static inline uint32_t report_tree_top(const struct report_tree *t, uint32_t group)
{
	return t->tops[group] != 0 ? t->tops[group] : t->root;
}

/*
 * Inserts a node as a child of `parent`, which has none on that side; parent 0: as root. Returns the
 * node before it in the order; 0: none.
 */
uint32_t report_tree_insert(
        struct report_tree *t, uint32_t node, uint32_t parent, enum report_tree_side side);

/* Inserts a node after another one in the order. */
void report_tree_insert_after(struct report_tree *t, uint32_t node, uint32_t before);

/* Returns the next node in the order of the tree, after node 0 the first one; 0: none. */
static inline uint32_t report_tree_next(const struct report_tree *t, uint32_t node)
{
	return t->after[node];
}

/* Stores all nodes in the order of the tree; order has room for them. */
void report_tree_list(const struct report_tree *t, uint32_t *order);

#endif
