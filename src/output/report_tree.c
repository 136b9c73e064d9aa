/* SPDX-License-Identifier: MIT */
/*
 * A red-black tree that only grows. Nodes are numbers: node i is the i-th that was inserted, from 1
 * on; 0 is a leaf, which is black.
 */
#include "output/report_tree.h"

#include "core/status.h"

#include <stdlib.h>

enum { LEFT, RIGHT };

struct node {
	uint32_t child[2];
	uint32_t parent;
	bool red;
};

struct tree {
	struct node *nodes; /* [0] is the leaf */
	uint32_t root;
};

static unsigned side_of(const struct tree *t, uint32_t node)
{
	return t->nodes[t->nodes[node].parent].child[RIGHT] == node ? RIGHT : LEFT;
}

/* The child on the other side takes the node's place, and the node becomes its child. */
static void rotate(struct tree *t, uint32_t node, unsigned side)
{
	struct node *n = &t->nodes[node];
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
static void balance(struct tree *t, uint32_t node)
{
	struct node *n = t->nodes;

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

static void insert(struct tree *t, const uint32_t *order, uint32_t node,
        bool (*before)(const void *arg, uint32_t a, uint32_t b), const void *arg)
{
	uint32_t parent = 0, at = t->root;
	unsigned side = LEFT;

	while (at != 0) {
		parent = at;
		side = before(arg, order[node - 1], order[at - 1]) ? LEFT : RIGHT;
		at = t->nodes[at].child[side];
	}
	t->nodes[node] = (struct node){.parent = parent, .red = true};
	if (parent == 0) {
		t->root = node;
	} else {
		t->nodes[parent].child[side] = node;
	}
	balance(t, node);
}

static uint32_t leftmost(const struct tree *t, uint32_t node)
{
	while (t->nodes[node].child[LEFT] != 0) {
		node = t->nodes[node].child[LEFT];
	}
	return node;
}

static uint32_t next(const struct tree *t, uint32_t node)
{
	if (t->nodes[node].child[RIGHT] != 0) {
		return leftmost(t, t->nodes[node].child[RIGHT]);
	}
	while (t->nodes[node].parent != 0 && side_of(t, node) == RIGHT) {
		node = t->nodes[node].parent;
	}
	return t->nodes[node].parent;
}

int report_tree_sort(uint32_t *order, size_t n,
        bool (*before)(const void *arg, uint32_t a, uint32_t b), const void *arg)
{
	struct tree t = {.nodes = calloc(n + 1, sizeof(*t.nodes))};
	uint32_t *sorted = malloc((n + 1) * sizeof(*sorted));
	uint32_t node;
	int rc = SONDE_ENOMEM;

	if (t.nodes != NULL && sorted != NULL) {
		for (uint32_t i = 1; i <= n; i++) {
			insert(&t, order, i, before, arg);
		}
		node = leftmost(&t, t.root);
		for (size_t i = 0; i < n; i++, node = next(&t, node)) {
			sorted[i] = order[node - 1];
		}
		for (size_t i = 0; i < n; i++) {
			order[i] = sorted[i];
		}
		rc = 0;
	}
	free(t.nodes);
	free(sorted);
	return rc;
}
