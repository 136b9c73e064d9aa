/* SPDX-License-Identifier: MIT */
/* Options to events, cpus and threads; opens, enables and reads the counters. */
#include "stat/stat.h"

#include "host/older.h"
#include "host/refusal.h"
#include "proc/proc.h"
#include "record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void stat_say(struct sonde_stat *s, enum sonde_stat_message kind, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	if (s->options.message != NULL) {
		va_start(args, fmt);
		(void)vsnprintf(text, sizeof(text), fmt, args);
		va_end(args);
		s->options.message(s->options.message_arg, kind, text);
	}
}

#define FEW_WORDS 48 /* words that are read without allocation */

/* ---- events ---- */

#define CACHE(id, op, miss) ((id) | (op) << 8 | (miss) << 16)

/* The default events, and those that -d, -d -d, -d -d -d add. */
static const struct usual {
	const char *name;
	uint32_t type, config;
	int detail;
} usual[] = {
        {"task-clock", SONDE_TYPE_SOFTWARE, SONDE_SW_TASK_CLOCK, 0},
        {"context-switches", SONDE_TYPE_SOFTWARE, SONDE_SW_CONTEXT_SWITCHES, 0},
        {"cpu-migrations", SONDE_TYPE_SOFTWARE, SONDE_SW_CPU_MIGRATIONS, 0},
        {"page-faults", SONDE_TYPE_SOFTWARE, SONDE_SW_PAGE_FAULTS, 0},
        {"cycles", SONDE_TYPE_HARDWARE, 0, 0},
        {"instructions", SONDE_TYPE_HARDWARE, 1, 0},
        {"branches", SONDE_TYPE_HARDWARE, 4, 0},
        {"branch-misses", SONDE_TYPE_HARDWARE, 5, 0},
        {"L1-dcache-loads", SONDE_TYPE_HW_CACHE, CACHE(0, 0, 0), 1},
        {"L1-dcache-load-misses", SONDE_TYPE_HW_CACHE, CACHE(0, 0, 1), 1},
        {"LLC-loads", SONDE_TYPE_HW_CACHE, CACHE(2, 0, 0), 1},
        {"LLC-load-misses", SONDE_TYPE_HW_CACHE, CACHE(2, 0, 1), 1},
        {"L1-icache-loads", SONDE_TYPE_HW_CACHE, CACHE(1, 0, 0), 2},
        {"L1-icache-load-misses", SONDE_TYPE_HW_CACHE, CACHE(1, 0, 1), 2},
        {"dTLB-loads", SONDE_TYPE_HW_CACHE, CACHE(3, 0, 0), 2},
        {"dTLB-load-misses", SONDE_TYPE_HW_CACHE, CACHE(3, 0, 1), 2},
        {"iTLB-loads", SONDE_TYPE_HW_CACHE, CACHE(4, 0, 0), 2},
        {"iTLB-load-misses", SONDE_TYPE_HW_CACHE, CACHE(4, 0, 1), 2},
        {"L1-dcache-prefetches", SONDE_TYPE_HW_CACHE, CACHE(0, 2, 0), 3},
        {"L1-dcache-prefetch-misses", SONDE_TYPE_HW_CACHE, CACHE(0, 2, 1), 3},
};

static int add_usual(struct sonde_stat *s, const struct usual *u)
{
	struct event *event = event_list_add(&s->events);
	bool clock =
	        u->config == SONDE_SW_TASK_CLOCK && u->type == SONDE_TYPE_SOFTWARE && s->by_cpu;

	if (event == NULL || !event_set_name(&s->events, event, clock ? "cpu-clock" : u->name)) {
		return error_nomem(&s->error);
	}
	event->attr.type = u->type;
	event->attr.config = clock ? SONDE_SW_CPU_CLOCK : u->config;
	event->attr.flags = 1ull << SONDE_FLAG_EXCLUDE_GUEST;
	event->hardware = u->type != SONDE_TYPE_SOFTWARE;
	return 0;
}

