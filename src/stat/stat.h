/* SPDX-License-Identifier: MIT */
/*
 * From counts to rows:
 *
 *	struct stat_set      events, and for each a matrix of counts [cpu][thread]
 *	struct stat_groups   cells of the matrix to be summed in a row (all, a cpu, a core, ...)
 *	struct stat_row      the sum of these cells for one event, scaled, with its metric
 *	print.c              rows to text, CSV or JSON
 *
 * A set is filled by run.c from counters or by report.c from a recording.
 */
#ifndef SONDE_STAT_STAT_H
#define SONDE_STAT_STAT_H

#include "core/json.h"
#include "core/status.h"
#include "core/text.h"
#include "counter/counter.h"
#include "event/event.h"
#include "host/control.h"
#include "host/workload.h"
#include "metric/metric.h"

#include <sonde/preview/stat.h>

#include <sys/types.h>

struct stat_count {
	uint64_t value, enabled, running; /* running is kept for unscaled counts too, for the
	                                     percentage */
	bool absent; /* the event's PMU does not count on that cpu */
};

/* Mean and variance of runs, updated with each value. */
struct stat_mean {
	double mean, m2;
	uint64_t n;
};

void stat_mean_add(struct stat_mean *m, double v);
/* Standard error of the mean; 0 for fewer than two values. */
double stat_mean_error(const struct stat_mean *m);
/* In percent of the mean; 0 if the mean is 0. */
double stat_mean_error_percent(const struct stat_mean *m);

struct stat_event {
	char *name;
	char *unit; /* unit of the count times scale; "": none */
	char *cgroup; /* NULL: none */
	size_t cgroup_index; /* equal for events of the same cgroup; 0: none */
	double scale;
	uint32_t type;
	uint64_t config;
	enum event_tool tool; /* counted by the tool, in one cell */
	bool clock; /* task-clock or cpu-clock: nanoseconds */
	bool supported;
	struct stat_count *now; /* [cpu * nthreads + thread] */
	struct stat_count *before; /* at the end of the last interval */
	struct stat_mean runs; /* of the sum over all cells, including merged events */
	size_t row; /* index of the event in whose row it is counted; usually its own */
	bool merged; /* other events are counted in its row */
};

struct stat_place { /* location of a cpu; -1: unknown */
	int cpu, core, die, socket, node;
};

#define STAT_COMM_SIZE 64

struct stat_thread {
	pid_t tid;
	char comm[STAT_COMM_SIZE]; /* names of kernel threads are longer than others */
};

struct stat_set {
	struct stat_event *events;
	size_t nevents, events_cap;
	struct stat_place *cpus; /* one with cpu -1: any */
	size_t ncpus;
	struct stat_thread *threads; /* one with tid -1: all */
	size_t nthreads, threads_cap;
	enum sonde_stat_by by;
	bool scale;
	bool counted_only; /* only threads that counted something have rows */
	size_t ncgroups; /* number of different ones; 0: none, and none is printed */
	unsigned nruns; /* counts are sums over this many runs; 0 means 1 */
};

void stat_set_fini(struct stat_set *s);
/* Adds an event, with unit and scale for clocks. SONDE_ENOMEM. */
int stat_set_add(struct stat_set *s, const char *name, const struct sonde_attr *attr);
/* Allocates zeroed matrices, once cpus and threads are set. SONDE_ENOMEM. */
int stat_set_alloc(struct stat_set *s);
/* Sets the topology of the cpus, from this machine or a fixture. */
void stat_set_places(struct stat_set *s, int root);

#define STAT_LABEL_SIZE (STAT_COMM_SIZE + 16)

struct stat_row {
	const struct stat_event *event;
	char label[STAT_LABEL_SIZE]; /* "S0-D0-C1", "CPU3", "bash-12" or "" */
	char pad[STAT_LABEL_SIZE]; /* the label at the beginning of a line of text */
	unsigned ncells; /* number of summed cpus */
	bool absent; /* none of the cpus has the event's PMU */
	double value; /* in the event's unit, scaled */
	uint64_t enabled, running;
	bool counted;
	double noise; /* percent; below 0: no repeats */
	struct metric metric, more;
};

/* Options for printing sets, and state between intervals. */
struct stat_printer {
	enum sonde_stat_format format;
	const char *separator, *thousands;
	bool intervals; /* counts are those of an interval */
	bool metrics_only; /* without the counts that metrics are made of */
	bool headers; /* print headers before each interval */
	bool mean_bases; /* metrics of intervals use the means so far, as in perf's report */
	double wall_ns; /* duration of the measurement; 0: unknown */
	uint64_t stamp_ns; /* end of the interval */
	const char *prefix; /* first field of CSV lines: "summary" padded, or NULL */
	unsigned unit_width;
	size_t nmetrics; /* number of columns of metrics with a value */
	unsigned lines; /* intervals since the last header */
	struct metric_bases *bases; /* of each group */
	size_t nbases;
};

void stat_printer_fini(struct stat_printer *p);

