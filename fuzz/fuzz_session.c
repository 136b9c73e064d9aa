/* SPDX-License-Identifier: MIT */
/*
 * A whole reading of a recording: opened as a file, samples in time order, all of them again in
 * parallel, names from an empty folder, report, script and header; all records in time order, lists,
 * and the same from memory. Time never goes back, and all ways give the same samples.
 */
#define _GNU_SOURCE
#include <sonde/preview/inspect.h>
#include <sonde/preview/report.h>
#include <sonde/preview/script.h>
#include <sonde/preview/session.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define TEXT_MAX (4u << 20) /* bytes; longer reports of a small file find nothing new */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct sum {
	uint64_t samples;
	uint64_t mix; /* sum over time, ip and offset, independent of the order */
};

static void add(struct sum *sum, const struct sonde_event *e)
{
	sum->samples++;
	sum->mix += (e->sample->time ^ e->sample->ip * 31) + e->offset * 0x9e3779b97f4a7c15u;
}

static int count(void *arg, unsigned worker, const struct sonde_event *e)
{
	(void)worker;
	add(arg, e);
	return 0;
}

static int drop(void *arg, const char *text, size_t n)
{
	size_t *room = arg;

	(void)text;
	if (n > *room) {
		return -1000;
	}
	*room -= n;
	return 0;
}

static void walk(struct sonde_session *s)
{
	struct sum walked = {0}, mapped = {0};
	const struct sonde_event *e;
	const struct sonde_frame *where;
	uint64_t last = 0;

	while (sonde_session_next(s, &e) > 0) {
		bool timed = (e->sample->present & SONDE_SAMPLE_TIME) != 0;

		if ((timed && e->sample->time < last) || e->event >= sonde_session_events(s) ||
		        e->thread.comm == NULL) {
			abort();
		}
		last = timed ? e->sample->time : last;
		add(&walked, e);
		(void)sonde_session_resolve(s, e, e->cpumode, e->sample->ip, &where);
		(void)sonde_session_frames(s, e, &where);
	}
	if (sonde_session_map(s, count, &mapped) == 0 &&
	        (mapped.samples != walked.samples || mapped.mix != walked.mix)) {
		abort();
	}
}

static void lists(struct sonde_session *s)
{
	const struct sonde_process *process;
	const struct sonde_thread_life *thread;
	const struct sonde_mapping *mapping;
	const struct sonde_object *object;
	size_t at;

	for (at = 0; sonde_session_next_process(s, &at, &process) > 0;) {
	}
	for (at = 0; sonde_session_next_thread(s, &at, &thread) > 0;) {
		if (thread->comm == NULL) {
			abort();
		}
	}
	for (at = 0; sonde_session_next_object(s, &at, &object) > 0;) {
	}
	for (at = 0; sonde_session_next_mapping(s, &at, &mapping) > 0;) {
		if (mapping->end < mapping->start || mapping->object->name == NULL) {
			abort();
		}
	}
}

/* All records: the samples among them are those that come without the others. */
static void walk_all(struct sonde_session *s)
{
	const struct sonde_session_choice all = {.size = sizeof(all), .kinds = UINT32_MAX};
	const struct sonde_typed_record *r;
	const struct sonde_event *e;
	struct sonde_thread thread;
	uint64_t samples = 0, events = 0, mapped = 0;
	struct sum sum = {0};

	if (sonde_session_choose(s, NULL) < 0) {
		abort();
	}
	while (sonde_session_next(s, &e) > 0) {
		samples++;
	}
	if (sonde_session_choose(s, &all) < 0) {
		abort();
	}
	for (; sonde_session_next(s, &e) > 0; events++) {
		samples -= e->type == SONDE_RECORD_SAMPLE;
		if (sonde_session_record(s, e, &r) < 0 || r->type != e->type) {
			abort();
		}
		(void)sonde_session_running(s, e->sample->cpu, e->sample->time, &thread);
	}
	if (sonde_session_map(s, count, &sum) == 0) {
		mapped = sum.samples;
	}
	if (samples != 0 || mapped != events) {
		abort();
	}
}

