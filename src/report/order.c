/* SPDX-License-Identifier: MIT */
/*
 * Sorts the rows of a report by the sort keys: numbers from the largest down, keys by their texts.
 *
 * Each criterion becomes a column of numbers to sort in rising order (keys.h). Rows with symbols come
 * first, by name, then rows without one, by address; unknown objects come last. With call graphs,
 * rows with the same Children are ordered by the length of their graphs, so that callers are above
 * callees. As in perf.
 *
 * Usually rows are sorted by the columns, as many at once as fit into 64 bits. But two of perf's
 * comparisons are not transitive:
 * - lengths of graphs are compared only if the first samples of both rows are from the same thread,
 *   so a may be above b by their graphs, and b above c and c above a by their names;
 * - addresses are compared by the sign of their 64-bit difference, so three distant addresses may
 *   each come before the next, in a circle.
 * Then perf's output depends on the trees into which it inserts rows: the first tree in the order
 * of samples, comparing keys only; the last tree in the order of the previous one. This file builds
 * the same trees; they were derived from perf's output for recordings made for this purpose. One
 * effect is not reproduced: perf sometimes does not find an existing row in a tree, and has it
 * twice until both are joined.
 */
#include "core/array.h"
#include "report/keys.h"
#include "report/rings.h"

#include <assert.h>
#include <stdlib.h>

#define NODE_SIZE (sizeof(struct report_tree_node) + sizeof(struct report_ring_links))

struct sorter {
	struct report_table *table; /* of the report */
	struct report_keys keys;
	void *memory; /* holds keys and pairs, then the nodes of a tree and what it compares */
	struct report_tree_node *nodes;
	uint32_t *spare; /* room for one per sorted row */
	bool *begins; /* a group begins at this row */
};

/* Keys of all columns of a plan, for a tree of rows: by position in the order of insertion. */
struct table {
	const struct report_table *table;
	const struct report_plan *plan;
	const uint32_t *order;
	uint64_t *keys;
};

#define AHEAD ((size_t)16) /* rows to prefetch */
#define LINE  64u /* bytes of a line of the processor's cache */

static bool one_thread(const struct report *r, uint32_t a, uint32_t b)
{
	const struct profile_chain *x = profile_row_first(&r->profile, &r->table->rows[a]);
	const struct profile_chain *y = profile_row_first(&r->profile, &r->table->rows[b]);

	return x->first_tid == y->first_tid && x->first_pid == y->first_pid;
}

/* Whether a column is not compared for these two rows. */
static bool column_skips(const struct table *t, enum report_key kind, uint32_t a, uint32_t b)
{
	const struct profile_row *rows = t->table->rows;
	bool unknown = !rows[t->order[a]].has_symbol && !rows[t->order[b]].has_symbol;

	return (kind == REPORT_BY_DSO && unknown) || (kind == REPORT_BY_ADDRESS && !unknown);
}

static bool keys_before(const struct table *t, uint32_t a, uint32_t b)
{
	const uint64_t *x = t->keys + (size_t)a * t->plan->n;
	const uint64_t *y = t->keys + (size_t)b * t->plan->n;

	for (unsigned i = 0; i < t->plan->n; i++) {
		enum report_key kind = t->plan->columns[i].kind;

		if (x[i] != y[i] && !column_skips(t, kind, a, b)) {
			return kind == REPORT_BY_ADDRESS || kind == REPORT_BY_START
			               ? (int64_t)(x[i] - y[i]) < 0
			               : x[i] < y[i];
		}
	}
	return false;
}

/* Sorts the rows by the nodes in s->spare. */
static void rows_of_nodes(const struct sorter *s)
{
	uint32_t *order = s->table->order;

	for (size_t i = 0; i < s->table->norder; i++) {
		s->spare[i] = order[s->spare[i] - 1];
	}
	memcpy(order, s->spare, s->table->norder * sizeof(*order));
}

