/* SPDX-License-Identifier: MIT */
/*
 * Samples as text. The windows of a session are in time order; each is formatted into its worker's
 * buffer and written after all earlier ones, so the text is the same for every number of workers.
 */
#include <sonde/preview/script.h>

#include "abi/abi.h"
#include "core/options.h"
#include "core/pool.h"
#include "field/choice.h"
#include "inspect/header.h"
#include "record/feature.h"
#include "script/dlfilter.h"
#include "script/script.h"

#include <stdlib.h>

#define MAX_STACK_USUAL 127u

static void put_record(const struct script *s, struct script_worker *w, const struct record *r,
        const struct session_sample *sample)
{
	if (s->json) {
		script_json_record(&w->out, s, r, sample);
		return;
	}
	if (r->type != RECORD_FINISHED_ROUND && r->type != RECORD_AUXTRACE_ERROR) {
		struct text name = {0};

		line_head(&w->out, &s->plans[sample->event], &s->style, &w->line, sample,
		        w->name != NULL ? w->name : script_record_comm(s, r, sample, &name));
		w->out.failed = w->out.failed || name.failed;
		text_fini(&name);
	}
	script_record_text(&w->out, r, session_swap(s->session));
}

#define KIND(type) (1u << RECORD_##type)
#define ALL_KINDS  (~(KIND(SAMPLE) | SESSION_ROUNDS))

static uint32_t kinds_of(const struct sonde_script_options *o)
{
	const struct {
		bool shown;
		uint32_t kinds;
	} choices[] = {
	        {o->show_tasks, KIND(COMM) | KIND(FORK) | KIND(EXIT)},
	        {o->show_mmaps, KIND(MMAP) | KIND(MMAP2)},
	        {o->show_switches, KIND(SWITCH) | KIND(SWITCH_CPU_WIDE)},
	        {o->show_cgroups, KIND(CGROUP)},
	        {o->show_lost, KIND(LOST)},
	        {o->show_namespaces, KIND(NAMESPACES)},
	        {o->show_bpf, KIND(KSYMBOL) | KIND(BPF_EVENT)},
	        {o->show_text_pokes, KIND(TEXT_POKE) | KIND(KSYMBOL)},
	        {o->show_rounds, SESSION_ROUNDS},
	};
	uint32_t kinds = 0;

	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		kinds |= choices[i].shown ? choices[i].kinds : 0;
	}
	return kinds;
}

static void put_sample(
        struct script *s, struct script_worker *w, const struct session_sample *sample)
{
	const struct line_plan *plan = &s->plans[sample->event];
	struct script_dump *dump = w->dumps != NULL ? &w->dumps[sample->event] : NULL;
	struct text *out = dump != NULL ? &dump->out : &w->out;

	if (s->json) {
		line_json(&w->out, plan, &s->style, &w->line, sample);
		return;
	}
	if (plan->fields == 0) { /* -F sw: hides the samples of software events */
		return;
	}
	line_text(out, plan, &s->style, &w->line, sample);
	if ((plan->fields & FIELD_BIT(FIELD_METRIC)) != 0) {
		script_metrics(out, s, w, sample);
	}
	if (dump != NULL) {
		dump->samples++;
	}
}

/* Prints the samples after one that differ from it by their branch only. */
static void put_run(struct script *s, struct script_worker *w, const struct session_sample *sample)
{
	struct line_branches run;

	run.n = session_worker_run(&w->session, &run.v);
	if (run.n != 0) {
		line_run(&w->out, &s->plans[sample->event], &s->style, &w->line, sample, run);
	}
}

/* Whether nothing but the thread, processor and time decides whether a sample is printed. */
static bool may_print_runs(const struct script *s)
{
	return !s->json && s->filter == NULL && !s->graph.on && s->write_event == NULL &&
	       s->switches.on == NULL && s->switches.off == NULL && s->pick.dsos == NULL &&
	       !s->pick.by_symbol && s->style.times == LINE_TIMES_RECORDED;
}

/* Empties the worker's texts for the next part. */
static void empty(const struct script *s, struct script_worker *w)
{
	w->out.n = 0;
	for (size_t i = 0; w->dumps != NULL && i < sonde_session_events(s->session); i++) {
		w->dumps[i].out.n = 0;
		w->dumps[i].samples = 0;
	}
}

static bool has_failed(const struct script *s, const struct script_worker *w)
{
	bool failed = w->out.failed;

	for (size_t i = 0; w->dumps != NULL && i < sonde_session_events(s->session); i++) {
		failed = failed || w->dumps[i].out.failed;
	}
	return failed;
}

