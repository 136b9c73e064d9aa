/* SPDX-License-Identifier: MIT */
/* The output's events, first records, and header features. */
#define _GNU_SOURCE
#include "abi/abi.h"
#include "capture/scan.h"
#include "capture/sink/output.h"
#include "core/fd.h"
#include "host/cache.h"
#include "host/description.h"
#include "host/kernel.h"
#include "host/synth.h"
#include "host/wait.h"
#include "proc/proc.h"
#include "record/feature_write.h"
#include "record/record.h"
#include "softpt/softpt.h"
#include "softpt/tape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEVICES     "sys/bus/event_source/devices"
#define FEATURES    32
#define SWITCH_TASK 2u /* AUXTRACE_INFO: switches are SWITCH records */

/* Numbers and names of this machine's PMUs; returns the first number that none of them has. */
static uint32_t list_pmus(int root, struct text *list, uint32_t *n)
{
	DIR *dir = proc_open_dir(root, DEVICES);
	const struct dirent *e;
	uint32_t free_type = 8; /* numbers below are the kernel's own or common */
	char path[512];
	int64_t type;

	while ((e = proc_next_entry(dir)) != NULL) {
		(void)snprintf(path, sizeof(path), DEVICES "/%s/type", e->d_name);
		if (!proc_read_number(root, path, &type) || strcmp(e->d_name, "intel_pt") == 0) {
			continue;
		}
		feature_put_u32(list, (uint32_t)type);
		feature_put_text(list, e->d_name);
		free_type = type >= free_type ? (uint32_t)type + 1 : free_type;
		++*n;
	}
	proc_close_dir(dir);
	return free_type;
}

static bool put_pmus(const struct tape *tape, struct text *t)
{
	struct text list = {0};
	uint32_t n = 1;

	(void)list_pmus(tape->options.root, &list, &n);
	feature_put_u32(&list, tape->events.v[0].attr.type);
	feature_put_text(&list, "intel_pt");
	return feature_put_list(t, n, &list);
}

/* ---- events ---- */

static void set_flags(struct sonde_attr *attr, const enum sonde_attr_flag *flags, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		record_attr_set(attr, flags[i], true);
	}
}

static int add_event(struct tape *tape, const char *name, const struct sonde_attr *attr)
{
	struct event *event = event_list_add(&tape->events);

	if (event == NULL || !event_set_name(&tape->events, event, name)) {
		return error_nomem(tape->err);
	}
	event->attr = *attr;
	return 0;
}

static int add_events(struct tape *tape)
{
	static const enum sonde_attr_flag both[] = {SONDE_FLAG_INHERIT, SONDE_FLAG_EXCLUDE_KERNEL,
	        SONDE_FLAG_EXCLUDE_HV, SONDE_FLAG_SAMPLE_ID_ALL};
	static const enum sonde_attr_flag tasks[] = {SONDE_FLAG_MMAP, SONDE_FLAG_MMAP2,
	        SONDE_FLAG_COMM, SONDE_FLAG_COMM_EXEC, SONDE_FLAG_TASK};
	struct sonde_attr attr = {.size = HOST_ATTR_SIZE,
	        .sample_period = 1,
	        .sample_type = SONDE_SAMPLE_IP | SONDE_SAMPLE_TID | SONDE_SAMPLE_IDENTIFIER,
	        .read_format = SONDE_READ_ID};
	struct text ignored = {0};
	uint32_t n = 0;

	if (tape->per_cpu) {
		attr.sample_type |= SONDE_SAMPLE_TIME | SONDE_SAMPLE_CPU;
		record_attr_set(&attr, SONDE_FLAG_USE_CLOCKID, true);
		attr.clockid = CLOCK_MONOTONIC;
	}
	set_flags(&attr, both, sizeof(both) / sizeof(both[0]));
	attr.type = list_pmus(tape->options.root, &ignored, &n);
	text_fini(&ignored);
	attr.config = tape->options.config;
	TRY(add_event(tape, tape->options.event_name, &attr));
	attr.type = SONDE_TYPE_SOFTWARE;
	attr.config = SONDE_SW_DUMMY;
	set_flags(&attr, tasks, sizeof(tasks) / sizeof(tasks[0]));
	record_attr_set(&attr, SONDE_FLAG_CONTEXT_SWITCH, tape->per_cpu);
	return add_event(tape, "dummy:u", &attr);
}

