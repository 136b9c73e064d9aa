/* SPDX-License-Identifier: MIT */
/*
 * Sorts the rows of a report by the sort keys: numbers from the largest down, keys by their texts.
 *
 * Each criterion becomes a column of numbers to sort in rising order; texts are replaced by their
 * ranks. Rows with symbols come first, by name, then rows without one, by address; unknown objects
 * come last. With call graphs, rows with the same Children are ordered by the length of their
 * graphs, so that callers are above callees. As in perf.
 *
 * In groups of events, sums are vectors with an element for each event, and replaced by ranks too.
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
#define _GNU_SOURCE /* qsort_r */
#include "report/report.h"

#include "core/pool.h"
#include "core/sort.h"
#include "report/rings.h"

#include <assert.h>
#include <stdlib.h>

enum column_kind {
	BY_WORD, /* a field of --sort or --fields */
	BY_SUMS, /* the same, if it has sums of several members of a group */
	BY_NAME, /* of the symbol */
	BY_ADDRESS, /* by sign of the difference; only between rows without symbols */
	BY_DSO, /* not between rows without symbols */
	BY_KNOWN,
	BY_START, /* of the symbol; by sign of the difference */
	BY_DEPTH, /* of the graph; only between rows of one thread */
	BY_TIME, /* of the first sample */
	BY_FIRST_TID,
	BY_STEP, /* position in the chain of the first sample */
};

struct column {
	enum column_kind kind;
	unsigned word; /* id in report_list */
	uint64_t low, high; /* range of its keys other than 0 */
	unsigned bits; /* width of key - low + 1; 0: all keys are equal */
};

#define PLAN_MAX (3 * FIELD_COUNT)
#define NOWHERE  UINT32_MAX

/* Columns that are packed into one 64-bit number, the last one in the lowest bits. */
struct packed {
	unsigned first, end;
};

/* Columns, the most important first. */
struct plan {
	struct column columns[PLAN_MAX];
	unsigned n;
	unsigned depth; /* index where BY_DEPTH is, or would be inserted; NOWHERE */
	struct packed packed[PLAN_MAX];
	unsigned npacked;
};

/* Texts that are ranked. */
enum ranked { BY_COMM, BY_OBJECT, BY_SOURCE, BY_TRACE, BY_SYMBOL, RANKED };

struct named { /* a text to be ranked */
	const char *text;
	uint32_t id;
	bool last; /* after all others, whatever its text is */
};

struct threads { /* of the first sample of a row, and the depth of its graph */
	uint32_t pid, tid, depth;
};

#define NODE_SIZE (sizeof(struct report_tree_node) + sizeof(struct threads))

struct sorter {
	struct report *r;
	struct report_table *table; /* of r */
	void *memory; /* holds keys and pairs, then the nodes of a tree and what it compares */
	struct report_tree_node *nodes;
	struct threads *threads; /* what a tree of all rows compares besides ranks; by node */
	uint64_t *keys; /* packed columns, by row */
	uint64_t *pairs; /* room for two per sorted row */
	uint32_t *spare; /* room for one per sorted row */
	bool *begins; /* a group begins at this row */
	uint32_t *ranks[RANKED]; /* by number of the text; of symbols by row */
	uint32_t nranks[RANKED]; /* number of distinct ranks */
	const uint32_t *sums[FIELD_COUNT]; /* ranks of rows by the sums of a field; NULL */
	uint32_t *sums_memory;
	uint64_t low, high; /* range of addresses of rows without symbols */
	bool known; /* some rows may have symbols */
};

/* Keys of all columns of a plan, for a tree of rows: by position in the order of insertion. */
struct table {
	const struct report_table *table;
	const struct plan *plan;
	const uint32_t *order;
	uint64_t *keys;
};

#define SIGNED(v)    ((v) ^ (uint64_t)1 << 63)
#define DEPTH_MAX    INT32_MAX /* far above the number of words in a record */
#define ROWS_AT_ONCE 512u
#define BLOCK        ((size_t)64 * ROWS_AT_ONCE) /* rows of one task */
#define AHEAD        16u /* rows to prefetch */

