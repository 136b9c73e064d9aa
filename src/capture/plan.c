/* SPDX-License-Identifier: MIT */
/* Options to attrs: the same bits as perf 6.1 sets for the same command line. */
#include "capture/capture.h"
#include "proc/proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define DEFAULT_FREQUENCY 4000

static void set_flag(struct sonde_attr *attr, enum sonde_attr_flag flag, bool on)
{
	attr->flags = (attr->flags & ~(1ULL << flag)) | (uint64_t)on << flag;
}

/* Asks the kernel whether it has an event with this precision. */
static bool event_exists(struct sonde_record *r, const struct event *event, unsigned precise)
{
	struct sonde_attr attr = {.type = event->attr.type,
	        .size = HOST_ATTR_SIZE,
	        .config = event->attr.config,
	        .flags = (uint64_t)precise << SONDE_FLAG_PRECISE_IP};

	set_flag(&attr, SONDE_FLAG_DISABLED, true);
	set_flag(&attr, SONDE_FLAG_EXCLUDE_KERNEL, true);
	set_flag(&attr, SONDE_FLAG_EXCLUDE_HV, true);
	return capture_probe(&r->log, r->kernel, &attr) || errno == EACCES || errno == EPERM;
}

/* P asks for the most that the hardware can: not every processor has all the steps. */
static void lower_precision(struct sonde_record *r, struct event *event)
{
	unsigned precise = 3;

	while (precise > 0 && !event_exists(r, event, precise)) {
		precise--;
	}
	event->attr.flags &= ~(3ULL << SONDE_FLAG_PRECISE_IP);
	event->attr.flags |= (uint64_t)precise << SONDE_FLAG_PRECISE_IP;
}

/* Software clocks stand in for cycles where there is no hardware that counts them. */
static int check_hardware(struct sonde_record *r)
{
	struct event *event;
	size_t i;

	for (i = 0; i < r->events.n; i++) {
		event = &r->events.v[i];
		if (!event->hardware) {
			continue;
		}
		if (event_exists(r, event, 0)) {
			if (event->most_precise) {
				lower_precision(r, event);
			}
			continue;
		}
		if (event->attr.config != 0) {
			return error_set(&r->error, SONDE_EUNSUPPORTED, NO_OFFSET,
			        "the event '%s' is not there: this machine shows no hardware "
			        "counters (usual in virtual machines); try -e cpu-clock",
			        event->name);
		}
		if (!event_use_cpu_clock(&r->events, event)) {
			return error_nomem(&r->error);
		}
		capture_say(&r->log,
		        r->options.nevents != 0 ? SONDE_RECORD_WARNING : SONDE_RECORD_VERBOSE,
		        "no hardware cycles counter here: recording '%s' instead", event->name);
	}
	return 0;
}

static int pick_frequency(struct sonde_record *r, uint64_t *out)
{
	uint64_t want = r->options.frequency != 0 ? r->options.frequency : DEFAULT_FREQUENCY;
	int64_t max;

	*out = want;
	if (!proc_read_number(r->root_fd, "proc/sys/kernel/perf_event_max_sample_rate", &max) ||
	        want <= (uint64_t)max) {
		return 0;
	}
	*out = (uint64_t)max;
	if (want == UINT64_MAX) {
		capture_say(&r->log, SONDE_RECORD_WARNING,
		        "using the highest frequency that is allowed, %lld Hz", (long long)max);
		return 0;
	}
	if (r->options.strict_frequency) {
		return error_set(&r->error, SONDE_ELIMIT, NO_OFFSET,
		        "%llu Hz is more than the %lld Hz that kernel.perf_event_max_sample_rate "
		        "allows: lower -F, raise it as root with 'sysctl "
		        "kernel.perf_event_max_sample_rate=%llu', or leave out --strict-freq",
		        (unsigned long long)want, (long long)max, (unsigned long long)want);
	}
	capture_say(&r->log, SONDE_RECORD_WARNING,
	        "%llu Hz is more than kernel.perf_event_max_sample_rate allows: using %lld Hz "
	        "(--strict-freq makes this an error)",
	        (unsigned long long)want, (long long)max);
	return 0;
}

