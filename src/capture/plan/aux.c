/* SPDX-License-Identifier: MIT */
/* The events that an AUX area needs, their attrs and sizes: as perf 6.1 chooses them. */
#include "capture/plan/plan.h"

#include "proc/proc.h"
#include "record/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SAMPLE_DEFAULT 4096u
#define SPE_INTERVAL   4096u /* operations between samples, if the PMU has no number */

static const struct capture_aux_pmu pmus[] = {
        {"intel_pt", "Intel Processor Trace", AUXTRACE_INTEL_PT},
        {"arm_spe_", "Arm Statistical Profiling", AUXTRACE_ARM_SPE},
};

static const struct capture_aux_pmu *pmu_of(const struct event *event)
{
	size_t i;

	for (i = 0; event->aux && i < sizeof(pmus) / sizeof(pmus[0]); i++) {
		if (strncmp(event->pmu, pmus[i].name, strlen(pmus[i].name)) == 0) {
			return &pmus[i];
		}
	}
	return NULL;
}

/* Parses "config:14-17" or "config:10", and lists of them. */
uint64_t capture_aux_mask(const struct capture_aux_plan *aux, int root, const char *term)
{
	char path[128], line[128];
	uint64_t mask = 0;
	unsigned long from, to;
	char *p;

	(void)snprintf(path, sizeof(path), AUX_PMU_FOLDER "%s/format/%s", aux->pmu_name, term);
	if (!proc_read_line(root, path, line, sizeof(line)) || strncmp(line, "config:", 7) != 0) {
		return 0;
	}
	for (p = line + 6; *p == ':' || *p == ',';) {
		from = to = strtoul(p + 1, &p, 10);
		if (*p == '-') {
			to = strtoul(p + 1, &p, 10);
		}
		for (; from <= to && from < 64; from++) {
			mask |= 1ull << from;
		}
	}
	return mask;
}

uint64_t capture_aux_number(const struct capture_aux_plan *aux, int root, const char *file)
{
	char path[128];
	int64_t v;

	(void)snprintf(path, sizeof(path), AUX_PMU_FOLDER "%s/%s", aux->pmu_name, file);
	return proc_read_number(root, path, &v) ? (uint64_t)v : 0;
}

/* Moves the group of event e to the front of the list. */
static int move_to_front(struct capture_plan *p, const struct capture_machine *m, size_t e)
{
	struct event_list *list = &p->events;
	size_t first = list->v[e].leader;
	struct event *sorted = malloc(list->n * sizeof(*sorted));
	size_t *place = malloc(list->n * sizeof(*place));
	size_t i, turn, n = 0;

	if (sorted == NULL || place == NULL) {
		free(sorted);
		free(place);
		return error_nomem(m->err);
	}
	/* the leader, which is opened first, then its members, then the others */
	for (turn = 0; turn < 3; turn++) {
		for (i = 0; i < list->n; i++) {
			if (turn == (list->v[i].leader != first ? 2 : (size_t)(i != first))) {
				place[i] = n;
				sorted[n++] = list->v[i];
			}
		}
	}
	for (i = 0; i < n; i++) {
		sorted[i].leader = place[sorted[i].leader];
	}
	memcpy(list->v, sorted, n * sizeof(*sorted));
	free(sorted);
	free(place);
	return 0;
}

static int find_event(struct capture_plan *p, const struct capture_machine *m, size_t *at)
{
	const struct event *event;
	size_t i;

	for (i = 0; i < p->events.n; i++) {
		event = &p->events.v[i];
		if (!event->aux) {
			continue;
		}
		if (p->aux.pmu != NULL) {
			return error_set(m->err, SONDE_EARG, NO_OFFSET,
			        "There may be only one %s event", p->aux.pmu_name);
		}
		p->aux.pmu = pmu_of(event);
		if (p->aux.pmu == NULL) {
			return error_set(m->err, SONDE_EUNSUPPORTED, NO_OFFSET,
			        "the trace of %s cannot be recorded: how to describe it in the "
			        "file is not known here",
			        event->pmu);
		}
		(void)snprintf(p->aux.pmu_name, sizeof(p->aux.pmu_name), "%s", event->pmu);
		*at = i;
	}
	return 0;
}

static bool asks_for_samples(const struct event *event)
{
	return (event->terms.set & EVENT_TERM_AUX_SAMPLE_SIZE) != 0 &&
	       event->terms.aux_sample_size != 0;
}

