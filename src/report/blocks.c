/* SPDX-License-Identifier: MIT */
/* --total-cycles: blocks of code between branches, by the cycles that they took. */
#include "report/report.h"

#include "core/escape.h"
#include "symbol/symbol.h"

#define RANGE_WIDTH  70
#define OBJECT_WIDTH 20

int report_blocks_check(const struct report *r)
{
	const struct sonde_report_options *o = &r->options;
	const struct {
		bool given;
		const char *option;
	} without[] = {{o->sort != NULL, "--sort"}, {o->fields != NULL, "--fields"},
	        {o->separator != NULL, "--field-separator"}, {o->widths != NULL, "--column-widths"},
	        {o->hierarchy, "--hierarchy"}, {o->memory, "--mem-mode"},
	        {o->group == SONDE_REPORT_GROUP_ALL, "--group"}};

	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++) {
		if (without[i].given) {
			return error_set(session_error(r->session), SONDE_EARG, NO_OFFSET,
			        "--total-cycles has columns of its own: leave %s out",
			        without[i].option);
		}
	}
	return 0;
}

/* "FUNCTION+0x12", or the address in the object. */
static void put_end(struct report *r, struct text *t, const struct profile_location *at)
{
	const char *name = profile_symbol(&r->profile, at->object, at->symbol);

	t->failed = t->failed || (name == NULL && at->symbol != NULL);
	text_str(t, name != NULL ? name : "");
	text_str(t, name != NULL ? "+0x" : "0x");
	text_hex(t, at->address - (name != NULL ? at->symbol->start : 0), 0, ' ');
}

/* 843, "1.4K" */
static void put_cycles(struct text *t, uint64_t cycles)
{
	double left = (double)cycles;
	const char *unit = "";

	for (const char *u = "K\0M\0G\0T\0"; left >= 1000 && *u != 0; u += 2) {
		left /= 1000;
		unit = u;
	}
	text_printf(t, *unit != 0 ? "%.1f%s" : "%.0f%s", left, unit);
}

/* Appends r->cell right-aligned, and empties it. */
static void put_cell(struct report *r, size_t width)
{
	text_str(&r->text, "  ");
	if (r->cell.n < width) {
		text_fill(&r->text, ' ', width - r->cell.n);
	}
	escape_plain_from(&r->cell, 0);
	text_bytes(&r->text, r->cell.p, r->cell.n);
	r->text.failed = r->text.failed || r->cell.failed;
	r->cell.n = 0;
}

static double percent(double part, double whole)
{
	return whole == 0 ? 0.0 : 100.0 * part / whole;
}

static double average(const struct profile_row *row)
{
	return row->samples == 0 ? 0.0 : (double)row->period / (double)row->samples;
}

static void put_block(
        struct report *r, const struct profile_row *row, uint64_t total, double averages)
{
	const struct profile_location *first =
	        profile_row_location(&r->profile, row, FIELD_ADDR_TO);
	struct text *t = &r->cell;

	t->n = 0;
	text_printf(t, "%.2f%%", percent((double)row->period, (double)total));
	put_cell(r, strlen("Sampled Cycles%"));
	put_cycles(t, row->period);
	put_cell(r, strlen("Sampled Cycles"));
	text_printf(t, "%.2f%%", percent(average(row), averages));
	put_cell(r, strlen("Avg Cycles%"));
	put_cycles(t, (uint64_t)average(row));
	put_cell(r, strlen("Avg Cycles"));
	text_char(t, '[');
	put_end(r, t, first);
	text_str(t, " -> ");
	put_end(r, t, profile_row_location(&r->profile, row, FIELD_ADDR_FROM));
	text_char(t, ']');
	put_cell(r, RANGE_WIDTH);
	text_str(t, intern_text(&r->profile.names, r->profile.dso[first->object]));
	put_cell(r, OBJECT_WIDTH);
	text_char(&r->text, '\n');
}

static void put_titles(struct text *t)
{
	text_printf(t, "# Sampled Cycles%%  Sampled Cycles  Avg Cycles%%  Avg Cycles  %*s  %*s\n",
	        RANGE_WIDTH, "[Program Block Range]", OBJECT_WIDTH, "Shared Object");
	text_str(t, "# ...............  ..............  ...........  ..........  ");
	text_fill(t, '.', RANGE_WIDTH);
	text_str(t, "  ");
	text_fill(t, '.', OBJECT_WIDTH);
	text_str(t, "\n#\n");
}

bool report_blocks(struct report *r, uint64_t total)
{
	const struct report_table *table = r->table;
	double averages = 0;

	if (!r->options.quiet) {
		put_titles(&r->text);
	}
	for (size_t i = 0; i < table->norder; i++) {
		averages += average(&table->rows[table->order[i]]);
	}
	for (size_t i = 0; i < table->norder; i++) {
		put_block(r, &table->rows[table->order[i]], total, averages);
	}
	return table->norder != 0;
}
