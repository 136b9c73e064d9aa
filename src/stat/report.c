/* SPDX-License-Identifier: MIT */
/*
 * Prints recordings of counters: THREAD_MAP, CPU_MAP and STAT_CONFIG define the shape, EVENT_UPDATE
 * the units; STAT is one count of one event, and STAT_ROUND ends an interval, or the whole run. The
 * topology is from the features CPU_TOPOLOGY and NUMA_TOPOLOGY.
 */
#include "stat/stat.h"

#include "abi/abi.h"
#include "file/feature.h"
#include "file/reader.h"
#include "proc/proc.h"

#include <sonde/file.h>
#include <sonde/record.h>
#include <stdio.h>
#include <stdlib.h>

#define CPUS_MAX    65536u /* as many as a CPU_MAP can contain */
#define CELLS_MAX   (4u << 20) /* counts of all events: 256 MiB */
#define CELLS_FREE  (1u << 17) /* cells of counts that rounds may use in any file ... */
#define CELLS_EACH  64u /* ... and for each byte of records; a count takes 48 bytes */
#define TARGET_SIZE 24u /* bytes of a thread in a THREAD_MAP */
#define UNIT_WIDTH  4u
#define NOT_ANY_CPU 0xffff

struct report {
	struct sonde_file *file;
	struct sonde_stat_options options;
	sonde_write_fn write;
	void *write_arg;
	struct stat_set set;
	struct stat_printer printer;
	uint64_t interval_ms;
	bool began; /* the matrices are allocated */
	uint64_t bytes, cells; /* bytes read, cells printed: limits what a small file can claim */
	struct text text;
	struct error *error; /* of the handle */
};

/* ---- features ---- */

#define READ_FEATURE(r, bit, arena, out) FEATURE_READ(reader_file((r)->file), bit, arena, out)

static struct stat_place *find_cpu(struct report *r, uint64_t cpu)
{
	size_t i;

	for (i = 0; i < r->set.ncpus; i++) {
		if (r->set.cpus[i].cpu >= 0 && (uint64_t)r->set.cpus[i].cpu == cpu) {
			return &r->set.cpus[i];
		}
	}
	return NULL;
}

static int read_topology(struct report *r)
{
	struct arena arena = {0};
	struct feature_topology t;
	struct stat_place *place;
	int rc = READ_FEATURE(r, FEATURE_CPU_TOPOLOGY, &arena, &t);

	for (size_t i = 0; i < t.cpus.n; i++) {
		place = find_cpu(r, i);
		if (place != NULL) {
			place->core = t.cpus.items[i].core;
			place->socket = t.cpus.items[i].socket;
		}
	}
	for (size_t i = 0; i < t.dies.n; i++) {
		place = find_cpu(r, i);
		if (place != NULL) {
			place->die = t.dies.items[i];
		}
	}
	arena_fini(&arena);
	return rc == SONDE_ENOMEM ? error_nomem(r->error) : 0;
}

static int read_nodes(struct report *r)
{
	struct arena arena = {0};
	struct feature_numa numa;
	struct stat_place *place;
	int rc = READ_FEATURE(r, FEATURE_NUMA_TOPOLOGY, &arena, &numa);
	long from, to;

	for (size_t i = 0; i < numa.n; i++) {
		for (const char *p = numa.items[i].cpus.s; proc_take_range(&p, &from, &to);) {
			for (; from <= to && from < CPUS_MAX; from++) {
				place = find_cpu(r, (uint64_t)from);
				if (place != NULL) {
					place->node = (int)numa.items[i].node;
				}
			}
		}
	}
	arena_fini(&arena);
	return rc == SONDE_ENOMEM ? error_nomem(r->error) : 0;
}

/* ---- shape ---- */

static int read_threads(struct report *r, const struct sonde_record_thread_map *map)
{
	const uint64_t most = map->threads.size / TARGET_SIZE; /* threads that the record has
	                                                          room for */
	struct sonde_record_target t;
	uint64_t i, n = map->nr < most ? map->nr : most;

	if (r->set.threads != NULL) {
		return 0;
	}
	r->set.threads = calloc(n + 1, sizeof(*r->set.threads));
	if (r->set.threads == NULL) {
		return error_nomem(r->error);
	}
	for (i = 0; i < n && sonde_list_get(&map->threads, i, &t, sizeof(t)) == 1; i++) {
		struct stat_thread *to = &r->set.threads[i];

		to->tid = (pid_t)t.pid;
		(void)snprintf(to->comm, sizeof(to->comm), "%.*s", (int)t.comm.n,
		        t.comm.p != NULL ? t.comm.p : "");
	}
	r->set.nthreads = i;
	return 0;
}