/* ---- features ---- */

static bool put_own(const struct tape *tape, const struct capture_scan *scan, unsigned bit,
        struct text *t, bool *known)
{
	*known = true;
	switch (bit) {
	case FEATURE_BUILD_ID:
		text_bytes(t, scan->build_ids.p, scan->build_ids.n);
		return scan->build_ids.n > 0;
	case FEATURE_AUXTRACE:
		feature_put_u64(t, tape->index.n / 16);
		text_bytes(t, tape->index.p, tape->index.n);
		return tape->index.n > 0;
	case FEATURE_PMU_MAPPINGS: return put_pmus(tape, t);
	case FEATURE_CLOCKID: feature_put_u64(t, 1); return tape->per_cpu;
	case FEATURE_CLOCK_DATA:
		feature_put_u32(t, 1);
		feature_put_u32(t, CLOCK_MONOTONIC);
		feature_put_u64(t, tape->begun_wall);
		feature_put_u64(t, tape->begun);
		return tape->per_cpu;
	default: *known = false; return false;
	}
}

static int make_features(const struct tape *tape, const struct capture_scan *scan,
        struct file_writer_feature *out, size_t *count)
{
	static const uint64_t numbers[2] = {TAPE_TRACE_ID, TAPE_TASKS_ID};
	const struct host_ids ids[2] = {{&numbers[0], 1}, {&numbers[1], 1}};
	const pid_t cpu = 0;
	const struct host_description machine = {.root = tape->options.root,
	        .cpus = &cpu,
	        .ncpus = 1,
	        .events = &tape->events,
	        .ids = ids,
	        .command_line = tape->options.command_line};
	bool known, good, failed = false;
	struct text t;
	unsigned bit;

	for (bit = 1; bit < FEATURE_LAST && *count < FEATURES; bit++) {
		t = (struct text){0};
		good = put_own(tape, scan, bit, &t, &known);
		good = known ? good : host_feature_put(&machine, bit, &t);
		failed |= t.failed;
		if (good && !t.failed) {
			out[(*count)++] = (struct file_writer_feature){.bit = bit, .bytes = t};
		} else {
			text_fini(&t);
		}
	}
	return failed ? error_nomem(tape->err) : 0;
}

static int write_features(struct tape *tape, const struct capture_scan *scan,
        int (*write)(struct file_writer *w, const struct file_writer_feature *features, size_t n,
                struct error *err))
{
	struct file_writer_feature features[FEATURES];
	size_t i, n = 0;
	int rc = make_features(tape, scan, features, &n);

	rc = rc < 0 ? rc : write(&tape->writer, features, n, tape->err);
	for (i = 0; i < n; i++) {
		text_fini(&features[i].bytes);
	}
	return rc;
}

/* ---- begin and end ---- */

/* CLOCK_MONOTONIC is the TSC; capture/rings/aux_info.c draws both records. */
static void put_info(struct tape *tape)
{
	const struct tape_options *o = &tape->options;
	size_t filter = o->filter != NULL ? strlen(o->filter) : 0, i;
	const uint64_t words[] = {tape->events.v[0].attr.type, 0, 1, 0, 1, SOFTPT_TSC,
	        SOFTPT_NORETCOMP, tape->per_cpu ? SWITCH_TASK : 0, o->snapshot, tape->per_cpu,
	        SOFTPT_MTC, SOFTPT_MTC_PERIOD, FLOW_CTC_NUMERATOR, FLOW_CTC_DENOMINATOR, SOFTPT_CYC,
	        FLOW_CBR, filter};
	struct text *t = &tape->records;
	size_t at = host_record_begin(t, RECORD_TIME_CONV, 0);

	feature_put_u64(t, 0);
	feature_put_u64(t, 1);
	text_fill(t, '\0', 24);
	text_bytes(t, "\1", 2);
	host_record_end(t, at, NULL, 0);
	at = host_record_begin(t, RECORD_AUXTRACE_INFO, 0);
	feature_put_u64(t, 1);
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		feature_put_u64(t, words[i]);
	}
	if (filter > 0) {
		text_bytes(t, o->filter, filter + 1);
		text_fill(t, '\0', (8 - (filter + 1) % 8) % 8);
	}
	feature_put_u64(t, 0);
	host_record_end(t, at, NULL, 0);
}

