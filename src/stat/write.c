/* SPDX-License-Identifier: MIT */
/*
 * Recordings of counters, in the form of perf 6.1 (observed in its files):
 *
 *	EVENT_UPDATE  unit, scale other than 1, cpus if not all; in a stream the name, which files
 *	              have in a feature; the event is identified by its first id
 *	THREAD_MAP    threads with their names; a workload has no name, -1 means all
 *	CPU_MAP       a range of cpus; the list {65535} where counts belong to threads
 *	STAT_CONFIG   aggregation mode, interval in ms, whether counts are scaled
 *	STAT          for each cpu each event each thread
 *	STAT_ROUND    0: an interval ends at this time, 1: all ends
 *
 * A stream has no features.
 */
#include "stat/stat.h"

#include "abi/abi.h"
#include "core/span.h"
#include "file/room.h"
#include "file/writer.h"
#include "host/description.h"
#include "proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define UPDATE_UNIT  0u
#define UPDATE_SCALE 1u
#define UPDATE_NAME  2u
#define UPDATE_CPUS  3u
#define MAP_CPUS     0u
#define MAP_RANGE    2u
#define COMM_SIZE    16u

struct stat_writer {
	const struct stat_set *set;
	const struct stat_opened *opened;
	struct file_writer file;
	struct text record; /* the current record */
};

void stat_writer_free(struct stat_writer *w)
{
	if (w == NULL) {
		return;
	}
	if (w->file.fd > STDOUT_FILENO) {
		(void)close(w->file.fd);
	}
	file_writer_fini(&w->file);
	text_fini(&w->record);
	free(w);
}

static void put_u16(struct text *t, uint16_t v)
{
	text_bytes(t, (const char *)&v, sizeof(v));
}

static void put_u32(struct text *t, uint32_t v)
{
	text_bytes(t, (const char *)&v, sizeof(v));
}

static void put_u64(struct text *t, uint64_t v)
{
	text_bytes(t, (const char *)&v, sizeof(v));
}

static struct text *begin_record(struct stat_writer *w, uint32_t type)
{
	w->record.n = 0;
	put_u32(&w->record, type);
	put_u32(&w->record, 0); /* misc, and the size, set later */
	return &w->record;
}

static int end_record(struct stat_writer *w, struct error *err)
{
	struct text *t = &w->record;

	text_fill(t, '\0', (8 - t->n % 8) % 8);
	if (t->failed) {
		return error_nomem(err);
	}
	if (t->n > UINT16_MAX) {
		return error_set(err, SONDE_ELIMIT, NO_OFFSET,
		        "a record would be longer than 64 KiB: too many threads");
	}
	store_u16((uint8_t *)t->p + 6, (uint16_t)t->n, false);
	return file_writer_put(&w->file, t->p, t->n, err);
}

/* Collects the ids of opened events, in the order of the matrix. */
static size_t collect_ids(const struct stat_set *set, const struct stat_opened *o, uint64_t *out)
{
	size_t i, n = 0;

	for (i = 0; i < set->ncpus * set->nthreads; i++) {
		if (o->fds[i] >= 0) {
			out[n++] = o->ids[i];
		}
	}
	return n;
}

static int start_file(struct stat_writer *w, struct error *err)
{
	size_t e, cells = w->set->ncpus * w->set->nthreads, n = w->set->nevents;
	struct file_writer_event *list = calloc(n + 1, sizeof(*list));
	uint64_t *ids = calloc(n * cells + 1, 8);
	int rc;

	if (list == NULL || ids == NULL) {
		free(list);
		free(ids);
		return error_nomem(err);
	}
	for (e = 0; e < n; e++) {
		list[e].attr = &w->opened[e].attr;
		list[e].ids = ids + e * cells;
		list[e].nids = collect_ids(w->set, &w->opened[e], ids + e * cells);
	}
	rc = file_writer_start(&w->file, list, n, err);
	free(list);
	free(ids);
	return rc;
}

int stat_writer_open(struct stat_writer **out, const char *path, const struct stat_set *set,
        const struct stat_opened *opened, struct error *err)
{
	struct stat_writer *w = calloc(1, sizeof(*w));
	bool standard = strcmp(path, "-") == 0;

	*out = w;
	if (w == NULL) {
		return error_nomem(err);
	}
	w->set = set;
	w->opened = opened;
	w->file = (struct file_writer){
	        .fd = -1, .stream = standard, .standard = standard, .marks = true};
	if (standard) {
		w->file.fd = STDOUT_FILENO;
	} else {
		TRY(file_make_room(path, err));
		w->file.fd = open(path, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, 0600);
	}
	if (w->file.fd < 0) {
		return error_errno(err, SONDE_EIO, errno, "cannot create '%s'", path);
	}
	return start_file(w, err);
}