static void add_cpu(struct report *r, uint64_t cpu)
{
	if (r->set.ncpus < CPUS_MAX) {
		/* a machine without topology has one of each */
		r->set.cpus[r->set.ncpus++] =
		        (struct stat_place){.cpu = cpu >= NOT_ANY_CPU ? -1 : (int)cpu};
	}
}

static int read_cpus(struct report *r, const struct sonde_record_cpu_map *map)
{
	uint64_t i, word;

	if (r->set.cpus != NULL) {
		return 0;
	}
	r->set.cpus = calloc(CPUS_MAX, sizeof(*r->set.cpus));
	if (r->set.cpus == NULL) {
		return error_nomem(r->error);
	}
	if (map->any_cpu != 0) {
		add_cpu(r, NOT_ANY_CPU);
	}
	for (i = 0; map->type == 0 && i < map->cpus.count; i++) {
		add_cpu(r, sonde_list_number(&map->cpus, i) & 0xffff);
	}
	for (i = 0; map->type == 1 && i < map->mask.count * map->long_size * 8ull; i++) {
		word = sonde_list_number(&map->mask, i / (map->long_size * 8ull));
		if ((word >> (i % (map->long_size * 8ull)) & 1) != 0) {
			add_cpu(r, i);
		}
	}
	for (i = map->start_cpu; map->type == 2 && i <= map->end_cpu; i++) {
		add_cpu(r, i);
	}
	return 0;
}

static void read_config(struct report *r, const struct sonde_record_stat_config *config)
{
	struct sonde_record_stat_term t;
	uint64_t i;

	for (i = 0; i < config->nr && sonde_list_get(&config->data, i, &t, sizeof(t)) == 1; i++) {
		if (t.tag == 0 && t.val <= SONDE_STAT_BY_NODE && t.val != SONDE_STAT_BY_RECORDED) {
			r->set.by = (enum sonde_stat_by)t.val;
		} else if (t.tag == 1) {
			r->interval_ms = t.val;
		} else if (t.tag == 2) {
			r->set.scale = t.val != 0;
		}
	}
}

static struct stat_event *find_event(struct report *r, uint64_t id, long event)
{
	size_t e, i, n;

	if (event >= 0 && (size_t)event < r->set.nevents) {
		return &r->set.events[event];
	}
	for (e = 0; e < r->set.nevents; e++) {
		const uint64_t *ids = sonde_file_event_ids(r->file, e, &n);

		for (i = 0; i < n; i++) {
			if (ids[i] == id) {
				return &r->set.events[e];
			}
		}
	}
	return NULL;
}

static int read_update(struct report *r, const struct sonde_record_event_update *u, long event)
{
	struct stat_event *e = find_event(r, u->id, event);
	char **to;
	char *copy;

	if (e == NULL || u->type > 2) {
		return 0;
	}
	if (u->type == 1) {
		e->scale = u->scale != 0 ? u->scale : 1;
		return 0;
	}
	to = u->type == 0 ? &e->unit : &e->name;
	copy = strndup(u->type == 0 ? u->unit.p : u->name.p, u->type == 0 ? u->unit.n : u->name.n);
	if (copy == NULL) {
		return error_nomem(r->error);
	}
	free(*to);
	*to = copy;
	return 0;
}

