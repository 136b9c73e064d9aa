/* SPDX-License-Identifier: MIT */
/* Rows that are compared in circles have the order of a tree in which each of them is searched. */
#include "report/rings.h"
#include "tap.h"

#include <stdlib.h>

enum { NODES = 3000, TREES = 2 };

static uint64_t state = 1;

static uint64_t random_bits(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static uint32_t below(uint32_t n)
{
	return (uint32_t)(random_bits() >> 32) % n;
}

struct row {
	uint32_t group;
	uint64_t address;
};

static struct row rows[NODES + 1]; /* sorted */
static bool circle[NODES];

static int row_compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int64_t p = (int64_t)x->address, q = (int64_t)y->address;

	if (x->group != y->group) {
		return x->group < y->group ? -1 : 1;
	}
	return p < q ? -1 : p > q;
}

static bool before(uint32_t x, uint32_t y)
{
	if (rows[x].group == rows[y].group && circle[rows[x].group] &&
	        rows[x].address != rows[y].address) {
		return (int64_t)(rows[x].address - rows[y].address) < 0;
	}
	return x < y;
}

/* Inserts all rows into one tree after the other, each by a search from the root. */
static void sort_plainly(uint32_t *order)
{
	static struct report_tree_node nodes[NODES + 1];
	struct report_tree tree;

	for (unsigned k = 0; k < TREES; k++) {
		if (report_tree_init(&tree, nodes, NODES, 1) < 0) {
			abort();
		}
		for (uint32_t i = 0; i < NODES; i++) {
			enum report_tree_side side = REPORT_TREE_LEFT;
			uint32_t parent = 0;

			for (uint32_t at = tree.root; at != 0; at = nodes[at].child[side]) {
				side = before(order[i], at) ? REPORT_TREE_LEFT : REPORT_TREE_RIGHT;
				parent = at;
			}
			nodes[order[i]].group = 0;
			(void)report_tree_insert(&tree, order[i], parent, side);
		}
		report_tree_list(&tree, order);
		report_tree_fini(&tree);
	}
}

enum spread { ANYWHERE, MOSTLY_LOW, OPPOSITE, FEW, TWO_HALVES };

static uint64_t address_make(enum spread spread)
{
	uint64_t bits = random_bits();

	switch (spread) {
	case ANYWHERE: return bits;
	case MOSTLY_LOW: return below(10) != 0 ? bits >> 17 : bits;
	case OPPOSITE: return bits >> 40 | (uint64_t)below(2) << 63;
	case FEW: return (uint64_t)below(40) << 58;
	case TWO_HALVES: return below(500) != 0 ? bits >> 1 : bits;
	}
	return 0;
}

/* Shuffles the first `mixed` of the numbers 1 to NODES, or lists them from the last one down. */
static void order_make(uint32_t *order, uint32_t mixed, bool down)
{
	for (uint32_t i = 0; i < NODES; i++) {
		order[i] = down ? NODES - i : i + 1;
	}
	for (uint32_t i = 0; i < mixed; i++) {
		uint32_t k = i + below(mixed - i), node = order[i];

		order[i] = order[k];
		order[k] = node;
	}
}

static bool same(uint32_t groups, enum spread spread, uint32_t mixed, bool down)
{
	static struct report_tree_node nodes[NODES + 1];
	static struct report_ring_links links[NODES + 1];
	static uint32_t order[NODES], plain[NODES];
	struct report_rings r;
	bool equal;

	if (report_rings_init(&r, nodes, links, NODES) < 0) {
		abort();
	}
	for (uint32_t i = 1; i <= NODES; i++) {
		rows[i] = (struct row){below(groups), address_make(spread)};
	}
	qsort(rows + 1, NODES, sizeof(rows[0]), row_compare);
	r.groups = groups;
	for (uint32_t i = 0; i < groups; i++) {
		circle[i] = groups == 1 || below(4) != 0;
		r.rings[i] = circle[i] ? REPORT_RING_ONCE : REPORT_RING_NONE;
	}
	for (uint32_t i = 1; i <= NODES; i++) {
		nodes[i].group = rows[i].group & REPORT_TREE_MAX;
		nodes[i].address = rows[i].address;
	}
	order_make(order, mixed, down);
	memcpy(plain, order, sizeof(plain));
	sort_plainly(plain);
	report_rings_sort(&r, order, TREES);
	equal = memcmp(order, plain, sizeof(order)) == 0;
	report_rings_fini(&r);
	return equal;
}

static void test_spread(enum spread spread, const char *what)
{
	static const uint32_t groups[] = {1, 3, 40, 900};
	bool all = true;

	for (unsigned i = 0; i < 40; i++) {
		all = same(groups[i % 4], spread, NODES, false) && all;
		all = same(groups[i % 4], spread, 0, i / 4 % 2 != 0) && all;
		all = same(groups[i % 4], spread, below(NODES), i / 4 % 2 != 0) && all;
	}
	ok(all, what);
}

int main(void)
{
	test_spread(ANYWHERE, "addresses anywhere in the circle");
	test_spread(MOSTLY_LOW, "most addresses in one place");
	test_spread(OPPOSITE, "addresses in two opposite places");
	test_spread(FEW, "few different addresses, many of them exactly half of the circle away");
	test_spread(TWO_HALVES, "one half of the circle and a few in the other one");
	return tap_done();
}