static void plan_attr(struct sonde_stat *s, struct event *event, bool leads)
{
	const struct sonde_stat_options *o = &s->options;
	struct sonde_attr *attr = &event->attr;
	bool in_group = s->events.v[event->leader].members > 1;

	attr->size = HOST_ATTR_SIZE;
	attr->sample_type = SONDE_SAMPLE_IDENTIFIER;
	attr->read_format = SONDE_READ_ENABLED | SONDE_READ_RUNNING;
	attr->read_format |= in_group ? SONDE_READ_ID | SONDE_READ_GROUP : 0;
	attr->sample_period = 0;
	record_attr_set(attr, SONDE_FLAG_FREQ, false);
	record_attr_set(attr, SONDE_FLAG_INHERIT, !o->no_inherit);
	record_attr_set(attr, SONDE_FLAG_DISABLED, leads);
	record_attr_set(attr, SONDE_FLAG_ENABLE_ON_EXEC,
	        leads && stat_owns_workload(s) && o->delay_ms == 0);
	if (o->all_user) {
		record_attr_set(attr, SONDE_FLAG_EXCLUDE_KERNEL, true);
		record_attr_set(attr, SONDE_FLAG_EXCLUDE_HV, true);
	}
	if (o->all_kernel) {
		record_attr_set(attr, SONDE_FLAG_EXCLUDE_USER, true);
	}
}

/* Takes unit and scale from the PMU. */
static bool set_unit(struct stat_event *to, const struct event *event)
{
	char *unit;

	if (to->clock || event->unit == NULL) {
		return true;
	}
	unit = strdup(event->unit);
	if (unit == NULL) {
		return false;
	}
	free(to->unit);
	to->unit = unit;
	to->scale = event->scale != 0 ? event->scale : 1;
	return true;
}

/* Makes one group of all events, whatever groups they were in. */
static void group_all(struct event_list *list)
{
	size_t i;

	for (i = 0; i < list->n; i++) {
		list->v[i].leader = 0;
		list->v[i].members = i == 0 ? list->n : 0;
	}
}

static bool is_sibling(const struct event *a, const struct event *b)
{
	return a->uncore && b->uncore && strcmp(a->name, b->name) == 0;
}

/*
 * One event string may select a counter of each memory controller, or other PMUs of a kind: as in
 * perf these share a row, or with --no-merge have names with their PMU.
 */
static bool merge_siblings(struct sonde_stat *s)
{
	const struct event_list *list = &s->events;
	size_t i, k;

	for (i = 0; i < list->n; i++) {
		for (k = i; list->v[i].instance > 0 && k-- > 0;) {
			if (list->v[k].instance == 0 && is_sibling(&list->v[k], &list->v[i])) {
				s->set.events[i].row = k;
				s->set.events[k].merged = true;
				break;
			}
		}
	}
	for (i = 0; s->options.no_merge && i < list->n; i++) {
		struct stat_event *e = &s->set.events[i];
		struct text name = {0};

		if (e->merged || e->row != i) {
			text_printf(&name, "%s [%s]", e->name, list->v[i].pmu);
			text_char(&name, '\0');
			if (name.failed) {
				text_fini(&name);
				return false;
			}
			free(e->name);
			e->name = name.p;
			e->merged = false;
			e->row = i;
		}
	}
	return true;
}

static int check_percore(struct sonde_stat *s)
{
	size_t i;

	for (i = 0; s->options.by == SONDE_STAT_BY_CPU && i < s->events.n; i++) {
		if (s->events.v[i].terms.percore) {
			return error_set(&s->error, SONDE_EARG, NO_OFFSET,
			        "%s: percore with -A, the sum of a core on each of its cpus, is "
			        "not "
			        "there yet; --per-core prints the sums of cores",
			        s->events.v[i].name);
		}
	}
	return 0;
}

int stat_plan(struct sonde_stat *s)
{
	const struct sonde_stat_options *o = &s->options;
	size_t i;

	for (i = 0; i < o->nevents; i++) {
		TRY(event_parse(&s->events, s->root_fd, o->events[i], &s->error));
		if (o->filters != NULL && o->filters[i] != NULL) {
			TRY(event_set_filter(&s->events, o->filters[i], &s->error));
		}
	}
	for (i = 0; o->nevents == 0 && !o->no_events && i < sizeof(usual) / sizeof(usual[0]); i++) {
		if (usual[i].detail <= o->detail) {
			TRY(add_usual(s, &usual[i]));
		}
	}
	if (o->group) {
		group_all(&s->events);
	}
	TRY(stat_cgroups_expand(s));
	for (i = 0; i < s->events.n; i++) {
		plan_attr(s, &s->events.v[i], s->events.v[i].leader == i);
		if (stat_set_add(&s->set, s->events.v[i].name, &s->events.v[i].attr) < 0 ||
		        !set_unit(&s->set.events[i], &s->events.v[i])) {
			return error_nomem(&s->error);
		}
		s->set.events[i].tool = s->events.v[i].tool;
	}
	TRY(check_percore(s));
	if (!merge_siblings(s)) {
		return error_nomem(&s->error);
	}
	return stat_cgroups_plan(s);
}

