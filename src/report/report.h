/* SPDX-License-Identifier: MIT */
/* Private to report: columns, rows and graphs of one profile. */
#ifndef SONDE_REPORT_TEXT_H
#define SONDE_REPORT_TEXT_H

#include "core/text.h"
#include "profile/profile.h"

#include <sonde/preview/report.h>

/* Fields (enum field_id), without duplicates. */
struct report_list {
	uint8_t id[FIELD_COUNT];
	unsigned n;
};

/* The sums of a row over the samples of one event. */
struct report_sums {
	uint64_t samples, period, children;
};

/* The rows of a table, and those to print. */
struct report_table {
	const struct profile_row *rows;
	size_t nrows;
	unsigned members; /* events of the group, whose numbers follow each other; 1: no group */
	/* Of members 1 and up: members - 1 for each row. The row has those of member 0. */
	const struct report_sums *sums;
	/* PROFILE_MODES for each row and member; NULL without profile.options.modes */
	const uint64_t *modes;
	uint32_t *order; /* indexes of the rows of one event, as printed */
	size_t norder;
};

struct report_regex {
	regex_t regex;
	bool made;
};

#define REPORT_CELL_MAX 88u /* bytes: few texts are longer */

/* The last text of a column: rows are sorted, so the next one is often the same. */
struct report_cell {
	uint64_t value; /* of the row: the text depends only on this */
	uint64_t widened; /* the same for the width of the column; 0: nothing is kept */
	uint32_t n; /* bytes of text; 0: nothing is kept */
	char text[REPORT_CELL_MAX];
};

/* What the last lines are made of: sums over the samples that filters do not hide. */
struct report_tips {
	bool counted;
	uint64_t user,
	        broken; /* with chains by frame pointers: in user code, and without callers */
	uint64_t samples;
	struct report_missing
	        *missing; /* samples without symbols, by object; NULL: no key needs one */
};

struct report_tree_rows; /* rows in levels, or of groups of events: levels.c */

struct report {
	struct sonde_session *session;
	struct sonde_report_options options;
	struct pick pick;
	struct report_list columns; /* as printed */
	struct report_list sorts; /* rows are ordered by the first one, then by the second ... */
	/* Keys of --sort; those in braces are one level. Without --hierarchy: one level of all keys. */
	struct report_list levels[FIELD_COUNT];
	unsigned nlevels;
	bool symbol_first; /* the text of --sort begins with "sym", and there is no --fields */
	bool strict; /* only the columns of --fields are printed */
	uint8_t elided[FIELD_COUNT]; /* keys with the same value in every row */
	unsigned nelided;
	int forced[FIELD_COUNT]; /* forced widths by column number; 0: as wide as needed */
	struct profile profile;
	struct text text;
	struct text cell; /* text of one column */
	sonde_write_fn write;
	void *arg;
	struct report_table all; /* the rows of all events; owns its order */
	struct report_tree_rows *tree; /* with --hierarchy or groups of events; else NULL */
	struct report_regex parent, ignored; /* of functions in call chains */
	struct arena arena; /* of groups */
	struct feature_groups groups; /* of events, as recorded or requested */
	struct report_table *table; /* the present table, which workers share */
	int width[FIELD_COUNT]; /* by number of the column */
	struct report_cell last[FIELD_COUNT]; /* for these widths and the rows of one event */
	int *trace_widths; /* of the fields of trace_event in the column FIELD_TRACE_FIELDS */
	uint32_t trace_event;
	uint32_t *trace_ranks; /* of texts of tracepoints; NULL: not made yet */
	uint32_t ntrace_ranks; /* number of distinct ranks */
	struct profile_nodes nodes; /* open nodes of a call graph */
	struct report_tips tips;
	/* Copies of this struct; each has its own text, cell and nodes. */
	struct report *workers;
	unsigned nworkers;
};

#define REPORT_FLUSH_ABOVE (64u << 10) /* bytes */

/* Passes the text to the caller if there are more than `above` bytes. */
int report_flush(struct report *r, size_t above);
/* Replaces a separator of one character by a dot inside the text from `start` on. */
void report_text_clean(const struct report *r, struct text *text, size_t start);
/* Sorts r->table->order; negative: out of memory. */
int report_order(struct report *r);
/* Sorts the rows of `members` events from `event` on, and computes the widths of the columns. */
int report_rows_select(struct report *r, uint32_t event, unsigned members);
/* Whether a table is printed: of samples, unless empty ones were requested too. */
bool report_table_shown(const struct report *r, uint32_t event, unsigned members);
/* Whether a row is above the limit of shown rows. */
static inline bool report_row_shown(const struct report *r, const struct profile_row *row)
{
	uint64_t weight = r->profile.options.children ? row->children : row->period;

	if (r->options.total_cycles && weight == 0) { /* branches without a block */
		return false;
	}
	return (double)weight * 100.0 >=
	       r->options.percent_limit * (double)r->profile.shown_totals[row->event];
}

int report_rows_json(struct report *r);
int report_stats(struct report *r);
int report_stats_json(struct report *r);
int report_threads(struct report *r);
int report_tasks(struct report *r);
/* Counts what the last lines need, once. SONDE_ENOMEM. */
int report_tips_count(struct report *r);
int report_unresolved_count(struct report *r);
void report_broken_count(struct report *r);
/* If samples are in code without symbols, prints how many, and in which objects. */
bool report_unresolved(struct report *r);
/* If many call chains by frame pointers are broken, prints how many, and how to record whole ones. */
bool report_broken_chains(struct report *r);
/*
 * Prints the rows of r->table as blocks of code, with titles unless quiet; total: all cycles. False:
 * there are no blocks.
 */