static int name_compare(const void *a, const void *b)
{
	const struct named *x = a;
	const struct named *y = b;

	if (x->last != y->last) {
		return x->last - y->last;
	}
	return x->text == NULL ? 0 : strcmp(x->text, y->text);
}

/* Sorts names and sets their ranks; equal texts have equal ranks. Returns the number of ranks. */
static uint32_t names_rank(struct named *names, size_t n, uint32_t *ranks)
{
	uint32_t rank = 0;

	qsort(names, n, sizeof(*names), name_compare);
	for (size_t i = 0; i < n; i++) {
		rank += i != 0 && name_compare(&names[i - 1], &names[i]) != 0;
		ranks[names[i].id] = rank;
	}
	return rank + 1;
}

/* Texts that are numbered in the profile, for all kinds but BY_COMM and BY_SYMBOL. */
static const struct intern *texts_of(const struct report *r, enum ranked key)
{
	return key == BY_OBJECT  ? &r->profile.names
	       : key == BY_TRACE ? &r->profile.texts.texts
	                         : &r->profile.source_texts;
}

/* The number of texts that have ranks, and a text by its number. */
static size_t texts_count(const struct report *r, enum ranked key)
{
	return key == BY_COMM ? timeline_texts(session_timeline(r->session))
	                      : texts_of(r, key)->count;
}

static const char *text_at(const struct report *r, enum ranked key, uint32_t id)
{
	return key == BY_COMM ? timeline_text(session_timeline(r->session), id)
	                      : intern_text(texts_of(r, key), id);
}

/* Fills in the names of all interned texts, by number. */
static void names_of_texts(const struct report *r, enum ranked key, struct named *names)
{
	size_t n = texts_count(r, key);

	for (uint32_t i = 0; i < n; i++) {
		names[i] = (struct named){.id = i,
		        .last = key == BY_OBJECT && i == r->profile.unknown,
		        .text = text_at(r, key, i)};
	}
}

/* Fills in the names of rows' symbols, and sets their number; SONDE_ENOMEM. */
static int names_of_rows(const struct report *r, struct named *names, size_t *number)
{
	size_t n = 0;

	for (size_t i = 0; i < r->table->nrows; i++) {
		const struct profile_row *row = &r->table->rows[i];

		if (row->symbol != NULL) {
			names[n++] = (struct named){.id = (uint32_t)i,
			        .text = profile_symbol(&r->profile, row->object, row->symbol)};
			if (names[n - 1].text == NULL) {
				return SONDE_ENOMEM;
			}
		}
	}
	*number = n;
	return 0;
}

static int ranks_make(struct sorter *s, enum ranked key)
{
	const struct report *r = s->r;
	size_t all = key == BY_SYMBOL ? r->table->nrows : texts_count(r, key);
	struct named *names = malloc((all + 1) * sizeof(*names));
	size_t n = all;
	int rc = 0;

	s->ranks[key] = malloc((all + 1) * sizeof(*s->ranks[key]));
	if (names == NULL || s->ranks[key] == NULL) {
		free(names);
		return SONDE_ENOMEM;
	}
	if (key == BY_SYMBOL) {
		rc = names_of_rows(r, names, &n);
	} else {
		names_of_texts(r, key, names);
	}
	if (rc >= 0) {
		s->nranks[key] = names_rank(names, n, s->ranks[key]);
	}
	free(names);
	return rc;
}

/* Compares rows by the sums of a field: the largest first. */
struct sums_order {
	const struct report *r;
	unsigned id;
};

static int sums_compare(const void *a, const void *b, void *arg)
{
	const struct sums_order *o = arg;
	const struct report_table *t = o->r->table;
	const struct profile_row *x = &t->rows[*(const uint32_t *)a],
	                         *y = &t->rows[*(const uint32_t *)b];
	/* as in perf, --group-sort-idx does not apply to Children */
	int64_t first = o->id != FIELD_OVERHEAD_CHILDREN ? o->r->options.group_sort : 0;
	bool known = first >= 0 && first < t->members;

	/* as in perf: that member, then the others without the leader */
	for (unsigned i = 0; i < (known ? t->members : 1); i++) {
		unsigned member = i != 0 ? i : known ? (unsigned)first : 0;
		uint64_t m = report_columns_sum(o->r, x, o->id, member);
		uint64_t n = report_columns_sum(o->r, y, o->id, member);

		if (m != n) {
			return m > n ? -1 : 1;
		}
	}
	return 0;
}

