/* SPDX-License-Identifier: MIT */
/* `sonde report`: options to a profile, a profile to text in the layout of perf's --stdio. */
#include "output/report.h"

#include "core/array.h"
#include "output/header.h"
#include "symbol/symbol.h"

#include <stdio.h>
#include <stdlib.h>

#define FLUSH_ABOVE (64u << 10) /* bytes */
#define MAX_STACK   127u
#define AHEAD       8u /* rows that are asked for before they are printed */

static const char *const key_names[PROFILE_KEYS] = {"comm", "dso", "sym", "pid", "cpu"};
static const char *const key_titles[PROFILE_KEYS] = {
        "Command", "Shared Object", "Symbol", "    Pid:Command", "CPU"};

void sonde_report_options_init(struct sonde_report_options *o)
{
	*o = (struct sonde_report_options){.size = sizeof(*o), .graph_limit = 0.5};
}

int report_flush(struct report *r, size_t above)
{
	int rc;

	if (r->text.failed) {
		return SONDE_ENOMEM;
	}
	if (r->text.n <= above) {
		return 0;
	}
	rc = r->write(r->arg, r->text.p, r->text.n);
	r->text.n = 0;
	return rc < 0 ? rc : 0;
}

static int key_parse(struct report *r, const char *name, size_t n)
{
	struct error *err = session_error(r->session);

	for (unsigned k = 0; k < PROFILE_KEYS; k++) {
		bool tid = k == PROFILE_PID && n == 3 && memcmp(name, "tid", 3) == 0;
		bool symbol = k == PROFILE_SYM && n == 6 && memcmp(name, "symbol", 6) == 0;

		if (!tid && !symbol &&
		        (n != strlen(key_names[k]) || memcmp(name, key_names[k], n) != 0)) {
			continue;
		}
		if (r->profile.options.key[k]) {
			return 0;
		}
		r->profile.options.key[k] = true;
		r->keys[r->nkeys++] = (enum profile_key)k;
		return 0;
	}
	return error_set(err, SONDE_EARG, NO_OFFSET,
	        "unknown sort key '%.*s': comm, dso, sym, pid, tid and cpu are known", (int)n,
	        name);
}

static int keys_parse(struct report *r)
{
	const char *p = r->options.sort != NULL ? r->options.sort : "comm,dso,sym";

	for (;;) {
		size_t n = strcspn(p, ", ");

		if (n != 0) {
			TRY(key_parse(r, p, n));
		}
		if (p[n] == 0) {
			break;
		}
		p += n + 1;
	}
	if (r->nkeys == 0) {
		return error_set(session_error(r->session), SONDE_EARG, NO_OFFSET,
		        "no sort key is given: comm, dso, sym, pid, tid and cpu are known");
	}
	return 0;
}

/* The text of a key's column, not padded, behind what t holds. */
static void cell_put(
        struct report *r, struct text *t, const struct profile_row *row, enum profile_key key)
{
	const struct timeline *line = session_timeline(r->session);
	const struct timeline_view *view;
	const char *name;

	switch (key) {
	case PROFILE_COMM: text_str(t, timeline_text(line, row->comm)); break;
	case PROFILE_DSO: text_str(t, intern_text(&r->profile.names, row->dso)); break;
	case PROFILE_SYM:
		name = profile_symbol(&r->profile, row->object, row->symbol);
		text_str(t, row->kernel ? "[k] " : "[.] ");
		if (name != NULL) {
			text_str(t, name);
		} else {
			text_str(t, row->address != 0 ? "0x" : "");
			text_hex(t, row->address, 16, '0');
		}
		break;
	case PROFILE_PID: /* the thread's last name, whatever it was at the sample */
		view = timeline_at(line, r->cursor, row->pid, row->tid, UINT64_MAX);
		text_printf(t, "%7d:%s", (int)row->tid, timeline_text(line, view->comm));
		break;
	case PROFILE_CPU: text_printf(t, "%03d", (int)row->cpu); break;
	case PROFILE_KEYS: break;
	}
}

static uint64_t row_weight(const struct report *r, const struct profile_row *row)
{
	return r->profile.options.children ? row->children : row->period;
}

/*
 * As in perf the column of names is as wide as the last names of the rows' first threads: a longer
 * name that a thread had before an exec is cut.
 */
static size_t comm_width(struct report *r, const struct profile_row *row)
{
	const struct timeline *line = session_timeline(r->session);
	const struct timeline_view *view =
	        timeline_at(line, r->cursor, row->first_pid, row->first_tid, UINT64_MAX);

	return strlen(timeline_text(line, view->comm));
}