static int write_dumps(struct script *s, const struct script_worker *w)
{
	for (size_t i = 0; i < sonde_session_events(s->session); i++) {
		const struct script_dump *d = &w->dumps[i];

		if (d->out.n != 0) {
			TRY(status_of_output(
			        s->write_event(s->arg, i, d->out.p, d->out.n, d->samples)));
		}
	}
	return 0;
}

static int write_lines(struct script *s, struct script_worker *w)
{
	if (w->dumps != NULL) {
		TRY(write_dumps(s, w));
	}
	return text_flush(&w->out, 0, s->write, s->arg);
}

static int format_part(void *arg, unsigned worker, size_t part)
{
	struct script *s = arg;
	struct script_worker *w = &s->workers[worker];
	struct session_sample sample;
	struct record r;
	int rc;

	TRY(script_part_open(s, w, part));
	empty(s, w);
	while ((rc = script_part_next(s, w, &r, &sample)) > 0) {
		if (r.type == RECORD_SAMPLE) {
			put_sample(s, w, &sample);
			if (s->runs && s->plans[sample.event].run) {
				put_run(s, w, &sample);
			}
		} else {
			put_record(s, w, &r, &sample);
		}
		if (s->filter != NULL) { /* its own lines come between */
			TRY(write_lines(s, w));
			empty(s, w);
		}
	}
	return rc == 0 && has_failed(s, w) ? SONDE_ENOMEM : rc;
}

static int write_part(void *arg, unsigned worker, size_t part)
{
	struct script *s = arg;
	struct script_worker *w = &s->workers[worker];

	session_progress(s->session, part, s->nparts);
	return write_lines(s, w);
}

static int choose_fields(
        struct script *s, const struct sonde_script_options *o, struct field_choice *choice)
{
	struct error *err = session_error(s->session);
	bool chains = false;

	for (size_t i = 0; i < sonde_session_events(s->session); i++) {
		const struct sonde_attr *attr = sonde_session_event_attr(s->session, i);

		chains = chains || (attr->type == SONDE_TYPE_TRACEPOINT &&
		                           (attr->sample_type & SONDE_SAMPLE_CALLCHAIN) != 0);
	}
	for (size_t i = 0; i < o->nfields; i++) { /* as in perf, then chains are not usual */
		chains = chains && !field_choice_is_about(o->fields[i], FIELD_TYPE_TRACE);
	}
	field_choice_default(choice, chains && !o->hide_call_graph);
	for (size_t i = 0; i < o->nfields; i++) {
		TRY(field_choice_parse(choice, o->fields[i], err));
	}
	return 0;
}

/*
 * The event that decides the fields of its type: the first one that is no dummy; NULL: only
 * dummies. As in perf, dummies and later events of a type are not checked.
 */
static const struct session_event *decides_fields(
        const struct sonde_session *session, enum field_type type)
{
	for (size_t i = 0; i < sonde_session_events(session); i++) {
		const struct session_event *e = &session_events(session)[i];
		const struct sonde_attr *attr = &e->attr;
		bool dummy = attr->type == SONDE_TYPE_SOFTWARE && attr->config == SONDE_SW_DUMMY;

		if (field_type_of(attr) == type && !dummy) {
			return e;
		}
	}
	return NULL;
}

/* Whether this is a recording of `stat record`, whose counts are printed whatever the fields are. */
static bool has_counts(const struct script *s)
{
	return session_counts(s->session)->records[RECORD_STAT_ROUND] != 0;
}

#define BRANCH_CODE                                                                                \
	(FIELD_BIT(FIELD_BRSTACKINSN) | FIELD_BIT(FIELD_BRSTACKINSNLEN) |                          \
	        FIELD_BIT(FIELD_BRSTACKDISASM))
#define BRANCH_ANY (1u << 3) /* PERF_SAMPLE_BRANCH_ANY */

/* The code between branches is known only if all branches were recorded. */
static int check_branch_code(struct script *s, uint64_t fields)
{
	bool recorded = session_has_traces(s->session);

	if ((fields & BRANCH_CODE) == 0) {
		return 0;
	}
	for (size_t i = 0; i < sonde_session_events(s->session); i++) {
		const struct sonde_attr *attr = sonde_session_event_attr(s->session, i);

		recorded = recorded || (attr->branch_sample_type & BRANCH_ANY) != 0;
	}
	if (recorded) {
		return 0;
	}
	return error_set(session_error(s->session), SONDE_EARG, NO_OFFSET,
	        "brstackinsn needs all branches of each sample: record with -b, or with -j any");
}

