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
 * Here the same trees are made. Found with recordings that were made for it.
 */
#include "output/report.h"

#include "core/sort.h"
#include "output/report_tree.h"

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
	struct column columns[3 * REPORT_COLUMN_COUNT];
	unsigned n;
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
	const struct plan *plan; /* that a tree is made by */
	uint64_t *table; /* keys of all its columns, by row and column; while a tree is made */
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

static uint32_t row_text(
        const struct profile *p, const struct profile_row *row, enum profile_key key)
{
	uint32_t object = p->counts.frames[row->first_frame].object;

	if (key == PROFILE_COMM) {
		return row->comm;
	}
	if (p->options.key[PROFILE_DSO]) {
		return row->dso;
	}
	return object != PROFILE_NONE ? p->dso[object] : p->unknown;
}

/* Ranks of interned texts. */
static void keys_by_text(struct sorter *s, enum profile_key key)
{
	const struct profile *p = &s->r->profile;
	const struct timeline *line = session_timeline(s->r->session);
	size_t all = key == PROFILE_COMM ? timeline_texts(line) : p->names.count;

	for (size_t i = 0; i < all; i++) {
		uint32_t id = (uint32_t)i;

		s->names[i] = (struct named){.id = id,
		        .last = key == PROFILE_DSO && id == p->unknown,
		        .text = key == PROFILE_COMM ? timeline_text(line, id)
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
	struct report *r = s->r;

	if (id == REPORT_KEY + PROFILE_COMM || id == REPORT_KEY + PROFILE_DSO) {
		keys_by_text(s, (enum profile_key)(id - REPORT_KEY));
		return;
	}
	for (size_t i = 0; i < r->norder; i++) {
		const struct profile_row *row = &r->profile.rows[r->order[i]];
		uint64_t *key = &s->keys[r->order[i]];

		switch (id) {
		case REPORT_KEY + PROFILE_PID: *key = row->tid ^ 0x80000000u; break; /* signed */
		case REPORT_KEY + PROFILE_CPU: *key = row->cpu ^ 0x80000000u; break;
		default: *key = ~report_columns_value(r, row, id); break;
		}
	}
}

static uint64_t row_key(const struct report *r, const struct profile_row *row, enum column_kind by)
{
	switch (by) {
	case BY_ADDRESS: return row->symbol == NULL ? SIGNED(row->address) : 0;
	case BY_KNOWN: return row->symbol == NULL;
	case BY_START: return row->symbol != NULL ? SIGNED(row->symbol->start) : 0;
	case BY_DEPTH: return r->profile.options.caller ? ~row->depth : row->depth;
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
		keys_by_text(s, PROFILE_DSO);
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

/* The column does not decide about these two rows. */
static bool column_skips(const struct sorter *s, enum column_kind kind, uint32_t a, uint32_t b)
{
	const struct profile_row *rows = s->r->profile.rows;
	bool unknown = rows[a].symbol == NULL && rows[b].symbol == NULL;

	return (kind == BY_DEPTH && !one_thread(s->r, a, b)) || (kind == BY_DSO && unknown) ||
	       (kind == BY_ADDRESS && !unknown);
}

static bool row_before(const void *arg, uint32_t a, uint32_t b)
{
	const struct sorter *s = arg;
	const uint64_t *x = s->table + (size_t)a * s->plan->n;
	const uint64_t *y = s->table + (size_t)b * s->plan->n;

	for (unsigned i = 0; i < s->plan->n; i++) {
		enum column_kind kind = s->plan->columns[i].kind;

		if (x[i] != y[i] && !column_skips(s, kind, a, b)) {
			return kind == BY_ADDRESS || kind == BY_START ? (int64_t)(x[i] - y[i]) < 0
			                                              : x[i] < y[i];
		}
	}
	return false;
}

static void sort_by_columns(struct sorter *s, const struct plan *plan)
{
	for (unsigned i = plan->n; i-- > 0;) {
		keys_by(s, plan->columns[i]);
		sort_order(s->keys, s->r->order, s->spare, s->r->norder);
	}
}

static int sort_by_tree(struct sorter *s, const struct plan *plan)
{
	size_t nrows = s->r->profile.nrows;
	int rc;

	if (plan->n == 0) {
		return 0;
	}
	s->plan = plan;
	s->table = calloc(nrows + 1, plan->n * sizeof(*s->table));
	if (s->table == NULL) {
		return SONDE_ENOMEM;
	}
	for (unsigned i = 0; i < plan->n; i++) {
		keys_by(s, plan->columns[i]);
		for (size_t k = 0; k < nrows; k++) {
			s->table[k * plan->n + i] = s->keys[k];
		}
	}
	rc = report_tree_sort(s->r->order, s->r->norder, row_before, s);
	free(s->table);
	s->table = NULL;
	s->plan = NULL;
	return rc;
}

static void plan_add(struct plan *plan, enum column_kind kind, unsigned word)
{
	plan->columns[plan->n++] = (struct column){kind, word};
}

/* What makes rows different. */
static struct plan plan_keys(const struct report *r)
{
	struct plan plan = {0};

	for (unsigned k = 0; k < r->sorts.n; k++) {
		if (r->sorts.id[k] == REPORT_KEY + PROFILE_SYM) {
			plan_add(&plan, BY_ADDRESS, 0);
			if (!r->profile.options.key[PROFILE_DSO]) {
				plan_add(&plan, BY_DSO, 0);
			}
			plan_add(&plan, BY_KNOWN, 0);
			plan_add(&plan, BY_START, 0);
		} else if (r->sorts.id[k] >= REPORT_KEY) {
			plan_add(&plan, BY_WORD, r->sorts.id[k]);
		}
	}
	return plan;
}

/* What rows are sorted by. */
static struct plan plan_output(const struct report *r)
{
	struct plan plan = {0};

	for (unsigned k = 0; k < r->sorts.n; k++) {
		if (r->sorts.id[k] == REPORT_KEY + PROFILE_SYM) {
			plan_add(&plan, BY_NAME, 0);
			continue;
		}
		plan_add(&plan, BY_WORD, r->sorts.id[k]);
		if (r->sorts.id[k] == REPORT_CHILDREN && r->profile.options.graph) {
			plan_add(&plan, BY_DEPTH, 0);
		}
	}
	return plan;
}

/*
 * Whether rows can be sorted by their keys: not where two unknown addresses are so far apart that
 * their difference has the wrong sign, and not where these are compared with each other by address
 * but with known ones by object.
 */
static bool keys_are_order(const struct report *r)
{
	const bool *by = r->profile.options.key;
	uint64_t low = UINT64_MAX, high = 0;

	for (size_t i = 0; i < r->norder && by[PROFILE_SYM]; i++) {
		const struct profile_row *row = &r->profile.rows[r->order[i]];

		if (row->symbol == NULL) {
			low = SIGNED(row->address) < low ? SIGNED(row->address) : low;
			high = SIGNED(row->address) > high ? SIGNED(row->address) : high;
		}
	}
	return low > high || (by[PROFILE_DSO] && high - low <= INT64_MAX);
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

static int sort_all(struct sorter *s)
{
	static const struct plan met = {{{BY_TIME, 0}, {BY_FIRST_TID, 0}, {BY_STEP, 0}}, 3};
	struct report *r = s->r;
	struct plan keys = plan_keys(r);
	struct plan output = plan_output(r);

	if (keys_are_order(r)) {
		sort_by_columns(s, &keys);
	} else {
		sort_by_columns(s, &met);
		TRY(sort_by_tree(s, &keys));
		if (r->profile.options.key[PROFILE_COMM]) { /* from one tree into another one */
			TRY(sort_by_tree(s, &keys));
		}
	}
	if (r->profile.options.graph && threads_differ(r)) {
		return sort_by_tree(s, &output);
	}
	sort_by_columns(s, &output);
	return 0;
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
