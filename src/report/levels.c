/* SPDX-License-Identifier: MIT */
/*
 * Tables of rows that are made from the profile's rows: for --hierarchy and for groups of events.
 *
 * --hierarchy: rows are the leaves of a tree, whose levels are the keys of --sort, or several keys
 * in braces. A node above the leaves has the sums of all rows below it.
 *
 *	    overheads of level 0        comm
 *	       overheads of level 1        dso
 *	          overheads of level 2        symbol
 *
 * As in perf, siblings are sorted by overhead, then by the keys of their level; a node is hidden if
 * all rows below it are, and hidden rows count in the sums of a shown node.
 *
 * Groups: rows of all members with the same keys become one, which has the sums of each. Without
 * --hierarchy, this is a tree with one level. The first member that has a row decides when it
 * began, and whether it is hidden; call graphs are those of the leader. As in perf.
 */
#include "report/report.h"

#include "core/array.h"
#include "core/hash.h"

#include <stdlib.h>

#define INDENT 3 /* blanks for each level */
#define NONE   UINT32_MAX

/* Nodes are numbered as the rows of the table: node i has the sums and the first sample of row i. */
struct report_node {
	uint32_t parent, child, last, next; /* last: the last child; NONE */
	uint32_t level;
	uint32_t member; /* the first member that has the row */
};

struct report_tree_rows {
	struct report_table table;
	struct profile_row *rows;
	struct report_node *nodes;
	struct report_sums *sums;
	uint64_t *modes;
	size_t n, rows_cap, nodes_cap, sums_cap, modes_cap;
	uint32_t first, last; /* of the nodes of level 0 */
	struct index known; /* nodes, by parent and keys of their level */
};

struct report_tree_rows *report_levels_new(void)
{
	return calloc(1, sizeof(struct report_tree_rows));
}

void report_levels_free(struct report_tree_rows *l)
{
	if (l != NULL) {
		free(l->rows);
		free(l->nodes);
		free(l->sums);
		free(l->modes);
		free(l->table.order);
		index_fini(&l->known);
		free(l);
	}
}

/* Whether two rows have the same value of a key. */
static bool key_same(const struct profile *p, unsigned id, const struct profile_row *a,
        const struct profile_row *b)
{
	if (id == FIELD_SYM) {
		return profile_row_address(a) == profile_row_address(b) &&
		       profile_symbol_same(p, a, b);
	}
	if (id == FIELD_DSO) {
		return a->dso == b->dso;
	}
	if (field_at(id)->words == 0) {
		return profile_row_number(p, a, id) == profile_row_number(p, b, id);
	}
	return memcmp(profile_row_words(p, a, id), profile_row_words(p, b, id),
	               field_at(id)->words * sizeof(uint32_t)) == 0;
}

static uint64_t key_hash(const struct profile *p, unsigned id, const struct profile_row *row)
{
	if (id == FIELD_SYM) {
		return row->has_symbol ? row->code.symbol->start : row->code.address;
	}
	if (id == FIELD_DSO) {
		return row->dso;
	}
	if (field_at(id)->words == 0) {
		return profile_row_number(p, row, id);
	}
	return hash_bytes(profile_row_words(p, row, id), field_at(id)->words * sizeof(uint32_t));
}

static bool node_same(const struct report *r, const struct report_tree_rows *l, uint32_t node,
        uint32_t parent, uint32_t level, const struct profile_row *row)
{
	const struct report_list *keys = &r->levels[level];

	if (l->nodes[node].parent != parent || l->nodes[node].level != level) {
		return false;
	}
	for (unsigned k = 0; k < keys->n; k++) {
		if (!key_same(&r->profile, keys->id[k], &l->rows[node], row)) {
			return false;
		}
	}
	return true;
}

