/* SPDX-License-Identifier: MIT */
/*
 * Sets of counts as text, CSV or JSON, in the forms of perf 6.1. A line of text:
 *
 *	[time] [label] VALUE unit name                             # metric unit  ( +- n% )  (n%)
 *	  16      1     18    4    32 (25 when not counted)          35 in all
 */
#include "stat/stat.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define VALUE_WIDTH     18
#define NAME_WIDTH      32
#define NAME_WIDTH_BAD  25 /* for events that were not counted */
#define METRIC_WIDTH    35
#define TABLE_WIDTH     16 /* width of a time in the table of runs: indent and digits */
#define TABLE_STEPS     20 /* marks for a difference as large as the time itself */
#define TABLE_MOST      4000 /* most marks in a line */
#define HEADER_INTERVAL 25 /* intervals between headers */

/* A set of cells with the same key, which are summed. */
struct group {
	char label[STAT_LABEL_SIZE], pad[STAT_LABEL_SIZE];
	unsigned ncpus;
	double order; /* of threads: the greatest is first */
};

struct groups {
	struct group *v;
	size_t n;
	size_t *first; /* by group: its first cell, NO_CELL: none */
	size_t *next; /* by cell: the next one of its group */
};

#define NO_CELL SIZE_MAX

void stat_printer_fini(struct stat_printer *p)
{
	free(p->bases);
	p->bases = NULL;
	p->nbases = 0;
}

/* ---- groups ---- */

static void name_group(const struct stat_set *s, const struct stat_place *c,
        const struct stat_thread *t, struct group *g)
{
	char id[16];

	g->label[0] = g->pad[0] = '\0';
	switch (s->by) {
	case SONDE_STAT_BY_CPU:
		(void)snprintf(g->label, sizeof(g->label), "CPU%d", c->cpu);
		(void)snprintf(g->pad, sizeof(g->pad), "CPU%-7d ", c->cpu);
		break;
	case SONDE_STAT_BY_SOCKET:
		(void)snprintf(g->label, sizeof(g->label), "S%d", c->socket);
		(void)snprintf(g->pad, sizeof(g->pad), "S%-5d", c->socket);
		break;
	case SONDE_STAT_BY_DIE:
		(void)snprintf(g->label, sizeof(g->label), "S%d-D%d", c->socket, c->die);
		(void)snprintf(g->pad, sizeof(g->pad), "S%d-D%-8d", c->socket, c->die);
		break;
	case SONDE_STAT_BY_CORE:
		(void)snprintf(
		        g->label, sizeof(g->label), "S%d-D%d-C%d", c->socket, c->die, c->core);
		(void)snprintf(g->pad, sizeof(g->pad), "S%d-D%d-C%-8d", c->socket, c->die, c->core);
		break;
	case SONDE_STAT_BY_NODE:
		(void)snprintf(g->label, sizeof(g->label), "N%d", c->node);
		(void)snprintf(g->pad, sizeof(g->pad), "N%-5d", c->node);
		break;
	case SONDE_STAT_BY_THREAD:
		(void)snprintf(id, sizeof(id), "%d", (int)t->tid);
		(void)snprintf(g->label, sizeof(g->label), "%s-%s", t->comm, id);
		(void)snprintf(g->pad, sizeof(g->pad), "%16s-%-8s", t->comm, id);
		break;
	case SONDE_STAT_BY_ALL:
	case SONDE_STAT_BY_RECORDED:
	default: break;
	}
}

static int make_groups(const struct stat_set *s, struct groups *out)
{
	size_t cells = s->ncpus * s->nthreads;
	size_t cell, i;
	struct group g = {0};

	out->v = calloc(cells + 1, sizeof(*out->v));
	out->first = calloc(cells + 1, sizeof(*out->first));
	out->next = calloc(cells + 1, sizeof(*out->next));
	if (out->v == NULL || out->first == NULL || out->next == NULL) {
		return SONDE_ENOMEM;
	}
	for (cell = 0; cell < cells; cell++) {
		size_t cpu = cell / s->nthreads, thread = cell % s->nthreads;

		/* every cpu and every thread is a group; other groups are few */
		i = s->by == SONDE_STAT_BY_CPU ? cpu : s->by == SONDE_STAT_BY_THREAD ? thread : 0;
		if (i == out->n || stat_counts_cpus(s->by)) {
			name_group(s, &s->cpus[cpu], &s->threads[thread], &g);
		}
		for (; stat_counts_cpus(s->by) && i < out->n; i++) {
			if (strcmp(out->v[i].label, g.label) == 0) {
				break;
			}
		}
		if (i == out->n) {
			out->first[out->n] = NO_CELL;
			out->v[out->n++] = g;
		}
		out->next[cell] = out->first[i];
		out->first[i] = cell;
	}
	return 0;
}