/* --group: one group of all, with the event that tells of tasks, as perf makes it. */
static void join_all(struct event_list *events)
{
	size_t i;

	for (i = 0; i < events->n; i++) {
		events->v[i].leader = 0;
		events->v[i].members = i == 0 ? events->n : 0;
	}
}

static int add_tracking(struct sonde_record *r)
{
	struct event *event = event_list_add(&r->events);

	if (event == NULL || !event_set_name(&r->events, event, "dummy:HG")) {
		return error_nomem(&r->error);
	}
	event->attr.type = SONDE_TYPE_SOFTWARE;
	event->attr.config = SONDE_SW_DUMMY;
	event->tracking = true;
	return 0;
}

static void plan_side_band(struct sonde_record *r, struct sonde_attr *attr)
{
	set_flag(attr, SONDE_FLAG_MMAP, true);
	set_flag(attr, SONDE_FLAG_MMAP_DATA,
	        r->options.data_addresses || r->content.chain == CAPTURE_CHAIN_DWARF ||
	                (attr->sample_type & SONDE_SAMPLE_STACK_USER) != 0);
	set_flag(attr, SONDE_FLAG_COMM, true);
	set_flag(attr, SONDE_FLAG_TASK, true);
	set_flag(attr, SONDE_FLAG_MMAP2, true);
	set_flag(attr, SONDE_FLAG_COMM_EXEC, true);
	set_flag(attr, SONDE_FLAG_KSYMBOL, true);
	set_flag(attr, SONDE_FLAG_BPF_EVENT, !r->options.no_bpf_events);
	set_flag(attr, SONDE_FLAG_CONTEXT_SWITCH, r->options.switch_events);
	set_flag(attr, SONDE_FLAG_NAMESPACES, r->options.namespaces);
	set_flag(attr, SONDE_FLAG_CGROUP, r->options.cgroups);
	set_flag(attr, SONDE_FLAG_BUILD_ID, r->options.mapping_build_ids);
}

static void plan_event(struct sonde_record *r, struct event *event, uint64_t frequency)
{
	const struct sonde_record_options *o = &r->options;
	struct sonde_attr *attr = &event->attr;
	/* some are taken each, such as tracepoints, unless a rate was asked for */
	uint64_t each = o->period != 0 ? o->period : o->frequency == 0 ? event->default_period : 0;
	bool by_time = each == 0;
	/* the tracking event counts nothing: perf gives it a period of 1 unless a rate was asked
	 * for */
	bool plain_tracking = event->tracking && o->period == 0 && o->frequency == 0;

	const struct event *leader = &r->events.v[event->leader];
	bool leads = leader == event;
	bool on_exec = o->workload != NULL && r->targets == CAPTURE_WORKLOAD;

	attr->size = HOST_ATTR_SIZE;
	attr->read_format = SONDE_READ_ID | SONDE_READ_LOST;
	attr->sample_type |= SONDE_SAMPLE_IP | SONDE_SAMPLE_TID;
	attr->sample_type |= capture_wants_time(r) ? SONDE_SAMPLE_TIME : 0;
	attr->sample_period = by_time ? frequency : each;
	if (plain_tracking) {
		attr->sample_period = 1;
		by_time = false;
	}
	if (by_time) {
		attr->sample_type |= SONDE_SAMPLE_PERIOD;
		set_flag(attr, SONDE_FLAG_FREQ, true);
	}
	attr->sample_type |= r->targets == CAPTURE_ALL ? SONDE_SAMPLE_CPU : 0;
	attr->sample_type |= o->cgroups ? SONDE_SAMPLE_CGROUP : 0;
	set_flag(attr, SONDE_FLAG_SAMPLE_ID_ALL, true);
	/* the kernel cannot read a group that is inherited */
	set_flag(attr, SONDE_FLAG_INHERIT,
	        !o->no_inherit && !r->per_thread &&
	                !(event->leader_samples && leader->members > 1));
	/* the members of a group count when its leader does */
	set_flag(attr, SONDE_FLAG_DISABLED,
	        leads && (!event->tracking || (on_exec && r->control.delayed)));
	set_flag(attr, SONDE_FLAG_ENABLE_ON_EXEC,
	        leads && on_exec && event->tracking == r->control.delayed);
	if (event->leader_samples) {
		attr->sample_type |= SONDE_SAMPLE_READ;
		attr->read_format |= leader->members > 1 ? SONDE_READ_GROUP : 0;
	}
	capture_content_apply(o, &r->content, attr, event->tracking);
	if (event->leader_samples && !leads) {
		attr->sample_period = 0;
		set_flag(attr, SONDE_FLAG_FREQ, false);
	}
	set_flag(attr, SONDE_FLAG_WRITE_BACKWARD, o->overwrite);
	if (o->use_clockid) {
		set_flag(attr, SONDE_FLAG_USE_CLOCKID, true);
		attr->clockid = o->clockid;
	}
	capture_terms_apply(event);
	if (event->leader_samples && !leads) {
		attr->sample_type = leader->attr.sample_type; /* its samples are its leader's */
	}
}