/* Ranks the rows of a group by the sums of a field. */
static void sums_rank(struct sorter *s, unsigned id, uint32_t *ranks)
{
	struct sums_order by = {.r = s->r, .id = id};
	uint32_t *order = s->spare, rank = 0;

	memcpy(order, s->table->order, s->table->norder * sizeof(*order));
	qsort_r(order, s->table->norder, sizeof(*order), sums_compare, &by);
	for (size_t i = 0; i < s->table->norder; i++) {
		rank += i != 0 && sums_compare(&order[i - 1], &order[i], &by) != 0;
		ranks[order[i]] = rank;
	}
}

/* Ranks the rows of a group by each sum that they are sorted by. */
static int sums_rank_all(struct sorter *s)
{
	const struct report_list *sorts = &s->r->sorts;
	size_t rows = s->table->nrows + 1;
	uint32_t *ranks;

	if (s->table->members == 1) {
		return 0;
	}
	ranks = s->sums_memory = calloc(rows, sorts->n * sizeof(*ranks));
	if (ranks == NULL) {
		return SONDE_ENOMEM;
	}
	for (unsigned k = 0; k < sorts->n; k++) {
		if (!field_is_key(sorts->id[k])) {
			s->sums[sorts->id[k]] = ranks + k * rows;
			sums_rank(s, sorts->id[k], ranks + k * rows);
		}
	}
	return 0;
}

static uint64_t depth_key(const struct report *r, const struct profile_row *row)
{
	return r->profile.options.caller ? DEPTH_MAX - row->depth : row->depth;
}

/* Returns the key for ordering by object, even if dso is not a sort key. */
static uint64_t dso_key(const struct sorter *s, const struct profile_row *row)
{
	const struct profile *p = &s->r->profile;
	uint32_t object = p->counts.frames[row->first_frame].object;

	if (p->options.keys.chosen[FIELD_DSO]) {
		return s->ranks[BY_OBJECT][row->dso];
	}
	return s->ranks[BY_OBJECT][object != PROFILE_NONE ? p->dso[object] : p->unknown];
}

/* Returns the kind of ranks that a column uses; RANKED: none. */
static enum ranked column_ranks(const struct column *c)
{
	if (c->kind == BY_NAME) {
		return BY_SYMBOL;
	}
	if (c->kind == BY_DSO || (c->kind == BY_WORD && c->word == FIELD_DSO)) {
		return BY_OBJECT;
	}
	if (c->kind == BY_WORD && (c->word == FIELD_SRCLINE || c->word == FIELD_SRCFILE)) {
		return BY_SOURCE;
	}
	if (c->kind == BY_WORD && (c->word == FIELD_TRACE || c->word == FIELD_TRACE_FIELDS)) {
		return BY_TRACE;
	}
	return c->kind == BY_WORD && c->word == FIELD_COMM ? BY_COMM : RANKED;
}

/*
 * Writes a column's keys of the rows [from, end) to `keys`: a loop for each kind, because this is
 * half of the time of sorting.
 */