/* Inserts the rows into a tree in their present order, and sorts them as in the tree. */
static int sort_by_keys(struct sorter *s, const struct report_plan *plan)
{
	struct table t = {.table = s->table, .plan = plan, .order = s->table->order};
	struct report_tree tree = {0};
	int rc;

	if (plan->n == 0) {
		return 0;
	}
	t.keys = calloc(s->table->norder + 1, plan->n * sizeof(*t.keys));
	rc = t.keys != NULL ? report_tree_init(&tree, s->nodes, s->table->norder, 1) : SONDE_ENOMEM;
	if (rc < 0) {
		free(t.keys);
		return rc;
	}
	for (size_t k = 0; k < s->table->norder; k++) {
		for (unsigned i = 0; i < plan->n; i++) {
			uint32_t row = s->table->order[k];

			report_keys_get(&s->keys, &plan->columns[i], row, row + 1,
			        &t.keys[k * plan->n + i]);
		}
	}
	for (uint32_t i = 0; i < s->table->norder; i++) {
		enum report_tree_side side = REPORT_TREE_LEFT;
		uint32_t parent = 0;

		for (uint32_t at = tree.root; at != 0; at = tree.nodes[at].child[side]) {
			side = keys_before(&t, i, at - 1) ? REPORT_TREE_LEFT : REPORT_TREE_RIGHT;
			parent = at;
		}
		tree.nodes[i + 1].group = 0;
		report_tree_insert(&tree, i + 1, parent, side);
	}
	report_tree_list(&tree, s->spare);
	rows_of_nodes(s);
	report_tree_fini(&tree);
	free(t.keys);
	return 0;
}

/*
 * Whether the comparison of keys is transitive. It is not if two addresses without symbols are so
 * far apart that the sign of their difference is wrong, nor if rows without symbols are compared
 * with each other by address, but with other rows by object.
 */
static bool keys_are_order(const struct sorter *s)
{
	const bool *by = s->keys.r->profile.options.keys.chosen;

	return !by[FIELD_SYM] || s->keys.low > s->keys.high ||
	       (by[FIELD_DSO] && s->keys.high - s->keys.low <= INT64_MAX);
}

static bool threads_differ(const struct report *r)
{
	for (size_t i = 1; i < r->table->norder; i++) {
		if (!one_thread(r, r->table->order[0], r->table->order[i])) {
			return true;
		}
	}
	return false;
}

static int begins_mark(void *arg, unsigned worker, size_t block)
{
	const struct sorter *s = arg;
	const uint32_t *order = s->table->order;
	size_t end = report_block_end(s->table->norder, block);

	(void)worker;
	for (size_t k = block != 0 ? block * REPORT_KEYS_BLOCK : 1; k < end; k++) {
		s->begins[k] |= s->keys.packed[order[k]] != s->keys.packed[order[k - 1]];
	}
	return 0;
}

/*
 * Sets s->begins for each row that is in another group than the row before it. Rows are sorted by
 * the plan, and s->keys.packed has its most important columns. SONDE_ENOMEM.
 */
static int groups_mark(struct sorter *s, const struct report_plan *plan)
{
	memset(s->begins, 0, s->table->norder * sizeof(*s->begins));
	for (unsigned i = plan->npacked; i-- > 0;) {
		if (plan->packed[i].end > plan->depth) {
			return 0;
		}
		if (i + 1 != plan->npacked) {
			TRY(report_keys_pack(&s->keys, plan, plan->packed[i]));
		}
		TRY(report_blocks_run(&s->keys, s->table->norder, begins_mark, s));
	}
	return 0;
}

/*
 * Replaces the rows in s->spare by their nodes in a tree: the number of a node is the rank of its
 * row, that is its position in s->table->order, + 1. SONDE_ENOMEM.
 */