/* ---- rows ---- */

static struct stat_count cell_count(
        const struct stat_printer *p, const struct stat_event *e, size_t i)
{
	struct stat_count c = e->now[i];

	if (p->intervals) {
		c.value -= e->before[i].value;
		c.enabled -= e->before[i].enabled;
		c.running -= e->before[i].running;
	}
	return c;
}

/* Scales the count to the whole time it was enabled; rounded to the nearest, as in perf. */
static double scaled(const struct stat_set *s, const struct stat_count *c)
{
	if (!s->scale || c->running == c->enabled) {
		return (double)c->value;
	}
	return (double)sonde_counter_scale(c->value, c->enabled, c->running);
}

/*
 * Adds another cpu of a socket, die, core or node, from the last to the first. As in perf 6.1, the
 * row is not counted if one of its cpus is not, and lists the cpus up to the first such one.
 */
static void add_cpu(struct stat_row *row, const struct stat_count *c, bool *whole)
{
	if (c->enabled == 0 || c->running == 0) {
		row->ncells = 0;
		*whole = false;
	}
	row->ncells++;
}

/*
 * Sums a group's cells of one event into its row; returns the value. As in perf 6.1, the sum over
 * everything is scaled once, those of parts are sums of scaled cells.
 */
static double sum_event(const struct stat_printer *p, const struct stat_set *s,
        const struct groups *groups, size_t group, const struct stat_event *e, struct stat_row *row)
{
	struct stat_count sum = {0};
	size_t i;
	double value = 0;
	bool whole = true;

	for (i = groups->first[group]; i != NO_CELL; i = groups->next[i]) {
		struct stat_count c = cell_count(p, e, i);

		if (c.absent) {
			/* a tool event has a line even for parts where it is not counted */
			row->absent &= e->tool == EVENT_TOOL_NONE || !stat_counts_cpus(s->by);
			continue;
		}
		row->absent = false;
		sum.value += c.value;
		sum.enabled += c.enabled;
		sum.running += c.running;
		value += scaled(s, &c);
		if (stat_counts_cpus(s->by)) {
			add_cpu(row, &c, &whole);
		}
	}
	if (!whole) {
		sum = (struct stat_count){0};
		value = 0;
	}
	row->enabled += sum.enabled;
	row->running += sum.running;
	return s->by == SONDE_STAT_BY_ALL ? scaled(s, &sum) : value;
}

/* Sums an event, and the events merged with it. */
static void sum_row(const struct stat_printer *p, const struct stat_set *s,
        const struct groups *groups, size_t group, struct stat_row *row)
{
	const struct stat_event *event = row->event;
	const size_t own = (size_t)(event - s->events);
	unsigned runs = s->nruns > 1 ? s->nruns : 1;
	unsigned ncells;
	double value;
	size_t e;

	row->absent = true;
	if (event->row != own) {
		return;
	}
	value = sum_event(p, s, groups, group, event, row);
	ncells = row->ncells; /* cpus, not counters */
	for (e = own + 1; event->merged && e < s->nevents; e++) {
		if (s->events[e].row == own) {
			value += sum_event(p, s, groups, group, &s->events[e], row);
		}
	}
	row->ncells = ncells;
	if (s->by == SONDE_STAT_BY_ALL && s->nruns > 1) {
		value = event->runs.mean * runs;
	}
	row->counted = event->supported && row->running != 0 && row->enabled != 0;
	row->enabled /= runs;
	row->running /= runs;
	row->value = value / runs * row->event->scale;
	row->noise = -1;
	if (s->nruns > 1) {
		row->noise =
		        s->by == SONDE_STAT_BY_ALL ? stat_mean_error_percent(&row->event->runs) : 0;
	}
	memcpy(row->label, groups->v[group].label, sizeof(row->label));
	memcpy(row->pad, groups->v[group].pad, sizeof(row->pad));
}

