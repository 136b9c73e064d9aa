/* SPDX-License-Identifier: MIT */
/* `sonde report`: makes a profile from options, and prints it in the layout of perf's --stdio. */
#include "report/report.h"

#include "core/array.h"
#include "core/escape.h"
#include "core/options.h"
#include "core/pool.h"
#include "inspect/header.h"
#include "symbol/symbol.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_STACK   127u
#define GRAPH_LIMIT 0.5 /* percent */
#define AHEAD       8u /* rows that are prefetched before they are printed */
#define GROUP_WORK  1024u
#define PARENTS     "^sys_|^do_page_fault" /* what `parent` matches by default, as in perf */

static int workers_make(struct report *r)
{
	unsigned jobs = session_jobs(r->session);

	r->workers = calloc(jobs, sizeof(*r->workers));
	if (r->workers == NULL) {
		return SONDE_ENOMEM;
	}
	for (r->nworkers = 0; r->nworkers < jobs; r->nworkers++) {
		struct report *w = &r->workers[r->nworkers];

		*w = *r;
		w->text = w->cell = (struct text){0};
		w->nodes = (struct profile_nodes){0};
	}
	return 0;
}

static void workers_free(struct report *r)
{
	for (unsigned i = 0; i < r->nworkers; i++) {
		text_fini(&r->workers[i].text);
		text_fini(&r->workers[i].cell);
		profile_nodes_fini(&r->workers[i].nodes);
	}
	free(r->workers);
}

/* The rows of an event, in groups of about equal work. */
struct printing {
	struct report *r;
	size_t *ends; /* of groups, in the order of rows */
	size_t n;
};

static int group_print(void *arg, unsigned worker, size_t group)
{
	const struct printing *x = arg;
	struct report *w = &x->r->workers[worker];
	size_t end = x->ends[group];

	for (size_t i = group != 0 ? x->ends[group - 1] : 0; i < end; i++) {
		const struct profile_row *row = &w->table->rows[w->table->order[i]];

		if (i + AHEAD < end) {
			profile_row_prefetch(&w->table->rows[w->table->order[i + AHEAD]]);
		}
		if (w->options.hierarchy) {
			report_levels_row(w, i);
		} else {
			report_columns_row(w, row);
		}
		if (profile_row_refs(&w->profile, row) != 0) {
			TRY(w->options.graph_kind >= SONDE_REPORT_GRAPH_FLAT
			                ? report_chains(w, row)
			                : report_graph(w, row));
		}
	}
	return w->text.failed || w->cell.failed ? SONDE_ENOMEM : 0;
}

static int group_write(void *arg, unsigned worker, size_t group)
{
	const struct printing *x = arg;

	(void)group;
	return report_flush(&x->r->workers[worker], 0);
}

/* Estimates work by the number of rows and of chains in their graphs. */
static void groups_make(struct printing *x)
{
	const struct report *r = x->r;
	const uint32_t *order = r->table->order;
	size_t n = r->table->norder, work = 0;

	for (size_t i = 0; i < n; i++) {
		const struct profile_row *row = &r->table->rows[order[i]];

		__builtin_prefetch(&r->table->rows[order[i + AHEAD < n ? i + AHEAD : i]].graph);
		work += (size_t)1 + profile_row_refs(&r->profile, row);
		if (work >= GROUP_WORK || i + 1 == n) {
			x->ends[x->n++] = i + 1;
			work = 0;
		}
	}
}

static int put_rows(struct report *r)
{
	struct printing x = {.r = r, .ends = malloc((r->table->norder + 1) * sizeof(*x.ends))};
	int rc;

	if (x.ends == NULL) {
		return SONDE_ENOMEM;
	}
	groups_make(&x);
	rc = report_flush(r, 0);
	if (rc >= 0) {
		rc = pool_run_ordered(r->nworkers, x.n, group_print, group_write, &x);
	}
	free(x.ends);
	return rc;
}

/* 843 -> "843 ", 1000 -> "1000 ", 1420 -> "1K": a unit begins above 1000 of the one below, as in perf */
static void put_rounded(struct text *t, uint64_t v)
{
	uint64_t size = 1;
	char unit = ' ';

	for (const char *u = "KMGTPE"; *u != 0 && v > size * 1000; u++) {
		size *= 1000;
		unit = *u;
	}
	text_u64(t, v / size, 0, ' ');
	text_char(t, unit);
}