static int nodes_of_rows(const struct sorter *s)
{
	const uint32_t *order = s->table->order;
	uint32_t *nodes = malloc((s->table->nrows + 1) * sizeof(*nodes));

	if (nodes == NULL) {
		return SONDE_ENOMEM;
	}
	for (uint32_t i = 0; i < s->table->norder; i++) {
		nodes[order[i]] = i + 1;
	}
	for (size_t i = 0; i < s->table->norder; i++) {
		s->spare[i] = nodes[s->spare[i]];
	}
	free(nodes);
	return 0;
}

static int threads_fill(void *arg, unsigned worker, size_t block)
{
	const struct sorter *s = arg;
	const struct report_table *table = s->table;
	const struct profile *p = &s->keys.r->profile;
	size_t end = report_block_end(table->norder, block);

	(void)worker;
	for (size_t i = block * REPORT_KEYS_BLOCK; i < end; i++) {
		const struct profile_row *row = &table->rows[table->order[i]];
		const struct profile_chain *first = profile_row_first(p, row);
		uint32_t ahead = table->order[i + AHEAD < end ? i + AHEAD : i];
		uint32_t far = table->order[i + 2 * AHEAD < end ? i + 2 * AHEAD : i];

		profile_row_prefetch(&table->rows[far]);
		__builtin_prefetch(&profile_row_first(p, &table->rows[ahead])->first_tid);
		s->nodes[i + 1].pid = first->first_pid;
		s->nodes[i + 1].tid = first->first_tid;
		s->nodes[i + 1].depth = (uint32_t)report_keys_depth(s->keys.r, row);
	}
	return 0;
}

/*
 * Sets the groups of nodes. Returns whether depths differ in a group with rows of several threads:
 * only then is the comparison not transitive.
 */
static bool groups_set(const struct sorter *s)
{
	const struct report_tree_node *first = NULL;
	bool several = false, depths = false, wild = false;
	uint32_t group = 0;

	for (size_t i = 0; i < s->table->norder; i++) {
		struct report_tree_node *n = &s->nodes[i + 1];

		group += s->begins[i];
		n->group = group & REPORT_TREE_MAX;
		if (i == 0 || s->begins[i]) {
			first = n;
			several = depths = false;
		}
		several = several || n->tid != first->tid || n->pid != first->pid;
		depths = depths || n->depth != first->depth;
		wild = wild || (several && depths);
	}
	return wild;
}

/*
 * Inserts a node that is compared with nodes of the same thread and group by depth, and with others
 * by rank.
 */
static void threads_insert(struct report_tree *tree, uint32_t node)
{
	const struct report_tree_node *nodes = tree->nodes;
	const struct report_tree_node x = nodes[node];
	uint32_t parent = 0;
	enum report_tree_side side = REPORT_TREE_LEFT;

	for (uint32_t at = report_tree_top(tree, x.group); at != 0;) {
		const struct report_tree_node *n = &nodes[at];
		bool left = node < at;

		parent = at;
		if (n->tid == x.tid && n->depth != x.depth && n->pid == x.pid &&
		        n->group == x.group) {
			left = x.depth < n->depth;
		}
		if (__builtin_expect(left, false)) { /* most come after; the hint halves the time */
			side = REPORT_TREE_LEFT;
			at = n->child[REPORT_TREE_LEFT];
		} else {
			side = REPORT_TREE_RIGHT;
			at = n->child[REPORT_TREE_RIGHT];
		}
	}
	report_tree_insert(tree, node, parent, side);
}

/*
 * Cuts the packed numbers at the addresses, for sort_by_ranks. False: rows without symbols are
 * compared with others by object, so that they have no ranks.
 */
static bool plan_cut(struct report_plan *plan)
{
	for (unsigned i = 0; i < plan->n; i++) {
		if (plan->columns[i].kind == REPORT_BY_DSO) {
			return false;
		}
		if (plan->columns[i].kind == REPORT_BY_ADDRESS) {
			plan->depth = i;
		}
	}
	plan->npacked = 0;
	report_plan_pack(plan);
	return true;
}

