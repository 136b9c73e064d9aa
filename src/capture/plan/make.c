/* SPDX-License-Identifier: MIT */
/* Options to attrs: the same bits as perf 6.1 sets for the same command line. */
#include "capture/plan/plan.h"
#include "capture/sink/chains.h"

#include "proc/proc.h"
#include "record/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define DEFAULT_FREQUENCY 4000

/* Whether the kernel has an event with this precision. */
static bool event_exists(
        const struct capture_machine *m, const struct event *event, unsigned precise)
{
	struct sonde_attr attr = {.type = event->attr.type,
	        .size = HOST_ATTR_SIZE,
	        .config = event->attr.config,
	        .flags = (uint64_t)precise << SONDE_FLAG_PRECISE_IP};

	record_attr_set(&attr, SONDE_FLAG_DISABLED, true);
	record_attr_set(&attr, SONDE_FLAG_EXCLUDE_KERNEL, true);
	record_attr_set(&attr, SONDE_FLAG_EXCLUDE_HV, true);
	return capture_probe(m->log, m->kernel, &attr) || errno == EACCES || errno == EPERM;
}

/* P means the highest precision of the hardware: not every processor has all levels. */
static void lower_precision(const struct capture_machine *m, struct event *event)
{
	unsigned precise = 3;

	while (precise > 0 && !event_exists(m, event, precise)) {
		precise--;
	}
	record_attr_set_precision(&event->attr, precise);
}

/* Uses software clocks instead of cycles if no hardware counts them. */
static int check_hardware(struct capture_plan *p, const struct capture_machine *m)
{
	struct event *event;
	size_t i;

	for (i = 0; i < p->events.n; i++) {
		event = &p->events.v[i];
		if (!event->hardware) {
			continue;
		}
		if (event_exists(m, event, 0)) {
			if (event->most_precise) {
				lower_precision(m, event);
			}
			continue;
		}
		if (event->attr.config != 0) {
			return error_set(m->err, SONDE_EUNSUPPORTED, NO_OFFSET,
			        "the event '%s' is not there: this machine shows no hardware "
			        "counters (usual in virtual machines); try -e cpu-clock",
			        event->name);
		}
		if (!event_use_cpu_clock(&p->events, event)) {
			return error_nomem(m->err);
		}
		capture_say(m->log,
		        p->options->events.n != 0 ? SONDE_RECORDER_WARNING : SONDE_RECORDER_VERBOSE,
		        "no hardware cycles counter here: recording '%s' instead", event->name);
	}
	return 0;
}

static int pick_frequency(struct capture_plan *p, const struct capture_machine *m)
{
	uint64_t want = p->options->events.frequency != 0 ? p->options->events.frequency
	                                                  : DEFAULT_FREQUENCY;
	int64_t max;

	p->frequency = want;
	if (!proc_read_number(m->root, "proc/sys/kernel/perf_event_max_sample_rate", &max) ||
	        want <= (uint64_t)max) {
		return 0;
	}
	p->frequency = (uint64_t)max;
	if (want == UINT64_MAX) {
		capture_say(m->log, SONDE_RECORDER_WARNING,
		        "using the highest frequency that is allowed, %lld Hz", (long long)max);
		return 0;
	}
	if (p->options->events.strict_frequency) {
		return error_set(m->err, SONDE_ELIMIT, NO_OFFSET,
		        "%llu Hz is more than the %lld Hz that kernel.perf_event_max_sample_rate "
		        "allows: lower -F, raise it as root with 'sysctl "
		        "kernel.perf_event_max_sample_rate=%llu', or leave out --strict-freq",
		        (unsigned long long)want, (long long)max, (unsigned long long)want);
	}
	capture_say(m->log, SONDE_RECORDER_WARNING,
	        "%llu Hz is more than kernel.perf_event_max_sample_rate allows: using %lld Hz "
	        "(--strict-freq makes this an error)",
	        (unsigned long long)want, (long long)max);
	return 0;
}

/* --group: makes one group of all events, including the tracking event, as perf does. */
static void join_all(struct event_list *events)
{
	size_t i;

	for (i = 0; i < events->n; i++) {
		events->v[i].leader = 0;
		events->v[i].members = i == 0 ? events->n : 0;
	}
}