/* Adds events that request pieces of trace by a term to the trace's group. */
static void join_group(struct capture_plan *p, size_t trace)
{
	struct event *event;
	size_t i;

	if (p->events.v[trace].leader != trace) {
		return;
	}
	for (i = 0; i < p->events.n; i++) {
		event = &p->events.v[i];
		if (i != trace && event->leader == i && event->members == 1 &&
		        asks_for_samples(event)) {
			event->leader = trace;
			event->members = 0;
			p->events.v[trace].members++;
		}
	}
}

/* Whether another event in the AUX event's group gets samples of the area. */
static bool plan_samples(struct capture_plan *p)
{
	struct event *event;
	bool any = false;
	size_t i;

	for (i = 1; i < p->events.n && p->events.v[i].leader == 0; i++) {
		event = &p->events.v[i];
		if (p->options->aux.sample &&
		        (event->terms.set & EVENT_TERM_AUX_SAMPLE_SIZE) == 0) {
			event->attr.aux_sample_size =
			        p->options->aux.sample_size != 0
			                ? (uint32_t)p->options->aux.sample_size
			                : SAMPLE_DEFAULT;
		} else if (asks_for_samples(event)) {
			event->attr.aux_sample_size = event->terms.aux_sample_size;
		}
		any |= event->attr.aux_sample_size != 0;
	}
	return any;
}

/* Checks options that no use of an AUX area allows. */
static int check_output(struct capture_plan *p, const struct capture_machine *m)
{
	if (p->options->output.threads != NULL) {
		return error_set(m->err, SONDE_EARG, NO_OFFSET,
		        "Parallel trace streaming is not available in AUX area tracing mode");
	}
	if (p->options->buffers.overwrite) {
		return error_set(m->err, SONDE_EARG, NO_OFFSET,
		        "--overwrite is not available in AUX area tracing mode: -S keeps the "
		        "newest trace");
	}
	return 0;
}

static int choose_mode(struct capture_plan *p, const struct capture_machine *m)
{
	const struct sonde_recorder_options *o = p->options;
	bool samples;

	TRY(check_output(p, m));
	if (o->aux.sample && o->aux.sample_size > CAPTURE_SAMPLE_MAX) {
		return error_set(m->err, SONDE_EARG, NO_OFFSET,
		        "AUX area sample size %llu too big, max. %u",
		        (unsigned long long)o->aux.sample_size, CAPTURE_SAMPLE_MAX);
	}
	samples = plan_samples(p);
	if (o->aux.sample && !samples) {
		return error_set(m->err, SONDE_EARG, NO_OFFSET,
		        "AUX area sampling requires an AUX area event group leader plus other "
		        "events to which to add samples");
	}
	if (o->aux.snapshot && samples) {
		return error_set(m->err, SONDE_EARG, NO_OFFSET,
		        "Snapshot mode (%s PMU) and sample trace cannot be used together",
		        p->aux.pmu_name);
	}
	p->aux.mode = samples           ? CAPTURE_AUX_SAMPLE
	              : o->aux.snapshot ? CAPTURE_AUX_SNAPSHOT
	                                : CAPTURE_AUX_FULL;
	return 0;
}

/* Whether the kernel opens the event, disabled, for this process. */
static bool opens(const struct capture_machine *m, struct sonde_attr attr, pid_t pid, int cpu)
{
	attr.size = HOST_ATTR_SIZE;
	record_attr_set(&attr, SONDE_FLAG_DISABLED, true);
	return host_kernel_takes(m->kernel, &attr, pid, cpu);
}

static bool kernel_tells_switches(const struct capture_machine *m)
{
	struct sonde_attr attr = {.type = SONDE_TYPE_SOFTWARE, .config = SONDE_SW_DUMMY};

	record_attr_set(&attr, SONDE_FLAG_EXCLUDE_KERNEL, true);
	record_attr_set(&attr, SONDE_FLAG_CONTEXT_SWITCH, true);
	return opens(m, attr, 0, -1);
}

/*
 * Adds switches of all tasks on all cpus, if the kernel has no records of switches and allows the
 * event.
 */