/* Clocks are related to the duration of the measurement, if it is known. */
static void find_metrics(struct stat_row *row, const struct metric_bases *bases, double wall_ns)
{
	const struct stat_event *e = row->event;

	if (!e->clock) {
		metric_find(e->type, e->config, row->value, bases, &row->metric, &row->more);
	} else if (wall_ns > 0) {
		row->metric =
		        (struct metric){"CPUs utilized", row->value / e->scale / wall_ns, 8, 3, ""};
	}
}

/* Adds a count that metrics of the group may be relative to. */
static void add_base(
        const struct stat_printer *p, const struct stat_row *row, struct metric_bases *bases)
{
	int base = metric_base_of(row->event->type, row->event->config);
	double v = row->event->clock ? row->value / row->event->scale : row->value;

	if (base < 0 || (!row->counted && p->intervals && !p->mean_bases)) {
		return; /* as in perf, an interval in which it did not run does not change its
		           mean */
	}
	if (!p->mean_bases) {
		if (!bases->known[base]) {
			bases->v[base] = v;
		}
	} else {
		bases->n[base]++;
		bases->v[base] += (v - bases->v[base]) / (double)bases->n[base];
	}
	bases->known[base] = true;
}

static int compare_rows(const void *a, const void *b)
{
	const struct stat_row *x = a, *y = b;

	return (x->value < y->value) - (x->value > y->value);
}

/* ---- numbers ---- */

/* Inserts a separator between thousands; s: formatted by printf. */
static void group_digits(const char *s, const char *separator, char *out, size_t size)
{
	size_t digits = strspn(s, "0123456789"), i, n = 0, len = strlen(separator);

	for (i = 0; i < digits && n + len + 2 < size; i++) {
		if (i != 0 && (digits - i) % 3 == 0) {
			n += (size_t)snprintf(out + n, size - n, "%s", separator);
		}
		out[n++] = s[i];
	}
	(void)snprintf(out + n, size - n, "%s", s + i);
}

/* Columns of a text: number of bytes that begin a UTF-8 character. */
static int columns(const char *s)
{
	int n = 0;

	for (; *s != '\0'; s++) {
		n += ((unsigned char)*s & 0xc0) != 0x80;
	}
	return n;
}

static void value_text(
        const struct stat_printer *p, const struct stat_row *row, char *out, size_t size)
{
	char plain[64];

	if (!row->counted) {
		(void)snprintf(out, size, "%s",
		        row->event->supported ? "<not counted>" : "<not supported>");
		return;
	}
	(void)snprintf(plain, sizeof(plain),
	        p->format == SONDE_STAT_JSON ? "%f"
	        : row->event->scale != 1     ? "%.2f"
	                                     : "%.0f",
	        row->value);
	group_digits(plain,
	        p->format == SONDE_STAT_TEXT && p->thousands != NULL ? p->thousands : "", out,
	        size);
}

static double percent_running(const struct stat_row *row)
{
	return row->enabled != 0 ? 100.0 * (double)row->running / (double)row->enabled : 100.0;
}

/* ---- text ---- */

static void text_metric(const struct metric *m, struct text *out)
{
	char buf[96];
	int n;

	if (m->unit == NULL) {
		text_fill(out, ' ', METRIC_WIDTH);
		return;
	}
	n = snprintf(
	        buf, sizeof(buf), " # %*.*f%s ", (int)m->width, (int)m->digits, m->value, m->tail);
	text_printf(out, "%s%-*s", buf, n < METRIC_WIDTH ? METRIC_WIDTH - n : 0, m->unit);
}