/* Several events need an id in every sample; where it stands must not depend on the event. */
static void plan_ids(struct event_list *events)
{
	uint64_t bit = SONDE_SAMPLE_ID;
	size_t i;

	if (events->n < 2) {
		/* the values of a sample are known by their ids */
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

static int plan_content(struct sonde_record *r)
{
	int64_t max = 0;

	TRY(capture_content_parse(&r->options, &r->content, &r->error));
	if (proc_read_number(r->root_fd, "proc/sys/kernel/perf_event_max_stack", &max) &&
	        r->content.frames_max > (uint64_t)max) {
		capture_say(&r->log, SONDE_RECORD_WARNING,
		        "call chains of %llu frames are more than kernel.perf_event_max_stack "
		        "allows: using %lld",
		        (unsigned long long)r->content.frames_max, (long long)max);
		r->content.frames_max = 0; /* the kernel's own limit */
	}
	return 0;
}

/* The event whose records tell of tasks and mappings. */
static struct event *side_band_event(struct sonde_record *r)
{
	size_t i;

	for (i = 0; i < r->events.n; i++) {
		if (r->events.v[i].tracking) {
			return &r->events.v[i];
		}
	}
	return &r->events.v[0];
}

int capture_plan(struct sonde_record *r)
{
	uint64_t frequency;
	size_t i;

	TRY(pick_frequency(r, &frequency));
	r->planned = calloc(r->options.nevents + 1, sizeof(*r->planned));
	if (r->planned == NULL) {
		return error_nomem(&r->error);
	}
	TRY(capture_plan_filters(r, 0));
	for (i = 0; i < r->options.nevents; i++) {
		TRY(event_parse(&r->events, r->root_fd, r->options.events[i], &r->error));
		TRY(capture_plan_filters(r, i + 1));
		r->planned[i + 1] = r->events.n;
	}
	if (r->events.n == 0) {
		TRY(event_add_default(&r->events, &r->error));
		r->planned[0] = r->events.n;
	}
	TRY(check_hardware(r));
	if (r->options.group) {
		join_all(&r->events);
	}
	TRY(plan_content(r));
	TRY(capture_synth_plan(r));
	TRY(capture_aux_plan(r));
	/* where cores differ an event is on some of them, and side-band must come from all */
	if (r->aux.pmu == NULL && (r->targets == CAPTURE_ALL || r->control.delayed ||
	                                  event_cores_differ(&r->events, r->root_fd))) {
		TRY(add_tracking(r));
		if (r->options.group) {
			join_all(&r->events);
		}
	}
	TRY(capture_kcore_plan(r));
	for (i = 0; i < r->events.n; i++) {
		plan_event(r, &r->events.v[i], frequency);
		if ((r->options.all_user || r->options.all_kernel) &&
		        !event_name_again(&r->events, &r->events.v[i])) {
			return error_nomem(&r->error);
		}
	}
	plan_side_band(r, &side_band_event(r)->attr);
	capture_kcore_plan_attrs(r);
	plan_ids(&r->events);
	capture_aux_plan_attrs(r);
	return 0;
}