static int write_update(struct stat_writer *w, uint64_t type, uint64_t id, const struct text *data,
        struct error *err)
{
	struct text *t = begin_record(w, RECORD_EVENT_UPDATE);

	put_u64(t, type);
	put_u64(t, id);
	text_bytes(t, data->p, data->n);
	t->failed |= data->failed;
	return end_record(w, err);
}

/* Cpus that count the event, as in CPU_MAP; 0 bytes: all. */
static void put_own_cpus(const struct stat_writer *w, size_t e, struct text *t)
{
	const struct stat_event *event = &w->set->events[e];
	uint16_t n = 0;
	size_t i;

	put_u16(t, MAP_CPUS);
	put_u16(t, 0); /* the number, set later */
	for (i = 0; i < w->set->ncpus; i++) {
		if (!event->now[i * w->set->nthreads].absent) {
			int cpu = w->set->cpus[i].cpu;

			put_u16(t, cpu < 0 ? 0 : (uint16_t)cpu);
			n++;
		}
	}
	if (t->failed || (n == w->set->ncpus && event->tool == EVENT_TOOL_NONE)) {
		t->n = 0;
		return;
	}
	store_u16((uint8_t *)t->p + 2, n, false);
}

static int write_event_updates(struct stat_writer *w, size_t e, uint64_t id, struct error *err)
{
	const struct stat_event *event = &w->set->events[e];
	struct text data = {0};
	int rc = 0;

	if (w->file.stream) {
		text_bytes(&data, event->name, strlen(event->name) + 1);
		rc = write_update(w, UPDATE_NAME, id, &data, err);
	}
	data.n = 0;
	if (rc == 0 && event->unit[0] != '\0') {
		text_bytes(&data, event->unit, strlen(event->unit) + 1);
		rc = write_update(w, UPDATE_UNIT, id, &data, err);
	}
	if (rc == 0 && event->scale != 1) {
		data.n = 0;
		text_bytes(&data, (const char *)&event->scale, sizeof(event->scale));
		rc = write_update(w, UPDATE_SCALE, id, &data, err);
	}
	data.n = 0;
	put_own_cpus(w, e, &data);
	if (rc == 0 && data.n > 0) {
		rc = write_update(w, UPDATE_CPUS, id, &data, err);
	}
	text_fini(&data);
	return rc;
}

static int write_updates(struct stat_writer *w, struct error *err)
{
	size_t e, cells = w->set->ncpus * w->set->nthreads;
	uint64_t *ids = calloc(cells + 1, 8);
	int rc = ids == NULL ? error_nomem(err) : 0;

	for (e = 0; ids != NULL && rc == 0 && e < w->set->nevents; e++) {
		if (collect_ids(w->set, &w->opened[e], ids) > 0) {
			rc = write_event_updates(w, e, ids[0], err);
		}
	}
	free(ids);
	return rc;
}

static int write_maps(struct stat_writer *w, struct error *err)
{
	const struct stat_set *set = w->set;
	struct text *t = begin_record(w, RECORD_THREAD_MAP);
	size_t i, n;

	put_u64(t, set->nthreads);
	for (i = 0; i < set->nthreads; i++) {
		put_u64(t, (uint64_t)(int64_t)set->threads[i].tid);
		n = strnlen(set->threads[i].comm, COMM_SIZE - 1);
		text_bytes(t, set->threads[i].comm, n);
		text_fill(t, '\0', COMM_SIZE - n);
	}
	TRY(end_record(w, err));
	t = begin_record(w, RECORD_CPU_MAP);
	if (set->cpus[0].cpu >= 0 &&
	        (size_t)(set->cpus[set->ncpus - 1].cpu - set->cpus[0].cpu) == set->ncpus - 1) {
		put_u16(t, MAP_RANGE);
		put_u16(t, 0); /* any_cpu, padding */
		put_u16(t, (uint16_t)set->cpus[0].cpu);
		put_u16(t, (uint16_t)set->cpus[set->ncpus - 1].cpu);
		return end_record(w, err);
	}
	put_u16(t, MAP_CPUS);
	put_u16(t, (uint16_t)set->ncpus);
	for (i = 0; i < set->ncpus; i++) {
		put_u16(t, (uint16_t)set->cpus[i].cpu);
	}
	return end_record(w, err);
}