/* ---- opening ---- */

static bool is_unsupported(int why)
{
	return why == ENOENT || why == ENODEV || why == EOPNOTSUPP || why == ENXIO || why == EINVAL;
}

/* Names an event that counts user space only by that; without memory it keeps its name. */
static void rename_event(struct sonde_stat *s, size_t e, struct sonde_attr *attr)
{
	struct event *event = &s->events.v[e];
	char *name;

	event->attr = *attr;
	name = event_exclude_kernel(&s->events, event) ? strdup(event->name) : NULL;
	*attr = event->attr;
	if (name != NULL) {
		free(s->set.events[e].name);
		s->set.events[e].name = name;
	}
}

/*
 * Changes the attr after a failed open so that it may succeed; false: nothing left to try. *asked is
 * the attr to begin with on other threads and cpus if none of the changes helps.
 */
static bool ease(struct sonde_stat *s, size_t e, struct sonde_attr *asked, int why)
{
	struct sonde_attr *attr = &s->opened[e].attr;
	unsigned which = HOST_FALLBACK_READ_ALONE | HOST_FALLBACK_BITS | HOST_FALLBACK_GUESTS;
	enum host_fallback done;

	which |= s->by_cpu ? 0 : HOST_FALLBACK_USER_ONLY;
	done = host_attr_fallback(s->kernel, attr, which, why);
	if (done == HOST_FALLBACK_READ_ALONE) {
		attr->read_format &= ~(uint64_t)SONDE_READ_ID; /* one value needs no id */
	} else if (done == HOST_FALLBACK_USER_ONLY) {
		rename_event(s, e, attr);
	}
	if (done == HOST_FALLBACK_READ_ALONE || done == HOST_FALLBACK_USER_ONLY) {
		*asked = *attr;
	}
	return done != HOST_FALLBACK_NONE;
}

/* Errors to skip: threads of other users when counting all threads, and cpus that went off-line. */
static bool is_elsewhere(struct sonde_stat *s, int cpu, int why)
{
	int64_t online;
	char path[64];

	if (s->all_threads && (why == EACCES || why == EPERM)) {
		s->refused++;
		return s->refused < s->set.nthreads;
	}
	if (why != ENODEV || cpu < 0) {
		return false;
	}
	(void)snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%d/online", cpu);
	return proc_read_number(s->root_fd, path, &online) && online == 0;
}

static int open_failed(struct sonde_stat *s, size_t e, int why)
{
	const struct host_refusal refusal = {.root = s->root_fd,
	        .name = s->set.events[e].name,
	        .attr = &s->opened[e].attr,
	        .all = s->by_cpu,
	        .counting = true};

	if (!is_unsupported(why)) {
		return host_refusal(&s->error, &refusal, why);
	}
	if (s->events.v[e].members > 1) {
		return error_set(&s->error, SONDE_EUNSUPPORTED, NO_OFFSET,
		        "the event '%s' is not supported here, and it leads a group",
		        s->set.events[e].name);
	}
	s->set.events[e].supported = false;
	return 0;
}

static int open_cell(struct sonde_stat *s, size_t e, size_t i, int cgroup_fd)
{
	struct stat_opened *o = &s->opened[e];
	const struct stat_opened *leader = &s->opened[o->leader];
	int group_fd = o->leader != e ? leader->fds[i] : -1;
	pid_t tid = cgroup_fd >= 0 ? cgroup_fd : s->set.threads[i % s->set.nthreads].tid;
	int cpu = s->set.cpus[i / s->set.nthreads].cpu;
	struct sonde_attr asked = o->attr;
	int why;

	for (;;) {
		o->fds[i] = s->kernel->open(
		        &o->attr, tid, cpu, group_fd, cgroup_fd >= 0 ? HOST_OPEN_CGROUP : 0);
		if (o->fds[i] >= 0) {
			return 0;
		}
		why = errno;
		if (why == ESRCH && (s->set.nthreads > 1 || s->all_threads)) {
			return 0; /* one of many threads has ended */
		}
		if (ease(s, e, &asked, why)) {
			continue;
		}
		o->attr = asked;
		if (is_elsewhere(s, cpu, why)) {
			return 0;
		}
		return open_failed(s, e, why);
	}
}

