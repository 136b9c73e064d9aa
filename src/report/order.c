/* SPDX-License-Identifier: MIT */
/*
 * The order of a report's rows: by what is sorted by, numbers most first, keys by their texts.
 *
 * Each thing that counts is made a column of numbers that rise as wanted. Texts become numbers by
 * rank. Among symbols the known come first, by name, then the unknown, by address; objects that are
 * not known are the last ones. With call graphs, rows with the same Children are ordered by the
 * length of their graphs, so that callers are above callees. So does perf.
 *
 * Mostly the rows are sorted by the columns from the least important to the most important one. But
 * two of perf's comparisons are no order:
 * - lengths of graphs are compared only when the first samples of both rows are of one thread, so a
 *   may be above b by their graphs, b above c and c above a by their names;
 * - addresses are compared by the sign of their difference: three wild ones may go round in a ring.
 * What perf prints then depends on the trees that it inserts its rows into: the first one as
 * samples come, comparing only keys; the last one as rows are printed, in the order of the first.
 * Here the same trees are made. Found with recordings that were made for it. What is not made: rows
 * that perf has twice until they are joined, as it does not find the first one in a tree.
 */
#include "report/report.h"

#include "core/sort.h"
#include "report/tree.h"

#include <stdlib.h>

enum column_kind {
	BY_WORD, /* what the user can sort by */
	BY_NAME, /* of the symbol */
	BY_ADDRESS, /* signed, and round in a ring; only among rows without symbols */
	BY_DSO, /* not among rows without symbols */
	BY_KNOWN,
	BY_START, /* of the symbol; signed, and round in a ring */
	BY_DEPTH, /* of the graph; only among rows of one thread */
	BY_TIME, /* of the first sample */
	BY_FIRST_TID,
	BY_STEP, /* in the chain of the first sample */
};

struct column {
	enum column_kind kind;
	unsigned word; /* of report_list */
};

/* Columns, the most important first. */
struct plan {
	struct column columns[3 * FIELD_COUNT];
	unsigned n;
	unsigned depth; /* where BY_DEPTH is; n: nowhere */
};

struct named { /* a thing with a text, to be ranked */
	const char *text;
	uint32_t id;
	bool last; /* behind all others, whatever its text */
};

struct sorter {
	struct report *r;
	uint64_t *keys; /* of one column, by row */
	uint32_t *spare; /* as many as rows are sorted */
	struct named *names; /* room for all rows and all texts */
	uint32_t *ranks; /* by number of a text */
	bool known, unknown; /* whether there are rows with symbols, and without */
};

/* Keys of all columns of a plan, for a tree of rows: by place in the order that they come in. */
struct table {
	const struct report *r;
	const struct plan *plan;
	const uint32_t *order;
	uint64_t *keys;
};

/* What a tree of the output compares, with as little memory to touch as can be. */
struct spot {
	uint32_t group; /* rank by the columns before the depth */
	uint32_t depth;
	uint32_t pid, tid; /* only among rows of one thread depths are compared */
	uint32_t rest; /* rank by the columns after the depth */
};

#define SIGNED(v) ((v) ^ (uint64_t)1 << 63)

static int name_compare(const void *a, const void *b)
{
	const struct named *x = a;
	const struct named *y = b;

	if (x->last != y->last) {
		return x->last - y->last;
	}
	return x->text == NULL ? 0 : strcmp(x->text, y->text);
}

static uint32_t row_text(const struct profile *p, const struct profile_row *row, enum field_id key)
{
	uint32_t object = p->counts.frames[row->first_frame].object;

	if (key == FIELD_COMM) {
		return *profile_row_words(p, row, key);
	}
	if (p->options.keys.chosen[FIELD_DSO]) {
		return row->dso;
	}
	return object != PROFILE_NONE ? p->dso[object] : p->unknown;
}

