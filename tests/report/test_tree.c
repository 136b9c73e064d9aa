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

static struct {
	uint32_t group, rank, thread, depth;
} rows[NODES + 1];

/* Rank within a group, but depth within a thread: not a total order. */
static bool before(uint32_t x, uint32_t y)
{
	if (rows[x].group != rows[y].group) {
		return rows[x].group < rows[y].group;
	}
	if (rows[x].thread == rows[y].thread && rows[x].depth != rows[y].depth) {
		return rows[x].depth < rows[y].depth;
	}
	return rows[x].rank < rows[y].rank;
}

static void insert(struct report_tree *t, uint32_t node, uint32_t from)
{
	enum report_tree_side side = REPORT_TREE_LEFT;
	uint32_t parent = 0;

	for (uint32_t at = from; at != 0; at = t->nodes[at].child[side]) {
		side = before(node, at) ? REPORT_TREE_LEFT : REPORT_TREE_RIGHT;
		parent = at;
	}
	(void)report_tree_insert(t, node, parent, side);
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

	for (uint32_t i = 1; i <= NODES; i++) {
		uint32_t n = 0;

		for (uint32_t at = i; at != 0; at = t->nodes[at].parent) {
			n++;
		}
		most = n > most ? n : most;
	}
	return most;
}

/* Inserts without a search if the node comes after all others of its group. */
static void insert_or_append(struct report_tree *t, uint32_t i)
{
	uint32_t last = t->lasts[rows[i].group];

	if (rows[i].thread == UINT32_MAX && last != 0 && rows[last].rank <= rows[i].rank) {
		report_tree_insert_after(t, i, last);
	} else {
		insert(t, i, report_tree_top(t, rows[i].group));
	}
}

/* threads 0: nodes are compared by rank alone. */
static void test_groups(uint32_t groups, uint32_t threads, uint32_t depths, const char *what)
{
	static uint32_t order[NODES], plain_order[NODES];
	static struct report_tree_node nodes[NODES + 1], plain_nodes[NODES + 1];
	struct report_tree tree, plain;
	bool rises = true, ends = true;

	if (report_tree_init(&tree, nodes, NODES, groups) < 0 ||
	        report_tree_init(&plain, plain_nodes, NODES, 1) < 0) {
		abort();
	}
	for (uint32_t i = 1; i <= NODES; i++) {
		rows[i].group = below(groups);
		rows[i].rank = below(NODES);
		rows[i].thread = threads != 0 ? below(threads) : UINT32_MAX;
		rows[i].depth = threads != 0 ? below(depths) : 0;
		nodes[i].group = rows[i].group & REPORT_TREE_MAX;
		insert_or_append(&tree, i);
		plain_nodes[i].group = 0; /* it has one group, hence one top */
		insert(&plain, i, plain.root);
	}
	report_tree_list(&tree, order);
	for (uint32_t i = 0, node = 0; i < NODES; i++) {
		plain_order[i] = node = next(&plain, node);
	}
	eq_mem(order, plain_order, sizeof(order), what);
	for (uint32_t i = 0; i < NODES; i++) {
		uint32_t group = rows[order[i]].group;
		bool first = i == 0 || rows[order[i - 1]].group != group;
		bool last = i == NODES - 1 || rows[order[i + 1]].group != group;

		rises = rises && (i == 0 || rows[order[i - 1]].group <= group);
		ends = ends && (!first || tree.firsts[group] == order[i]) &&
		       (!last || tree.lasts[group] == order[i]);
	}
	ok(rises, "nodes are in order of their groups");
	ok(ends, "the first and the last node of each group are known");
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
