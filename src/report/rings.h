/* SPDX-License-Identifier: MIT */
/*
 * Sorts rows as perf's trees do that compare addresses by the sign of their difference: addresses
 * further apart than half of all numbers go around in a circle, and the tree decides where the
 * circle is cut.
 *
 * A row is a node of the tree; its number is its rank, from 1. Nodes belong to groups whose numbers
 * rise with the ranks. In a circle, ranks rise with the addresses as signed numbers; equal addresses
 * are compared by rank. In other groups all nodes are compared by rank.
 *
 * Most nodes need no search: the neighbours by rank among the nodes that are inserted before are
 * found for all nodes at once, from the last one back to the first. In circles a search ends where
 * all further comparisons would lead to the neighbour.
 */
#ifndef SONDE_REPORT_RINGS_H
#define SONDE_REPORT_RINGS_H

#include "report/tree.h"

/*
 * How a group is compared: by rank, or in a circle. The nodes of a circle in the tree, from the
 * first to the last one, go around it less than once, less than twice, or more often.
 */
enum report_ring { REPORT_RING_NONE, REPORT_RING_ONCE, REPORT_RING_TWICE, REPORT_RING_WILD };

/* The nearest nodes by rank; 0: none. In circles the lowest rank follows the highest one. */
struct report_ring_links {
	uint32_t before, after;
};

struct report_rings {
	struct report_tree tree;
	uint32_t n; /* number of nodes */
	uint8_t *rings; /* enum report_ring, by group: REPORT_RING_NONE at first */
	uint32_t groups;
	struct report_ring_links *links; /* by node, among those of its group that came before it */
};

/*
 * Allocates memory for n nodes, at most REPORT_TREE_MAX. nodes and links: arrays of n + 1 that the
 * caller owns. The caller then fills in groups, and the group and the address of each node; circles are
 * REPORT_RING_ONCE. 0 or SONDE_ENOMEM.
 */
int report_rings_init(struct report_rings *r, struct report_tree_node *nodes,
        struct report_ring_links *links, size_t n);
void report_rings_fini(struct report_rings *r);

/*
 * Inserts the nodes into a tree in the order of `order`, and replaces `order` by that of the tree;
 * the same again for `trees` trees.
 */
void report_rings_sort(struct report_rings *r, uint32_t *order, unsigned trees);

#endif