/*
 * Divides the sorted rows into groups: where s->begins says so, and between rows with symbols and
 * those without. Fills in addresses; returns whether there is a circle: a group with addresses that
 * are too far apart for the sign.
 */
static bool rings_fill(const struct sorter *s, struct report_rings *t)
{
	const struct report_table *table = s->table;
	bool known = true, any = false;
	uint64_t low = UINT64_MAX, high = 0;

	t->groups = 0;
	for (uint32_t i = 0; i < t->n; i++) {
		const struct profile_row *row = &table->rows[table->order[i]];
		uint32_t ahead = table->order[i + AHEAD < t->n ? i + AHEAD : i];
		uint64_t key = REPORT_SIGNED(profile_row_address(row));

		__builtin_prefetch(&table->rows[ahead].code);
		if (i == 0 || s->begins[i] || known != row->has_symbol) {
			known = row->has_symbol;
			low = UINT64_MAX;
			high = 0;
			t->groups++;
		}
		t->tree.nodes[i + 1].address = profile_row_address(row);
		t->tree.nodes[i + 1].group = (t->groups - 1) & REPORT_TREE_MAX;
		low = key < low ? key : low;
		high = key > high ? key : high;
		if (!known && high - low > INT64_MAX) {
			t->rings[t->groups - 1] = REPORT_RING_ONCE;
			any = true;
		}
	}
	return any;
}

/*
 * Does the same as sort_by_keys, if only addresses of rows without symbols are compared by sign:
 * all other comparisons are those of ranks.
 */
static int sort_by_ranks(struct sorter *s, const struct report_plan *plan, unsigned trees)
{
	struct report_rings t = {0};
	size_t n = s->table->norder;
	int rc;

	memcpy(s->spare, s->table->order, n * sizeof(*s->spare));
	TRY(report_keys_sort(&s->keys, plan));
	TRY(groups_mark(s, plan));
	rc = report_rings_init(&t, s->nodes, (struct report_ring_links *)(s->nodes + n + 1), n);
	if (rc >= 0 && rings_fill(s, &t)) { /* else the ranks are the order */
		rc = nodes_of_rows(s);
		if (rc >= 0) {
			report_rings_sort(&t, s->spare, trees);
			rows_of_nodes(s);
		}
	}
	report_rings_fini(&t);
	return rc;
}

/* Sorts rows of several threads. plan: that of the output, without the depth. */
static int sort_threads(struct sorter *s, const struct report_plan *plan)
{
	struct report_table *table = s->table;
	struct report_plan all = {0}, *plans[] = {&all};
	struct report_tree tree = {0};

	memcpy(s->spare, table->order, table->norder * sizeof(*s->spare));
	TRY(report_keys_sort(&s->keys, plan));
	TRY(groups_mark(s, plan));
	TRY(report_blocks_run(&s->keys, table->norder, threads_fill, s));
	if (!groups_set(s)) {
		/* equal rows keep the order of the other columns */
		report_plan_output(&s->keys, &all, true);
		all.n = all.depth + 1;
		report_keys_measure(&s->keys, plans, 1);
		return report_keys_sort(&s->keys, &all);
	}
	TRY(nodes_of_rows(s));
	TRY(report_tree_init(&tree, s->nodes, table->norder, table->norder));
	for (size_t i = 0; i < table->norder; i++) {
		uint32_t ahead = s->spare[i + AHEAD < table->norder ? i + AHEAD : i];

		__builtin_prefetch(&s->nodes[ahead], 1);
		__builtin_prefetch(&tree.after[ahead], 1);
		threads_insert(&tree, s->spare[i]);
	}
	report_tree_list(&tree, s->spare);
	rows_of_nodes(s);
	report_tree_fini(&tree);
	return 0;
}

/* Whether row a was met before row b. */
static bool met_before(
        const struct profile *p, const struct profile_row *a, const struct profile_row *b)
{
	const struct profile_chain *x = profile_row_first(p, a), *y = profile_row_first(p, b);

	if (x->time != y->time) {
		return x->time < y->time;
	}
	return x->first_tid != y->first_tid ? x->first_tid < y->first_tid : a->step < b->step;
}