static int fields_of(
        struct script *s, const struct field_choice *choice, size_t event, uint64_t *fields)
{
	const struct session_event *events = session_events(s->session);
	enum field_type type = field_type_of(&events[event].attr);
	const struct session_event *e = decides_fields(s->session, type);

	if (s->all_fields) {
		*fields = field_choice_all(&events[event].attr);
		*fields &= s->has_tod ? UINT64_MAX : ~FIELD_BIT(FIELD_TOD);
		return 0;
	}
	if (has_counts(s)) { /* as in perf, any fields may be chosen: no sample has them */
		*fields = 0;
	} else if (e == NULL) {
		*fields = choice->shown[type];
	} else {
		TRY(field_choice_type(choice, &e->attr, e->name, session_has_traces(s->session),
		        fields, session_error(s->session)));
		TRY(check_branch_code(s, choice->shown[type]));
	}
	if (events[event].count.samples == 0) {
		*fields &= ~FIELD_BIT(FIELD_TOD);
	}
	if (!choice->chosen[type] && field_each_branch(&events[event].attr) &&
	        (events[event].attr.sample_type & SONDE_SAMPLE_ADDR) != 0) {
		*fields |= FIELD_BIT(FIELD_ADDR);
	}
	return 0;
}

static int need_code(struct script *s, uint64_t fields)
{
	uint64_t reads = FIELD_BIT(FIELD_INSN) | FIELD_BIT(FIELD_INSNLEN) |
	                 FIELD_BIT(FIELD_DISASM) | BRANCH_CODE;

	if ((fields & reads) == 0 || s->style.code != NULL) {
		return 0;
	}
	s->style.code = frame_code_new(session_frames(s->session));
	return s->style.code != NULL ? 0 : error_nomem(session_error(s->session));
}

static int make_plans(struct script *s, const struct field_choice *choice)
{
	const struct session_event *events = session_events(s->session);
	size_t nevents = sonde_session_events(s->session);
	uint64_t fields;

	s->plans = arena_zalloc(&s->arena, (nevents + 1) * sizeof(*s->plans));
	if (s->plans == NULL) {
		return error_nomem(session_error(s->session));
	}
	for (size_t i = 0; i < nevents; i++) {
		size_t n = strlen(events[i].name);

		s->style.event_width = n > s->style.event_width ? n : s->style.event_width;
	}
	for (size_t i = 0; i < nevents; i++) {
		const struct session_event *e = &events[i];

		TRY(fields_of(s, choice, i, &fields));
		if ((fields & FIELD_BIT(FIELD_TOD)) != 0 && !s->has_tod) {
			return error_set(session_error(s->session), SONDE_EARG, NO_OFFSET,
			        "the field 'tod' needs the wall clock: record with -k "
			        "CLOCK_MONOTONIC");
		}
		TRY(need_code(s, fields));
		if (line_plan_make(&s->plans[i], &s->style, fields, &e->attr, e->name, &s->arena) <
		        0) {
			return error_nomem(session_error(s->session));
		}
		s->shows_source = s->shows_source || s->plans[i].source_code;
	}
	return 0;
}

/* Whether an event shows the code between branches. */
static bool shows_code(const struct script *s)
{
	uint64_t fields = 0;

	for (size_t i = 0; i < sonde_session_events(s->session); i++) {
		fields |= s->plans[i].fields;
	}
	return (fields & BRANCH_CODE) != 0;
}

static int choose_times(struct script *s, const struct sonde_script_options *o)
{
	if (o->relative_times && o->time_differences) {
		return error_set(session_error(s->session), SONDE_EARG, NO_OFFSET,
		        "times are either relative to the start or to the line before: choose one "
		        "of both");
	}
	if (o->relative_times) {
		s->style.times = LINE_TIMES_SINCE_START;
	}
	if (o->time_differences) {
		s->style.times = LINE_TIMES_SINCE_LAST;
	}
	return 0;
}

static int choose_stops(struct script *s, const char *names)
{
	const struct sonde_filter filter = {.symbols = names};

	if (names != NULL) {
		TRY(pick_init(&s->stop, s->session, &filter));
		s->stop.addresses.n = 0; /* as in perf, names only */
		s->style.stop = &s->stop;
	}
	return 0;
}