static void text_row(const struct stat_printer *p, const struct stat_set *s,
        const struct stat_row *row, struct text *out)
{
	const struct stat_event *e = row->event;
	char value[128];
	int pad;

	stat_print_stamp(p, out);
	text_str(out, row->pad);
	if (stat_counts_cpus(s->by)) {
		text_printf(out, " %4u ", row->ncells);
	} else if (s->by == SONDE_STAT_BY_THREAD) {
		text_char(out, ' ');
	}
	value_text(p, row, value, sizeof(value));
	pad = VALUE_WIDTH - columns(value);
	text_fill(out, ' ', pad > 0 ? (size_t)pad : 0);
	text_printf(out, "%s %-*s %-*s", value, (int)p->unit_width, e->unit,
	        row->counted ? NAME_WIDTH : NAME_WIDTH_BAD, e->name);
	if (s->ncgroups > 0) {
		text_printf(out, " %s", e->cgroup != NULL ? e->cgroup : "");
	}
	text_metric(row->counted ? &row->metric : &(const struct metric){0}, out);
	if (row->counted && row->noise > 0) {
		text_printf(out, "  ( +-%6.2f%% )", row->noise);
	}
	if (row->running != row->enabled) {
		text_printf(out, "  (%.2f%%)", percent_running(row));
	}
	text_char(out, '\n');
	if (row->counted && row->more.unit != NULL) {
		stat_print_stamp(p, out);
		text_fill(out, ' ', 49);
		text_printf(out, " # %*.*f%s %s\n", (int)row->more.width, (int)row->more.digits,
		        row->more.value, row->more.tail, row->more.unit);
	}
}

static void text_header(const struct stat_printer *p, enum sonde_stat_by by, struct text *out)
{
	static const char *const columns_by[] = {
	        [SONDE_STAT_BY_CPU] = " CPU                    counts",
	        [SONDE_STAT_BY_ALL] = "             counts",
	        [SONDE_STAT_BY_SOCKET] = " socket cpus             counts",
	        [SONDE_STAT_BY_DIE] = " die          cpus             counts",
	        [SONDE_STAT_BY_CORE] = " core            cpus             counts",
	        [SONDE_STAT_BY_THREAD] = "             comm-pid                  counts",
	        [SONDE_STAT_BY_RECORDED] = "",
	        [SONDE_STAT_BY_NODE] = " node   cpus             counts",
	};

	text_printf(out, "#           time%s %-*s events\n", columns_by[by], (int)p->unit_width,
	        "unit");
}

/* ---- CSV and JSON ---- */

static void csv_metric(const struct stat_printer *p, const struct metric *m, struct text *out)
{
	text_str(out, p->separator);
	if (m->unit != NULL) {
		text_printf(out, "%.*f%s%s", (int)m->digits, m->value, p->separator, m->unit);
	} else {
		text_str(out, p->separator);
	}
	text_char(out, '\n');
}

static void csv_front(const struct stat_printer *p, const struct stat_set *s,
        const struct stat_row *row, struct text *out)
{
	stat_print_stamp(p, out);
	if (p->prefix != NULL) {
		text_printf(out, "%16s%s", p->prefix, p->separator);
	}
	if (row->label[0] != '\0') {
		text_printf(out, "%s%s", row->label, p->separator);
	}
	if (stat_counts_cpus(s->by)) {
		text_printf(out, "%u%s", row->ncells, p->separator);
	}
}

static void csv_row(const struct stat_printer *p, const struct stat_set *s,
        const struct stat_row *row, struct text *out)
{
	const struct stat_event *e = row->event;
	const char *sep = p->separator;
	const struct metric none = {0};
	char value[128];
	int i;

	csv_front(p, s, row, out);
	value_text(p, row, value, sizeof(value));
	text_printf(out, "%s%s%s%s%s", value, sep, e->unit, sep, e->name);
	if (s->ncgroups > 0) {
		text_printf(out, "%s%s", sep, e->cgroup != NULL ? e->cgroup : "");
	}
	if (row->noise >= 0) {
		text_printf(out, "%s%.2f%%", sep, row->noise);
	}
	text_printf(out, "%s%llu%s%.2f", sep, (unsigned long long)row->running, sep,
	        percent_running(row));
	csv_metric(p, row->counted ? &row->metric : &none, out);
	if (row->counted && row->more.unit != NULL) {
		csv_front(p, s, row, out);
		/* as many as in perf: one more for each field before it */
		for (i = 0; i < 3 + (row->label[0] != '\0') + stat_counts_cpus(s->by); i++) {
			text_str(out, sep);
		}
		if (row->noise >= 0) {
			text_str(out, sep);
		}
		csv_metric(p, &row->more, out);
	}
}

