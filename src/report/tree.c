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

/* The child on the other side takes the node's place, and the node becomes its child. */
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
}

/* No red node has a red parent again, after `node` came in as a red one. */
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

int report_tree_init(struct report_tree *t, size_t n)
{
	*t = (struct report_tree){.nodes = calloc(n + 1, sizeof(*t->nodes))};
	return t->nodes != NULL ? 0 : SONDE_ENOMEM;
}

void report_tree_fini(struct report_tree *t)
{
	free(t->nodes);
	t->nodes = NULL;
}

void report_tree_insert(struct report_tree *t, uint32_t parent, enum report_tree_side side)
{
	uint32_t node = ++t->n;

	t->nodes[node] = (struct report_tree_node){.parent = parent, .red = true};
	if (parent == 0) {
		t->root = node;
	} else {
		t->nodes[parent].child[side] = node;
	}
	balance(t, node);
}

static uint32_t leftmost(const struct report_tree *t, uint32_t node)
{
	while (t->nodes[node].child[LEFT] != 0) {
		node = t->nodes[node].child[LEFT];
	}
	return node;
}

static uint32_t next(const struct report_tree *t, uint32_t node)
{
	if (t->nodes[node].child[RIGHT] != 0) {
		return leftmost(t, t->nodes[node].child[RIGHT]);
	}
	while (t->nodes[node].parent != 0 && side_of(t, node) == RIGHT) {
		node = t->nodes[node].parent;
	}
	return t->nodes[node].parent;
}

void report_tree_order(const struct report_tree *t, uint32_t *order, uint32_t *spare)
{
	uint32_t node = t->n != 0 ? leftmost(t, t->root) : 0;

	memcpy(spare, order, t->n * sizeof(*spare));
	for (size_t i = 0; i < t->n; i++, node = next(t, node)) {
		order[i] = spare[node - 1];
	}
}