/* Returns the recorded group that an event leads; NULL: none. */
static const struct feature_group *group_of(const struct report *r, uint32_t event)
{
	size_t left = sonde_session_events(r->session) - event;

	for (size_t i = 0; i < r->groups.n; i++) {
		const struct feature_group *g = &r->groups.items[i];

		if (g->leader == event && g->members > 1 && g->members <= left) {
			return g;
		}
	}
	return NULL;
}

/* "anon group { cycles, instructions }"; a group that was not recorded has no name. */
static void put_names(struct report *r, uint32_t event, unsigned members)
{
	const struct feature_group *g = members > 1 ? group_of(r, event) : NULL;
	const char *name = g != NULL ? g->name.s : NULL;
	struct text *t = &r->text;

	if (name != NULL) {
		text_plain(t, strcmp(name, "{anon_group}") == 0 ? "anon group" : name);
		text_str(t, " { ");
	}
	for (unsigned m = 0; m < members; m++) {
		text_str(t, m != 0 ? ", " : "");
		text_plain(t, sonde_session_event_name(r->session, event + m));
	}
	text_str(t, name != NULL ? " }" : "");
}

/* Prints the table of `members` events from `event` on. */
static int put_table(struct report *r, uint32_t event, unsigned members)
{
	struct text *t = &r->text;
	uint64_t samples = 0, periods = 0;
	bool any = true;

	TRY(report_rows_select(r, event, members));
	for (unsigned m = 0; m < members; m++) {
		samples += r->profile.shown_samples[event + m];
		periods += r->profile.shown_totals[event + m];
	}
	if (!r->options.quiet) {
		text_str(t, "# Samples: ");
		put_rounded(t, samples);
		text_str(t,
		        members > 1 || group_of(r, event) != NULL ? " of events '" : " of event '");
		put_names(r, event, members);
		text_char(t, '\'');
		if (r->options.reference_chains && session_event_lacks_chains(r->session, event)) {
			text_str(t, ", show reference callgraph");
		}
		if (r->options.filter.time != NULL) {
			text_printf(t, " (time slices: %s)", r->options.filter.time);
		}
		text_str(t,
		        r->options.memory ? "\n# Total weight : " : "\n# Event count (approx.): ");
		text_u64(t, r->options.total_cycles ? samples : periods, 0, ' ');
		if (r->options.by_socket) {
			text_printf(t, "\n# Processor Socket: %" PRIu32, r->options.socket);
		}
		if (r->options.memory) {
			text_str(t, "\n# Sort order   : ");
			report_columns_sort(r);
		}
		text_str(t, "\n#\n");
		if (r->options.hierarchy) {
			report_levels_titles(r);
		} else if (!r->options.total_cycles) {
			report_columns_titles(r);
		}
	}
	if (r->options.total_cycles) {
		any = report_blocks(r, periods);
	} else {
		TRY(put_rows(r));
	}
	text_str(t, any ? "\n\n" : "");
	return 0;
}

