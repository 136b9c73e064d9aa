/* SPDX-License-Identifier: MIT */
/* Which events an AUX area needs and what their attrs and sizes are: as perf 6.1 chooses them. */
#include "capture/aux_pmu.h"
#include "capture/capture.h"
#include "proc/proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define AREA_PRIVILEGED   ((uint64_t)4 << 20)
#define AREA_UNPRIVILEGED ((uint64_t)128 << 10)
#define DATA_UNPRIVILEGED ((uint64_t)256 << 10)
#define SAMPLE_DEFAULT    4096u
#define SAMPLE_MAX        61440u
#define SPE_INTERVAL      4096u /* operations from sample to sample, where the PMU names none */
#define PSB_SMALLEST      2048u /* bytes of trace between PSBs, as psb_period counts them */

static const struct capture_aux_pmu pmus[] = {
        {"intel_pt", "Intel Processor Trace", AUXTRACE_INTEL_PT},
        {"arm_spe_", "Arm Statistical Profiling", AUXTRACE_ARM_SPE},
};

static void set_flag(struct sonde_attr *attr, enum sonde_attr_flag flag, bool on)
{
	attr->flags = (attr->flags & ~(1ULL << flag)) | (uint64_t)on << flag;
}

static bool mapped_by_cpu(const struct sonde_record *r)
{
	return !r->per_thread;
}

static bool waits_for_exec(const struct sonde_record *r)
{
	return r->options.workload != NULL && r->targets == CAPTURE_WORKLOAD;
}

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