/* Ranks of interned texts. */
static void keys_by_text(struct sorter *s, enum field_id key)
{
	const struct profile *p = &s->r->profile;
	const struct timeline *line = session_timeline(s->r->session);
	size_t all = key == FIELD_COMM ? timeline_texts(line) : p->names.count;

	for (size_t i = 0; i < all; i++) {
		uint32_t id = (uint32_t)i;

		s->names[i] = (struct named){.id = id,
		        .last = key == FIELD_DSO && id == p->unknown,
		        .text = key == FIELD_COMM ? timeline_text(line, id)
		                                  : intern_text(&p->names, id)};
	}
	qsort(s->names, all, sizeof(*s->names), name_compare);
	for (size_t i = 0; i < all; i++) {
		s->ranks[s->names[i].id] = (uint32_t)i;
	}
	for (size_t i = 0; i < p->nrows; i++) {
		s->keys[i] = s->ranks[row_text(p, &p->rows[i], key)];
	}
}

/* Ranks of symbols' names; equal texts have equal ranks, and what is not known comes last. */
static void keys_by_symbol(struct sorter *s)
{
	struct report *r = s->r;
	size_t n = r->profile.nrows, named = 0, rank = 0;

	for (size_t i = 0; i < n; i++) {
		const struct profile_row *row = &r->profile.rows[i];

		s->keys[i] = UINT64_MAX;
		if (row->symbol != NULL) {
			s->names[named++] = (struct named){.id = (uint32_t)i,
			        .text = profile_symbol(&r->profile, row->object, row->symbol)};
		}
	}
	qsort(s->names, named, sizeof(*s->names), name_compare);
	for (size_t i = 0; i < named; i++) {
		rank += i != 0 && name_compare(&s->names[i - 1], &s->names[i]) != 0;
		s->keys[s->names[i].id] = rank;
	}
}

/* Numbers: most first; keys: from a to z. */
static void keys_by_word(struct sorter *s, unsigned id)
{
	if (id == FIELD_COMM || id == FIELD_DSO) {
		keys_by_text(s, (enum field_id)id);
	} else {
		report_columns_ranks(s->r, id, s->keys);
	}
}

static uint32_t depth_key(const struct report *r, const struct profile_row *row)
{
	return r->profile.options.caller ? ~row->depth : row->depth;
}

static uint64_t row_key(const struct report *r, const struct profile_row *row, enum column_kind by)
{
	switch (by) {
	case BY_ADDRESS: return row->symbol == NULL ? SIGNED(row->address) : 0;
	case BY_KNOWN: return row->symbol == NULL;
	case BY_START: return row->symbol != NULL ? SIGNED(row->symbol->start) : 0;
	case BY_DEPTH: return depth_key(r, row);
	case BY_TIME: return row->time;
	case BY_FIRST_TID: return row->first_tid;
	case BY_STEP: return row->step;
	case BY_WORD:
	case BY_NAME:
	case BY_DSO: break; /* of all rows at once */
	}
	return 0;
}

static void keys_by(struct sorter *s, struct column by)
{
	struct report *r = s->r;

	if (by.kind == BY_WORD) {
		keys_by_word(s, by.word);
	} else if (by.kind == BY_NAME) {
		keys_by_symbol(s);
	} else if (by.kind == BY_DSO) {
		keys_by_text(s, FIELD_DSO);
	} else {
		for (size_t i = 0; i < r->profile.nrows; i++) { /* memory in order */
			s->keys[i] = row_key(r, &r->profile.rows[i], by.kind);
		}
	}
}

static bool one_thread(const struct report *r, uint32_t a, uint32_t b)
{
	const struct profile_row *x = &r->profile.rows[a];
	const struct profile_row *y = &r->profile.rows[b];

	return x->first_tid == y->first_tid && x->first_pid == y->first_pid;
}

static void sort_by_columns(struct sorter *s, const struct column *columns, size_t n)
{
	while (n-- > 0) {
		keys_by(s, columns[n]);
		sort_order(s->keys, s->r->order, s->spare, s->r->norder);
	}
}