static int add_tracking(struct capture_plan *p, struct error *err)
{
	struct event *event = event_list_add(&p->events);

	if (event == NULL || !event_set_name(&p->events, event, "dummy:HG")) {
		return error_nomem(err);
	}
	event->attr.type = SONDE_TYPE_SOFTWARE;
	event->attr.config = SONDE_SW_DUMMY;
	event->tracking = true;
	return 0;
}

static void plan_side_band(const struct capture_plan *p, struct sonde_attr *attr)
{
	record_attr_set(attr, SONDE_FLAG_MMAP, true);
	record_attr_set(attr, SONDE_FLAG_MMAP_DATA,
	        p->options->samples.addresses || p->content.chain == CAPTURE_CHAIN_DWARF ||
	                ((attr->sample_type & SONDE_SAMPLE_STACK_USER) != 0 &&
	                        p->content.chain != CAPTURE_CHAIN_UNWIND));
	record_attr_set(attr, SONDE_FLAG_COMM, true);
	record_attr_set(attr, SONDE_FLAG_TASK, true);
	record_attr_set(attr, SONDE_FLAG_MMAP2, true);
	record_attr_set(attr, SONDE_FLAG_COMM_EXEC, true);
	record_attr_set(attr, SONDE_FLAG_KSYMBOL, true);
	record_attr_set(attr, SONDE_FLAG_BPF_EVENT, !p->options->side_band.no_bpf);
	record_attr_set(attr, SONDE_FLAG_CONTEXT_SWITCH, p->options->side_band.switches);
	record_attr_set(attr, SONDE_FLAG_NAMESPACES, p->options->side_band.namespaces);
	record_attr_set(attr, SONDE_FLAG_CGROUP, p->options->side_band.cgroups);
	record_attr_set(attr, SONDE_FLAG_BUILD_ID, p->options->build_ids.in_mappings);
}

/* Whether samples have times, as requested. */
static bool plan_times(const struct capture_plan *p)
{
	return p->options->samples.times == SONDE_RECORDER_AUTO
	               ? !p->per_thread || !p->options->targets.per_thread
	               : p->options->samples.times == SONDE_RECORDER_YES;
}

static void plan_event(const struct capture_plan *p, struct event *event)
{
	const struct sonde_recorder_options *o = p->options;
	struct sonde_attr *attr = &event->attr;
	/* some are taken each, such as tracepoints, unless a rate was asked for */
	uint64_t each = o->events.period != 0      ? o->events.period
	                : o->events.frequency == 0 ? event->default_period
	                                           : 0;
	bool by_time = each == 0;
	/* the tracking event counts nothing: perf gives it a period of 1 unless a rate was asked
	 * for */
	bool plain_tracking = event->tracking && o->events.period == 0 && o->events.frequency == 0;

	const struct event *leader = &p->events.v[event->leader];
	bool leads = leader == event;
	bool on_exec = capture_plan_waits(p);

	attr->size = HOST_ATTR_SIZE;
	attr->read_format = SONDE_READ_ID | SONDE_READ_LOST;
	attr->sample_type |= SONDE_SAMPLE_IP | SONDE_SAMPLE_TID;
	attr->sample_type |= plan_times(p) ? SONDE_SAMPLE_TIME : 0;
	attr->sample_period = by_time ? p->frequency : each;
	if (plain_tracking) {
		attr->sample_period = 1;
		by_time = false;
	}
	if (by_time) {
		attr->sample_type |= SONDE_SAMPLE_PERIOD;
		record_attr_set(attr, SONDE_FLAG_FREQ, true);
	}
	attr->sample_type |= p->targets == CAPTURE_ALL ? SONDE_SAMPLE_CPU : 0;
	attr->sample_type |= o->side_band.cgroups ? SONDE_SAMPLE_CGROUP : 0;
	record_attr_set(attr, SONDE_FLAG_SAMPLE_ID_ALL, true);
	/* the kernel cannot read inherited groups */
	record_attr_set(attr, SONDE_FLAG_INHERIT,
	        p->inherit && !p->per_thread && !(event->leader_samples && leader->members > 1));
	/* members of a group count when their leader does */
	record_attr_set(
	        attr, SONDE_FLAG_DISABLED, leads && (!event->tracking || (on_exec && p->delayed)));
	record_attr_set(
	        attr, SONDE_FLAG_ENABLE_ON_EXEC, leads && on_exec && event->tracking == p->delayed);
	if (event->leader_samples) {
		attr->sample_type |= SONDE_SAMPLE_READ;
		attr->read_format |= leader->members > 1 ? SONDE_READ_GROUP : 0;
	}
	capture_content_apply(o, &p->content, attr, event->tracking);
	if (event->leader_samples && !leads) {
		attr->sample_period = 0;
		record_attr_set(attr, SONDE_FLAG_FREQ, false);
	}
	record_attr_set(attr, SONDE_FLAG_WRITE_BACKWARD, o->buffers.overwrite);
	if (o->events.use_clock) {
		record_attr_set(attr, SONDE_FLAG_USE_CLOCKID, true);
		attr->clockid = o->events.clockid;
	}
	capture_terms_apply(event);
	if (event->leader_samples && !leads) {
		attr->sample_type = leader->attr.sample_type; /* samples are taken by its leader */
	}
}