/* Number of events in the table that begins with an event. */
static unsigned table_members(const struct report *r, uint32_t event)
{
	const struct feature_group *g = group_of(r, event);

	if (r->options.group == SONDE_REPORT_GROUP_NONE) {
		return 1;
	}
	if (r->groups.n == 0 && r->options.group == SONDE_REPORT_GROUP_ALL) {
		return (unsigned)sonde_session_events(r->session);
	}
	return g != NULL ? g->members : 1;
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

int report_tips_count(struct report *r)
{
	if (r->tips.counted) {
		return 0;
	}
	r->tips.counted = true;
	report_broken_count(r);
	return report_unresolved_count(r);
}

/* The tips at the end, as one block: what the report lacks, or else an option. */
static int put_last(struct report *r)
{
	bool printed;

	TRY(report_tips_count(r));
	text_str(&r->text, "#\n");
	printed = report_unresolved(r);
	printed |= report_broken_chains(r);
	if (!printed) {
		text_str(&r->text, "# (Tip: To see callers of a hot function: sonde report "
		                   "--no-children -g callee)\n");
	}
	text_str(&r->text, "#\n");
	return 0;
}

static int put_events(struct report *r)
{
	const struct session_counts *counts = session_counts(r->session);
	size_t events = sonde_session_events(r->session);

	r->all = (struct report_table){.rows = r->profile.rows,
	        .nrows = r->profile.nrows,
	        .modes = r->profile.modes,
	        .order = malloc((r->profile.nrows + 1) * sizeof(*r->all.order))};
	r->table = &r->all;
	r->tree = report_levels_new();
	if (r->all.order == NULL || r->tree == NULL) {
		return SONDE_ENOMEM;
	}
	if (r->options.json) {
		return report_rows_json(r);
	}
	TRY(workers_make(r));
	if (!r->options.quiet) {
		if (r->options.header == SONDE_REPORT_HEADER_NONE) {
			text_str(&r->text, "# To display the perf.data header info, please use "
			                   "--header/--header-only options.\n#\n");
		}
	}
	if (r->options.header == SONDE_REPORT_HEADER_NONE ? r->options.header_full
	                                                  : r->options.quiet) {
		inspect_stream_features(&r->text, r->session, r->options.header_full);
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
	for (uint32_t e = 0, members; e < events; e += members) {
		members = table_members(r, e);
		if (report_table_shown(r, e, members)) {
			TRY(put_table(r, e, members));
		}
	}
	if (!r->options.quiet) {
		TRY(put_last(r));
	}
	report_branches(r);
	return 0;
}

/* Whether samples of an event have this field. */
static bool session_has(const struct sonde_session *s, enum sonde_sample_bit field)
{
	for (size_t e = 0; e < sonde_session_events(s); e++) {
		if (sonde_session_event_attr(s, e)->sample_type & field) {
			return true;
		}
	}
	return false;
}

/* SONDE_EARG with a text if --branch-history cannot be combined with the other options. */
static int history_check(const struct report *r)
{
	const struct sonde_report_options *o = &r->options;
	const char *other = o->total_cycles ? "--total-cycles: its rows have no call graphs"
	                    : o->inlined    ? "--inline: its entries are single addresses"
	                                    : NULL;

	if (!o->branch_history || other == NULL) {
		return 0;
	}
	return error_set(session_error(r->session), SONDE_EARG, NO_OFFSET,
	        "--branch-history cannot be used with %s", other);
}

/* Whether samples have branch stacks that are made of traces. */
static bool made_branches(const struct sonde_session *s)
{
	const struct session_event *events = session_events(s);

	for (size_t i = 0; i < sonde_session_events(s); i++) {
		bool letters = session_itrace(s)->last != 0 &&
		               sonde_attr_has(&events[i].attr, SONDE_FLAG_AUX_OUTPUT);

		if ((events[i].made || events[i].gets_branches || letters) &&
		        (events[i].attr.sample_type & SONDE_SAMPLE_BRANCH_STACK) != 0) {
			return true;
		}
	}
	return false;
}

/* Decides whether rows are of branches; SONDE_EARG if they were requested and are missing. */
static int branches_decide(struct report *r, bool *branches)
{
	const struct sonde_report_options *o = &r->options;
	bool any = session_has(r->session, SONDE_SAMPLE_BRANCH_STACK);
	bool requested = o->branches == SONDE_REPORT_BRANCHES_ON || o->total_cycles;

	*branches = any && !o->branch_history &&
	            (requested ||
	                    (o->branches != SONDE_REPORT_BRANCHES_OFF &&
	                            (made_branches(r->session) || session_has_feature(r->session,
	                                                                  FEATURE_BRANCH_STACK))));
	if (!any && (requested || o->branch_history)) {
		return error_set(session_error(r->session), SONDE_EARG, NO_OFFSET,
		        "%s: no event recorded branch stacks: leave it out, or record with `sonde "
		        "record -b`",
		        o->branch_history ? "--branch-history"
		        : o->total_cycles ? "--total-cycles"
		                          : "--branch-stack");
	}
	TRY(history_check(r));
	return o->total_cycles ? report_blocks_check(r) : 0;
}

/* SONDE_EARG if weights were requested of a recording without memory accesses. */
static int memory_check(struct report *r, bool branches)
{
	struct error *err = session_error(r->session);

	if (r->options.memory && branches) {
		return error_set(err, SONDE_EARG, NO_OFFSET,
		        "--mem-mode: rows are of branches: add --no-branch-stack");
	}
	if (r->options.memory && !session_has(r->session, SONDE_SAMPLE_DATA_SRC)) {
		return error_set(err, SONDE_EARG, NO_OFFSET,
		        "--mem-mode: no event recorded where data came from: leave it out, or "
		        "record with `sonde record -d -W`");
	}
	return 0;
}

/* Warns about parts of the recording that the rows do not show. */
static void warn(struct report *r, bool chains)
{
	const struct sonde_report_options *o = &r->options;
	unsigned kinds = SESSION_TRACES | SESSION_STAT;

	if (chains && !(o->no_children && o->no_graph)) {
		kinds |= SESSION_USER_STACKS;
	}
	session_report_not_shown(r->session, kinds, "perf report");
	if (!chains && o->graph_given) {
		diag_report(session_diags(r->session), SONDE_DIAG_NOT_SHOWN, NO_OFFSET,
		        "call graphs are asked for, but no call chains were recorded: record with "
		        "`sonde record -g`");
	}
}

/* Returns the limit in percent for the value of the option. */
static double graph_limit(double given)
{
	return given == 0 ? GRAPH_LIMIT : given > 0 ? given : 0;
}

/* Reads the groups of events; SONDE_EARG with a text if a sort index has none to apply to. */
static int groups_init(struct report *r)
{
	bool joined = false;
	int rc = SESSION_FEATURE(r->session, FEATURE_GROUP_DESC, &r->arena, &r->groups);

	if (rc == SONDE_ENOMEM) {
		return rc;
	}
	r->groups.n = rc > 0 ? r->groups.n : 0; /* damage was reported already */
	for (uint32_t e = 0; e < sonde_session_events(r->session); e++) {
		joined = joined || table_members(r, e) > 1;
	}
	if (r->options.group_sort != 0 && !joined) {
		return error_set(session_error(r->session), SONDE_EARG, NO_OFFSET,
		        "--group-sort-idx %" PRId32
		        ": the report has no group of events; --group makes one of all events",
		        r->options.group_sort);
	}
	return 0;
}

/* Compiles a regular expression of an option; SONDE_EARG with a text. */
static int regex_make(
        struct report *r, const char *option, const char *text, struct report_regex *out)
{
	char why[128];
	int rc = regcomp(&out->regex, text, REG_EXTENDED | REG_NOSUB);

	if (rc != 0) {
		(void)regerror(rc, &out->regex, why, sizeof(why));
		return error_set(session_error(r->session), SONDE_EARG, NO_OFFSET,
		        "%s: '%s' is no extended regular expression: %s", option, text, why);
	}
	out->made = true;
	return 0;
}

/* Sets the options of profiles that select callers; SONDE_EARG with a text without call chains. */
static int callers_init(struct report *r, bool chains)
{
	const struct sonde_report_options *o = &r->options;
	struct profile_options *po = &r->profile.options;
	bool key = po->keys.chosen[FIELD_PARENT];
	const char *option = o->exclude_other            ? "--exclude-other"
	                     : o->ignore_callees != NULL ? "--ignore-callees"
	                                                 : "the key parent";

	if (!key && !o->exclude_other && o->ignore_callees == NULL) {
		return 0;
	}
	if (!chains) {
		return error_set(session_error(r->session), SONDE_EARG, NO_OFFSET,
		        "%s needs call chains, which were not recorded: record with "
		        "`sonde record -g`",
		        option);
	}
	if (key || o->exclude_other) {
		TRY(regex_make(r, "--parent", o->parent != NULL ? o->parent : PARENTS, &r->parent));
		po->parent = &r->parent.regex;
		po->exclude_other = o->exclude_other;
	}
	if (o->ignore_callees != NULL) {
		TRY(regex_make(r, "--ignore-callees", o->ignore_callees, &r->ignored));
		po->ignore_callees = &r->ignored.regex;
	}
	return 0;
}

/* Refuses what needs source lines in a build that cannot read them. */
static int check_lines(struct report *r)
{
	const bool *chosen = r->profile.options.keys.chosen;

	if (lines_supported() ||
	        !(chosen[FIELD_SRCLINE] || chosen[FIELD_SRCFILE] || chosen[FIELD_SRCLINE_FROM] ||
	                chosen[FIELD_SRCLINE_TO] || r->options.graph_line || r->options.inlined)) {
		return 0;
	}
	return error_set(session_error(r->session), SONDE_EARG, NO_OFFSET,
	        "this build of sonde cannot read source lines: it was built without libdw; leave "
	        "srcline, srcfile and --inline out");
}

/* As in perf, `quiet` hides the header, except where it is all that is printed. */
static bool shows_header(const struct sonde_report_options *o)
{
	return o->header == SONDE_REPORT_HEADER_ONLY ||
	       (o->header != SONDE_REPORT_HEADER_NONE && !o->quiet && !o->stats && !o->json);
}

/* The frames of chains that are used without a limit: those of made samples are limited already. */
static uint32_t usual_stack(const struct report *r)
{
	const struct itrace *made = session_itrace(r->session);
	unsigned chain = made == NULL                      ? 0
	                 : made->chain > made->other_chain ? made->chain
	                                                   : made->other_chain;

	return chain > MAX_STACK ? chain : MAX_STACK;
}

/* Whether options.reference_chains can do what it is for. */
static int reference_check(struct report *r)
{
	bool any = false;

	for (size_t e = 0; e < sonde_session_events(r->session); e++) {
		any |= session_event_lacks_chains(r->session, e);
	}
	if (r->options.reference_chains &&
	        (!any || !session_has(r->session, SONDE_SAMPLE_CALLCHAIN))) {
		return error_set(session_error(r->session), SONDE_EARG, NO_OFFSET,
		        any ? "--show-ref-call-graph: no event has call chains to show: record one "
		              "of them without call-graph=no"
		            : "--show-ref-call-graph: no event was recorded with call-graph=no: "
		              "leave it out");
	}
	return 0;
}

/* Prints the header, and what takes the place of tables; false: tables follow. */
static bool put_other(struct report *r, int *rc)
{
	const struct sonde_report_options *o = &r->options;

	*rc = 0;
	if (o->json && o->header == SONDE_REPORT_HEADER_ONLY) {
		inspect_session_header_json(&r->text, r->session);
		return true;
	}
	if (shows_header(o)) {
		inspect_session_header(&r->text, r->session, o->header_full);
	}
	if (o->header == SONDE_REPORT_HEADER_ONLY) {
		return true;
	}
	if (o->stats) {
		*rc = o->json ? report_stats_json(r) : report_stats(r);
		return true;
	}
	if (o->tasks || o->mmaps) {
		*rc = report_tasks(r);
		return true;
	}
	return false;
}

static int report_run(struct report *r)
{
	const struct sonde_report_options *o = &r->options;
	struct profile_options po = {.graph_limit = graph_limit(o->graph_limit),
	        .pick = &r->pick,
	        .symbol_part = o->symbol_part,
	        .fractal = o->graph_kind == SONDE_REPORT_GRAPH_FRACTAL,
	        .by_address = o->graph_address,
	        .by_line = o->graph_line,
	        .source_path = o->source_path,
	        .inlined = o->inlined,
	        .time_quantum = o->time_quantum,
	        .switch_on = o->switch_on,
	        .switch_off = o->switch_off,
	        .show_switches = o->show_switches,
	        .ns = o->ns,
	        .socket = o->by_socket ? o->socket + 1 : 0,
	        .hide_unresolved = o->hide_unresolved,
	        .reference_chains = o->reference_chains,
	        .relative = o->relative,
	        .verbose = o->verbose && !o->json};
	bool chains = session_has(r->session, SONDE_SAMPLE_CALLCHAIN);
	int rc;

	if (put_other(r, &rc)) {
		return rc;
	}
	TRY(branches_decide(r, &po.branches));
	r->options.graph_address = po.by_address = o->graph_address || o->branch_history;
	TRY(memory_check(r, po.branches));
	TRY(reference_check(r));
	chains = chains && !po.branches;
	warn(r, chains || o->branch_history);
	po.blocks = o->total_cycles;
	po.by_weight = o->memory;
	po.children = chains && !o->no_children && !o->hierarchy && !o->memory && !o->latency;
	po.history = o->branch_history;
	po.graph = (chains || po.history) && !o->no_graph && !o->json;
	po.caller = o->order_given ? !o->callee : (chains || po.history) && !o->no_children;
	po.max_stack = o->no_stack ? 0 : o->max_stack != 0 ? o->max_stack : usual_stack(r);
	profile_init(&r->profile, r->session, &po);
	TRY(pick_init(&r->pick, r->session, &o->filter));
	TRY(groups_init(r));
	TRY(session_event_check(r->session, "--switch-on", o->switch_on));
	TRY(session_event_check(r->session, "--switch-off", o->switch_off));
	TRY(report_columns_init(r));
	TRY(callers_init(r, chains || po.history));
	TRY(check_lines(r));
	TRY(profile_run(&r->profile));
	TRY(session_report_unwound(r->session));
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
	TRY(options_copy(&r.options, sizeof(r.options), o, session_error(s)));
	rc = report_run(&r);
	if (rc >= 0) {
		int written = report_flush(&r, 0);

		rc = written < 0 ? written : rc;
	}
	(void)error_plain(session_error(s), rc);
	profile_fini(&r.profile);
	free(r.tips.missing);
	free(r.trace_ranks);
	free(r.trace_widths);
	pick_fini(&r.pick);
	text_fini(&r.text);
	text_fini(&r.cell);
	workers_free(&r);
	if (r.parent.made) {
		regfree(&r.parent.regex);
	}
	if (r.ignored.made) {
		regfree(&r.ignored.regex);
	}
	arena_fini(&r.arena);
	report_levels_free(r.tree);
	free(r.all.order);
	return rc;
}