/* Reports in levels, of groups, by callers, by keys of all kinds, and of threads. */
static void print_tables(struct sonde_session *s)
{
	const struct sonde_report_options forms[] = {
	        {.hierarchy = true, .sort = "comm,{dso,sym}", .percent_limit = 5},
	        {.group = SONDE_REPORT_GROUP_ALL, .show_empty = true, .show_modes = true},
	        {.group = SONDE_REPORT_GROUP_ALL, .hierarchy = true, .sort = "time,sym"},
	        {.parent = "a|e", .sort = "sym", .hide_unresolved = true},
	        {.ignore_callees = "a|e", .no_children = true, .sort = "comm_nodigit"},
	        {.branch_history = true, .sort = "sym,addr"},
	        {.branch_history = true, .no_children = true, .hide_unresolved = true},
	        {.latency = true, .sort = "parallelism,comm"},
	        {.sort = "cgroup_id,transaction,dso_size,symoff"},
	        {.branches = SONDE_REPORT_BRANCHES_ON, .sort = "srcline_from,srcline_to"},
	        {.threads = true, .threads_raw = true},
	        {.mmaps = true},
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct sonde_report_options o = forms[i];
		size_t room = TEXT_MAX;

		o.size = sizeof(o);
		(void)sonde_report_print(s, &o, drop, &room);
	}
}

static void print(struct sonde_session *s, const char *path)
{
	static const char *const with_branches[] = {"comm,ip,dso,brstacksym"};
	struct sonde_script_options script = {.size = sizeof(script)};
	struct sonde_header_options header = {.size = sizeof(header), .full = true};
	struct sonde_inspector *in = sonde_inspector_new(NULL);
	struct sonde_report_options report = {.size = sizeof(report)};
	size_t room = TEXT_MAX;

	print_tables(s);
	(void)sonde_report_print(s, &report, drop, &room);
	report.sort = "sym,pid";
	report.no_children = true;
	report.show_samples = true;
	room = TEXT_MAX;
	(void)sonde_report_print(s, &report, drop, &room);
	report.sort = NULL;
	report.branches = SONDE_REPORT_BRANCHES_ON;
	room = TEXT_MAX;
	(void)sonde_report_print(s, &report, drop, &room);
	report.total_cycles = true;
	room = TEXT_MAX;
	(void)sonde_report_print(s, &report, drop, &room);
	report = (struct sonde_report_options){.size = sizeof(report), .memory = true};
	report.branches = SONDE_REPORT_BRANCHES_OFF;
	room = TEXT_MAX;
	(void)sonde_report_print(s, &report, drop, &room);
	room = TEXT_MAX;
	(void)sonde_script_print(s, &script, drop, &room);
	script.fields = with_branches;
	script.nfields = 1;
	room = TEXT_MAX;
	(void)sonde_script_print(s, &script, drop, &room);
	room = TEXT_MAX;
	(void)sonde_inspector_header(in, path, &header, drop, &room);
	sonde_inspector_free(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sonde_session_options options = {.size = sizeof(options),
	        .jobs = 1,
	        .symfs = "/nonexistent",
	        .kallsyms = "/dev/null"};
	struct sonde_session *s = sonde_session_new(&options);
	int fd = memfd_create("recording", MFD_CLOEXEC);
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (s != NULL && fd >= 0 && write(fd, data, size) == (ssize_t)size &&
	        sonde_session_open(s, path) >= 0) {
		walk(s);
		walk_all(s);
		lists(s);
		print(s, path);
	}
	sonde_session_free(s);
	s = sonde_session_new(&options);
	if (s != NULL && sonde_session_open_memory(s, data, size) >= 0) {
		walk(s);
	}
	sonde_session_free(s);
	if (fd >= 0) {
		(void)close(fd);
	}
	return 0;
}
