/* SPDX-License-Identifier: MIT */
/*
 * Metrics without counts: a line for each group of cells, a column for each metric that relates one
 * event to another.
 *
 *	[time] [label] [cpus]                  GHz       insn per cycle
 *	     16      1      6            20 and 1    20 or the name, and 1
 */
#include "stat/stat.h"

#include <stdio.h>
#include <stdlib.h>

#define CELL_WIDTH      20
#define HEADER_INTERVAL 25 /* intervals between headers */

struct column {
	size_t event;
	bool more; /* use the event's second metric */
	char name[128];
};

struct table {
	const struct stat_printer *printer;
	const struct stat_set *set;
	const struct stat_row *rows;
	size_t ngroups;
	bool by_part; /* rows are ordered by group of cells, else by event */
	struct column *columns;
	size_t ncolumns;
};

static const struct stat_row *row_of(const struct table *t, size_t event, size_t group)
{
	return &t->rows[t->by_part ? group * t->set->nevents + event : event * t->ngroups + group];
}

static void find_columns(struct table *t)
{
	size_t e, g;

	for (e = 0; e < t->set->nevents; e++) {
		const struct stat_event *event = &t->set->events[e];
		struct column *c = &t->columns[t->ncolumns];
		const char *unit = NULL;

		if (!event->clock && metric_name(event->type, event->config, event->name, c->name,
		                             sizeof(c->name))) {
			c->event = e;
			t->ncolumns++;
		}
		for (g = 0; unit == NULL && g < t->ngroups; g++) {
			unit = row_of(t, e, g)->counted ? row_of(t, e, g)->more.unit : NULL;
		}
		if (unit != NULL) {
			c = &t->columns[t->ncolumns++];
			c->event = e;
			c->more = true;
			(void)snprintf(c->name, sizeof(c->name), "%s", unit);
		}
	}
}

static const struct metric *metric_of(const struct table *t, const struct column *c, size_t group)
{
	static const struct metric none;
	const struct stat_row *row = row_of(t, c->event, group);

	return !row->counted ? &none : c->more ? &row->more : &row->metric;
}

static int cell_width(const struct column *c)
{
	int n = (int)strlen(c->name);

	return n > CELL_WIDTH ? n : CELL_WIDTH;
}

/* ---- text ---- */

static void text_head(const struct table *t, struct text *out)
{
	size_t i;

	if (t->printer->intervals) {
		text_str(out, "#           time ");
	}
	text_fill(out, ' ', strlen(t->rows[0].pad) + (t->by_part ? 6 : 0));
	for (i = 0; i < t->ncolumns; i++) {
		text_printf(out, "%*s ", cell_width(&t->columns[i]), t->columns[i].name);
	}
	text_char(out, '\n');
}

static void text_line(const struct table *t, size_t group, struct text *out)
{
	const struct stat_row *first = row_of(t, 0, group);
	char value[64];
	size_t i;

	stat_print_stamp(t->printer, out);
	text_str(out, first->pad);
	if (t->by_part) {
		text_printf(out, " %4u ", first->ncells);
	}
	for (i = 0; i < t->ncolumns; i++) {
		const struct metric *m = metric_of(t, &t->columns[i], group);

		value[0] = '\0';
		if (m->unit != NULL) {
			(void)snprintf(value, sizeof(value), "%.*f%s", (int)m->digits, m->value,
			        strcmp(m->tail, " ") == 0 ? "" : m->tail);
		}
		text_printf(out, "%*s ", cell_width(&t->columns[i]), value);
	}
	text_char(out, '\n');
}

/* ---- CSV and JSON ---- */

static void csv_head(const struct table *t, struct text *out)
{
	const char *sep = t->printer->separator, *part = stat_part_name(t->set->by);
	size_t i;

	if (t->printer->intervals) {
		text_printf(out, "time%s", sep);
	}
	if (part != NULL) {
		text_printf(out, "%s%s%s%s", part, sep, t->by_part ? "cpus" : "",
		        t->by_part ? sep : "");
	}
	for (i = 0; i < t->ncolumns; i++) {
		text_printf(out, "%s%s", t->columns[i].name, sep);
	}
	text_char(out, '\n');
}

static void csv_line(const struct table *t, size_t group, struct text *out)
{
	const struct stat_row *first = row_of(t, 0, group);
	const char *sep = t->printer->separator;
	size_t i;

	if (t->printer->intervals) {
		text_printf(out, "     %llu.%09llu%s",
		        (unsigned long long)(t->printer->stamp_ns / 1000000000),
		        (unsigned long long)(t->printer->stamp_ns % 1000000000), sep);
	}
	if (first->label[0] != '\0') {
		text_printf(out, "%s%s", first->label, sep);
	}
	if (t->by_part) {
		text_printf(out, "%u%s", first->ncells, sep);
	}
	for (i = 0; i < t->ncolumns; i++) {
		const struct metric *m = metric_of(t, &t->columns[i], group);

		if (m->unit != NULL) {
			text_printf(out, "%.*f", (int)m->digits, m->value);
		}
		text_str(out, sep);
	}
	text_char(out, '\n');
}

static void json_metrics(const struct table *t, size_t group, struct text *out)
{
	struct json j = {.out = out, .as_perf = true};
	size_t i;

	stat_json_front(t->printer, t->set, row_of(t, 0, group), &j);
	for (i = 0; i < t->ncolumns; i++) {
		const struct metric *m = metric_of(t, &t->columns[i], group);

		if (m->unit != NULL) {
			json_printf(&j, t->columns[i].name, "%.*f", (int)m->digits, m->value);
		} else {
			json_text(&j, t->columns[i].name, NULL);
		}
	}
	json_end(&j);
}

int stat_print_metrics(struct stat_printer *p, const struct stat_set *s,
        const struct stat_row *rows, size_t ngroups, struct text *out)
{
	static void (*const lines[])(const struct table *, size_t, struct text *) = {
	        text_line, csv_line, json_metrics};
	static void (*const heads[])(const struct table *, struct text *) = {
	        text_head, csv_head, NULL};
	struct table t = {.printer = p,
	        .set = s,
	        .rows = rows,
	        .ngroups = ngroups,
	        .by_part = stat_counts_cpus(s->by)};
	size_t i, g;

	t.columns = calloc(2 * s->nevents + 1, sizeof(*t.columns));
	if (t.columns == NULL) {
		return SONDE_ENOMEM;
	}
	find_columns(&t);
	if (heads[p->format] != NULL &&
	        (!p->intervals || p->headers ||
	                (p->format == SONDE_STAT_TEXT ? p->lines % HEADER_INTERVAL == 0
	                                              : p->lines == 0))) {
		heads[p->format](&t, out);
	}
	p->lines += p->intervals;
	for (g = 0; g < ngroups; g++) {
		lines[p->format](&t, g, out);
	}
	for (p->nmetrics = 0, i = 0; i < t.ncolumns; i++) {
		for (g = 0; g < ngroups && metric_of(&t, &t.columns[i], g)->unit == NULL; g++) {
		}
		p->nmetrics += g < ngroups;
	}
	free(t.columns);
	return 0;
}