/* The end of a line. */
static void json_metric(struct json *j, const struct metric *m)
{
	json_printf(j, "metric-value", "%f", m->value);
	json_text(j, "metric-unit", m->unit);
	json_end(j);
}

static const char *unit_of_metric(const struct stat_event *e)
{
	return e->clock ? "CPUs utilized" : metric_unit(e->type, e->config);
}

static void json_row(const struct stat_printer *p, const struct stat_set *s,
        const struct stat_row *row, struct text *out)
{
	const struct stat_event *e = row->event;
	/* perf prints the unit even if the value is unknown */
	const struct metric none = {.unit = row->counted ? unit_of_metric(row->event) : ""};
	const struct metric *m = row->counted && row->metric.unit != NULL ? &row->metric : &none;
	struct json j = {.out = out, .as_perf = true};
	char value[128];

	stat_json_front(p, s, row, &j);
	value_text(p, row, value, sizeof(value));
	json_text(&j, "counter-value", value);
	json_text(&j, "unit", e->unit);
	json_text(&j, "event", e->name);
	if (s->ncgroups > 0) {
		json_text(&j, "cgroup", e->cgroup != NULL ? e->cgroup : "");
	}
	if (row->noise >= 0) {
		json_printf(&j, "variance", "%.2f", row->noise);
	}
	json_u64(&j, "event-runtime", row->running);
	json_printf(&j, "pcnt-running", "%.2f", percent_running(row));
	json_metric(&j, m);
	if (row->counted && row->more.unit != NULL) {
		stat_json_front(p, s, row, &j);
		json_metric(&j, &row->more);
	}
}

/* ---- sets ---- */

static void print_row(const struct stat_printer *p, const struct stat_set *s,
        const struct stat_row *row, struct text *out)
{
	static void (*const printers[])(const struct stat_printer *, const struct stat_set *,
	        const struct stat_row *, struct text *) = {text_row, csv_row, json_row};

	printers[p->format](p, s, row, out);
}

static int prepare_bases(struct stat_printer *p, size_t n)
{
	if (p->bases == NULL || p->nbases != n) {
		stat_printer_fini(p);
		p->bases = calloc(n + 1, sizeof(*p->bases));
		if (p->bases == NULL) {
			return SONDE_ENOMEM;
		}
		p->nbases = n;
	} else if (!p->mean_bases) {
		memset(p->bases, 0, n * sizeof(*p->bases));
	}
	return 0;
}

/* Metrics are relative to counts of the same group of cells and the same cgroup. */
static struct metric_bases *bases_of(const struct stat_printer *p, const struct stat_set *s,
        const struct stat_event *e, size_t group)
{
	return &p->bases[group * (s->ncgroups + 1) + e->cgroup_index];
}

/* Fills all rows, ordered by event or by group, with their metrics. */
static void fill_rows(struct stat_printer *p, const struct stat_set *s, const struct groups *groups,
        struct stat_row *rows)
{
	bool by_event = !stat_counts_cpus(s->by);
	size_t e, g, i, n = s->nevents * groups->n;

	for (e = 0; e < s->nevents; e++) {
		for (g = 0; g < groups->n; g++) {
			struct stat_row *row =
			        &rows[by_event ? e * groups->n + g : g * s->nevents + e];

			row->event = &s->events[e];
			sum_row(p, s, groups, g, row);
			add_base(p, row, bases_of(p, s, row->event, g));
		}
	}
	for (i = 0; i < n; i++) {
		g = by_event ? i % groups->n : i / s->nevents;
		find_metrics(&rows[i], bases_of(p, s, rows[i].event, g), p->wall_ns);
	}
}

static int put_rows(struct stat_printer *p, const struct stat_set *s, struct stat_row *rows,
        size_t ngroups, struct text *out)
{
	size_t i;

	if (p->intervals && p->format == SONDE_STAT_TEXT &&
	        (p->lines++ % HEADER_INTERVAL == 0 || p->headers)) {
		text_header(p, s->by, out);
	}
	for (i = 0; s->by == SONDE_STAT_BY_THREAD && i < s->nevents; i++) {
		qsort(rows + i * ngroups, ngroups, sizeof(*rows), compare_rows);
	}
	for (i = 0; i < s->nevents * ngroups; i++) {
		if (!rows[i].absent &&
		        (!s->counted_only || (rows[i].counted && rows[i].value > 0))) {
			print_row(p, s, &rows[i], out);
		}
	}
	return 0;
}