/* Adds the tracepoints to the plans of events whose texts are shown. */
static int plan_traces(struct script *s)
{
	size_t shown = 0;

	for (size_t i = 0; i < sonde_session_events(s->session); i++) {
		shown += (s->plans[i].fields & FIELD_BIT(FIELD_TRACE)) != 0;
	}
	if (shown == 0) {
		return 0;
	}
	TRY(field_traces_init(&s->traces, s->session));
	for (size_t i = 0; i < sonde_session_events(s->session); i++) {
		struct line_plan *plan = &s->plans[i];

		if ((plan->fields & FIELD_BIT(FIELD_TRACE)) != 0) {
			plan->trace = s->traces.of_event[i];
		}
	}
	field_traces_report(&s->traces, s->session);
	return 0;
}

/* The entries of chains that are printed without a limit: those of made samples are limited already. */
static uint64_t usual_stack(const struct script *s)
{
	const struct itrace *made = session_itrace(s->session);
	unsigned chain = made == NULL                      ? 0
	                 : made->chain > made->other_chain ? made->chain
	                                                   : made->other_chain;

	return chain > MAX_STACK_USUAL ? chain : MAX_STACK_USUAL;
}

static int make_style(struct script *s, const struct sonde_script_options *o)
{
	struct feature_clock clock;
	struct layout_text machine;

	s->style = (struct line_style){
	        .ns = o->ns,
	        .narrow = o->narrow,
	        .hide_chain = o->hide_call_graph,
	        .wide_object = o->wide_object,
	        .kernel_path = o->kernel_path,
	        .source_path = o->source_path,
	        .inlined = o->inlined,
	        .not_inlined = o->not_inlined,
	        .max_stack = o->no_stack         ? 0
	                     : o->max_stack != 0 ? o->max_stack
	                                         : usual_stack(s),
	        .max_blocks = o->max_blocks,
	        .source = {.session = s->session, .time_quantum = 1},
	};
	TRY(choose_times(s, o));
	TRY(choose_stops(s, o->stop_at));
	if (SESSION_FEATURE(s->session, FEATURE_CLOCK_DATA, &s->arena, &clock) > 0 &&
	        clock.version == 1) {
		s->has_tod = true;
		s->style.source.tod_wall = clock.wall_ns;
		s->style.source.tod_clock = clock.clock_ns;
	}
	TRY(SESSION_FEATURE(s->session, FEATURE_ARCH, &s->arena, &machine));
	s->style.regs = record_reg_names(machine.s, &s->style.nregs);
	return 0;
}

static int print_header(struct script *s, int header)
{
	struct text out = {0};
	int rc;

	if (header == 3) {
		inspect_stream_features(&out, s->session, true);
	} else {
		inspect_session_header(&out, s->session, header > 1);
	}
	rc = text_flush(&out, 0, s->write, s->arg);
	text_fini(&out);
	return rc;
}

/* Before the workers start: tracers are made one after the other. */
static int make_tracers(struct script *s)
{
	for (unsigned i = 0; i < s->nworkers && s->traces.set.nevents != 0; i++) {
		struct script_worker *w = &s->workers[i];

		TRY(field_tracer_init(
		        &w->line.tracer, &s->traces, s->session, &w->line.addresses.frames));
	}
	return 0;
}

static int print_samples(struct script *s)
{
	bool one = s->filter != NULL || s->graph.on || (s->shows_source && !s->json);
	int rc;

	s->nworkers = one ? 1 : session_jobs(s->session);
	s->nparts = s->in_file_order ? session_chunks(s->session) : session_windows(s->session);
	s->runs = may_print_runs(s);
	s->workers = calloc(s->nworkers, sizeof(*s->workers));
	if (s->workers == NULL) {
		return error_nomem(session_error(s->session));
	}
	rc = make_tracers(s);
	if (rc >= 0) {
		rc = script_parts_find(s);
	}
	if (rc >= 0) {
		rc = pool_run_ordered(s->nworkers, s->nparts, format_part, write_part, s);
	}
	for (unsigned i = 0; i < s->nworkers; i++) {
		script_worker_fini(s, &s->workers[i]);
	}
	free(s->workers);
	if (rc >= 0) {
		rc = session_report_unwound(s->session);
	}
	return error_plain(session_error(s->session), rc);
}

/* Warns about data that the lines do not show. */
static void report_not_shown(struct script *s)
{
	unsigned kinds = SESSION_TRACES;

	for (size_t i = 0; i < sonde_session_events(s->session); i++) {
		const struct line_plan *plan = &s->plans[i];

		kinds |= plan->chain ? SESSION_USER_STACKS : 0;
	}
	session_report_not_shown(s->session, kinds, "perf script");
}