/* Allocates the matrices, once all records that define their shape are read. */
static int begin(struct report *r)
{
	const size_t cells = r->set.ncpus * r->set.nthreads;
	size_t e, i;

	if (r->began) {
		return 0;
	}
	if (r->set.cpus == NULL || r->set.threads == NULL || r->set.ncpus == 0 ||
	        r->set.nthreads == 0) {
		return error_set(r->error, SONDE_EFORMAT, NO_OFFSET,
		        "counts come before the maps of cpus and threads that they belong to");
	}
	if (r->set.nthreads * r->set.ncpus > CELLS_MAX / (r->set.nevents + 1)) {
		return error_set(r->error, SONDE_ELIMIT, NO_OFFSET,
		        "%zu events on %zu cpus for %zu threads: more than %u counts",
		        r->set.nevents, r->set.ncpus, r->set.nthreads, CELLS_MAX);
	}
	TRY(read_topology(r));
	TRY(read_nodes(r));
	if (r->options.by != SONDE_STAT_BY_RECORDED && r->set.cpus[0].cpu >= 0) {
		r->set.by = r->options.by;
	} else if (r->options.by != SONDE_STAT_BY_RECORDED && r->options.message != NULL) {
		r->options.message(r->options.message_arg, SONDE_STAT_WARNING,
		        "the counts are those of tasks: on which cpus they were is not known");
	}
	r->began = true;
	if (stat_set_alloc(&r->set) < 0) {
		return error_nomem(r->error);
	}
	for (e = 0; e < r->set.nevents; e++) {
		for (i = 0; r->set.events[e].tool != EVENT_TOOL_NONE && i < cells; i++) {
			r->set.events[e].now[i].absent = true; /* until a record has a count */
		}
	}
	return 0;
}

/* ---- counts ---- */

static int flush(struct report *r)
{
	return error_plain(r->error, text_flush(&r->text, 0, r->write, r->write_arg));
}

static int read_stat(struct report *r, const struct sonde_record_stat *stat, long event)
{
	struct stat_event *e = find_event(r, stat->id, event);
	size_t cpu = 0;

	TRY(begin(r));
	while (cpu < r->set.ncpus && r->set.cpus[cpu].cpu != stat->cpu) {
		cpu++;
	}
	if (e == NULL || cpu == r->set.ncpus || stat->thread < 0 ||
	        (size_t)stat->thread >= r->set.nthreads) {
		return 0; /* for a cpu or thread that the maps do not contain */
	}
	e->now[cpu * r->set.nthreads + (size_t)stat->thread] =
	        (struct stat_count){.value = stat->val, .enabled = stat->ena, .running = stat->run};
	return 0;
}

static uint64_t cells_of(const struct report *r)
{
	return r->set.ncpus * r->set.nthreads * (r->set.nevents + 1);
}

/* What was counted, in quotes: the command line, or "pipe" for a stream, which has none. */
static int make_title(const struct report *r, char *title, size_t size)
{
	bool pipe = sonde_file_get_info(r->file)->container == SONDE_CONTAINER_PIPE;
	struct arena arena = {0};
	struct feature_list words;
	int rc = READ_FEATURE(r, FEATURE_CMDLINE, &arena, &words);
	size_t at = (size_t)snprintf(title, size, words.n == 0 && pipe ? "'pipe" : "'");

	for (size_t i = 0; i < words.n && at < size - 1; i++) {
		int got = snprintf(
		        title + at, size - at, "%s%s", i == 0 ? "" : " ", words.items[i].s);

		at += got > 0 ? (size_t)got : 0;
	}
	arena_fini(&arena);
	at = at < size - 2 ? at : size - 2;
	(void)snprintf(title + at, size - at, "'");
	return rc;
}

static int read_round(struct report *r, const struct sonde_record_stat_round *round)
{
	struct stat_mean wall = {0};
	size_t e, cells = r->set.ncpus * r->set.nthreads;
	char title[4096];

	TRY(begin(r));
	r->cells += cells_of(r);
	if (r->cells > CELLS_FREE + CELLS_EACH * r->bytes) {
		return error_set(r->error, SONDE_ELIMIT, NO_OFFSET,
		        "rounds of %zu cpus, %zu threads and %zu events each hold hardly a count",
		        r->set.ncpus, r->set.nthreads, r->set.nevents);
	}
	if (round->type != 0) { /* the end of it all */
		if (make_title(r, title, sizeof(title)) == SONDE_ENOMEM) {
			return error_nomem(r->error);
		}
		stat_mean_add(&wall, (double)round->time);
		r->printer.intervals = false;
		r->printer.wall_ns = (double)round->time;
		stat_print_title(&r->printer, title, 1, &r->text);
		if (stat_print_rows(&r->printer, &r->set, &r->text) < 0) {
			return error_nomem(r->error);
		}
		stat_print_times(&r->printer, &wall, NULL, &r->text);
		return flush(r);
	}
	r->printer.intervals = true;
	r->printer.mean_bases = true;
	r->printer.stamp_ns = round->time;
	if (stat_print_rows(&r->printer, &r->set, &r->text) < 0) {
		return error_nomem(r->error);
	}
	for (e = 0; e < r->set.nevents; e++) {
		memcpy(r->set.events[e].before, r->set.events[e].now,
		        cells * sizeof(struct stat_count));
	}
	return flush(r);
}