/* Appends a node without samples for a row of a member. */
static int node_append(struct report *r, struct report_tree_rows *l, struct report_node node,
        const struct profile_row *row)
{
	size_t others = l->table.members - 1;
	size_t modes = r->profile.options.modes ? (size_t)l->table.members * PROFILE_MODES : 0;
	struct profile_row *new;

	if (l->n >= NONE - 1 ||
	        !array_reserve(&l->rows, &l->rows_cap, l->n + 1, sizeof(*l->rows)) ||
	        !array_reserve(&l->nodes, &l->nodes_cap, l->n + 1, sizeof(*l->nodes)) ||
	        !array_reserve(&l->sums, &l->sums_cap, (l->n + 1) * others, sizeof(*l->sums)) ||
	        !array_reserve(&l->modes, &l->modes_cap, (l->n + 1) * modes, sizeof(*l->modes))) {
		return SONDE_ENOMEM;
	}
	if (others != 0) {
		memset(l->sums + l->n * others, 0, others * sizeof(*l->sums));
	}
	if (modes != 0) {
		memset(l->modes + l->n * modes, 0, modes * sizeof(*l->modes));
	}
	l->nodes[l->n] = node;
	new = &l->rows[l->n++];
	*new = *row;
	new->event -= node.member; /* the leader, as it has the row's own sums */
	new->samples = new->period = new->children = 0;
	new->graph = 0;
	new->depth = node.member == 0 ? new->depth : 0; /* of the leader's call graph */
	new->hidden = true; /* unless a row is not */
	return 0;
}

/* Finds or adds the node of a row at a level below the node *node, which it replaces. */
static int node_find(struct report *r, struct report_tree_rows *l, struct report_node key,
        const struct profile_row *row, uint32_t *node)
{
	uint32_t parent = key.parent, level = key.level;
	const struct report_list *keys = &r->levels[level];
	uint64_t h = (uint64_t)parent << 8 | level;
	uint32_t hash;
	size_t at;

	for (unsigned k = 0; k < keys->n; k++) {
		h = hash_step(h, key_hash(&r->profile, keys->id[k], row));
	}
	hash = (uint32_t)(hash_u64(h) >> 32);
	at = hash;
	TRY(index_room(&l->known));
	while ((*node = index_next(&l->known, hash, &at)) != INDEX_NONE) {
		if (node_same(r, l, *node, parent, level, row)) {
			return 0;
		}
		at++;
	}
	*node = (uint32_t)l->n;
	TRY(node_append(r, l, key, row));
	index_put(&l->known, hash, at, *node);
	return 0;
}

/* Sets the members that come from the first sample to those of an earlier row. */
static void node_begin(struct profile_row *to, const struct profile_row *row)
{
	struct profile_row first = *row;

	first.samples = to->samples;
	first.period = to->period;
	first.children = to->children;
	first.hidden = to->hidden;
	first.graph = to->graph;
	first.depth = to->depth;
	first.event = to->event;
	*to = first;
}

/* Whether the first sample of row a is before that of row b. */
static bool first_before(
        const struct profile *p, const struct profile_row *a, const struct profile_row *b)
{
	const struct profile_chain *x = profile_row_first(p, a), *y = profile_row_first(p, b);

	return x->time != y->time ? x->time < y->time : x->first_tid < y->first_tid;
}

/* Counts a member's row in a node. modes: of the row; NULL. */
static void node_count(const struct profile *p, struct report_tree_rows *l, uint32_t node,
        const struct profile_row *row, unsigned member, const uint64_t *modes)
{
	struct profile_row *to = &l->rows[node];
	size_t at = (size_t)node * l->table.members + member;

	if (l->nodes[node].member == member) {
		if (first_before(p, row, to)) {
			node_begin(to, row);
		}
	}
	if (member == 0) {
		to->samples += row->samples;
		to->period += row->period;
		to->children += row->children;
	} else {
		struct report_sums *sums =
		        &l->sums[(size_t)node * (l->table.members - 1) + member - 1];

		sums->samples += row->samples;
		sums->period += row->period;
		sums->children += row->children;
	}
	for (unsigned i = 0; i < PROFILE_MODES && modes != NULL; i++) {
		l->modes[at * PROFILE_MODES + i] += modes[i];
	}
}

static int row_add(struct report *r, struct report_tree_rows *l, size_t i, unsigned member)
{
	const struct profile_row *row = &r->all.rows[i];
	const uint64_t *modes = r->all.modes != NULL ? r->all.modes + i * PROFILE_MODES : NULL;
	uint32_t node = NONE;

	for (uint32_t level = 0; level < r->nlevels; level++) {
		struct report_node key = {.parent = node,
		        .child = NONE,
		        .last = NONE,
		        .next = NONE,
		        .level = level,
		        .member = member};

		TRY(node_find(r, l, key, row, &node));
		node_count(&r->profile, l, node, row, member, modes);
	}
	if (l->nodes[node].member == member) {
		l->rows[node].hidden &= row->hidden;
	}
	if (member == 0) { /* only leaves have call graphs, those of the leader */
		l->rows[node].graph = row->graph;
	}
	return 0;
}