int stat_print_rows(struct stat_printer *p, const struct stat_set *s, struct text *out)
{
	struct groups groups = {0};
	struct stat_row *rows = NULL;
	int rc;

	if (s->nevents == 0) {
		return 0;
	}
	rc = make_groups(s, &groups);
	rc = rc == 0 ? prepare_bases(p, groups.n * (s->ncgroups + 1)) : rc;
	if (rc == 0) {
		rows = calloc(s->nevents * groups.n + 1, sizeof(*rows));
		rc = rows == NULL ? SONDE_ENOMEM : 0;
	}
	if (rc == 0) {
		fill_rows(p, s, &groups, rows);
		rc = p->metrics_only ? stat_print_metrics(p, s, rows, groups.n, out)
		                     : put_rows(p, s, rows, groups.n, out);
	}
	free(rows);
	free(groups.v);
	free(groups.first);
	free(groups.next);
	return rc;
}

void stat_print_title(
        const struct stat_printer *p, const char *title, unsigned runs, struct text *out)
{
	if (p->format != SONDE_STAT_TEXT) {
		return;
	}
	text_printf(out, "\n Performance counter stats for %s", title);
	if (runs > 1) {
		text_printf(out, " (%u runs)", runs);
	}
	text_str(out, ":\n\n");
}

/* Number of significant digits of a mean, in seconds, from its error. */
static int seconds_digits(const struct stat_mean *wall)
{
	double error = stat_mean_error(wall) / 1e9;
	int digits = error > 0 ? (int)ceil(-log10(error)) + 2 : 9;

	return digits < 1 ? 1 : digits > 9 ? 9 : digits;
}

void stat_print_times(const struct stat_printer *p, const struct stat_mean *wall,
        const uint64_t usage[2], struct text *out)
{
	double seconds = wall->mean / 1e9, error = stat_mean_error(wall) / 1e9;
	int digits = seconds_digits(wall);

	if (p->format != SONDE_STAT_TEXT) {
		return;
	}
	if (p->nbases != 0) {
		text_char(out, '\n'); /* after the rows */
	}
	if (wall->n < 2) {
		text_printf(out, " %17.9f seconds time elapsed\n\n", seconds);
		if (usage != NULL) {
			text_printf(out, " %17.9f seconds user\n %17.9f seconds sys\n\n",
			        (double)usage[0] / 1e9, (double)usage[1] / 1e9);
		}
	} else {
		text_printf(out, " %17.*f +- %.*f seconds time elapsed  ( +-%6.2f%% )\n\n", digits,
		        seconds, digits, error, stat_mean_error_percent(wall));
	}
}

void stat_print_table(const struct stat_printer *p, const struct stat_mean *wall,
        const double *each, size_t n, struct text *out)
{
	int digits = seconds_digits(wall);
	size_t indent = (size_t)(TABLE_WIDTH - digits), i;

	if (p->format != SONDE_STAT_TEXT) {
		return;
	}
	if (p->nbases != 0) {
		text_char(out, '\n');
	}
	text_fill(out, ' ', indent);
	text_str(out, "# Table of individual measurements:\n");
	for (i = 0; i < n; i++) {
		double off = each[i] - wall->mean;
		double steps = each[i] > 0 ? fabs(off) / each[i] * TABLE_STEPS : 0;

		text_fill(out, ' ', indent);
		text_printf(out, "%.*f (%+.*f) ", digits, each[i] / 1e9, digits, off / 1e9);
		text_fill(out, '#', steps < TABLE_MOST ? (size_t)steps + 1 : TABLE_MOST);
		text_char(out, '\n');
	}
	text_char(out, '\n');
	text_fill(out, ' ', indent);
	text_str(out, "# Final result:\n");
	text_fill(out, ' ', indent);
	text_printf(out, "%.*f +- %.*f seconds time elapsed  ( +-%6.2f%% )\n\n", digits,
	        wall->mean / 1e9, digits, stat_mean_error(wall) / 1e9,
	        stat_mean_error_percent(wall));
}