static int print_counts(struct script *s)
{
	int rc = 0;

	if (has_counts(s)) {
		rc = script_stat_print(s->session, s->write, s->arg);
	}
	if (rc == SONDE_ENOMEM) {
		return error_nomem(session_error(s->session));
	}
	if (rc == SONDE_ELIMIT) {
		return error_set(session_error(s->session), rc, NO_OFFSET,
		        "the rounds of counts are damaged: they repeat more lines than a file of "
		        "this size has");
	}
	return rc;
}

static int choose_switches(struct script *s, const struct sonde_script_options *o)
{
	TRY(session_event_check(s->session, "--switch-on", o->switch_on));
	TRY(session_event_check(s->session, "--switch-off", o->switch_off));
	s->switches = (struct script_switches){
	        .on = o->switch_on, .off = o->switch_off, .shown = o->show_on_off};
	return 0;
}

/* Options that change only text. */
static int check_json(struct script *s, const struct sonde_script_options *o)
{
	const struct {
		bool chosen;
		const char *what;
	} options[] = {
	        {o->header == 1 || o->header == 2,
	                "the header ('sonde report --header-only --json' prints it)"},
	        {o->relative_times || o->time_differences, "relative times: JSON has ns"},
	        {o->ns, "nine digits: JSON has ns"},
	        {o->narrow, "narrow columns: JSON has none"},
	        {o->write_event != NULL, "each event's own output: an object has its event"},
	        {o->inlined, "inlined functions: JSON has the recorded addresses only"},
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (options[i].chosen) {
			return error_set(session_error(s->session), SONDE_EARG, NO_OFFSET,
			        "--json does not go with the option for %s", options[i].what);
		}
	}
	return 0;
}

/* Fields chosen by name must have a form in JSON. */
static int check_json_fields(struct script *s, const struct field_choice *choice)
{
	for (size_t id = 0; id < FIELD_SCRIPT_COUNT; id++) {
		for (size_t type = 0; type < FIELD_TYPE_COUNT; type++) {
			if ((choice->wanted[type] & FIELD_BIT(id)) != 0 && !line_json_has(id)) {
				return error_set(session_error(s->session), SONDE_EARG, NO_OFFSET,
				        "the field '%s' is not in JSON yet: leave it or --json out",
				        field_at(id)->info.name);
			}
		}
	}
	return 0;
}

static int run(struct script *s, const struct sonde_script_options *o)
{
	struct field_choice choice;
	bool untimed = false; /* records without times are printed */

	s->kinds = kinds_of(o);
	s->json = o->json;
	if (s->json) {
		TRY(check_json(s, o));
		untimed = s->kinds == 0;
		s->kinds = untimed ? ALL_KINDS : s->kinds;
	}
	s->in_file_order = o->show_rounds;
	s->by_start = s->kinds != 0 && !s->json && !s->in_file_order;
	if (o->inlined && !lines_supported()) {
		return error_set(session_error(s->session), SONDE_EARG, NO_OFFSET,
		        "this build of sonde cannot find inlined functions: it was built without "
		        "libdw");
	}
	TRY(pick_init(&s->pick, s->session, &o->filter));
	TRY(choose_switches(s, o));
	TRY(choose_fields(s, o, &choice));
	s->all_fields = s->json && o->nfields == 0;
	TRY(make_style(s, o));
	if (s->json) {
		TRY(check_json_fields(s, &choice));
	}
	TRY(make_plans(s, &choice));
	if (o->max_blocks != 0 && !shows_code(s)) {
		return error_set(session_error(s->session), SONDE_EARG, NO_OFFSET,
		        "blocks of code are printed by the field brstackinsn only: add -F "
		        "+brstackinsn, or leave --max-blocks out");
	}
	TRY(plan_traces(s));
	report_not_shown(s);
	TRY(script_filter_open(s, o));
	TRY(script_graph_open(s, o));
	if (s->json) {
		TRY(script_json_begin(s, untimed));
		return print_samples(s);
	}
	if (o->header != 0) {
		TRY(print_header(s, o->header));
	}
	TRY(print_counts(s));
	return print_samples(s);
}

int sonde_script_print(struct sonde_session *session, const struct sonde_script_options *options,
        sonde_write_fn write, void *arg)
{
	struct script s = {.session = session, .write = write, .arg = arg};
	struct sonde_script_options o = {0};
	int rc;

	TRY(session_ready(session));
	TRY(options_copy(&o, sizeof(o), options, session_error(session)));
	s.write_event = o.write_event;
	rc = error_plain(session_error(session), run(&s, &o));
	script_filter_close(&s);
	script_graph_close(&s);
	frame_code_free(s.style.code);
	pick_fini(&s.pick);
	pick_fini(&s.stop);
	field_traces_fini(&s.traces);
	arena_fini(&s.arena);
	return rc;
}