static void level_list(struct report_tree_rows *l, uint32_t level)
{
	l->table.norder = 0;
	for (uint32_t i = 0; i < l->n; i++) {
		if (l->nodes[i].level == level) {
			l->table.order[l->table.norder++] = i;
		}
	}
}

/* Sorts the nodes of a level, and makes each the last child of its parent. */
static int level_sort(struct report *r, struct report_tree_rows *l, uint32_t level)
{
	level_list(l, level);
	report_columns_sort_level(r, level);
	TRY(report_order(r));
	for (size_t i = 0; i < l->table.norder; i++) {
		uint32_t node = l->table.order[i];
		uint32_t parent = l->nodes[node].parent;
		uint32_t *first = parent == NONE ? &l->first : &l->nodes[parent].child;
		uint32_t *last = parent == NONE ? &l->last : &l->nodes[parent].last;

		*(*last == NONE ? first : &l->nodes[*last].next) = node;
		*last = node;
	}
	return 0;
}

/* Lists the shown nodes from top to bottom. */
static void nodes_list(const struct report *r, struct report_tree_rows *l)
{
	uint32_t node = l->first;

	l->table.norder = 0;
	while (node != NONE) {
		if (!l->rows[node].hidden && report_row_shown(r, &l->rows[node])) {
			l->table.order[l->table.norder++] = node;
			if (l->nodes[node].child != NONE) {
				node = l->nodes[node].child;
				continue;
			}
		}
		while (node != NONE && l->nodes[node].next == NONE) {
			node = l->nodes[node].parent;
		}
		node = node != NONE ? l->nodes[node].next : NONE;
	}
}

/* As in perf, percentages that are relative are of all shown nodes of level 0. */
static void totals_make(struct report *r, const struct report_tree_rows *l, uint32_t event)
{
	unsigned others = l->table.members - 1;
	uint64_t *totals = r->profile.shown_totals + event;

	memset(totals, 0, l->table.members * sizeof(*totals));
	for (uint32_t i = l->first; i != NONE; i = l->nodes[i].next) {
		if (l->rows[i].hidden) {
			continue;
		}
		totals[0] += l->rows[i].period;
		for (unsigned m = 0; m < others; m++) {
			totals[m + 1] += l->sums[(size_t)i * others + m].period;
		}
	}
}

int report_levels_make(struct report *r, uint32_t event, unsigned members)
{
	struct report_tree_rows *l = r->tree;

	l->n = 0;
	l->first = l->last = NONE;
	l->table.members = members;
	index_fini(&l->known);
	for (unsigned m = 0; m < members; m++) {
		for (size_t i = 0; i < r->all.nrows; i++) {
			if (r->all.rows[i].event == event + m) {
				TRY(row_add(r, l, i, m));
			}
		}
	}
	for (uint32_t i = (uint32_t)l->n; i-- > 0;) { /* parents come before their children */
		if (l->nodes[i].parent != NONE) {
			l->rows[l->nodes[i].parent].hidden &= l->rows[i].hidden;
		}
	}
	free(l->table.order);
	l->table = (struct report_table){.rows = l->rows,
	        .nrows = l->n,
	        .members = members,
	        .sums = l->sums,
	        .modes = l->modes,
	        .order = malloc((l->n + 1) * sizeof(*l->table.order))};
	r->table = &l->table;
	if (l->table.order == NULL) {
		return SONDE_ENOMEM;
	}
	level_list(l, r->nlevels - 1);
	return 0;
}

int report_levels_sort(struct report *r, uint32_t event)
{
	struct report_tree_rows *l = r->tree;

	for (uint32_t level = 0; level < r->nlevels; level++) {
		TRY(level_sort(r, l, level));
	}
	if (r->profile.options.relative) {
		totals_make(r, l, event);
	}
	nodes_list(r, l);
	return 0;
}