/* The column does not decide about these two rows. */
static bool column_skips(const struct table *t, enum column_kind kind, uint32_t a, uint32_t b)
{
	const struct profile_row *rows = t->r->profile.rows;
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

/* The order of a tree that rows come into as they are sorted now. */
static int sort_by_keys(struct sorter *s, const struct plan *plan)
{
	struct table t = {.r = s->r, .plan = plan, .order = s->r->order};
	struct report_tree tree = {0};
	int rc;

	if (plan->n == 0) {
		return 0;
	}
	t.keys = calloc(s->r->norder + 1, plan->n * sizeof(*t.keys));
	rc = t.keys != NULL ? report_tree_init(&tree, s->r->norder) : SONDE_ENOMEM;
	if (rc < 0) {
		free(t.keys);
		return rc;
	}
	for (unsigned i = 0; i < plan->n; i++) {
		keys_by(s, plan->columns[i]);
		for (size_t k = 0; k < s->r->norder; k++) {
			t.keys[k * plan->n + i] = s->keys[s->r->order[k]];
		}
	}
	for (uint32_t i = 0; i < s->r->norder; i++) {
		enum report_tree_side side = REPORT_TREE_LEFT;
		uint32_t parent = 0;

		for (uint32_t at = tree.root; at != 0; at = tree.nodes[at].child[side]) {
			side = keys_before(&t, i, at - 1) ? REPORT_TREE_LEFT : REPORT_TREE_RIGHT;
			parent = at;
		}
		report_tree_insert(&tree, parent, side);
	}
	report_tree_order(&tree, s->r->order, s->spare);
	report_tree_fini(&tree);
	free(t.keys);
	return 0;
}

static inline bool spot_before(const struct spot *x, const struct spot *y)
{
	if (x->group != y->group) {
		return x->group < y->group;
	}
	if (x->depth != y->depth && x->tid == y->tid && x->pid == y->pid) {
		return x->depth < y->depth;
	}
	return x->rest < y->rest;
}

static void plan_add(struct plan *plan, enum column_kind kind, unsigned word)
{
	plan->columns[plan->n++] = (struct column){kind, word};
}

/* Only the columns in which rows can differ. */
static void plan_symbols(const struct sorter *s, struct plan *plan)
{
	if (s->unknown) {
		plan_add(plan, BY_ADDRESS, 0);
	}
	if (s->known && !s->r->profile.options.keys.chosen[FIELD_DSO]) {
		plan_add(plan, BY_DSO, 0);
	}
	if (s->known && s->unknown) {
		plan_add(plan, BY_KNOWN, 0);
	}
	if (s->known) {
		plan_add(plan, BY_START, 0);
	}
}

/* What makes rows different. */
static struct plan plan_keys(const struct sorter *s)
{
	const struct report *r = s->r;
	struct plan plan = {0};

	for (unsigned k = 0; k < r->sorts.n; k++) {
		if (r->sorts.id[k] == FIELD_SYM) {
			plan_symbols(s, &plan);
		} else if (field_is_key(r->sorts.id[k])) {
			plan_add(&plan, BY_WORD, r->sorts.id[k]);
		}
	}
	return plan;
}

/* What rows are sorted by. */
static struct plan plan_output(const struct sorter *s)
{
	const struct report *r = s->r;
	struct plan plan = {0};
	bool depth = false;

	for (unsigned k = 0; k < r->sorts.n; k++) {
		if (report_columns_left_out(r, r->sorts.id[k])) { /* so does perf */
			continue;
		}
		if (r->sorts.id[k] == FIELD_SYM) {
			if (s->known) {
				plan_add(&plan, BY_NAME, 0);
			}
			continue;
		}
		plan_add(&plan, BY_WORD, r->sorts.id[k]);
		if (r->sorts.id[k] == FIELD_OVERHEAD_CHILDREN && r->profile.options.graph &&
		        !depth) {
			plan.depth = plan.n;
			depth = true;
			plan_add(&plan, BY_DEPTH, 0);
		}
	}
	plan.depth = depth ? plan.depth : plan.n;
	return plan;
}

static void rows_look(struct sorter *s)
{
	for (size_t i = 0; i < s->r->profile.nrows; i++) { /* also of other events: no harm */
		bool known = s->r->profile.rows[i].symbol != NULL;

		s->known = s->known || known;
		s->unknown = s->unknown || !known;
	}
}

/*
 * Whether rows can be sorted by their keys: not where two unknown addresses are so far apart that
 * their difference has the wrong sign, and not where these are compared with each other by address
 * but with known ones by object.
 */
static bool keys_are_order(const struct report *r)
{
	const bool *by = r->profile.options.keys.chosen;
	uint64_t low = UINT64_MAX, high = 0;

	for (size_t i = 0; i < r->norder && by[FIELD_SYM]; i++) {
		const struct profile_row *row = &r->profile.rows[r->order[i]];

		if (row->symbol == NULL) {
			low = SIGNED(row->address) < low ? SIGNED(row->address) : low;
			high = SIGNED(row->address) > high ? SIGNED(row->address) : high;
		}
	}
	return low > high || (by[FIELD_DSO] && high - low <= INT64_MAX);
}

static bool threads_differ(const struct report *r)
{
	for (size_t i = 1; i < r->norder; i++) {
		if (!one_thread(r, r->order[0], r->order[i])) {
			return true;
		}
	}
	return false;
}

/* Whether the row is in another group than the one in front of it, by columns of the plan. */
static void groups_mark(struct sorter *s, const struct column *columns, size_t n)
{
	const uint32_t *order = s->r->order;

	for (size_t k = 0; k < s->r->norder; k++) {
		s->spare[k] = k == 0;
	}
	for (size_t i = 0; i < n; i++) {
		if (i != 0) { /* the first one's keys are there: it was sorted by last */
			keys_by(s, columns[i]);
		}
		for (size_t k = 1; k < s->r->norder; k++) {
			s->spare[k] |= s->keys[order[k]] != s->keys[order[k - 1]];
		}
	}
}

/*
 * Gives the spots their groups, of rows that are sorted by the columns before the depth.
 * Whether in a group that has rows of several threads the depths differ: only there is no order.
 */
static bool groups_rank(
        struct sorter *s, struct spot *spots, const uint32_t *place, const struct plan *plan)
{
	const uint32_t *order = s->r->order;
	bool threads = false, depths = false, wild = false;
	uint32_t group = 0;
	const struct spot *first = spots;

	groups_mark(s, plan->columns, plan->depth);
	for (size_t k = 0; k < s->r->norder; k++) {
		struct spot *spot = &spots[place[order[k]]];

		if (s->spare[k] != 0) {
			group++;
			first = spot;
			threads = depths = false;
		}
		spot->group = group;
		threads = threads || spot->tid != first->tid || spot->pid != first->pid;
		depths = depths || spot->depth != first->depth;
		wild = wild || (threads && depths);
	}
	return wild;
}

/*
 * The order of a tree that rows come into as they are sorted now. Rows come by their keys, so that
 * most come after all earlier ones: a branch hint says so, which makes it twice as fast.
 */
static int sort_by_spots(struct sorter *s, const struct spot *spots)
{
	struct report_tree tree;

	TRY(report_tree_init(&tree, s->r->norder));
	for (uint32_t i = 0; i < s->r->norder; i++) {
		enum report_tree_side side = REPORT_TREE_LEFT;
		uint32_t parent = 0, at = tree.root;

		while (at != 0) {
			parent = at;
			if (__builtin_expect(spot_before(&spots[i], &spots[at - 1]), false)) {
				side = REPORT_TREE_LEFT;
				at = tree.nodes[at].child[REPORT_TREE_LEFT];
			} else {
				side = REPORT_TREE_RIGHT;
				at = tree.nodes[at].child[REPORT_TREE_RIGHT];
			}
		}
		report_tree_insert(&tree, parent, side);
	}
	report_tree_order(&tree, s->r->order, s->spare);
	report_tree_fini(&tree);
	return 0;
}

/* place: room for a number for each row; spots: for what each row is compared by. */
static int sort_with_depth(
        struct sorter *s, const struct plan *plan, uint32_t *place, struct spot *spots)
{
	struct report *r = s->r;
	const struct column *rest = plan->columns + plan->depth + 1;

	for (size_t k = 0; k < r->norder; k++) {
		const struct profile_row *row = &r->profile.rows[r->order[k]];

		place[r->order[k]] = (uint32_t)k;
		spots[k] = (struct spot){
		        .depth = depth_key(r, row), .pid = row->first_pid, .tid = row->first_tid};
	}
	sort_by_columns(s, rest, plan->n - plan->depth - 1);
	for (size_t k = 0; k < r->norder; k++) { /* equal ones stay as they come */
		spots[place[r->order[k]]].rest = (uint32_t)k;
	}
	sort_by_columns(s, plan->columns, plan->depth);
	if (!groups_rank(s, spots, place, plan)) {
		sort_by_columns(s, plan->columns, plan->depth + 1);
		return 0;
	}
	for (size_t k = 0; k < r->norder; k++) {
		s->spare[place[r->order[k]]] = r->order[k];
	}
	memcpy(r->order, s->spare, r->norder * sizeof(*r->order));
	return sort_by_spots(s, spots);
}

static int sort_output(struct sorter *s)
{
	struct report *r = s->r;
	struct plan plan = plan_output(s);
	struct spot *spots;
	uint32_t *place;
	int rc = SONDE_ENOMEM;

	if (plan.depth == plan.n || !threads_differ(r)) {
		sort_by_columns(s, plan.columns, plan.n);
		return 0;
	}
	place = malloc((r->profile.nrows + 1) * sizeof(*place));
	spots = calloc(r->norder + 1, sizeof(*spots));
	if (place != NULL && spots != NULL) {
		rc = sort_with_depth(s, &plan, place, spots);
	}
	free(place);
	free(spots);
	return rc;
}

static int sort_all(struct sorter *s)
{
	static const struct column met[] = {{BY_TIME, 0}, {BY_FIRST_TID, 0}, {BY_STEP, 0}};
	struct report *r = s->r;
	struct plan keys;

	rows_look(s);
	keys = plan_keys(s);

	if (keys_are_order(r)) {
		sort_by_columns(s, keys.columns, keys.n);
	} else {
		sort_by_columns(s, met, sizeof(met) / sizeof(met[0]));
		TRY(sort_by_keys(s, &keys));
		if (r->profile.options.keys
		                .chosen[FIELD_COMM]) { /* from one tree into another one */
			TRY(sort_by_keys(s, &keys));
		}
	}
	return sort_output(s);
}

int report_order(struct report *r)
{
	size_t texts = timeline_texts(session_timeline(r->session)) + r->profile.names.count;
	size_t rows = r->profile.nrows + 1;
	struct sorter s = {.r = r};
	int rc = SONDE_ENOMEM;

	s.keys = calloc(rows, sizeof(*s.keys));
	s.spare = malloc((r->norder + 1) * sizeof(*s.spare));
	s.names = malloc((rows + texts) * sizeof(*s.names));
	s.ranks = malloc((texts + 1) * sizeof(*s.ranks));
	if (s.keys != NULL && s.spare != NULL && s.names != NULL && s.ranks != NULL) {
		rc = sort_all(&s);
	}
	free(s.keys);
	free(s.spare);
	free(s.names);
	free(s.ranks);
	return rc;
}