static size_t cell_width(struct report *r, const struct profile_row *row, enum profile_key key)
{
	if (key == PROFILE_COMM) {
		return comm_width(r, row);
	}
	if (key == PROFILE_DSO) {
		return strlen(intern_text(&r->profile.names, row->dso));
	}
	r->cell.n = 0;
	cell_put(r, &r->cell, row, key);
	return r->cell.n;
}

/* The rows of an event in order, and the columns' widths. */
static int rows_select(struct report *r, uint32_t event)
{
	r->norder = 0;
	for (unsigned k = 0; k < r->nkeys; k++) {
		r->width[k] = (int)strlen(key_titles[r->keys[k]]);
	}
	for (size_t i = 0; i < r->profile.nrows; i++) {
		const struct profile_row *row = &r->profile.rows[i];

		if (row->event != event) {
			continue;
		}
		for (unsigned k = 0; k < r->nkeys; k++) {
			int width = (int)cell_width(r, row, r->keys[k]);

			r->width[k] = width > r->width[k] ? width : r->width[k];
		}
		r->order[r->norder++] = (uint32_t)i;
	}
	TRY(report_order(r));
	return r->cell.failed ? SONDE_ENOMEM : 0;
}

static void put_percent(struct report *r, uint64_t part, uint64_t total)
{
	double percent = total == 0 ? 0.0 : 100.0 * (double)part / (double)total;
	const char *color = percent >= 5.0 ? "\033[31m" : percent >= 0.5 ? "\033[32m" : NULL;

	text_str(&r->text, "  ");
	if (!r->options.color) {
		color = NULL;
	}
	text_str(&r->text, color != NULL ? color : "");
	text_percent(&r->text, part, total, 7);
	text_char(&r->text, '%');
	text_str(&r->text, color != NULL ? "\033[m" : "");
}

/* Padded to its column's width, but for a symbol that ends the line. */
static void put_cell(struct report *r, const struct profile_row *row, unsigned k)
{
	bool bare = k + 1 == r->nkeys && r->keys[k] == PROFILE_SYM;
	size_t width = (size_t)r->width[k];
	size_t first;

	text_str(&r->text, "  ");
	first = r->text.n;
	cell_put(r, &r->text, row, r->keys[k]);
	if (r->keys[k] == PROFILE_COMM && r->text.n - first > width) {
		r->text.n = first + width;
	}
	if (!bare && r->text.n - first < width) {
		text_fill(&r->text, ' ', width - (r->text.n - first));
	}
}

static int put_row(struct report *r, const struct profile_row *row)
{
	uint64_t total = r->profile.totals[row->event];

	if (r->profile.options.children) {
		put_percent(r, row->children, total);
	}
	put_percent(r, row->period, total);
	if (r->options.show_samples) {
		text_str(&r->text, "  ");
		text_u64(&r->text, row->samples, 12, ' ');
	}
	if (r->options.show_period) {
		text_str(&r->text, "  ");
		text_u64(&r->text, row->period, 12, ' ');
	}
	for (unsigned k = 0; k < r->nkeys; k++) {
		put_cell(r, row, k);
	}
	text_char(&r->text, '\n');
	if (r->profile.options.graph) {
		TRY(report_graph(r, row));
	}
	return report_flush(r, FLUSH_ABOVE);
}

static void put_titles(struct report *r)
{
	struct text *t = &r->text;
	bool children = r->profile.options.children;

	text_str(t, children ? "# Children      Self" : "# Overhead");
	text_str(t, r->options.show_samples ? "       Samples" : "");
	text_str(t, r->options.show_period ? "        Period" : "");
	for (unsigned k = 0; k < r->nkeys; k++) {
		text_str(t, "  ");
		text_padded(t, key_titles[r->keys[k]], -r->width[k]);
	}
	text_str(t, children ? "\n# ........  ........" : "\n# ........");
	text_str(t, r->options.show_samples ? "  ............" : "");
	text_str(t, r->options.show_period ? "  ............" : "");
	for (unsigned k = 0; k < r->nkeys; k++) {
		text_str(t, "  ");
		text_fill(t, '.', (size_t)r->width[k]);
	}
	text_str(t, "\n#\n");
}

/* 843 -> "843 ", 1420 -> "1K" */
static void put_rounded(struct text *t, uint64_t v)
{
	char unit = ' ';

	for (const char *u = "KMGTPE"; v > 999 && *u != 0; u++) {
		v /= 1000;
		unit = *u;
	}
	text_u64(t, v, 0, ' ');
	text_char(t, unit);
}