/* Several events need an id in every sample, at an offset that does not depend on the event. */
static void plan_ids(struct event_list *events, enum capture_chain chain)
{
	uint64_t bit = SONDE_SAMPLE_ID;
	size_t i;

	if (chain == CAPTURE_CHAIN_UNWIND) {
		return; /* all have IDENTIFIER */
	}
	if (events->n < 2) {
		/* values of a sample are identified by their ids */
		if ((events->v[0].attr.sample_type & SONDE_SAMPLE_READ) != 0) {
			events->v[0].attr.sample_type |= SONDE_SAMPLE_ID;
		}
		return;
	}
	for (i = 1; i < events->n; i++) {
		if (events->v[i].attr.sample_type != events->v[0].attr.sample_type) {
			bit = SONDE_SAMPLE_IDENTIFIER;
		}
	}
	for (i = 0; i < events->n; i++) {
		events->v[i].attr.sample_type |= bit;
	}
}

static int plan_content(struct capture_plan *p, const struct capture_machine *m)
{
	int64_t max = 0;

	TRY(capture_content_parse(p->options, &p->content, m->err));
	if (p->content.chain == CAPTURE_CHAIN_UNWIND && p->options->output.threads != NULL) {
		return error_set(m->err, SONDE_EARG, NO_OFFSET,
		        "--call-graph unwind writes one file: leave out --threads, or record "
		        "stacks "
		        "with --call-graph dwarf");
	}
	if (p->content.chain == CAPTURE_CHAIN_UNWIND && !capture_chains_supported()) {
		return error_set(m->err, SONDE_EUNSUPPORTED, NO_OFFSET,
		        "--call-graph unwind: stacks of this kind of machine cannot be unwound; "
		        "use "
		        "--call-graph dwarf");
	}
	if (proc_read_number(m->root, "proc/sys/kernel/perf_event_max_stack", &max) &&
	        p->content.frames_max > (uint64_t)max) {
		capture_say(m->log, SONDE_RECORDER_WARNING,
		        "call chains of %llu frames are more than kernel.perf_event_max_stack "
		        "allows: using %lld",
		        (unsigned long long)p->content.frames_max, (long long)max);
		p->content.frames_max = 0; /* the kernel's limit */
	}
	return 0;
}

/* The event whose records are about tasks and mappings. */
static struct event *side_band_event(struct capture_plan *p)
{
	size_t i;

	for (i = 0; i < p->events.n; i++) {
		if (p->events.v[i].tracking) {
			return &p->events.v[i];
		}
	}
	return &p->events.v[0];
}

/*
 * The three modes: rings for threads, without inheritance (tids, or per_thread unless all processes
 * are recorded), or rings for cpus, of all processes or of the selected ones; a workload has rings
 * for cpus too.
 */
static void choose_targets(struct capture_plan *p, const struct capture_machine *m)
{
	const struct sonde_recorder_targets *t = &p->options->targets;

	p->targets = t->pids != NULL || t->tids != NULL || t->user != NULL ? CAPTURE_TASKS
	             : t->all_cpus || t->cpus != NULL || t->ncgroups != 0  ? CAPTURE_ALL
	                                                                   : CAPTURE_WORKLOAD;
	p->per_thread = p->targets != CAPTURE_ALL && t->cpus == NULL && !t->all_cpus &&
	                (t->per_thread || (t->tids != NULL && !t->inherit));
	p->inherit = !t->no_inherit && (t->tids == NULL || t->inherit);
	p->delayed = p->options->control.delay != NULL;
	if (t->per_thread && !p->per_thread) {
		capture_say(m->log, SONDE_RECORDER_WARNING,
		        "rings are those of the cpus: --per-thread means nothing with -a or -C");
	}
	if (t->user != NULL && (t->pids != NULL || t->tids != NULL)) {
		capture_say(m->log, SONDE_RECORDER_WARNING,
		        "-p or -t was given: recording that alone, not -u");
	}
}

