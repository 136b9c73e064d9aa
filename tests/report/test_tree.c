/* SPDX-License-Identifier: MIT */
/* The tree that orders rows: it is balanced, and the same from whichever node a search begins. */
#include "report/tree.h"
#include "tap.h"

#include <stdlib.h>

enum { NODES = 5000 };

static uint64_t state = 1;

static uint32_t below(uint32_t n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((state >> 33) % n);
}

/* Rank within a group, but depth within a thread: not a total order. */
static bool before(const struct report_tree_node *x, const struct report_tree_node *y)
{
	if (x->group != y->group) {
		return x->group < y->group;
	}
	if (x->tid == y->tid && x->depth != y->depth) {
		return x->depth < y->depth;
	}
	return x->rank < y->rank;
}

static void insert(struct report_tree *t, uint32_t node, uint32_t from)
{
	enum report_tree_side side = REPORT_TREE_LEFT;
	uint32_t parent = 0;

	for (uint32_t at = from; at != 0; at = t->nodes[at].child[side]) {
		side = before(&t->nodes[node], &t->nodes[at]) ? REPORT_TREE_LEFT
		                                              : REPORT_TREE_RIGHT;
		parent = at;
	}
	report_tree_insert(t, parent, side);
}

/* The next node in order, found by links of the tree; 0: the first. */
static uint32_t next(const struct report_tree *t, uint32_t node)
{
	uint32_t at = node != 0 ? t->nodes[node].child[REPORT_TREE_RIGHT] : t->root;

	if (at == 0) {
		while (t->nodes[node].parent != 0 &&
		        t->nodes[t->nodes[node].parent].child[REPORT_TREE_RIGHT] == node) {
			node = t->nodes[node].parent;
		}
		return t->nodes[node].parent;
	}
	while (t->nodes[at].child[REPORT_TREE_LEFT] != 0) {
		at = t->nodes[at].child[REPORT_TREE_LEFT];
	}
	return at;
}

static uint32_t height(const struct report_tree *t)
{
	uint32_t most = 0;

	for (uint32_t i = 1; i <= t->n; i++) {
		uint32_t n = 0;

		for (uint32_t at = i; at != 0; at = t->nodes[at].parent) {
			n++;
		}
		most = n > most ? n : most;
	}
	return most;
}

/* Inserts as test_groups, but appends a node that comes after the last one of its group. */
static void insert_or_append(struct report_tree *t, uint32_t i)
{
	uint32_t last = t->lasts[t->nodes[i].group];

	if (t->nodes[i].tid == UINT32_MAX && last != 0 && t->nodes[last].rank < t->nodes[i].rank) {
		report_tree_append(t);
	} else {
		insert(t, i, report_tree_top(t, t->nodes[i].group));
	}
}

static void test_groups(uint32_t groups, uint32_t threads, uint32_t depths, const char *what)
{
	static uint32_t order[NODES], plain_order[NODES];
	static struct report_tree_node nodes[NODES + 1], plain_nodes[NODES + 1];
	struct report_tree tree, plain;
	bool rises = true;

	if (report_tree_init(&tree, nodes, NODES, groups) < 0 ||
	        report_tree_init(&plain, plain_nodes, NODES, 1) < 0) {
		abort();
	}
	for (uint32_t i = 1; i <= NODES; i++) {
		struct report_tree_node node = {.rank = below(NODES),
		        .group = below(groups),
		        .tid = threads != 0 ? below(threads) : UINT32_MAX, /* ordered by rank */
		        .depth = below(depths) & INT32_MAX};

		tree.nodes[i] = node;
		insert_or_append(&tree, i);
		plain.nodes[i] = node;
		plain.nodes[i].group = 0; /* it has one group, hence one top */
	}
	for (uint32_t i = 1; i <= NODES; i++) {
		uint32_t at = plain.root, parent = 0;
		enum report_tree_side side = REPORT_TREE_LEFT;

		for (; at != 0; at = plain.nodes[at].child[side]) {
			side = before(&tree.nodes[i], &tree.nodes[at]) ? REPORT_TREE_LEFT
			                                               : REPORT_TREE_RIGHT;
			parent = at;
		}
		report_tree_insert(&plain, parent, side);
	}
	for (uint32_t i = 0, x = 0, y = 0; i < NODES; i++) {
		order[i] = x = report_tree_next(&tree, x);
		plain_order[i] = y = next(&plain, y);
	}
	eq_mem(order, plain_order, sizeof(order), what);
	for (uint32_t i = 1; i < NODES; i++) {
		rises = rises && tree.nodes[order[i - 1]].group <= tree.nodes[order[i]].group;
	}
	ok(rises, "nodes are in order of their groups");
	ok(height(&tree) <= 26,
	        "no path is longer than twice the logarithm of the number of nodes");
	report_tree_fini(&tree);
	report_tree_fini(&plain);
}

int main(void)
{
	test_groups(
	        1, 1, 1, "one group: a search from its top gives the same order as from the root");
	test_groups(7, 5, 9, "few groups: searches from tops give the same order as from the root");
	test_groups(
	        2000, 3, 4, "many groups: searches from tops give the same order as from the root");
	test_groups(3, 0, 1, "nodes that are appended to few groups are where a search puts them");
	test_groups(
	        900, 0, 1, "nodes that are appended to many groups are where a search puts them");
	return tap_done();
}