static int open_output(struct tape *tape)
{
	struct capture_output output = {.fd = -1};
	int rc;

	if (strcmp(tape->options.path, "-") == 0) {
		tape->writer = (struct file_writer){
		        .fd = STDOUT_FILENO, .stream = true, .marks = true, .standard = true};
		return 0;
	}
	output.name = strdup(tape->options.path);
	rc = output.name != NULL ? capture_output_open(&output, tape->err) : error_nomem(tape->err);
	free(output.name);
	free(output.path);
	tape->fd = output.fd;
	tape->writer = (struct file_writer){.fd = tape->fd, .marks = true};
	return rc;
}

int tape_start(struct tape *tape, const struct tape_options *options, struct error *err)
{
	static const uint64_t numbers[2] = {TAPE_TRACE_ID, TAPE_TASKS_ID};
	const struct capture_scan nothing = {0};
	struct file_writer_event events[2];
	size_t i;

	*tape = (struct tape){.options = *options, .err = err, .fd = -1};
	tape->per_cpu = options->terms.tsc;
	tape->begun_wall = host_now_ns(CLOCK_REALTIME);
	tape->begun = host_now_ns(CLOCK_MONOTONIC);
	TRY(add_events(tape));
	TRY(open_output(tape));
	tape->open = true;
	for (i = 0; i < 2; i++) {
		events[i] = (struct file_writer_event){
		        .attr = &tape->events.v[i].attr, .ids = &numbers[i], .nids = 1};
	}
	TRY(file_writer_start(&tape->writer, events, 2, err));
	if (tape->writer.stream) {
		TRY(write_features(tape, &nothing, file_writer_stream_features));
	}
	put_info(tape); /* before all trace */
	return tape_put_records(tape);
}

int tape_running(struct tape *tape, pid_t pid)
{
	const struct host_synth synth = {.root = tape->options.root,
	        .attr = &tape->events.v[1].attr,
	        .tasks = true,
	        .maps = true};

	return host_synth_task(&synth, pid, false, &tape->records) < 0 ? error_nomem(tape->err) : 0;
}

static bool never(void *arg)
{
	(void)arg;
	return false;
}

static int finish_file(struct tape *tape)
{
	const struct file_writer *w = &tape->writer;
	struct host_stop stop = {.fd = -1};
	const struct capture_scan_options options = {.name = tape->options.path,
	        .fd = tape->fd,
	        .size = w->data_at + w->data_size,
	        .build_ids = !tape->options.no_build_ids,
	        .all = true,
	        .stop = &stop};
	struct capture_scan scan = {0};
	int rc = 0;

	if (!tape->options.no_build_ids && capture_scan(&scan, &options) < 0) {
		rc = error_nomem(tape->err);
	}
	rc = rc < 0 ? rc : write_features(tape, &scan, file_writer_finish);
	if (rc >= 0 && tape->options.cache != NULL && scan.build_ids.n > 0) {
		/* without it the recording is complete, too */
		(void)host_cache_fill(tape->options.cache, tape->options.root,
		        (struct span){(const uint8_t *)scan.build_ids.p, scan.build_ids.n}, never,
		        NULL);
	}
	text_fini(&scan.build_ids);
	return rc;
}

int tape_finish(struct tape *tape)
{
	return tape->writer.stream ? file_writer_finish(&tape->writer, NULL, 0, tape->err)
	                           : finish_file(tape);
}

void tape_fini(struct tape *tape)
{
	if (tape->open) {
		fd_close(&tape->fd);
	}
	file_writer_fini(&tape->writer);
	text_fini(&tape->records);
	text_fini(&tape->index);
	event_list_fini(&tape->events);
}