static int add_sched_switch(struct capture_plan *p, const struct capture_machine *m)
{
	struct sonde_attr attr = {.type = SONDE_TYPE_TRACEPOINT};
	struct event *event;
	int64_t id;

	if (!proc_read_number(m->root, "sys/kernel/tracing/events/sched/sched_switch/id", &id) &&
	        !proc_read_number(
	                m->root, "sys/kernel/debug/tracing/events/sched/sched_switch/id", &id)) {
		return 0;
	}
	attr.config = (uint64_t)id;
	if (!opens(m, attr, -1, 0)) {
		return 0;
	}
	event = event_list_add(&p->events);
	if (event == NULL || !event_set_name(&p->events, event, "sched:sched_switch")) {
		return error_nomem(m->err);
	}
	event->attr = attr;
	event->everywhere = true;
	p->aux.switches = CAPTURE_SWITCH_TRACEPOINT;
	return 0;
}

/* Intel PT needs to know which task ran; without times switches cannot be matched to it. */
static int plan_switches(struct capture_plan *p, const struct capture_machine *m)
{
	bool times = (p->events.v[0].attr.config & capture_aux_mask(&p->aux, m->root, "tsc")) != 0;

	p->aux.switches = CAPTURE_SWITCH_NONE;
	if (p->per_thread || (p->aux.pmu->type == AUXTRACE_INTEL_PT && !times)) {
		return 0;
	}
	if (kernel_tells_switches(m)) {
		p->aux.switches = p->options->side_band.no_switches ? CAPTURE_SWITCH_NONE
		                  : p->targets == CAPTURE_ALL       ? CAPTURE_SWITCH_CPU
		                                                    : CAPTURE_SWITCH_TASK;
		return 0;
	}
	return add_sched_switch(p, m);
}

/* Sets the filter in the kernel's form, with at most as many ranges as the hardware has. */
static int plan_filter(struct capture_plan *p, const struct capture_machine *m)
{
	const char *filter = p->events.v[0].filter;
	uint64_t most = capture_aux_number(&p->aux, m->root, "nr_addr_filters");
	uint64_t n = 1;
	const char *s;

	if (filter == NULL) {
		return 0;
	}
	if (most == 0) {
		return error_set(m->err, SONDE_EUNSUPPORTED, NO_OFFSET,
		        "This CPU does not support address filtering");
	}
	TRY(capture_aux_filter(m->root, filter, &p->aux.filter, m->err));
	for (s = p->aux.filter.p; (s = strchr(s, ',')) != NULL; s++) {
		n++;
	}
	if (n > most) {
		return error_set(m->err, SONDE_EARG, NO_OFFSET,
		        "number of address filters (%llu) exceeds maximum (%llu)",
		        (unsigned long long)n, (unsigned long long)most);
	}
	capture_say(m->log, SONDE_RECORDER_LINE, "Address filter: %s", p->aux.filter.p);
	return 0;
}

int capture_aux_plan(struct capture_plan *p, const struct capture_machine *m)
{
	struct event *dummy;
	size_t at = 0;

	TRY(find_event(p, m, &at));
	if (p->aux.pmu == NULL) {
		return p->options->aux.snapshot ? error_set(m->err, SONDE_EARG, NO_OFFSET,
		                                          "No AUX area tracing to snapshot")
		       : p->options->aux.sample ? error_set(m->err, SONDE_EARG, NO_OFFSET,
		                                          "No AUX area event to sample")
		                                : 0;
	}
	join_group(p, at);
	TRY(move_to_front(p, m, at));
	if (!p->events.v[0].aux) {
		return error_set(m->err, SONDE_EARG, NO_OFFSET,
		        p->options->aux.sample
		                ? "AUX area sampling requires an AUX area event group leader plus "
		                  "other events to which to add samples"
		                : "an AUX area event must be the leader of its group");
	}
	TRY(choose_mode(p, m));
	if (p->aux.mode == CAPTURE_AUX_SAMPLE) {
		p->events.v[0].attr.config &= ~p->events.v[0].unasked;
	}
	TRY(plan_filter(p, m));
	TRY(plan_switches(p, m));
	p->aux.min_interval = capture_aux_number(&p->aux, m->root, "caps/min_interval");
	dummy = event_list_add(&p->events);
	if (dummy == NULL || !event_set_name(&p->events, dummy, "dummy:u")) {
		return error_nomem(m->err);
	}
	dummy->attr.type = SONDE_TYPE_SOFTWARE;
	dummy->attr.config = SONDE_SW_DUMMY;
	dummy->tracking = true;
	return 0;
}