static int read_record(struct report *r, const struct sonde_raw_record *raw, unsigned *counts)
{
	const struct sonde_typed_record *t;

	if (raw->type < RECORD_THREAD_MAP || raw->type > RECORD_EVENT_UPDATE) {
		return 0;
	}
	r->bytes += raw->size;
	TRY(sonde_file_decode(r->file, raw, &t));
	switch (t->type) {
	case RECORD_THREAD_MAP: return read_threads(r, &t->thread_map);
	case RECORD_CPU_MAP: return read_cpus(r, &t->cpu_map);
	case RECORD_STAT_CONFIG: read_config(r, &t->stat_config); return 0;
	case RECORD_STAT: *counts = 1; return read_stat(r, &t->stat, t->event);
	case RECORD_STAT_ROUND: *counts = 1; return read_round(r, &t->stat_round);
	case RECORD_EVENT_UPDATE: return read_update(r, &t->event_update, t->event);
	default: return 0;
	}
}

/* An event without ids was never opened: its counts are not supported. */
static int read_events(struct report *r)
{
	size_t i, n;

	for (i = 0; i < sonde_file_events(r->file); i++) {
		if (stat_set_add(&r->set, sonde_file_event_name(r->file, i),
		            sonde_file_event_attr(r->file, i)) < 0) {
			return error_nomem(r->error);
		}
		if (r->set.events[i].config == SONDE_SW_DUMMY &&
		        r->set.events[i].type == SONDE_TYPE_SOFTWARE) {
			r->set.events[i].tool = event_tool_named(r->set.events[i].name);
		}
		(void)sonde_file_event_ids(r->file, i, &n);
		r->set.events[i].supported = n > 0;
	}
	return 0;
}

static int read_all(struct report *r, const char *input)
{
	const struct sonde_raw_record *raw;
	unsigned counts = 0;
	int rc = sonde_file_open(r->file, input);

	if (rc < 0) {
		return error_take(r->error, sonde_file_error(r->file));
	}
	TRY(read_events(r));
	while ((rc = sonde_file_next(r->file, &raw)) > 0) {
		TRY(read_record(r, raw, &counts));
	}
	if (rc < 0) {
		return error_take(r->error, sonde_file_error(r->file));
	}
	if (counts == 0) {
		return error_set(r->error, SONDE_EFORMAT, NO_OFFSET,
		        "%s: there are no counts in it; 'sonde stat record' writes them", input);
	}
	return 0;
}

int sonde_stat_report(struct sonde_stat *s, const char *input, sonde_write_fn write, void *arg)
{
	struct report r = {.write = write,
	        .write_arg = arg,
	        .options = s->options,
	        .set = {.by = SONDE_STAT_BY_ALL, .scale = true},
	        .printer = {.unit_width = UNIT_WIDTH},
	        .error = &s->error};
	struct sonde_file_options how = {.size = sizeof(how), .temp_dir = s->options.temp_dir};
	int rc;

	if (s->misused) {
		return error_status(&s->error);
	}
	r.file = sonde_file_new(&how);
	r.printer.format = r.options.format;
	r.printer.separator = r.options.separator != NULL ? r.options.separator : ",";
	r.printer.thousands = r.options.thousands;
	r.printer.metrics_only = r.options.metrics_only;
	rc = r.file == NULL ? error_nomem(r.error) : read_all(&r, input);
	stat_set_fini(&r.set);
	stat_printer_fini(&r.printer);
	text_fini(&r.text);
	sonde_file_free(r.file);
	return rc;
}