static int put_event(struct report *r, uint32_t event)
{
	struct text *t = &r->text;

	TRY(rows_select(r, event));
	if (!r->options.quiet) {
		text_str(t, "# Samples: ");
		put_rounded(t, r->profile.samples[event]);
		text_printf(t, " of event '%s'\n# Event count (approx.): ",
		        sonde_session_event_name(r->session, event));
		text_u64(t, r->profile.totals[event], 0, ' ');
		text_str(t, "\n#\n");
		put_titles(r);
	}
	for (size_t i = 0; i < r->norder; i++) {
		const struct profile_row *row = &r->profile.rows[r->order[i]];

		if (i + AHEAD < r->norder) {
			__builtin_prefetch(&r->profile.rows[r->order[i + AHEAD]]);
		}
		if ((double)row_weight(r, row) * 100.0 <
		        r->options.percent_limit * (double)r->profile.totals[event]) {
			continue;
		}
		TRY(put_row(r, row));
	}
	text_str(t, "\n\n");
	return 0;
}

static bool event_shown(const struct report *r, uint32_t event)
{
	return r->profile.samples[event] != 0;
}

static int put_events(struct report *r)
{
	const struct session_counts *counts = session_counts(r->session);
	size_t events = sonde_session_events(r->session);

	r->cursor = calloc(1, sizeof(*r->cursor));
	r->order = malloc((r->profile.nrows + 1) * sizeof(*r->order));
	if (r->order == NULL || r->cursor == NULL) {
		return SONDE_ENOMEM;
	}
	if (!r->options.quiet) {
		if (r->options.header == SONDE_REPORT_HEADER_NONE) {
			text_str(&r->text, "# To display the perf.data header info, please use "
			                   "--header/--header-only options.\n#\n");
		}
		text_str(&r->text, "#\n# Total Lost Samples: ");
		text_u64(&r->text, counts->lost_samples, 0, ' ');
		text_str(&r->text, "\n#\n");
	}
	for (uint32_t e = 0; e < events; e++) {
		if (event_shown(r, e)) {
			TRY(put_event(r, e));
		}
	}
	if (!r->options.quiet) {
		text_str(&r->text, "#\n# (Tip: To see callers of a hot function: sonde report "
		                   "--no-children -g callee)\n#\n");
	}
	return 0;
}

static bool session_has_chains(const struct sonde_session *s)
{
	for (size_t e = 0; e < sonde_session_events(s); e++) {
		if (sonde_session_event_attr(s, e)->sample_type & SONDE_SAMPLE_CALLCHAIN) {
			return true;
		}
	}
	return false;
}

static int report_run(struct report *r)
{
	const struct sonde_report_options *o = &r->options;
	struct profile_options po = {.graph_limit = o->graph_limit, .cpu = UINT32_MAX};
	bool chains = session_has_chains(r->session);

	if (o->json && o->header == SONDE_REPORT_HEADER_ONLY) {
		output_header_json(&r->text, session_file(r->session));
		return 0;
	}
	if (o->header != SONDE_REPORT_HEADER_NONE &&
	        (!o->stats || o->header == SONDE_REPORT_HEADER_ONLY)) {
		output_header(&r->text, session_file(r->session), o->header_full != 0);
	}
	if (o->header == SONDE_REPORT_HEADER_ONLY) {
		return 0;
	}
	if (o->stats) {
		return o->json ? report_stats_json(r) : report_stats(r);
	}
	po.children = chains && !o->no_children;
	po.graph = chains && !o->no_graph;
	po.caller = o->order_given ? !o->callee : po.children;
	po.max_stack = o->max_stack != 0 ? o->max_stack : MAX_STACK;
	profile_init(&r->profile, r->session, &po);
	TRY(keys_parse(r));
	TRY(profile_run(&r->profile));
	return put_events(r);
}

int sonde_report_print(struct sonde_session *s, const struct sonde_report_options *o,
        int (*write)(void *arg, const char *text, size_t n), void *arg)
{
	struct report r = {.session = s, .write = write, .arg = arg};
	int rc;

	memcpy(&r.options, o, o->size < sizeof(r.options) ? o->size : sizeof(r.options));
	rc = report_run(&r);
	if (rc >= 0) {
		rc = report_flush(&r, 0);
	}
	if (rc == SONDE_ENOMEM) {
		error_nomem(session_error(s));
	}
	profile_fini(&r.profile);
	text_fini(&r.text);
	text_fini(&r.cell);
	free(r.order);
	free(r.cursor);
	free(r.nodes.p);
	return rc;
}
