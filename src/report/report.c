/* SPDX-License-Identifier: MIT */
/* `sonde report`: makes a profile from options, and prints it in the layout of perf's --stdio. */
#include "report/report.h"

#include "core/array.h"
#include "core/options.h"
#include "inspect/header.h"
#include "symbol/symbol.h"

#include <stdio.h>
#include <stdlib.h>

#define MAX_STACK 127u
#define AHEAD     8u /* rows that are prefetched before they are printed */

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
	rc = status_of_output(r->write(r->arg, r->text.p, r->text.n));
	r->text.n = 0;
	return rc;
}

bool report_row_shown(const struct report *r, const struct profile_row *row)
{
	uint64_t weight = r->profile.options.children ? row->children : row->period;

	return (double)weight * 100.0 >=
	       r->options.percent_limit * (double)r->profile.shown_totals[row->event];
}

int report_rows_select(struct report *r, uint32_t event)
{
	size_t shown = 0;

	r->norder = 0;
	report_columns_reset(r);
	for (size_t i = 0; i < r->profile.nrows; i++) {
		const struct profile_row *row = &r->profile.rows[i];

		if (row->event != event) {
			continue;
		}
		if (!row->hidden && !r->options.json) {
			report_columns_widen(r, row);
		}
		r->order[r->norder++] = (uint32_t)i;
	}
	TRY(report_order(r)); /* hidden rows too: they influence the order, see order.c */
	for (size_t i = 0; i < r->norder; i++) {
		if (!r->profile.rows[r->order[i]].hidden) {
			r->order[shown++] = r->order[i];
		}
	}
	r->norder = shown;
	return r->cell.failed ? SONDE_ENOMEM : 0;
}

static int put_row(struct report *r, const struct profile_row *row)
{
	report_columns_row(r, row);
	if (r->profile.options.graph) {
		TRY(report_graph(r, row));
	}
	return report_flush(r, REPORT_FLUSH_ABOVE);
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

	TRY(report_rows_select(r, event));
	if (!r->options.quiet) {
		text_str(t, "# Samples: ");
		put_rounded(t, r->profile.shown_samples[event]);
		text_printf(t, " of event '%s'", sonde_session_event_name(r->session, event));
		if (r->options.filter.time != NULL) {
			text_printf(t, " (time slices: %s)", r->options.filter.time);
		}
		text_str(t, "\n# Event count (approx.): ");
		text_u64(t, r->profile.shown_totals[event], 0, ' ');
		text_str(t, "\n#\n");
		report_columns_titles(r);
	}
	for (size_t i = 0; i < r->norder; i++) {
		const struct profile_row *row = &r->profile.rows[r->order[i]];

		if (i + AHEAD < r->norder) {
			__builtin_prefetch(&r->profile.rows[r->order[i + AHEAD]]);
		}
		if (!report_row_shown(r, row)) {
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

static bool report_has_samples(const struct report *r)
{
	for (size_t e = 0; e < sonde_session_events(r->session); e++) {
		if (r->profile.samples[e] != 0) {
			return true;
		}
	}
	return false;
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
	if (r->options.json) {
		return report_rows_json(r);
	}
	if (!r->options.quiet) {
		if (r->options.header == SONDE_REPORT_HEADER_NONE) {
			text_str(&r->text, "# To display the perf.data header info, please use "
			                   "--header/--header-only options.\n#\n");
		}
	}
	if (!report_has_samples(r)) {
		return 0; /* the caller reports it */
	}
	report_columns_elided(r); /* not printed with --quiet */
	if (!r->options.quiet) {
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

/* Whether perf would print texts of tracepoints as rows: if there is no other event. */
static bool trace_wanted(const struct report *r)
{
	size_t events = sonde_session_events(r->session);

	if (r->options.sort != NULL || r->options.fields != NULL) {
		return false;
	}
	for (size_t e = 0; e < events; e++) {
		if (sonde_session_event_attr(r->session, e)->type != SONDE_TYPE_TRACEPOINT) {
			return false;
		}
	}
	return events != 0;
}

/* Warns about parts of the recording that the rows do not show. */
static void warn(struct report *r, bool chains)
{
	const struct sonde_report_options *o = &r->options;
	unsigned kinds = SESSION_BRANCHES | SESSION_TRACES;

	if (chains && !(o->no_children && o->no_graph)) {
		kinds |= SESSION_USER_STACKS;
	}
	if (trace_wanted(r)) {
		kinds |= SESSION_TRACE_FIELDS;
	}
	session_report_not_shown(r->session, kinds, "perf report");
	if (!chains && o->graph_given) {
		diag_report(session_diags(r->session), SONDE_DIAG_NOT_SHOWN, NO_OFFSET,
		        "call graphs are asked for, but no call chains were recorded: record with "
		        "`sonde record -g`");
	}
}

static int report_run(struct report *r)
{
	const struct sonde_report_options *o = &r->options;
	struct profile_options po = {.graph_limit = o->graph_limit,
	        .pick = &r->pick,
	        .symbol_part = o->symbol_part,
	        .fractal = o->graph_kind == SONDE_REPORT_GRAPH_FRACTAL,
	        .by_address = o->graph_address,
	        .time_quantum = o->time_quantum,
	        .relative = o->relative};
	bool chains = session_has_chains(r->session);

	if (o->json && o->header == SONDE_REPORT_HEADER_ONLY) {
		inspect_session_header_json(&r->text, r->session);
		return 0;
	}
	if (o->header != SONDE_REPORT_HEADER_NONE && !o->json &&
	        (!o->stats || o->header == SONDE_REPORT_HEADER_ONLY)) {
		inspect_session_header(&r->text, r->session, o->header_full != 0);
	}
	if (o->header == SONDE_REPORT_HEADER_ONLY) {
		return 0;
	}
	if (o->stats) {
		return o->json ? report_stats_json(r) : report_stats(r);
	}
	warn(r, chains);
	po.children = chains && !o->no_children;
	po.graph = chains && !o->no_graph && !o->json;
	po.caller = o->order_given ? !o->callee : po.children;
	po.max_stack = o->max_stack != 0 ? o->max_stack : MAX_STACK;
	profile_init(&r->profile, r->session, &po);
	TRY(pick_init(&r->pick, r->session, &o->filter));
	TRY(report_columns_init(r));
	TRY(profile_run(&r->profile));
	TRY(put_events(r));
	if (o->threads && !o->json) {
		TRY(report_threads(r));
	}
	return report_has_samples(r) ? 0 : 1;
}

int sonde_report_print(struct sonde_session *s, const struct sonde_report_options *o,
        sonde_write_fn write, void *arg)
{
	struct report r = {.session = s, .write = write, .arg = arg};
	int rc;

	TRY(session_ready(s));
	sonde_report_options_init(&r.options);
	TRY(options_copy(&r.options, sizeof(r.options), o, session_error(s)));
	rc = report_run(&r);
	if (rc >= 0) {
		int written = report_flush(&r, 0);

		rc = written < 0 ? written : rc;
	}
	(void)error_plain(session_error(s), rc);
	profile_fini(&r.profile);
	pick_fini(&r.pick);
	text_fini(&r.text);
	text_fini(&r.cell);
	free(r.order);
	free(r.cursor);
	free(r.nodes.p);
	return rc;
}
