/* SPDX-License-Identifier: MIT */
#include "report/rings.h"

#include "core/status.h"

#include <stdlib.h>

#define AHEAD 16u /* nodes to prefetch */

int report_rings_init(struct report_rings *r, struct report_tree_node *nodes,
        struct report_ring_links *links, size_t n)
{
	*r = (struct report_rings){
	        .n = (uint32_t)n, .links = links, .rings = calloc(n + 1, sizeof(*r->rings))};
	if (r->rings == NULL) {
		return SONDE_ENOMEM;
	}
	return report_tree_init(&r->tree, nodes, n, n + 1);
}

void report_rings_fini(struct report_rings *r)
{
	report_tree_fini(&r->tree);
	free(r->rings);
	*r = (struct report_rings){0};
}

/* Finds the links of each node at the time when it will be inserted. */
static void links_make(struct report_rings *r, const uint32_t *order)
{
	const struct report_tree_node *nodes = r->tree.nodes;
	struct report_ring_links *links = r->links;

	for (uint32_t first = 1, end; first <= r->n; first = end) {
		bool circle = r->rings[nodes[first].group] != REPORT_RING_NONE;

		for (end = first; end <= r->n && nodes[end].group == nodes[first].group; end++) {
			links[end] = (struct report_ring_links){end - 1, end + 1};
		}
		links[first].before = circle ? end - 1 : 0;
		links[end - 1].after = circle ? first : 0;
	}
	for (uint32_t i = r->n; i-- > 0;) {
		const struct report_ring_links *l = &links[order[i]];

		links[l->before].after = l->after; /* those of node 0 are not used */
		links[l->after].before = l->before;
	}
}

/* Whether node x is before node y. */
static inline bool node_before(const struct report_rings *r, uint32_t x, uint32_t y)
{
	const struct report_tree_node *nodes = r->tree.nodes;
	uint32_t group = nodes[x].group;

	if (nodes[y].group == group && r->rings[group] != REPORT_RING_NONE &&
	        nodes[x].address != nodes[y].address) {
		return (int64_t)(nodes[x].address - nodes[y].address) < 0;
	}
	return x < y;
}

/* Whether a node is where the nodes of a circle overlap, if they go around it more than once. */
static bool overlaps(const struct report_rings *r, uint32_t node, uint32_t group)
{
	const struct report_tree_node *nodes = r->tree.nodes;
	uint64_t first = nodes[r->tree.firsts[group]].address;

	return nodes[node].address - first <= nodes[r->tree.lasts[group]].address - first;
}

/*
 * Whether a search among the nodes of a circle from `low` to `high` leads to the neighbour of x:
 * they are in the order of the circle, and less than half of it away from x.
 */
static inline bool leads(const struct report_rings *r, uint32_t x, uint32_t low, uint32_t high)
{
	const struct report_tree_node *nodes = r->tree.nodes;
	uint64_t at = nodes[x].address, first = nodes[low].address, last = nodes[high].address;

	return at - first < last - first && (int64_t)(at - first) > 0 && (int64_t)(last - at) > 0;
}

/*
 * Searches the parent of a node and returns 0, or stops as soon as it is clear which node is before
 * it, and returns that. ordered: the nodes around it are in the order of the circle.
 */
static uint32_t parent_search(const struct report_rings *r, uint32_t x, bool ordered,
        uint32_t *parent, enum report_tree_side *side)
{
	const struct report_tree *tree = &r->tree;
	uint32_t group = tree->nodes[x].group;
	uint32_t low = tree->firsts[group], high = tree->lasts[group];

	for (uint32_t at = report_tree_top(tree, group); at != 0;) {
		if (ordered && leads(r, x, low, high)) {
			return r->links[x].before;
		}
		ordered = ordered && tree->nodes[at].group == group;
		*parent = at;
		if (node_before(r, x, at)) {
			*side = REPORT_TREE_LEFT;
			high = at;
		} else {
			*side = REPORT_TREE_RIGHT;
			low = at;
		}
		at = tree->nodes[at].child[*side];
	}
	return 0;
}

/*
 * Updates the state of a circle after a search inserted a node. before: the node before it; first,
 * last: of the circle without it. Between two others, a node is less than half of the circle away
 * from both, so only the ends can make another turn.
 */
static void ring_extend(
        struct report_rings *r, uint32_t x, uint32_t before, uint32_t first, uint32_t last)
{
	uint8_t *ring = &r->rings[r->tree.nodes[x].group];
	const struct report_tree_node *n = r->tree.nodes;
	uint64_t length = n[last].address - n[first].address, sum;

	if (last == 0 || *ring == REPORT_RING_NONE || *ring == REPORT_RING_WILD) {
		return;
	}
	if (report_tree_next(&r->tree, x) == first) {
		*ring += __builtin_add_overflow(n[first].address - n[x].address, length, &sum);
	} else if (before == last) {
		*ring += __builtin_add_overflow(length, n[x].address - n[last].address, &sum);
	}
}

/* Inserts a node of a circle, or one that is lower than all of its group. */
static void insert(struct report_rings *r, uint32_t x)
{
	struct report_tree *tree = &r->tree;
	uint32_t group = tree->nodes[x].group, before = r->links[x].before, parent = 0;
	uint32_t first = tree->firsts[group], last = tree->lasts[group];
	enum report_tree_side side = REPORT_TREE_LEFT;
	bool once = r->rings[group] == REPORT_RING_ONCE && last != 0;
	bool twice = r->rings[group] == REPORT_RING_TWICE;
	bool ordered = once || (twice && !overlaps(r, before, group));

	/* between the last and the first address, the uppermost node decides */
	if (!once || before != last || tree->nodes[x].address == tree->nodes[first].address ||
	        node_before(r, x, tree->tops[group])) {
		before = parent_search(r, x, ordered, &parent, &side);
	}
	if (before != 0) {
		report_tree_insert_after(tree, x, before);
		return;
	}
	before = report_tree_insert(tree, x, parent, side);
	ring_extend(r, x, before, first, last);
}

static void insert_all(struct report_rings *r, const uint32_t *order)
{
	const uint32_t last = r->n - 1;

	for (uint32_t i = 0; i < r->n; i++) {
		uint32_t node = order[i], before = r->links[node].before;
		uint32_t ahead = order[last - i < AHEAD ? last : i + AHEAD];

		__builtin_prefetch(&r->links[order[last - i < 2 * AHEAD ? last : i + 2 * AHEAD]]);
		__builtin_prefetch(&r->tree.nodes[r->links[ahead].before], 1);
		__builtin_prefetch(&r->tree.after[r->links[ahead].before], 1);
		__builtin_prefetch(&r->tree.nodes[ahead], 1);
		if (before != 0 && r->rings[r->tree.nodes[node].group] == REPORT_RING_NONE) {
			report_tree_insert_after(&r->tree, node, before);
		} else {
			insert(r, node);
		}
	}
}

void report_rings_sort(struct report_rings *r, uint32_t *order, unsigned trees)
{
	for (unsigned k = 0; k < trees; k++) {
		report_tree_clear(&r->tree, r->groups);
		for (uint32_t i = 0; i < r->groups; i++) {
			r->rings[i] = r->rings[i] != REPORT_RING_NONE ? REPORT_RING_ONCE
			                                              : REPORT_RING_NONE;
		}
		links_make(r, order);
		insert_all(r, order);
		report_tree_list(&r->tree, order);
	}
}