/* Whether the event's PMU counts on other cpus; tool events are counted on the first one. */
static bool counts_elsewhere(const struct sonde_stat *s, size_t e, size_t i)
{
	return !stat_cpu_wanted(s->events.v[e].cpus, s->set.cpus[i / s->set.nthreads].cpu) ||
	       (s->events.v[e].tool != EVENT_TOOL_NONE && i / s->set.nthreads != 0);
}

static int open_event(struct sonde_stat *s, size_t e)
{
	const char *cgroup = s->set.events[e].cgroup, *filter = s->events.v[e].filter;
	struct stat_opened *o = &s->opened[e];
	bool needs_id;
	int cgroup_fd = -1, rc = 0;
	size_t i;

	s->refused = 0;
	if ((s->opened[o->leader].attr.read_format & SONDE_READ_GROUP) == 0) {
		o->attr.read_format &= ~(uint64_t)(SONDE_READ_GROUP | SONDE_READ_ID);
	}
	needs_id = (o->attr.read_format & SONDE_READ_GROUP) != 0 || s->options.record != NULL;
	s->set.events[e].supported = o->leader == e || s->set.events[o->leader].supported;
	if (cgroup != NULL) {
		cgroup_fd = stat_cgroup_open(s, cgroup);
		TRY(cgroup_fd);
	}
	for (i = 0; rc == 0 && s->set.events[e].supported && i < s->set.ncpus * s->set.nthreads;
	        i++) {
		if (s->by_cpu && counts_elsewhere(s, e, i)) {
			s->set.events[e].now[i].absent = true; /* its PMU counts on other cpus */
			continue;
		}
		rc = open_cell(s, e, i, cgroup_fd);
		/* members of groups, and counts in recordings, are identified by id */
		if (rc == 0 && o->fds[i] >= 0 && needs_id &&
		        s->kernel->id(o->fds[i], &o->ids[i]) < 0) {
			o->ids[i] = 0;
		}
		if (rc == 0 && o->fds[i] >= 0 && filter != NULL &&
		        s->kernel->set_filter(o->fds[i], filter) < 0) {
			rc = error_errno(&s->error, SONDE_EARG, errno,
			        "the kernel refuses the filter '%s' for '%s'", filter,
			        s->set.events[e].name);
		}
	}
	if (cgroup_fd >= 0) {
		(void)close(cgroup_fd);
	}
	if (rc == 0 && !s->set.events[e].supported) {
		stat_say(s, SONDE_STAT_VERBOSE,
		        "Warning:\n%s event is not supported by the kernel.",
		        s->set.events[e].name);
	}
	return rc;
}

int stat_open(struct sonde_stat *s)
{
	size_t e, i, cells = s->set.ncpus * s->set.nthreads;

	s->opened = calloc(s->set.nevents + 1, sizeof(*s->opened));
	if (s->opened == NULL) {
		return error_nomem(&s->error);
	}
	for (e = 0; e < s->set.nevents; e++) {
		struct stat_opened *o = &s->opened[e];

		o->attr = s->events.v[e].attr;
		o->leader = s->events.v[e].leader;
		o->fds = calloc(cells, sizeof(*o->fds));
		o->ids = calloc(cells, sizeof(*o->ids));
		for (i = 0; o->fds != NULL && i < cells; i++) {
			o->fds[i] = -1;
		}
		if (o->fds == NULL || o->ids == NULL) {
			return error_nomem(&s->error);
		}
	}
	for (e = 0; e < s->set.nevents; e++) {
		TRY(open_event(s, e));
		s->opened[e].grouped =
		        (s->opened[e].attr.read_format & SONDE_READ_GROUP) != 0 &&
		        (s->opened[s->opened[e].leader].attr.read_format & SONDE_READ_GROUP) != 0;
	}
	return 0;
}

void stat_close(struct sonde_stat *s)
{
	size_t e, i, cells = s->set.ncpus * s->set.nthreads;

	for (e = 0; s->opened != NULL && e < s->set.nevents; e++) {
		for (i = 0; s->opened[e].fds != NULL && i < cells; i++) {
			if (s->opened[e].fds[i] >= 0) {
				(void)s->kernel->close(s->opened[e].fds[i]);
			}
		}
		free(s->opened[e].fds);
		free(s->opened[e].ids);
	}
	free(s->opened);
	s->opened = NULL;
}