/* Sorts rows in the order in which they were met. SONDE_ENOMEM. */
static int sort_by_met(struct sorter *s)
{
	static const enum report_key met[] = {REPORT_BY_TIME, REPORT_BY_FIRST_TID, REPORT_BY_STEP};
	struct report_plan plan = {.depth = REPORT_NOWHERE}, *plans[] = {&plan};
	const struct profile *p = &s->keys.r->profile;
	const struct report_table *t = s->table;
	size_t i = 1;

	while (i < t->norder && !met_before(p, &t->rows[t->order[i]], &t->rows[t->order[i - 1]])) {
		i++;
	}
	if (i >= t->norder) { /* the rows of one worker are in this order from the beginning */
		return 0;
	}
	for (i = 0; i < 3; i++) {
		report_plan_add(&plan, met[i], 0);
	}
	report_keys_measure(&s->keys, plans, 1);
	return report_keys_sort(&s->keys, &plan);
}

static int sort_keys(struct sorter *s, struct report_plan *keys)
{
	/* as in perf: from the first tree into a second one */
	unsigned trees = s->keys.r->profile.options.keys.chosen[FIELD_COMM] ? 2 : 1;
	bool ranked;

	if (keys_are_order(s)) {
		return report_keys_sort(&s->keys, keys);
	}
	ranked = plan_cut(keys);
	TRY(sort_by_met(s));
	if (ranked) {
		return sort_by_ranks(s, keys, trees);
	}
	for (unsigned i = 0; i < trees; i++) {
		TRY(sort_by_keys(s, keys));
	}
	return 0;
}

static int sort_all(struct sorter *s)
{
	struct report_plan keys = {0}, output = {0}, *plans[] = {&keys, &output};
	bool threads = threads_differ(s->keys.r);

	report_plan_distinct(&s->keys, &keys);
	report_plan_output(&s->keys, &output, !threads);
	report_keys_measure(&s->keys, plans, 2);
	TRY(sort_keys(s, &keys));
	if (threads && output.depth != REPORT_NOWHERE) {
		return sort_threads(s, &output);
	}
	return report_keys_sort(&s->keys, &output);
}

static bool symbols_known(const struct profile *p)
{
	for (size_t i = 0; i < p->counts.nframes; i++) {
		if (p->counts.frames[i].symbol != NULL) {
			return true;
		}
	}
	return false;
}

int report_order(struct report *r)
{
	size_t rows = r->table->nrows + 1;
	struct sorter s = {.table = r->table,
	        .keys = {.r = r,
	                .table = r->table,
	                .known = symbols_known(&r->profile),
	                .low = UINT64_MAX},
	        .memory = aligned_alloc(LINE, (rows * NODE_SIZE + LINE - 1) / LINE * LINE),
	        .spare = malloc(rows * sizeof(*s.spare)),
	        .begins = calloc(rows, sizeof(*s.begins))};
	int rc = SONDE_ENOMEM;

	static_assert(NODE_SIZE >= 3 * sizeof(*s.keys.packed), "keys and pairs");
	static_assert(
	        sizeof(struct report_tree_node) == 32, "no node is in two lines of the cache");
	s.keys.packed = s.memory;
	s.nodes = s.memory;
	array_spread(s.memory, rows * NODE_SIZE);
	array_spread(s.spare, rows * sizeof(*s.spare));
	if (s.memory != NULL && s.spare != NULL && s.begins != NULL) {
		s.keys.pairs = s.keys.packed + rows;
		rc = report_ranks_init(&s.keys.ranks, r, s.keys.known, s.spare);
		rc = rc < 0 ? rc : sort_all(&s);
	}
	free(s.memory);
	free(s.spare);
	free(s.begins);
	report_ranks_fini(&s.keys.ranks, r);
	return rc;
}
