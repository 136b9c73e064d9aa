/* SPDX-License-Identifier: MIT */
#include "report/tree.h"

#include "core/status.h"

#include <stdlib.h>
#include <string.h>

#define LEFT  REPORT_TREE_LEFT
#define RIGHT REPORT_TREE_RIGHT

static unsigned side_of(const struct report_tree *t, uint32_t node)
{
	return t->nodes[t->nodes[node].parent].child[RIGHT] == node ? RIGHT : LEFT;
}

/* Replaces the node by its child on the other side, and makes it a child of that child. */
static void rotate(struct report_tree *t, uint32_t node, unsigned side)
{
	struct report_tree_node *n = &t->nodes[node];
	uint32_t up = n->child[!side];
	uint32_t parent = n->parent;

	if (parent == 0) {
		t->root = up;
	} else {
		t->nodes[parent].child[side_of(t, node)] = up;
	}
	n->child[!side] = t->nodes[up].child[side];
	if (n->child[!side] != 0) {
		t->nodes[n->child[!side]].parent = node;
	}
	t->nodes[up].child[side] = node;
	t->nodes[up].parent = parent;
	n->parent = up;
	if (n->group == t->nodes[up].group && t->tops[n->group] == node) {
		t->tops[n->group] = up;
	}
}

/* After the red `node` was inserted: restores that no red node has a red parent. */
static void balance(struct report_tree *t, uint32_t node)
{
	struct report_tree_node *n = t->nodes;

	while (n[n[node].parent].red) {
		uint32_t parent = n[node].parent;
		uint32_t above = n[parent].parent;
		unsigned side = side_of(t, parent);
		uint32_t uncle = n[above].child[!side];

		if (n[uncle].red) {
			n[parent].red = n[uncle].red = false;
			n[above].red = true;
			node = above;
			continue;
		}
		if (side_of(t, node) != side) {
			rotate(t, parent, side);
			parent = node;
		}
		n[parent].red = false;
		n[above].red = true;
		rotate(t, above, !side);
		break;
	}
	n[t->root].red = false;
}

int report_tree_init(struct report_tree *t, struct report_tree_node *nodes, size_t n, size_t groups)
{
	*t = (struct report_tree){.nodes = nodes,
	        .after = calloc(n + 1, sizeof(*t->after)),
	        .tops = calloc(groups, sizeof(*t->tops)),
	        .firsts = calloc(groups, sizeof(*t->firsts)),
	        .lasts = calloc(groups, sizeof(*t->lasts))};
	if (n > REPORT_TREE_MAX || t->after == NULL || t->tops == NULL || t->firsts == NULL ||
	        t->lasts == NULL) {
		report_tree_fini(t);
		return SONDE_ENOMEM;
	}
	nodes[0] = (struct report_tree_node){0};
	return 0;
}

void report_tree_fini(struct report_tree *t)
{
	free(t->after);
	free(t->tops);
	free(t->firsts);
	free(t->lasts);
	*t = (struct report_tree){0};
}

void report_tree_clear(struct report_tree *t, size_t groups)
{
	t->root = t->after[0] = 0;
	t->nodes[0] = (struct report_tree_node){0};
	memset(t->tops, 0, groups * sizeof(*t->tops));
	memset(t->firsts, 0, groups * sizeof(*t->firsts));
	memset(t->lasts, 0, groups * sizeof(*t->lasts));
}

/* Returns the node before one that has no left child; 0: none. */
static uint32_t node_before(const struct report_tree *t, uint32_t node)
{
	while (t->nodes[node].parent != 0 && side_of(t, node) == LEFT) {
		node = t->nodes[node].parent;
	}
	return t->nodes[node].parent;
}

static void insert(struct report_tree *t, uint32_t node, uint32_t before, uint32_t parent,
        enum report_tree_side side)
{
	struct report_tree_node *n = &t->nodes[node];
	uint32_t group = n->group;

	t->after[node] = t->after[before];
	t->after[before] = node;
	n->child[LEFT] = n->child[RIGHT] = 0;
	n->parent = parent;
	n->red = true;
	if (parent == 0) {
		t->root = node;
	} else {
		t->nodes[parent].child[side] = node;
	}
	if (t->tops[group] == 0) {
		t->tops[group] = t->firsts[group] = t->lasts[group] = node;
	} else if (before == t->lasts[group]) {
		t->lasts[group] = node;
	} else if (t->after[node] == t->firsts[group]) {
		t->firsts[group] = node;
	}
	balance(t, node);
}

uint32_t report_tree_insert(
        struct report_tree *t, uint32_t node, uint32_t parent, enum report_tree_side side)
{
	uint32_t before = side == RIGHT || parent == 0 ? parent : node_before(t, parent);

	insert(t, node, before, parent, side);
	return before;
}

void report_tree_insert_after(struct report_tree *t, uint32_t node, uint32_t before)
{
	if (t->nodes[before].child[RIGHT] == 0) {
		insert(t, node, before, before, RIGHT);
	} else { /* the next node is the leftmost one of that child */
		insert(t, node, before, t->after[before], LEFT);
	}
}

void report_tree_list(const struct report_tree *t, uint32_t *order)
{
	for (uint32_t node = t->after[0]; node != 0; node = t->after[node]) {
		*order++ = node;
	}
}