/* Prints the rows of all events, or of one interval. SONDE_ENOMEM. */
int stat_print_rows(struct stat_printer *p, const struct stat_set *s, struct text *out);

/* Prints metrics only. rows: filled, for all events and groups; no line without an event. */
int stat_print_metrics(struct stat_printer *p, const struct stat_set *s,
        const struct stat_row *rows, size_t ngroups, struct text *out);

/* Whether rows are of several cpus (a socket, a core ...), and have their number. */
bool stat_counts_cpus(enum sonde_stat_by by);
/* What a row is of: "cpu", "socket", ...; NULL: everything. */
const char *stat_part_name(enum sonde_stat_by by);
/* The time of an interval, and what separates it from the rest of a line. */
void stat_print_stamp(const struct stat_printer *p, struct text *out);
/* The members of a row's object that say when and where it was counted. */
void stat_json_front(const struct stat_printer *p, const struct stat_set *s,
        const struct stat_row *row, struct json *j);

/*
 * Prints the title, and the times below. wall: of runs in ns; usage: user and system time in ns, or
 * NULL.
 */
void stat_print_title(
        const struct stat_printer *p, const char *title, unsigned runs, struct text *out);
void stat_print_times(const struct stat_printer *p, const struct stat_mean *wall,
        const uint64_t usage[2], struct text *out);
/* Prints the time of each run; times in ns. */
void stat_print_table(const struct stat_printer *p, const struct stat_mean *wall,
        const double *each, size_t n, struct text *out);

/* ---- recordings ---- */

struct stat_opened { /* for one event: [cpu * nthreads + thread]; -1 and 0: not opened */
	struct sonde_attr attr;
	int *fds;
	uint64_t *ids;
	size_t leader;
	bool grouped; /* members are read with their leader */
};

struct stat_writer;

/* Starts a recording of a set whose events are open. */
int stat_writer_open(struct stat_writer **out, const char *path, const struct stat_set *set,
        const struct stat_opened *opened, struct error *err);
/* Writes STAT_CONFIG and the records before it. */
int stat_writer_begin(struct stat_writer *w, uint64_t interval_ms, struct error *err);
int stat_writer_counts(struct stat_writer *w, struct error *err);
int stat_writer_round(struct stat_writer *w, bool final, uint64_t time_ns, struct error *err);
int stat_writer_close(struct stat_writer *w, int root, const struct event_list *events,
        char *const *command_line, struct error *err);
void stat_writer_free(struct stat_writer *w);

/* ---- running ---- */

struct sonde_stat {
	struct sonde_stat_options options;
	const struct host_kernel *kernel;
	int root_fd;
	struct error error;
	bool misused; /* the options are wrong: it cannot run */
	struct event_list events;
	char **each; /* cgroups of --for-each-cgroup */
	size_t neach, each_cap;
	struct stat_set set;
	struct stat_opened *opened;
	bool by_cpu; /* counts on cpus, not for threads */
	bool all_threads; /* all threads of the machine, one by one */
	size_t refused; /* number of these that the current event may not count */
	struct host_workload workload;
	uint64_t soft_limit; /* of descriptors, before it was raised; 0: not raised */
	int stop_fd;
	int workload_status;
	uint64_t start_ns, end_ns; /* when counting began and ended; 0: not yet */
	struct stat_mean wall; /* ns */
	double *walls; /* of each run, ns */
	size_t nwalls, walls_cap;
	uint64_t usage[2]; /* user, system time of the last workload, ns */
	struct stat_printer printer;
	struct stat_writer *writer; /* NULL: none, or it failed and counting continues */
	int record_rc; /* status of its failure */
	int write_rc; /* the output failed: nothing more is written */
	struct host_control control;
	struct text text;
};

int stat_plan(struct sonde_stat *s); /* options to events */
int stat_targets(struct sonde_stat *s); /* options to cpus and threads */
/* Whether cpu is in a list such as "0-3,7"; NULL: always. */
bool stat_cpu_wanted(const char *list, int cpu);
int stat_cgroups_plan(struct sonde_stat *s); /* names to events */
int stat_cgroups_expand(struct sonde_stat *s); /* all events for each cgroup */
int stat_cgroup_open(struct sonde_stat *s, const char *name); /* opens its folder */
/* Whether the workload is counted, rather than something else while it runs. */
bool stat_owns_workload(const struct sonde_stat *s);
int stat_open(struct sonde_stat *s);
void stat_close(struct sonde_stat *s);
int stat_enable(struct sonde_stat *s, bool on);
int stat_read(struct sonde_stat *s); /* to `now` of the set */

/* Reads and executes commands. */
int stat_control_read(struct sonde_stat *s);
/* Enables or disables events, and prints that. */
int stat_switch(struct sonde_stat *s, bool on);

void stat_say(struct sonde_stat *s, enum sonde_stat_message kind, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

struct sonde_stat *stat_new_with(
        const struct sonde_stat_options *options, const struct host_kernel *kernel, int root);

#endif