/*
 * Applies the --filter options given after the first nevents -e options to the last parsed events.
 */
static int plan_filters(struct capture_plan *p, size_t nevents, struct error *err)
{
	const struct sonde_recorder_filter *filter;
	size_t i;

	for (i = 0; i < p->options->events.nfilters; i++) {
		filter = &p->options->events.filters[i];
		if (filter->nevents == nevents) {
			TRY(event_set_filter(&p->events, filter->text, err));
		}
	}
	return 0;
}

static int parse_events(struct capture_plan *p, const struct capture_machine *m)
{
	const struct sonde_recorder_options *o = p->options;
	size_t i;

	p->parsed = calloc(o->events.n + 1, sizeof(*p->parsed));
	if (p->parsed == NULL) {
		return error_nomem(m->err);
	}
	TRY(plan_filters(p, 0, m->err));
	for (i = 0; i < o->events.n; i++) {
		TRY(event_parse(&p->events, m->root, o->events.strings[i], m->err));
		TRY(plan_filters(p, i + 1, m->err));
		p->parsed[i + 1] = p->events.n;
	}
	if (p->events.n == 0) {
		TRY(event_add_default(&p->events, m->err));
		p->parsed[0] = p->events.n;
	}
	TRY(check_hardware(p, m));
	if (o->events.group) {
		join_all(&p->events);
	}
	return 0;
}

/* Adds events that were not requested by name. */
static int add_events(struct capture_plan *p, const struct capture_machine *m)
{
	TRY(capture_aux_plan(p, m));
	/*
	 * with several kinds of cores an event runs on some cpus only, but side-band must come from
	 * all
	 */
	if (p->aux.pmu == NULL && (p->targets == CAPTURE_ALL || p->delayed ||
	                                  event_cores_differ(&p->events, m->root))) {
		TRY(add_tracking(p, m->err));
		if (p->options->events.group) {
			join_all(&p->events);
		}
	}
	return p->options->output.kcore ? capture_kcore_plan(&p->events, m->root, m->err) : 0;
}

void capture_plan_attrs(struct capture_plan *p)
{
	size_t i;

	for (i = 0; i < p->events.n; i++) {
		p->events.v[i].attr = p->asked[i];
		plan_event(p, &p->events.v[i]);
	}
	plan_side_band(p, &side_band_event(p)->attr);
	if (p->options->output.kcore) {
		capture_kcore_attrs(&p->events);
	}
	plan_ids(&p->events, p->content.chain);
	capture_aux_plan_attrs(p);
}

int capture_plan_make(struct capture_plan *p, const struct sonde_recorder_options *options,
        const struct capture_machine *m)
{
	size_t i;

	p->options = options;
	choose_targets(p, m);
	TRY(pick_frequency(p, m));
	TRY(parse_events(p, m));
	TRY(plan_content(p, m));
	TRY(add_events(p, m));
	p->asked = calloc(p->events.n, sizeof(*p->asked));
	if (p->asked == NULL) {
		return error_nomem(m->err);
	}
	for (i = 0; i < p->events.n; i++) {
		p->asked[i] = p->events.v[i].attr;
		capture_content_levels(options, &p->events.v[i].attr); /* for the name */
		if ((options->events.all_user || options->events.all_kernel) &&
		        !event_name_again(&p->events, &p->events.v[i])) {
			return error_nomem(m->err);
		}
	}
	capture_plan_attrs(p);
	return 0;
}

void capture_plan_watermark(struct capture_plan *p, uint64_t bytes)
{
	p->events.v[0].attr.aux_watermark = (uint32_t)(bytes < UINT32_MAX ? bytes : UINT32_MAX);
}

void capture_plan_log(const struct capture_plan *p, const struct capture_log *log)
{
	for (size_t i = 0; i < p->events.n; i++) {
		capture_log_attr(log, &p->events.v[i].attr);
	}
}

void capture_plan_fini(struct capture_plan *p)
{
	event_list_fini(&p->events);
	text_fini(&p->aux.filter);
	free(p->parsed);
	free(p->asked);
	*p = (struct capture_plan){0};
}