static void keys_get(
        const struct sorter *s, const struct column *by, size_t from, size_t end, uint64_t *keys)
{
#define EACH_ROW(key)                                                                              \
	for (size_t id = from; id < end; id++) {                                                   \
		const struct profile_row *row = &s->table->rows[id];                               \
                                                                                                   \
		keys[id - from] = (key);                                                           \
	}                                                                                          \
	break
	const uint32_t *ranks = s->ranks[column_ranks(by) % RANKED];

	switch (by->kind) {
	case BY_WORD:
		switch (by->word) { /* sums from the largest down, other fields in rising order */
		case FIELD_OVERHEAD_CHILDREN: EACH_ROW(~row->children);
		case FIELD_OVERHEAD: EACH_ROW(~row->period);
		case FIELD_DSO: EACH_ROW(dso_key(s, row));
		case FIELD_COMM:
			EACH_ROW(ranks[*profile_row_words(&s->r->profile, row, FIELD_COMM)]);
		case FIELD_SRCLINE:
		case FIELD_SRCFILE:
		case FIELD_TRACE:
		case FIELD_TRACE_FIELDS:
			EACH_ROW(ranks[profile_row_number(&s->r->profile, row, by->word)]);
		default: EACH_ROW(report_columns_rank(s->r, row, by->word));
		}
		break;
	case BY_SUMS: EACH_ROW(((void)row, s->sums[by->word][id]));
	case BY_NAME: EACH_ROW(row->symbol != NULL ? ranks[id] : s->nranks[BY_SYMBOL]);
	case BY_ADDRESS: EACH_ROW(row->symbol == NULL ? SIGNED(row->address) : 0);
	case BY_DSO: EACH_ROW(dso_key(s, row));
	case BY_KNOWN: EACH_ROW(row->symbol == NULL);
	case BY_START: EACH_ROW(row->symbol != NULL ? SIGNED(row->symbol->start) : 0);
	case BY_DEPTH: EACH_ROW(depth_key(s->r, row));
	case BY_TIME: EACH_ROW(row->time);
	case BY_FIRST_TID: EACH_ROW(row->first_tid);
	case BY_STEP: EACH_ROW(row->step);
	}
#undef EACH_ROW
}

static bool one_thread(const struct report *r, uint32_t a, uint32_t b)
{
	const struct profile_row *x = &r->table->rows[a];
	const struct profile_row *y = &r->table->rows[b];

	return x->first_tid == y->first_tid && x->first_pid == y->first_pid;
}

static void column_measure(const struct sorter *s, struct column *column, size_t from, size_t end)
{
	uint64_t low = column->low, high = column->high;
	uint64_t keys[ROWS_AT_ONCE];
	bool zeros = false;
	enum ranked ranks = column_ranks(column);

	if (ranks != RANKED) {
		column->low = column->bits = 1;
		column->high = s->nranks[ranks];
		return;
	}
	keys_get(s, column, from, end, keys);
	for (size_t i = 0; i < end - from; i++) {
		low = keys[i] - 1 < low - 1 ? keys[i] : low; /* 0 is never the lowest: it wraps */
		high = keys[i] > high ? keys[i] : high;
		zeros |= keys[i] == 0;
	}
	column->bits |= zeros;
	column->low = low;
	column->high = high;
}

/* Sets `low`: key - low is the packed value of a key; 0 is reserved if there are keys of 0. */
static void column_size(struct column *c)
{
	uint64_t last = c->high - c->low + c->bits;

	c->low -= c->bits;
	c->bits = c->high != 0 && last != 0 ? 64 - (unsigned)__builtin_clzll(last) : 0;
}

static void addresses_measure(struct sorter *s, size_t from, size_t end)
{
	for (size_t i = from; i < end; i++) {
		const struct profile_row *row = &s->table->rows[i];
		uint64_t key = SIGNED(row->address);

		if (row->symbol == NULL) {
			s->low = key < s->low ? key : s->low;
			s->high = key > s->high ? key : s->high;
		}
	}
}

/* Packs columns into 64-bit numbers; columns before and after `depth` are never in the same one. */
static void plan_split(struct plan *plan)
{
	unsigned end = plan->n;

	while (end > 0) {
		unsigned stop = end > plan->depth ? plan->depth : 0;
		unsigned bits = plan->columns[end - 1].bits;
		unsigned first = end - 1;

		while (first > stop && bits + plan->columns[first - 1].bits <= 64) {
			bits += plan->columns[--first].bits;
		}
		if (bits != 0) {
			plan->packed[plan->npacked++] = (struct packed){first, end};
		}
		end = first;
	}
}

