/* SPDX-License-Identifier: MIT */
#include "report/tree.h"

#include "core/status.h"

#include <stdlib.h>

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
	        .lasts = calloc(groups, sizeof(*t->lasts))};
	if (t->after == NULL || t->tops == NULL || t->lasts == NULL) {
		report_tree_fini(t);
		return SONDE_ENOMEM;
	}
	return 0;
}

void report_tree_fini(struct report_tree *t)
{
	free(t->after);
	free(t->tops);
	free(t->lasts);
	*t = (struct report_tree){0};
}

/* Returns the node before one that has no left child; 0: none. */
static uint32_t node_before(const struct report_tree *t, uint32_t node)
{
	while (t->nodes[node].parent != 0 && side_of(t, node) == LEFT) {
		node = t->nodes[node].parent;
	}
	return t->nodes[node].parent;
}

void report_tree_insert(struct report_tree *t, uint32_t parent, enum report_tree_side side)
{
	uint32_t node = ++t->n;
	uint32_t group = t->nodes[node].group;
	uint32_t before = side == RIGHT || parent == 0 ? parent : node_before(t, parent);

	t->after[node] = t->after[before];
	t->after[before] = node;
	t->nodes[node].parent = parent;
	t->nodes[node].red = true;
	if (parent == 0) {
		t->nodes[0] = (struct report_tree_node){0};
		t->root = node;
	} else {
		t->nodes[parent].child[side] = node;
	}
	if (t->tops[group] == 0) {
		t->tops[group] = node;
	}
	if (before == t->lasts[group] || t->lasts[group] == 0) {
		t->lasts[group] = node;
	}
	balance(t, node);
}

void report_tree_append(struct report_tree *t)
{
	uint32_t last = t->lasts[t->nodes[t->n + 1].group];

	if (t->nodes[last].child[RIGHT] == 0) {
		report_tree_insert(t, last, REPORT_TREE_RIGHT);
	} else { /* nodes of other groups follow */
		report_tree_insert(t, t->after[last], REPORT_TREE_LEFT);
	}
}