int stat_writer_begin(struct stat_writer *w, uint64_t interval_ms, struct error *err)
{
	const uint64_t config[] = {
	        3, 0, w->set->by, 1, interval_ms, 2, w->set->scale ? 1u : 0u}; /* tag, value */
	struct text *t;

	TRY(write_updates(w, err));
	TRY(write_maps(w, err));
	t = begin_record(w, RECORD_STAT_CONFIG);
	text_bytes(t, (const char *)config, sizeof(config));
	TRY(end_record(w, err));
	return file_writer_flush(&w->file, err);
}

static int write_count(
        struct stat_writer *w, size_t e, size_t cpu, size_t thread, struct error *err)
{
	size_t i = cpu * w->set->nthreads + thread;
	const struct stat_count *c = &w->set->events[e].now[i];
	struct text *t;

	if (w->opened[e].fds[i] < 0 || c->absent) {
		return 0;
	}
	t = begin_record(w, RECORD_STAT);
	put_u64(t, w->opened[e].ids[i]);
	put_u32(t, (uint32_t)w->set->cpus[cpu].cpu);
	put_u32(t, (uint32_t)thread);
	put_u64(t, c->value);
	put_u64(t, c->enabled);
	put_u64(t, c->running);
	return end_record(w, err);
}

int stat_writer_counts(struct stat_writer *w, struct error *err)
{
	size_t e, cpu, thread;

	for (cpu = 0; cpu < w->set->ncpus; cpu++) {
		for (e = 0; e < w->set->nevents; e++) {
			for (thread = 0; thread < w->set->nthreads; thread++) {
				TRY(write_count(w, e, cpu, thread, err));
			}
		}
	}
	return 0;
}

int stat_writer_round(struct stat_writer *w, bool final, uint64_t time_ns, struct error *err)
{
	struct text *t = begin_record(w, RECORD_STAT_ROUND);

	put_u64(t, final ? 1 : 0);
	put_u64(t, time_ns);
	TRY(end_record(w, err));
	return file_writer_mark(&w->file, err);
}

/* Makes the features of this machine and of the events, and the mark of recordings with counts. */
static size_t make_features(
        const struct host_description *d, struct file_writer_feature out[FEATURE_LAST])
{
	struct text t;
	size_t n = 0;
	unsigned bit;

	for (bit = 1; bit < FEATURE_LAST; bit++) {
		t = (struct text){0};
		if ((bit == FEATURE_STAT || host_feature_put(d, bit, &t)) && !t.failed) {
			out[n++] = (struct file_writer_feature){.bit = bit, .bytes = t};
		} else {
			text_fini(&t);
		}
	}
	return n;
}

static int finish(struct stat_writer *w, const struct host_description *d, struct error *err)
{
	struct file_writer_feature features[FEATURE_LAST];
	size_t n = make_features(d, features);
	int rc = file_writer_finish(&w->file, features, n, err);

	while (n > 0) {
		text_fini(&features[--n].bytes);
	}
	return rc;
}

int stat_writer_close(struct stat_writer *w, int root, const struct event_list *events,
        char *const *command_line, struct error *err)
{
	size_t e, cells = w->set->ncpus * w->set->nthreads, n = w->set->nevents, ncpus = 0;
	struct host_ids *ids;
	uint64_t *numbers;
	pid_t *cpus = NULL;
	int rc;

	if (w->file.stream) {
		return file_writer_finish(&w->file, NULL, 0, err);
	}
	ids = calloc(n + 1, sizeof(*ids));
	numbers = calloc(n * cells + 1, sizeof(*numbers));
	(void)proc_read_cpus(root, "sys/devices/system/cpu/online", &cpus, &ncpus);
	for (e = 0; ids != NULL && numbers != NULL && e < n; e++) {
		ids[e].v = numbers + e * cells;
		ids[e].n = collect_ids(w->set, &w->opened[e], numbers + e * cells);
	}
	rc = ids == NULL || numbers == NULL ? error_nomem(err)
	                                    : finish(w,
	                                              &(struct host_description){.root = root,
	                                                      .cpus = cpus,
	                                                      .ncpus = ncpus,
	                                                      .events = events,
	                                                      .ids = ids,
	                                                      .command_line = command_line},
	                                              err);
	free(cpus);
	free(numbers);
	free(ids);
	return rc;
}
