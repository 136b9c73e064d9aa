/* SPDX-License-Identifier: MIT */
/* The rows of an event or a group: selected, measured for the columns, and sorted. */
#include "report/report.h"

#include "core/pool.h"

#include <stdlib.h>

#define ROWS_AT_ONCE 4096u
#define AHEAD        16u /* rows to prefetch */
#define ROWS_MANY    16384u /* from so many on, sorting takes longer than starting a thread */

/* The rows of a table before they are sorted. */
struct listed {
	struct report *r;
	const uint32_t *rows;
	size_t n;
};

bool report_table_shown(const struct report *r, uint32_t event, unsigned members)
{
	if (r->options.show_empty) {
		return true;
	}
	for (unsigned m = 0; m < members; m++) {
		if (r->profile.samples[event + m] != 0) {
			return true;
		}
	}
	return false;
}

static int rows_widen(void *arg, unsigned worker, size_t block)
{
	const struct listed *x = arg;
	const struct profile_row *rows = x->r->table->rows;
	struct report *w = &x->r->workers[worker];
	size_t i = block * ROWS_AT_ONCE;
	size_t end = x->n - i < ROWS_AT_ONCE ? x->n : i + ROWS_AT_ONCE;

	for (; i < end; i++) {
		if (!rows[x->rows[i]].hidden) {
			report_columns_widen(w, &rows[x->rows[i]]);
		}
	}
	return w->cell.failed ? SONDE_ENOMEM : 0;
}

/* Widens the columns for all rows of an event, on `jobs` workers. */
static int columns_widen(struct listed *x, unsigned jobs)
{
	struct report *r = x->r;
	size_t blocks = (x->n + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE;

	TRY(report_columns_reset(r));
	for (unsigned i = 0; i < r->nworkers; i++) {
		memcpy(r->workers[i].width, r->width, sizeof(r->width));
		r->workers[i].table = r->table;
		r->workers[i].trace_event = r->trace_event;
		r->workers[i].trace_widths = r->trace_widths;
		report_columns_forget(&r->workers[i]);
	}
	TRY(pool_run(jobs, blocks, rows_widen, x));
	for (unsigned i = 0; i < r->nworkers; i++) {
		for (unsigned k = 0; k < r->columns.n; k++) {
			int width = r->workers[i].width[k];

			r->width[k] = width > r->width[k] ? width : r->width[k];
		}
	}
	TRY(report_columns_room(r, x->rows, x->n));
	for (unsigned i = 0; i < r->nworkers; i++) {
		memcpy(r->workers[i].width, r->width, sizeof(r->width));
	}
	return 0;
}

/* Lists the rows of an event in r->all. */
static void rows_list(struct report *r, uint32_t event)
{
	bool all = sonde_session_events(r->session) == 1; /* then no row needs to be read */

	r->table = &r->all;
	r->table->members = 1;
	r->table->norder = 0;
	for (size_t i = 0; i < r->table->nrows; i++) {
		if (all || r->table->rows[i].event == event) {
			r->table->order[r->table->norder++] = (uint32_t)i;
		}
	}
}

struct cutting {
	struct report *r;
	size_t *shown; /* rows of each block that are printed */
};

static int block_cut(void *arg, unsigned worker, size_t block)
{
	const struct cutting *x = arg;
	const struct report *r = x->r;
	size_t first = block * ROWS_AT_ONCE;
	uint32_t *order = r->table->order + first;
	size_t n =
	        r->table->norder - first < ROWS_AT_ONCE ? r->table->norder - first : ROWS_AT_ONCE;
	size_t shown = 0;

	(void)worker;
	for (size_t i = 0; i < n; i++) {
		const struct profile_row *row = &r->table->rows[order[i]];

		profile_row_prefetch(&r->table->rows[order[i + AHEAD < n ? i + AHEAD : i]]);
		if (!row->hidden && report_row_shown(r, row)) {
			order[shown++] = order[i];
		}
	}
	x->shown[block] = shown;
	return 0;
}

/* Removes the rows that are not printed: all workers cut blocks, which one thread moves together. */
static int rows_cut(struct report *r)
{
	size_t blocks = (r->table->norder + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE, n = 0;
	struct cutting x = {.r = r, .shown = malloc((blocks + 1) * sizeof(*x.shown))};

	if (x.shown == NULL) {
		return SONDE_ENOMEM;
	}
	(void)pool_run(r->nworkers != 0 ? r->nworkers : 1, blocks, block_cut, &x);
	for (size_t block = 0; block < blocks; block++) {
		memmove(r->table->order + n, r->table->order + block * ROWS_AT_ONCE,
		        x.shown[block] * sizeof(*r->table->order));
		n += x.shown[block];
	}
	r->table->norder = n;
	free(x.shown);
	return 0;
}

enum { SELECT_ORDER, SELECT_OTHERS, SELECT_PARTS };

static int part_select(void *arg, unsigned worker, size_t part)
{
	struct listed *x = arg;

	(void)worker;
	if (part == SELECT_ORDER) {
		return report_order(x->r);
	}
	TRY(x->r->options.quiet ? 0 : report_tips_count(x->r));
	return columns_widen(x, 1);
}

/*
 * Sorts the rows on all workers; much of this is work for one thread. Another one meanwhile does what
 * does not depend on the order: it measures the columns, and counts what the last lines need.
 */
static int rows_order(struct report *r)
{
	struct report_table *t = r->table;
	size_t size = t->norder * sizeof(*t->order);
	struct listed x = {.r = r, .n = t->norder};
	uint32_t *copy;
	int rc;

	if (r->options.json || r->nworkers < 2 || t->norder < ROWS_MANY) {
		x.rows = t->order;
		TRY(r->options.json ? 0 : columns_widen(&x, r->nworkers));
		return report_order(r);
	}
	x.rows = copy = malloc(size);
	if (copy == NULL) {
		return SONDE_ENOMEM;
	}
	memcpy(copy, t->order, size);
	rc = pool_run(SELECT_PARTS, SELECT_PARTS, part_select, &x);
	free(copy);
	return rc;
}

int report_rows_select(struct report *r, uint32_t event, unsigned members)
{
	rows_list(r, event);
	if (members > 1 || r->options.hierarchy) {
		TRY(report_levels_make(r, event, members));
	}
	if (r->options.hierarchy) {
		struct listed x = {.r = r, .rows = r->table->order, .n = r->table->norder};

		TRY(r->options.json ? 0 : columns_widen(&x, r->nworkers));
		return report_levels_sort(r, event);
	}
	TRY(rows_order(r)); /* hidden rows too: they influence the order, see order.c */
	return rows_cut(r);
}