/* Neither the trace nor the dummy takes samples; perf sets their rate only if one is requested. */
static void plan_no_rate(const struct capture_plan *p, struct sonde_attr *attr)
{
	attr->sample_type &= ~(uint64_t)SONDE_SAMPLE_CALLCHAIN;
	attr->sample_type |= !p->per_thread ? SONDE_SAMPLE_CPU : 0;
	if (p->options->events.period == 0 && p->options->events.frequency == 0) {
		attr->sample_period = 1;
		attr->sample_type &= ~(uint64_t)SONDE_SAMPLE_PERIOD;
		record_attr_set(attr, SONDE_FLAG_FREQ, false);
	}
}

/* Intel PT traces everything; Arm SPE samples one operation in a number of them. */
static void plan_trace_attr(const struct capture_plan *p, struct sonde_attr *attr)
{
	uint64_t least = p->aux.min_interval;

	plan_no_rate(p, attr);
	record_attr_set(attr, SONDE_FLAG_EXCLUDE_GUEST, false);
	if (p->aux.pmu->type == AUXTRACE_ARM_SPE && p->options->events.period == 0) {
		record_attr_set(attr, SONDE_FLAG_FREQ, false);
		attr->sample_type &= ~(uint64_t)SONDE_SAMPLE_PERIOD;
		attr->sample_period = least != 0 ? least : SPE_INTERVAL;
	}
}

static void plan_switch_attr(struct sonde_attr *attr)
{
	attr->sample_period = 1;
	attr->sample_type |=
	        SONDE_SAMPLE_TIME | SONDE_SAMPLE_CPU | SONDE_SAMPLE_PERIOD | SONDE_SAMPLE_RAW;
	attr->sample_type &= ~(uint64_t)SONDE_SAMPLE_CALLCHAIN;
	record_attr_set(attr, SONDE_FLAG_FREQ, false);
	record_attr_set(attr, SONDE_FLAG_DISABLED, false);
	record_attr_set(attr, SONDE_FLAG_ENABLE_ON_EXEC, false);
	record_attr_set(attr, SONDE_FLAG_EXCLUDE_GUEST, true);
}

/*
 * If the dummy records switches it is on from the start, so that tasks before the exec are known,
 * and never off while the trace is on.
 */
static void plan_dummy_attr(const struct capture_plan *p, struct sonde_attr *attr)
{
	bool switches =
	        p->aux.switches == CAPTURE_SWITCH_TASK || p->aux.switches == CAPTURE_SWITCH_CPU;
	bool wait = capture_plan_waits(p) && !switches;

	plan_no_rate(p, attr);
	record_attr_set(attr, SONDE_FLAG_EXCLUDE_KERNEL, true);
	record_attr_set(attr, SONDE_FLAG_EXCLUDE_HV, true);
	record_attr_set(attr, SONDE_FLAG_EXCLUDE_GUEST, true);
	record_attr_set(attr, SONDE_FLAG_CONTEXT_SWITCH,
	        switches || sonde_attr_has(attr, SONDE_FLAG_CONTEXT_SWITCH));
	record_attr_set(attr, SONDE_FLAG_DISABLED, wait);
	record_attr_set(attr, SONDE_FLAG_ENABLE_ON_EXEC, wait);
}

void capture_aux_plan_attrs(struct capture_plan *p)
{
	struct sonde_attr *attr;
	size_t i;

	if (p->aux.pmu == NULL) {
		return;
	}
	for (i = 0; i < p->events.n; i++) {
		attr = &p->events.v[i].attr;
		if (i == 0) {
			plan_trace_attr(p, attr);
		} else if (p->events.v[i].everywhere && attr->type == SONDE_TYPE_TRACEPOINT) {
			plan_switch_attr(attr);
		} else if (p->events.v[i].tracking) {
			plan_dummy_attr(p, attr);
		} else if (attr->aux_sample_size != 0) {
			attr->sample_type |= SONDE_SAMPLE_AUX;
		}
		/* the offset of the id must not depend on the event */
		attr->sample_type &= ~(uint64_t)SONDE_SAMPLE_ID;
		attr->sample_type |= SONDE_SAMPLE_IDENTIFIER;
	}
}