/* The group of event e to the front of the list. */
static int move_to_front(struct sonde_record *r, size_t e)
{
	struct event_list *list = &r->events;
	size_t first = list->v[e].leader;
	struct event *sorted = malloc(list->n * sizeof(*sorted));
	size_t *place = malloc(list->n * sizeof(*place));
	size_t i, turn, n = 0;

	if (sorted == NULL || place == NULL) {
		free(sorted);
		free(place);
		return error_nomem(&r->error);
	}
	/* the leader, who is opened first, its members, the others */
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

static int find_event(struct sonde_record *r, size_t *at)
{
	const struct event *event;
	size_t i;

	for (i = 0; i < r->events.n; i++) {
		event = &r->events.v[i];
		if (!event->aux) {
			continue;
		}
		if (r->aux.pmu != NULL) {
			return error_set(&r->error, SONDE_EARG, NO_OFFSET,
			        "There may be only one %s event", r->aux.pmu_name);
		}
		r->aux.pmu = pmu_of(event);
		if (r->aux.pmu == NULL) {
			return error_set(&r->error, SONDE_EUNSUPPORTED, NO_OFFSET,
			        "the trace of %s cannot be recorded: how to describe it in the "
			        "file is not known here",
			        event->pmu);
		}
		(void)snprintf(r->aux.pmu_name, sizeof(r->aux.pmu_name), "%s", event->pmu);
		*at = i;
	}
	return 0;
}

static bool asks_for_samples(const struct event *event)
{
	return (event->terms.set & EVENT_TERM_AUX_SAMPLE_SIZE) != 0 &&
	       event->terms.aux_sample_size != 0;
}

/* Events that ask for pieces of trace by a term join the trace's group by that. */
static void join_group(struct sonde_record *r, size_t trace)
{
	struct event *event;
	size_t i;

	if (r->events.v[trace].leader != trace) {
		return;
	}
	for (i = 0; i < r->events.n; i++) {
		event = &r->events.v[i];
		if (i != trace && event->leader == i && event->members == 1 &&
		        asks_for_samples(event)) {
			event->leader = trace;
			event->members = 0;
			r->events.v[trace].members++;
		}
	}
}

/* Says whether another event of the AUX event's group gets samples of it. */
static bool plan_samples(struct sonde_record *r)
{
	struct event *event;
	bool any = false;
	size_t i;

	for (i = 1; i < r->events.n && r->events.v[i].leader == 0; i++) {
		event = &r->events.v[i];
		if (r->options.aux_sample && (event->terms.set & EVENT_TERM_AUX_SAMPLE_SIZE) == 0) {
			event->attr.aux_sample_size = r->options.aux_sample_size != 0
			                                      ? (uint32_t)r->options.aux_sample_size
			                                      : SAMPLE_DEFAULT;
		} else if (asks_for_samples(event)) {
			event->attr.aux_sample_size = event->terms.aux_sample_size;
		}
		any |= event->attr.aux_sample_size != 0;
	}
	return any;
}

/* What does not go with an AUX area of whatever use. */
static int check_output(struct sonde_record *r)
{
	if (r->options.threads != NULL) {
		return error_set(&r->error, SONDE_EARG, NO_OFFSET,
		        "Parallel trace streaming is not available in AUX area tracing mode");
	}
	if (r->options.overwrite) {
		return error_set(&r->error, SONDE_EARG, NO_OFFSET,
		        "--overwrite is not available in AUX area tracing mode: -S keeps the "
		        "newest trace");
	}
	return 0;
}

static int choose_mode(struct sonde_record *r)
{
	const struct sonde_record_options *o = &r->options;
	bool samples;

	TRY(check_output(r));
	if (o->aux_sample && o->aux_sample_size > SAMPLE_MAX) {
		return error_set(&r->error, SONDE_EARG, NO_OFFSET,
		        "AUX area sample size %llu too big, max. %u",
		        (unsigned long long)o->aux_sample_size, SAMPLE_MAX);
	}
	samples = plan_samples(r);
	if (o->aux_sample && !samples) {
		return error_set(&r->error, SONDE_EARG, NO_OFFSET,
		        "AUX area sampling requires an AUX area event group leader plus other "
		        "events to which to add samples");
	}
	if (o->snapshot && samples) {
		return error_set(&r->error, SONDE_EARG, NO_OFFSET,
		        "Snapshot mode (%s PMU) and sample trace cannot be used together",
		        r->aux.pmu_name);
	}
	r->aux.mode = samples       ? CAPTURE_AUX_SAMPLE
	              : o->snapshot ? CAPTURE_AUX_SNAPSHOT
	                            : CAPTURE_AUX_FULL;
	return 0;
}

/* Asks the kernel for the event, off, of this process. */
static bool opens(const struct sonde_record *r, struct sonde_attr attr, pid_t pid, int cpu)
{
	attr.size = HOST_ATTR_SIZE;
	set_flag(&attr, SONDE_FLAG_DISABLED, true);
	return host_kernel_takes(r->kernel, &attr, pid, cpu);
}

static bool kernel_tells_switches(const struct sonde_record *r)
{
	struct sonde_attr attr = {.type = SONDE_TYPE_SOFTWARE, .config = SONDE_SW_DUMMY};

	set_flag(&attr, SONDE_FLAG_EXCLUDE_KERNEL, true);
	set_flag(&attr, SONDE_FLAG_CONTEXT_SWITCH, true);
	return opens(r, attr, 0, -1);
}

/* Switches of all tasks on all cpus: where there are no records of them, and it is allowed. */
static int add_sched_switch(struct sonde_record *r)
{
	struct sonde_attr attr = {.type = SONDE_TYPE_TRACEPOINT};
	struct event *event;
	int64_t id;

	if (!proc_read_number(r->root_fd, "sys/kernel/tracing/events/sched/sched_switch/id", &id) &&
	        !proc_read_number(
	                r->root_fd, "sys/kernel/debug/tracing/events/sched/sched_switch/id", &id)) {
		return 0;
	}
	attr.config = (uint64_t)id;
	if (!opens(r, attr, -1, 0)) {
		return 0;
	}
	event = event_list_add(&r->events);
	if (event == NULL || !event_set_name(&r->events, event, "sched:sched_switch")) {
		return error_nomem(&r->error);
	}
	event->attr = attr;
	event->everywhere = true;
	r->aux.switches = CAPTURE_SWITCH_TRACEPOINT;
	return 0;
}

/* Intel PT needs to know who ran; without times there is nothing to match that to. */
static int plan_switches(struct sonde_record *r)
{
	bool times = (r->events.v[0].attr.config & aux_format_mask(r, "tsc")) != 0;

	r->aux.switches = CAPTURE_SWITCH_NONE;
	if (!mapped_by_cpu(r) || (r->aux.pmu->type == AUXTRACE_INTEL_PT && !times)) {
		return 0;
	}
	if (kernel_tells_switches(r)) {
		r->aux.switches = r->options.no_switch_events ? CAPTURE_SWITCH_NONE
		                  : r->targets == CAPTURE_ALL ? CAPTURE_SWITCH_CPU
		                                              : CAPTURE_SWITCH_TASK;
		return 0;
	}
	return add_sched_switch(r);
}

/* The kernel's words of the filter, no more of them than the hardware has room for. */
static int plan_filter(struct sonde_record *r)
{
	const char *filter = r->events.v[0].filter;
	uint64_t most = aux_pmu_number(r, "nr_addr_filters");
	uint64_t n = 1;
	const char *p;

	if (filter == NULL) {
		return 0;
	}
	if (most == 0) {
		return error_set(&r->error, SONDE_EUNSUPPORTED, NO_OFFSET,
		        "This CPU does not support address filtering");
	}
	TRY(capture_aux_filter(r->root_fd, filter, &r->aux.filter, &r->error));
	for (p = r->aux.filter.p; (p = strchr(p, ',')) != NULL; p++) {
		n++;
	}
	if (n > most) {
		return error_set(&r->error, SONDE_EARG, NO_OFFSET,
		        "number of address filters (%llu) exceeds maximum (%llu)",
		        (unsigned long long)n, (unsigned long long)most);
	}
	capture_say(&r->log, SONDE_RECORD_LINE, "Address filter: %s", r->aux.filter.p);
	return 0;
}

int capture_aux_plan(struct sonde_record *r)
{
	struct event *dummy;
	size_t at = 0;

	TRY(find_event(r, &at));
	if (r->aux.pmu == NULL) {
		return r->options.snapshot     ? error_set(&r->error, SONDE_EARG, NO_OFFSET,
		                                         "No AUX area tracing to snapshot")
		       : r->options.aux_sample ? error_set(&r->error, SONDE_EARG, NO_OFFSET,
		                                         "No AUX area event to sample")
		                               : 0;
	}
	join_group(r, at);
	TRY(move_to_front(r, at));
	if (!r->events.v[0].aux) {
		return error_set(&r->error, SONDE_EARG, NO_OFFSET,
		        r->options.aux_sample
		                ? "AUX area sampling requires an AUX area event group leader plus "
		                  "other events to which to add samples"
		                : "an AUX area event must be the leader of its group");
	}
	TRY(choose_mode(r));
	if (r->aux.mode == CAPTURE_AUX_SAMPLE) {
		r->events.v[0].attr.config &= ~r->events.v[0].unasked;
	}
	TRY(plan_filter(r));
	TRY(plan_switches(r));
	dummy = event_list_add(&r->events);
	if (dummy == NULL || !event_set_name(&r->events, dummy, "dummy:u")) {
		return error_nomem(&r->error);
	}
	dummy->attr.type = SONDE_TYPE_SOFTWARE;
	dummy->attr.config = SONDE_SW_DUMMY;
	dummy->tracking = true;
	return 0;
}

/* Neither the trace nor the dummy samples; perf gives them a rate only when one is asked for. */
static void plan_no_rate(const struct sonde_record *r, struct sonde_attr *attr)
{
	attr->sample_type &= ~(uint64_t)SONDE_SAMPLE_CALLCHAIN;
	attr->sample_type |= mapped_by_cpu(r) ? SONDE_SAMPLE_CPU : 0;
	if (r->options.period == 0 && r->options.frequency == 0) {
		attr->sample_period = 1;
		attr->sample_type &= ~(uint64_t)SONDE_SAMPLE_PERIOD;
		set_flag(attr, SONDE_FLAG_FREQ, false);
	}
}

/* What is traced: all of it with Intel PT; Arm SPE takes one operation in so many. */
static void plan_trace_attr(const struct sonde_record *r, struct sonde_attr *attr)
{
	uint64_t least = aux_pmu_number(r, "caps/min_interval");

	plan_no_rate(r, attr);
	set_flag(attr, SONDE_FLAG_EXCLUDE_GUEST, false);
	if (r->aux.pmu->type == AUXTRACE_ARM_SPE && r->options.period == 0) {
		set_flag(attr, SONDE_FLAG_FREQ, false);
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
	set_flag(attr, SONDE_FLAG_FREQ, false);
	set_flag(attr, SONDE_FLAG_DISABLED, false);
	set_flag(attr, SONDE_FLAG_ENABLE_ON_EXEC, false);
	set_flag(attr, SONDE_FLAG_EXCLUDE_GUEST, true);
}

/*
 * The dummy is on from the start when it tells of switches, so that what ran before the exec is
 * known, and never off while the trace is.
 */
static void plan_dummy_attr(struct sonde_record *r, struct sonde_attr *attr)
{
	bool switches =
	        r->aux.switches == CAPTURE_SWITCH_TASK || r->aux.switches == CAPTURE_SWITCH_CPU;
	bool wait = waits_for_exec(r) && !switches;

	plan_no_rate(r, attr);
	set_flag(attr, SONDE_FLAG_EXCLUDE_KERNEL, true);
	set_flag(attr, SONDE_FLAG_EXCLUDE_HV, true);
	set_flag(attr, SONDE_FLAG_EXCLUDE_GUEST, true);
	set_flag(attr, SONDE_FLAG_CONTEXT_SWITCH,
	        switches || sonde_attr_has(attr, SONDE_FLAG_CONTEXT_SWITCH));
	set_flag(attr, SONDE_FLAG_DISABLED, wait);
	set_flag(attr, SONDE_FLAG_ENABLE_ON_EXEC, wait);
}

void capture_aux_plan_attrs(struct sonde_record *r)
{
	struct sonde_attr *attr;
	size_t i;

	if (r->aux.pmu == NULL) {
		return;
	}
	for (i = 0; i < r->events.n; i++) {
		attr = &r->events.v[i].attr;
		if (i == 0) {
			plan_trace_attr(r, attr);
		} else if (r->events.v[i].everywhere && attr->type == SONDE_TYPE_TRACEPOINT) {
			plan_switch_attr(attr);
		} else if (r->events.v[i].tracking) {
			plan_dummy_attr(r, attr);
		} else if (attr->aux_sample_size != 0) {
			attr->sample_type |= SONDE_SAMPLE_AUX;
		}
		/* where the id stands must not depend on the event */
		attr->sample_type &= ~(uint64_t)SONDE_SAMPLE_ID;
		attr->sample_type |= SONDE_SAMPLE_IDENTIFIER;
	}
}

static bool privileged(const struct sonde_record *r)
{
	int64_t paranoid = 2;

	(void)proc_read_number(r->root_fd, "proc/sys/kernel/perf_event_paranoid", &paranoid);
	return paranoid < 0 || r->kernel->privileged();
}

static uint64_t power_of_two(uint64_t v)
{
	uint64_t p = (uint64_t)sysconf(_SC_PAGESIZE);

	while (p < v && p < UINT64_MAX / 2) {
		p *= 2;
	}
	return p;
}

static uint64_t largest_sample(const struct sonde_record *r)
{
	uint64_t most = 0;
	size_t i;

	for (i = 0; i < r->events.n; i++) {
		most = r->events.v[i].attr.aux_sample_size > most
		               ? r->events.v[i].attr.aux_sample_size
		               : most;
	}
	return most;
}

static uint64_t smallest_sample(const struct sonde_record *r)
{
	uint64_t least = SAMPLE_MAX;
	size_t i;

	for (i = 0; i < r->events.n; i++) {
		uint64_t v = r->events.v[i].attr.aux_sample_size;

		least = v != 0 && v < least ? v : least;
	}
	return least;
}

/* A piece of trace without a PSB cannot be decoded. */
static void warn_of_psb(struct sonde_record *r, const char *what, uint64_t size)
{
	uint64_t mask = aux_format_mask(r, "psb_period");
	uint64_t psb = PSB_SMALLEST;

	if (mask != 0) {
		psb <<= (r->events.v[0].attr.config & mask) >> __builtin_ctzll(mask);
	}
	if (r->aux.pmu->type == AUXTRACE_INTEL_PT && size <= psb + 256) {
		capture_say(&r->log, SONDE_RECORD_WARNING,
		        "Intel PT %s size (%llu) may be too small for PSB period (%llu)", what,
		        (unsigned long long)size, (unsigned long long)psb);
	}
}

static int plan_snapshot_size(struct sonde_record *r)
{
	struct capture_aux *aux = &r->aux;

	aux->snapshot_size = r->options.snapshot_size;
	if (r->options.aux_pages == 0 && aux->snapshot_size != 0) {
		aux->size = power_of_two(aux->snapshot_size);
	}
	if (aux->snapshot_size == 0) {
		aux->snapshot_size = aux->size;
	}
	if (aux->snapshot_size > aux->size) {
		return error_set(&r->error, SONDE_EARG, NO_OFFSET,
		        "Snapshot size %llu must not be greater than AUX area tracing mmap size "
		        "%llu",
		        (unsigned long long)aux->snapshot_size, (unsigned long long)aux->size);
	}
	capture_say(&r->log, SONDE_RECORD_LINE, "Intel PT snapshot size: %llu",
	        (unsigned long long)aux->snapshot_size);
	warn_of_psb(r, "snapshot", aux->snapshot_size);
	return 0;
}

/*
 * What an unprivileged user may lock: perf_event_mlock_kb less a page for each cpu, and
 * RLIMIT_MEMLOCK once. What nobody asked for shrinks until it fits, the larger one first.
 */
static void fit_limits(struct sonde_record *r, size_t nrings, uint64_t least)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t data = r->ring_pages * page;
	bool data_may = r->options.mmap_pages == 0;
	bool area_may = r->options.aux_pages == 0 && r->options.snapshot_size == 0 &&
	                r->aux.mode != CAPTURE_AUX_SAMPLE;
	int64_t mlock_kb = 516;
	uint64_t allowed;

	(void)proc_read_number(r->root_fd, "proc/sys/kernel/perf_event_mlock_kb", &mlock_kb);
	allowed = (uint64_t)mlock_kb * 1024;
	allowed = (allowed > page ? allowed - page : 0) * r->ncpus + r->kernel->memlock();
	while (nrings * (data + r->aux.size) > allowed) {
		area_may &= r->aux.size > least;
		data_may &= data > page;
		if (data_may && (data >= r->aux.size || !area_may)) {
			data /= 2;
		} else if (area_may) {
			r->aux.size /= 2;
		} else {
			break;
		}
	}
	r->ring_pages = data / page;
}

int capture_aux_plan_sizes(struct sonde_record *r, size_t nrings)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct capture_aux *aux = &r->aux;
	uint64_t least = aux->mode == CAPTURE_AUX_FULL ? 2 * page : page;
	bool limited;

	if (aux->pmu == NULL) {
		return 0;
	}
	limited = !privileged(r);
	if (limited && r->options.mmap_pages == 0) {
		r->ring_pages = DATA_UNPRIVILEGED / page;
	}
	aux->size = r->options.aux_pages != 0         ? r->options.aux_pages * page
	            : aux->mode == CAPTURE_AUX_SAMPLE ? power_of_two(largest_sample(r))
	            : limited                         ? AREA_UNPRIVILEGED
	                                              : AREA_PRIVILEGED;
	if (limited) {
		fit_limits(r, nrings, least);
	}
	if (aux->mode == CAPTURE_AUX_SNAPSHOT) {
		TRY(plan_snapshot_size(r));
	}
	if (aux->size < least || (aux->size & (aux->size - 1)) != 0) {
		return error_set(&r->error, SONDE_EARG, NO_OFFSET,
		        "Invalid mmap size for %s: must be at least %lluKiB and a power of 2",
		        aux->pmu->title, (unsigned long long)least / 1024);
	}
	if (aux->mode == CAPTURE_AUX_SAMPLE) {
		capture_say(&r->log, SONDE_RECORD_LINE,
		        "Intel PT min. sample size: %llu max. sample size: %llu",
		        (unsigned long long)smallest_sample(r),
		        (unsigned long long)largest_sample(r));
		warn_of_psb(r, "sample", smallest_sample(r));
	}
	if (aux->mode == CAPTURE_AUX_FULL) {
		r->events.v[0].attr.aux_watermark =
		        (uint32_t)(aux->size / 4 < UINT32_MAX ? aux->size / 4 : UINT32_MAX);
	}
	return 0;
}