bool report_blocks(struct report *r, uint64_t total);
/* SONDE_EARG with a text if --total-cycles cannot be combined with the other options. */
int report_blocks_check(const struct report *r);
/* Prints the shares of kinds of branches, if any kind was recorded. */
void report_branches(struct report *r);

#define REPORT_COLOR_OFF "\033[m"
/* The escape for a share: red from 5 percent, green from 0.5; "" without colours. */
const char *report_color(const struct report *r, uint64_t part, uint64_t total);

/*
 * Sets the columns from options; SONDE_EARG with a text. Needs the pick and
 * profile.options.children.
 */
int report_columns_init(struct report *r);
/* Sets the widths of an event's columns to those of the titles; rows make them wider. */
int report_columns_reset(struct report *r); /* SONDE_ENOMEM, SONDE_EARG */
/* Forgets the last texts of columns: another event or other widths follow. */
void report_columns_forget(struct report *r);
void report_columns_widen(struct report *r, const struct profile_row *row);
/*
 * After all rows, which are n of the table: as in perf, the column of objects has room for an address
 * if a row begins without a symbol. SONDE_ENOMEM.
 */
int report_columns_room(struct report *r, const uint32_t *rows, size_t n);
/* A member's sum in a row. */
uint64_t report_columns_sum(
        const struct report *r, const struct profile_row *row, unsigned id, unsigned member);
/* A row's rank by a column: lower ones come first; not for FIELD_DSO and FIELD_SYM. */
uint64_t report_columns_rank(const struct report *r, const struct profile_row *row, unsigned id);
/* Whether a column is printed once above the rows, as its value is the same in all rows. */
bool report_columns_left_out(const struct report *r, unsigned id);
/*
 * Columns of the fields of tracepoints (trace.c). report_trace_choose: whether a word of --sort
 * names such a field; then *rc is negative if it cannot be used.
 */
bool report_trace_choose(struct report *r, const char *word, size_t n, int *rc);
/*
 * Sets the widths for the event of the table's rows. Returns their sum; SONDE_ENOMEM; SONDE_EARG
 * with a text if the table is of a group of events.
 */
int report_trace_reset(struct report *r);
/* Whether the event has no such field, so that the column is left out. */
bool report_trace_hidden(const struct report *r);
void report_trace_title(const struct report *r, struct text *out);
void report_trace_dots(const struct report *r, struct text *out);
/* text: of the key. */
void report_trace_cells(
        const struct report *r, const struct profile_row *row, const char *text, struct text *out);
void report_trace_json(
        const struct report *r, const struct profile_row *row, const char *text, struct json *out);
void report_columns_titles(struct report *r);
/* Prints the sort keys as in --sort. */
void report_columns_sort(struct report *r);
void report_columns_row(struct report *r, const struct profile_row *row);
/* Number of the column of a field; columns.n: it has none. */
unsigned report_columns_find(const struct report *r, unsigned id);
/* These print one column: its title, its text, and what separates it from the column before. */
void report_columns_title(struct report *r, unsigned i);
void report_columns_cell(struct report *r, const struct profile_row *row, unsigned i, bool last);
void report_columns_gap(struct report *r, unsigned i);
/* Sets the order of rows to that of a level of --hierarchy. */
void report_columns_sort_level(struct report *r, uint32_t level);
/* Prints a column's value as a member of an object. */
void report_columns_json(
        const struct report *r, const struct profile_row *row, unsigned id, struct json *out);
void report_columns_elided(struct report *r);
/*
 * Keys that are locations: writes the text to r->cell, for a column of this width; returns the width
 * that the text needs; prints the members of an object.
 */
void report_location_text(
        struct report *r, const struct profile_row *row, unsigned id, size_t width);
size_t report_location_width(const struct report *r, const struct profile_row *row, unsigned id);
void report_location_json(
        const struct report *r, const struct profile_row *row, unsigned id, struct json *out);
/* The level of code, before its name. */
#define REPORT_LEVEL_WIDTH 4u
#define REPORT_PLACE_WIDTH 21u /* of what options.verbose shows before it */
const char *report_level(bool kernel);
/* Prints what branches add to a node's frame at a depth of the row's graph: history.c. */
void report_history(struct report *r, const struct profile_node *node, uint32_t depth);
void report_graph_name(struct report *r, const struct profile_frame *f);
/* Prints a share of total, or a number, as the options of graphs request. */
void report_graph_value(struct report *r, uint64_t periods, uint64_t samples, uint64_t total);

struct report_tree_rows *report_levels_new(void);
void report_levels_free(struct report_tree_rows *l); /* NULL is fine */
/*
 * Makes the rows of a table in r->table: in levels, or joined for `members` events from `event` on.
 * r->table lists the leaves.
 */
int report_levels_make(struct report *r, uint32_t event, unsigned members);
/* Sorts the rows in levels: r->table then lists what is shown. */
int report_levels_sort(struct report *r, uint32_t event);
void report_levels_titles(struct report *r);
/* Prints a node by its position in r->table->order, without its call graph. */
void report_levels_row(struct report *r, size_t at);

/* Print the call graph of a row with refs: as whole chains (flat and folded), or as a tree. */
int report_chains(struct report *r, const struct profile_row *row);
int report_graph(struct report *r, const struct profile_row *row);

#endif