/* Measures the columns over all rows, in the order of memory, for the processor's caches. */
static void plans_measure(struct sorter *s, struct plan *const *plans, size_t n)
{
	size_t rows = s->table->nrows;

	for (size_t from = 0; from < rows; from += ROWS_AT_ONCE) {
		size_t end = rows - from < ROWS_AT_ONCE ? rows : from + ROWS_AT_ONCE;

		addresses_measure(s, from, end);
		for (size_t k = 0; k < n; k++) {
			for (unsigned i = 0; i < plans[k]->n; i++) {
				column_measure(s, &plans[k]->columns[i], from, end);
			}
		}
	}
	for (size_t k = 0; k < n; k++) {
		for (unsigned i = 0; i < plans[k]->n; i++) {
			column_size(&plans[k]->columns[i]);
		}
		plan_split(plans[k]);
	}
}

static void column_add(const struct sorter *s, const struct column *c, size_t from, size_t end)
{
	uint64_t keys[ROWS_AT_ONCE];
	unsigned shift = c->bits & 63; /* 64 bits are all of a packed number */

	if (c->bits == 0) {
		return;
	}
	keys_get(s, c, from, end, keys);
	for (size_t i = 0; i < end - from; i++) {
		s->keys[from + i] = (c->bits < 64 ? s->keys[from + i] << shift : 0) |
		                    (keys[i] != 0 ? keys[i] - c->low : 0);
	}
}

static size_t block_end(size_t n, size_t block)
{
	return n - block * BLOCK < BLOCK ? n : (block + 1) * BLOCK;
}

/* Calls `work` on all workers for each BLOCK of n rows. */
static int blocks_run(const struct sorter *s, size_t n, pool_task_fn work, void *arg)
{
	unsigned jobs = s->r->nworkers != 0 ? s->r->nworkers : 1;

	return pool_run(jobs, (n + BLOCK - 1) / BLOCK, work, arg);
}

struct packing {
	struct sorter *s;
	const struct plan *plan;
	struct packed packed;
};

static int rows_pack(void *arg, unsigned worker, size_t block)
{
	const struct packing *x = arg;
	struct sorter *s = x->s;
	size_t last = block_end(s->table->nrows, block);

	(void)worker;
	for (size_t from = block * BLOCK; from < last; from += ROWS_AT_ONCE) {
		size_t end = last - from < ROWS_AT_ONCE ? last : from + ROWS_AT_ONCE;

		memset(s->keys + from, 0, (end - from) * sizeof(*s->keys));
		for (unsigned i = x->packed.first; i < x->packed.end; i++) {
			column_add(s, &x->plan->columns[i], from, end);
		}
	}
	return 0;
}

static int columns_pack(struct sorter *s, const struct plan *plan, struct packed packed)
{
	struct packing x = {.s = s, .plan = plan, .packed = packed};

	return blocks_run(s, s->table->nrows, rows_pack, &x);
}

/* A stable sort: equal rows keep their order. SONDE_ENOMEM. */
static int sort_by_plan(struct sorter *s, const struct plan *plan)
{
	for (unsigned i = 0; i < plan->npacked; i++) {
		TRY(columns_pack(s, plan, plan->packed[i]));
		TRY(sort_order_jobs(
		        s->keys, s->table->order, s->pairs, s->table->norder, s->r->nworkers));
	}
	return 0;
}

/* Whether a column is not compared for these two rows. */
static bool column_skips(const struct table *t, enum column_kind kind, uint32_t a, uint32_t b)
{
	const struct profile_row *rows = t->table->rows;
	bool unknown = rows[t->order[a]].symbol == NULL && rows[t->order[b]].symbol == NULL;

	return (kind == BY_DSO && unknown) || (kind == BY_ADDRESS && !unknown);
}