int stat_enable(struct sonde_stat *s, bool on)
{
	size_t e, i, cells = s->set.ncpus * s->set.nthreads;

	for (e = 0; e < s->set.nevents; e++) {
		if (s->opened[e].leader != e) {
			continue;
		}
		for (i = 0; i < cells; i++) {
			int fd = s->opened[e].fds[i];

			if (fd >= 0 && s->kernel->enable(fd, on, false) < 0) {
				return error_errno(&s->error, SONDE_EIO, errno, "cannot start '%s'",
				        s->set.events[e].name);
			}
		}
	}
	return 0;
}

/* ---- reading ---- */

static void store(struct sonde_stat *s, size_t e, size_t i, struct stat_count v)
{
	struct stat_event *event = &s->set.events[e];

	if (s->options.repeat > 1) { /* runs are summed */
		v.value += event->before[i].value;
		v.enabled += event->before[i].enabled;
		v.running += event->before[i].running;
	}
	v.absent = event->now[i].absent;
	event->now[i] = v;
}

static int read_failed(struct sonde_stat *s, size_t e, ssize_t got)
{
	if (got >= 0) {
		return 0; /* pinned, and no counter was free: not counted */
	}
	return error_errno(&s->error, SONDE_EIO, errno, "cannot read '%s'", s->set.events[e].name);
}

/* Stores a value for the event, or for the member of its group with the value's id. */
static void store_value(struct sonde_stat *s, size_t e, size_t i,
        const struct record_counts *counts, const struct sonde_record_read_value *v)
{
	const struct stat_count count = {
	        .value = v->value, .enabled = counts->enabled, .running = counts->running};
	size_t k;

	if (!s->opened[e].grouped) {
		store(s, e, i, count);
		return;
	}
	/* events that could not be opened are not in the group */
	for (k = e; k < e + s->events.v[e].members; k++) {
		if (s->opened[k].ids[i] == v->id && s->opened[k].fds[i] >= 0) {
			store(s, k, i, count);
		}
	}
}

static int read_cell(struct sonde_stat *s, size_t e, size_t i)
{
	const struct stat_opened *o = &s->opened[e];
	size_t n = 3 + 3 * (o->grouped ? s->events.v[e].members : 1);
	uint64_t few[FEW_WORDS], *buf = n <= FEW_WORDS ? few : malloc(n * sizeof(*buf));
	struct sonde_record_read_value v;
	struct record_counts counts;
	ssize_t got;
	int rc = 0;

	if (buf == NULL) {
		return error_nomem(&s->error);
	}
	got = s->kernel->read(o->fds[i], buf, n * sizeof(*buf));
	if (got > 0 && record_counts_read(o->attr.read_format,
	                       (struct span){(const uint8_t *)buf, (size_t)got}, &counts)) {
		while (record_counts_next(&counts, &v)) {
			store_value(s, e, i, &counts, &v);
		}
	} else {
		rc = read_failed(s, e, got);
	}
	if (buf != few) {
		free(buf);
	}
	return rc;
}

/* The count of a tool event is in the first cell; the others are empty. */
static void read_tool(struct sonde_stat *s, size_t e)
{
	const uint64_t times[] = {[EVENT_TOOL_DURATION] = s->end_ns - s->start_ns,
	        [EVENT_TOOL_USER] = s->usage[0],
	        [EVENT_TOOL_SYSTEM] = s->usage[1]};
	const uint64_t v = times[s->set.events[e].tool];
	const struct stat_count value = {.value = v, .enabled = v, .running = v};
	size_t i, cells = s->set.ncpus * s->set.nthreads;

	store(s, e, 0, value);
	for (i = 1; i < cells; i++) {
		s->set.events[e].now[i] = (struct stat_count){.absent = true};
	}
}

int stat_read(struct sonde_stat *s)
{
	size_t e, i, cells = s->set.ncpus * s->set.nthreads;

	for (e = 0; e < s->set.nevents; e++) {
		if (s->opened[e].grouped && s->opened[e].leader != e) {
			continue; /* read with its leader */
		}
		for (i = 0; i < cells; i++) {
			if (s->opened[e].fds[i] >= 0) {
				TRY(read_cell(s, e, i));
			}
		}
	}
	for (e = 0; e < s->set.nevents; e++) {
		if (s->set.events[e].tool != EVENT_TOOL_NONE && s->set.events[e].supported) {
			read_tool(s, e);
		}
	}
	return 0;
}