/*
 * Prints the columns of a level's keys, without the blanks that some texts begin with. As in perf,
 * each is printed like a last column.
 */
static void put_keys(
        struct report *r, const struct profile_row *row, const struct report_list *keys)
{
	for (unsigned k = 0; k < keys->n; k++) {
		size_t start, blanks = 0;

		report_columns_gap(r, 1);
		start = r->text.n;
		report_columns_cell(r, row, report_columns_find(r, keys->id[k]), true);
		while (start + blanks < r->text.n && r->text.p[start + blanks] == ' ') {
			blanks++;
		}
		if (blanks != 0) {
			memmove(r->text.p + start, r->text.p + start + blanks,
			        r->text.n - start - blanks);
			r->text.n -= blanks;
		}
	}
}

static unsigned indent_of_keys(const struct report *r)
{
	return r->options.separator == NULL ? (r->nlevels - 1) * INDENT : 0;
}

/* Prints the line below a node whose children are all below the limit. */
static void put_no_entry(struct report *r, uint32_t level)
{
	size_t blanks = (size_t)level * INDENT;

	for (unsigned i = 0; i < r->columns.n && !field_is_key(r->columns.id[i]); i++) {
		blanks += (size_t)r->width[i] + (r->options.separator == NULL ? 2 : 0);
	}
	blanks += r->options.separator == NULL ? indent_of_keys(r) + 2 : 0;
	text_fill(&r->text, ' ', blanks);
	text_printf(&r->text, "no entry >= %.2f%%\n", r->options.percent_limit);
}

void report_levels_row(struct report *r, size_t at)
{
	const struct report_tree_rows *l = r->tree;
	uint32_t node = l->table.order[at];
	uint32_t level = l->nodes[node].level;
	const struct profile_row *row = &l->rows[node];

	text_fill(&r->text, ' ', (size_t)level * INDENT);
	for (unsigned i = 0; i < r->columns.n && !field_is_key(r->columns.id[i]); i++) {
		report_columns_gap(r, i);
		report_columns_cell(r, row, i, false);
	}
	text_fill(&r->text, ' ', indent_of_keys(r));
	put_keys(r, row, &r->levels[level]);
	text_char(&r->text, '\n');
	if (level + 1 < r->nlevels &&
	        (at + 1 == l->table.norder || l->nodes[l->table.order[at + 1]].level <= level)) {
		put_no_entry(r, level + 1);
	}
}

/* Appends "Command / Shared Object+Symbol"; returns the width of the column of all keys. */
static size_t keys_title(const struct report *r, struct text *out)
{
	size_t start = out->n, width = 0;

	for (uint32_t level = 0; level < r->nlevels; level++) {
		const struct report_list *keys = &r->levels[level];
		size_t wide = (size_t)level * INDENT;

		for (unsigned k = 0; k < keys->n; k++) {
			const char *title = field_at(keys->id[k])->info.title;

			text_str(out, k != 0 ? "+" : level != 0 ? " / " : "");
			text_str(out, title + strspn(title, " "));
			wide += (size_t)r->width[report_columns_find(r, keys->id[k])];
			wide += k != 0 ? 1 : 0; /* as in perf, though two blanks are printed */
		}
		width = wide > width ? wide : width;
	}
	return out->n - start > width ? out->n - start : width;
}

void report_levels_titles(struct report *r)
{
	bool separated = r->options.separator != NULL;
	struct text *t = &r->text;
	size_t width;

	text_str(t, "# ");
	text_fill(t, ' ', indent_of_keys(r));
	for (unsigned i = 0; i < r->columns.n && !field_is_key(r->columns.id[i]); i++) {
		if (i != 0) {
			report_columns_gap(r, i);
		}
		report_columns_title(r, i);
	}
	report_columns_gap(r, 1);
	width = keys_title(r, t);
	text_str(t, "\n# ");
	text_fill(t, '.', indent_of_keys(r));
	for (unsigned i = 0; i < r->columns.n && !field_is_key(r->columns.id[i]); i++) {
		if (i != 0) {
			text_str(t, separated ? r->options.separator : "..");
		}
		text_fill(t, '.', (size_t)r->width[i]);
	}
	report_columns_gap(r, 1);
	text_fill(t, '.', width);
	text_str(t, "\n#\n");
}