static bool keys_before(const struct table *t, uint32_t a, uint32_t b)
{
	const uint64_t *x = t->keys + (size_t)a * t->plan->n;
	const uint64_t *y = t->keys + (size_t)b * t->plan->n;

	for (unsigned i = 0; i < t->plan->n; i++) {
		enum column_kind kind = t->plan->columns[i].kind;

		if (x[i] != y[i] && !column_skips(t, kind, a, b)) {
			return kind == BY_ADDRESS || kind == BY_START ? (int64_t)(x[i] - y[i]) < 0
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
static int sort_by_keys(struct sorter *s, const struct plan *plan)
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

			keys_get(s, &plan->columns[i], row, row + 1, &t.keys[k * plan->n + i]);
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

static void plan_add(struct plan *plan, enum column_kind kind, unsigned word)
{
	plan->columns[plan->n++] = (struct column){.kind = kind, .word = word, .low = UINT64_MAX};
}

/* The columns that distinguish rows. */
static void plan_keys(const struct sorter *s, struct plan *plan)
{
	const struct report *r = s->r;

	for (unsigned k = 0; k < r->sorts.n; k++) {
		if (r->sorts.id[k] == FIELD_SYM) {
			plan_add(plan, BY_ADDRESS, 0);
			if (s->known && !r->profile.options.keys.chosen[FIELD_DSO]) {
				plan_add(plan, BY_DSO, 0);
			}
			plan_add(plan, BY_KNOWN, 0);
			plan_add(plan, BY_START, 0);
		} else if (field_is_key(r->sorts.id[k])) {
			plan_add(plan, BY_WORD, r->sorts.id[k]);
		}
	}
	plan->depth = NOWHERE;
}

/* The columns by which rows are sorted; with_depth: also by the lengths of graphs. */
static void plan_output(const struct sorter *s, struct plan *plan, bool with_depth)
{
	const struct report *r = s->r;

	plan->depth = NOWHERE;
	for (unsigned k = 0; k < r->sorts.n; k++) {
		bool absent =
		        r->sorts.id[k] == FIELD_OVERHEAD_CHILDREN && !r->profile.options.children;

		if (absent || report_columns_left_out(r, r->sorts.id[k])) { /* so does perf */
			continue;
		}
		if (r->sorts.id[k] == FIELD_SYM) {
			if (s->known) {
				plan_add(plan, BY_NAME, 0);
			}
			continue;
		}
		plan_add(plan, s->sums[r->sorts.id[k]] != NULL ? BY_SUMS : BY_WORD, r->sorts.id[k]);
		if (r->sorts.id[k] == FIELD_OVERHEAD_CHILDREN && r->profile.options.graph &&
		        plan->depth == NOWHERE) {
			plan->depth = plan->n;
			if (with_depth) {
				plan_add(plan, BY_DEPTH, 0);
			}
		}
	}
}

/*
 * Whether the comparison of keys is transitive. It is not if two addresses without symbols are so
 * far apart that the sign of their difference is wrong, nor if rows without symbols are compared
 * with each other by address, but with other rows by object.
 */
static bool keys_are_order(const struct sorter *s)
{
	const bool *by = s->r->profile.options.keys.chosen;

	return !by[FIELD_SYM] || s->low > s->high ||
	       (by[FIELD_DSO] && s->high - s->low <= INT64_MAX);
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
	size_t end = block_end(s->table->norder, block);

	(void)worker;
	for (size_t k = block != 0 ? block * BLOCK : 1; k < end; k++) {
		s->begins[k] |= s->keys[order[k]] != s->keys[order[k - 1]];
	}
	return 0;
}

/*
 * Sets s->begins for each row that is in another group than the row before it. Rows are sorted by
 * the plan, and s->keys has its most important columns. SONDE_ENOMEM.
 */
static int groups_mark(struct sorter *s, const struct plan *plan)
{
	memset(s->begins, 0, s->table->norder * sizeof(*s->begins));
	for (unsigned i = plan->npacked; i-- > 0;) {
		if (plan->packed[i].end > plan->depth) {
			return 0;
		}
		if (i + 1 != plan->npacked) {
			TRY(columns_pack(s, plan, plan->packed[i]));
		}
		TRY(blocks_run(s, s->table->norder, begins_mark, s));
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
	size_t end = block_end(table->norder, block);

	(void)worker;
	for (size_t i = block * BLOCK; i < end; i++) {
		const struct profile_row *row = &table->rows[table->order[i]];
		uint32_t ahead = table->order[i + AHEAD < end ? i + AHEAD : i];

		__builtin_prefetch(&table->rows[ahead].first_tid);
		s->threads[i + 1] = (struct threads){.pid = row->first_pid,
		        .tid = row->first_tid,
		        .depth = (uint32_t)depth_key(s->r, row)};
	}
	return 0;
}

/*
 * Sets the groups of nodes. Returns whether depths differ in a group with rows of several threads:
 * only then is the comparison not transitive.
 */
static bool groups_set(const struct sorter *s)
{
	const struct threads *first = NULL;
	bool several = false, depths = false, wild = false;
	uint32_t group = 0;

	for (size_t i = 0; i < s->table->norder; i++) {
		const struct threads *t = &s->threads[i + 1];

		group += s->begins[i];
		s->nodes[i + 1].group = group & REPORT_TREE_MAX;
		if (i == 0 || s->begins[i]) {
			first = t;
			several = depths = false;
		}
		several = several || t->tid != first->tid || t->pid != first->pid;
		depths = depths || t->depth != first->depth;
		wild = wild || (several && depths);
	}
	return wild;
}

/*
 * Inserts a node that is compared with nodes of the same thread and group by depth, and with others
 * by rank.
 */
static void threads_insert(struct report_tree *tree, const struct threads *threads, uint32_t node)
{
	const struct report_tree_node *nodes = tree->nodes;
	const struct threads x = threads[node];
	uint32_t group = nodes[node].group, parent = 0;
	enum report_tree_side side = REPORT_TREE_LEFT;

	for (uint32_t at = report_tree_top(tree, group); at != 0;) {
		bool left = node < at;

		parent = at;
		if (threads[at].tid == x.tid && threads[at].depth != x.depth &&
		        threads[at].pid == x.pid && nodes[at].group == group) {
			left = x.depth < threads[at].depth;
		}
		if (__builtin_expect(left, false)) { /* most come after; the hint halves the time */
			side = REPORT_TREE_LEFT;
			at = nodes[at].child[REPORT_TREE_LEFT];
		} else {
			side = REPORT_TREE_RIGHT;
			at = nodes[at].child[REPORT_TREE_RIGHT];
		}
	}
	report_tree_insert(tree, node, parent, side);
}

/*
 * Cuts the packed numbers at the addresses, for sort_by_ranks. False: rows without symbols are
 * compared with others by object, so that they have no ranks.
 */
static bool plan_cut(struct plan *plan)
{
	for (unsigned i = 0; i < plan->n; i++) {
		if (plan->columns[i].kind == BY_DSO) {
			return false;
		}
		if (plan->columns[i].kind == BY_ADDRESS) {
			plan->depth = i;
		}
	}
	plan->npacked = 0;
	plan_split(plan);
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
		uint64_t key = SIGNED(row->address);

		__builtin_prefetch(&table->rows[ahead].address);
		if (i == 0 || s->begins[i] || known != (row->symbol != NULL)) {
			known = row->symbol != NULL;
			low = UINT64_MAX;
			high = 0;
			t->groups++;
		}
		t->addresses[i + 1] = row->address;
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
static int sort_by_ranks(struct sorter *s, const struct plan *plan, unsigned trees)
{
	struct report_rings t = {0};
	size_t n = s->table->norder;
	int rc;

	memcpy(s->spare, s->table->order, n * sizeof(*s->spare));
	TRY(sort_by_plan(s, plan));
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
static int sort_threads(struct sorter *s, const struct plan *plan)
{
	struct report_table *table = s->table;
	struct plan all = {0}, *plans[] = {&all};
	struct report_tree tree = {0};

	s->threads = (struct threads *)(s->nodes + table->norder + 1);
	memcpy(s->spare, table->order, table->norder * sizeof(*s->spare));
	TRY(sort_by_plan(s, plan));
	TRY(groups_mark(s, plan));
	TRY(blocks_run(s, table->norder, threads_fill, s));
	if (!groups_set(s)) {
		/* equal rows keep the order of the other columns */
		plan_output(s, &all, true);
		all.n = all.depth + 1;
		plans_measure(s, plans, 1);
		return sort_by_plan(s, &all);
	}
	TRY(nodes_of_rows(s));
	TRY(report_tree_init(&tree, s->nodes, table->norder, table->norder));
	for (size_t i = 0; i < table->norder; i++) {
		threads_insert(&tree, s->threads, s->spare[i]);
	}
	report_tree_list(&tree, s->spare);
	rows_of_nodes(s);
	report_tree_fini(&tree);
	return 0;
}

static int sort_keys(struct sorter *s, struct plan *keys)
{
	static const enum column_kind met[] = {BY_TIME, BY_FIRST_TID, BY_STEP};
	struct plan first = {.depth = NOWHERE}, *plans[] = {&first};
	/* as in perf: from the first tree into a second one */
	unsigned trees = s->r->profile.options.keys.chosen[FIELD_COMM] ? 2 : 1;
	bool ranked;

	if (keys_are_order(s)) {
		return sort_by_plan(s, keys);
	}
	for (size_t i = 0; i < 3; i++) {
		plan_add(&first, met[i], 0);
	}
	ranked = plan_cut(keys);
	plans_measure(s, plans, 1);
	TRY(sort_by_plan(s, &first));
	if (ranked) {
		return sort_by_ranks(s, keys, trees);
	}
	for (unsigned i = 0; i < trees; i++) {
		TRY(sort_by_keys(s, keys));
	}
	return 0;
}

/* Texts of tracepoints may be many, and are the same for all events: their ranks are kept. */
static int trace_ranks_make(struct sorter *s)
{
	struct report *r = s->r;

	if (r->trace_ranks == NULL) {
		TRY(ranks_make(s, BY_TRACE));
		r->trace_ranks = s->ranks[BY_TRACE];
		r->ntrace_ranks = s->nranks[BY_TRACE];
	}
	s->ranks[BY_TRACE] = r->trace_ranks;
	s->nranks[BY_TRACE] = r->ntrace_ranks;
	return 0;
}

static int sort_all(struct sorter *s)
{
	struct plan keys = {0}, output = {0}, *plans[] = {&keys, &output};
	bool threads = threads_differ(s->r);

	for (unsigned k = 0; k < RANKED; k++) {
		if (k != BY_TRACE && (k != BY_SYMBOL || s->known)) {
			TRY(ranks_make(s, (enum ranked)k));
		}
	}
	TRY(trace_ranks_make(s));
	TRY(sums_rank_all(s));
	plan_keys(s, &keys);
	plan_output(s, &output, !threads);
	plans_measure(s, plans, 2);
	TRY(sort_keys(s, &keys));
	if (threads && output.depth != NOWHERE) {
		return sort_threads(s, &output);
	}
	return sort_by_plan(s, &output);
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
	struct sorter s = {.r = r,
	        .table = r->table,
	        .low = UINT64_MAX,
	        .known = symbols_known(&r->profile),
	        .memory = malloc(rows * NODE_SIZE),
	        .spare = malloc(rows * sizeof(*s.spare)),
	        .begins = calloc(rows, sizeof(*s.begins))};
	int rc = SONDE_ENOMEM;

	static_assert(NODE_SIZE >= 3 * sizeof(*s.keys), "keys and pairs");
	static_assert(sizeof(struct threads) >= sizeof(struct report_ring_links), "links");
	s.keys = s.memory;
	s.nodes = s.memory;
	if (s.memory != NULL && s.spare != NULL && s.begins != NULL) {
		s.pairs = s.keys + rows;
		rc = sort_all(&s);
	}
	free(s.memory);
	free(s.spare);
	free(s.begins);
	for (unsigned k = 0; k < RANKED; k++) {
		if (s.ranks[k] != r->trace_ranks) {
			free(s.ranks[k]);
		}
	}
	free(s.sums_memory);
	return rc;
}
