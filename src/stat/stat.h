/* SPDX-License-Identifier: MIT */
/*
 * Counts on their way to rows:
 *
 *	struct stat_set      events, and for each a matrix of counts [cpu][thread]
 *	struct stat_groups   which cells of the matrix make one row (all, a cpu, a core, a thread ...)
 *	struct stat_row      the sum of such cells for one event, scaled, with its metric
 *	print.c              rows to text, CSV or JSON
 *
 * A set is filled by run.c from counters or by report.c from a recording.
 */
#ifndef SONDE_STAT_STAT_H
#define SONDE_STAT_STAT_H

#include "core/status.h"
#include "core/text.h"
#include "counter/counter.h"
#include "event/event.h"
#include "host/control.h"
#include "host/workload.h"

#include <sonde/preview/stat.h>

#include <sys/types.h>

struct stat_count {
	uint64_t value, enabled, running; /* running of unscaled counts too: the percentage */
	bool absent; /* the event's PMU does not count on that cpu */
};

/* Mean and variance of runs, one value after the other. */
struct stat_mean {
	double mean, m2;
	uint64_t n;
};

void stat_mean_add(struct stat_mean *m, double v);
/* Standard error of the mean; 0 for fewer than two values. */
double stat_mean_error(const struct stat_mean *m);
/* The same in percent of the mean; 0 when the mean is. */
double stat_mean_error_percent(const struct stat_mean *m);

struct stat_event {
	char *name;
	char *unit; /* "" or what the count times scale is in */
	char *cgroup; /* NULL: none */
	size_t cgroup_index; /* the same for events of the same cgroup; 0: none */
	double scale;
	uint32_t type;
	uint64_t config;
	enum event_tool tool; /* its count is ours, in one cell */
	bool clock; /* task-clock or cpu-clock: nanoseconds */
	bool supported;
	struct stat_count *now; /* [cpu * nthreads + thread] */
	struct stat_count *before; /* at the end of the last interval */
	struct stat_mean runs; /* of the sum over all cells, of what is merged too */
	size_t row; /* index of the event in whose row it is counted: mostly its own */
	bool merged; /* others are counted in its row */
};

struct stat_place { /* where a cpu is; -1: not known */
	int cpu, core, die, socket, node;
};

#define STAT_COMM_SIZE 64

struct stat_thread {
	pid_t tid;
	char comm[STAT_COMM_SIZE]; /* of kernel threads longer than those of others */
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
	bool counted_only; /* of the many threads of a machine those that counted are rows */
	size_t ncgroups; /* different ones; 0: no event has one, and none is printed */
	unsigned nruns; /* counts are sums over so many runs; 0 means 1 */
};

void stat_set_fini(struct stat_set *s);
/* Adds an event; unit and scale of clocks are set. SONDE_ENOMEM. */
int stat_set_add(struct stat_set *s, const char *name, const struct sonde_attr *attr);
/* Matrices of zeros, when cpus and threads are known. SONDE_ENOMEM. */
int stat_set_alloc(struct stat_set *s);
/* The running machine's or a fixture's topology for the cpus that are set. */
void stat_set_places(struct stat_set *s, int root);

/* Metrics: numbers that say more than a count, from several counts of the same group. */
enum stat_base {
	STAT_BASE_CLOCK = 0, /* ns */
	STAT_BASE_CYCLES,
	STAT_BASE_INSTRUCTIONS,
	STAT_BASE_BRANCHES,
	STAT_BASE_STALLED_FRONT,
	STAT_BASE_STALLED_BACK,
	STAT_BASE_CACHE_REFS,
	STAT_BASE_L1D,
	STAT_BASE_L1I,
	STAT_BASE_LLC,
	STAT_BASE_DTLB,
	STAT_BASE_ITLB,
	STAT_BASES
};

struct stat_bases {
	double v[STAT_BASES];
	bool known[STAT_BASES];
	uint64_t n[STAT_BASES]; /* values that v is the mean of */
};

/* What an event is a base for; -1: nothing. */
int stat_base_of(const struct stat_event *e);

struct stat_metric {
	const char *unit; /* NULL: none */
	double value;
	unsigned width, digits; /* in text */
	const char *tail; /* stands right behind the number in text: "%", " %", " " or "" */
};

/* value: scaled and in the event's unit; wall_ns 0: not known. *more: a second metric of the event.
 */
void stat_metric(const struct stat_event *e, double value, const struct stat_bases *bases,
        double wall_ns, struct stat_metric *out, struct stat_metric *more);

#define STAT_LABEL_SIZE (STAT_COMM_SIZE + 16)

/* The unit that the event's metric has, or would have where what it relates to is not there; "". */
const char *stat_metric_unit(const struct stat_event *e);

/* What the metric is called that relates e to others; false: it has none. */
bool stat_metric_name(const struct stat_event *e, char *out, size_t size);

struct stat_row {
	const struct stat_event *event;
	char label[STAT_LABEL_SIZE]; /* "S0-D0-C1", "CPU3", "bash-12" or "" */
	char pad[STAT_LABEL_SIZE]; /* the label as it begins a line of text */
	unsigned ncells; /* cpus that were added up */
	bool absent; /* none of them has the event's PMU */
	double value; /* in the event's unit, scaled */
	uint64_t enabled, running;
	bool counted;
	double noise; /* percent; below 0: no runs */
	struct stat_metric metric, more;
};

/* How sets are printed, and what is kept between the intervals. */
struct stat_printer {
	enum sonde_stat_format format;
	const char *separator, *thousands;
	bool intervals; /* counts are those of an interval */
	bool metrics_only; /* without the counts that they are made of */
	bool headers; /* above each interval */
	bool mean_bases; /* metrics of intervals are over the means so far, as in perf's report */
	bool keep_bases; /* the next set goes on with them */
	double wall_ns; /* time that the counts took; 0: not known */
	uint64_t stamp_ns; /* end of the interval */
	const char *prefix; /* of CSV lines: "summary" padded, or NULL */
	unsigned unit_width;
	size_t nmetrics; /* columns of metrics that had a value */
	unsigned lines; /* intervals since the header was printed */
	struct stat_bases *bases; /* of each group */
	size_t nbases;
};

void stat_printer_fini(struct stat_printer *p);

/* Rows of all events, or of one interval. SONDE_ENOMEM. */
int stat_print_rows(struct stat_printer *p, const struct stat_set *s, struct text *out);

/* The same as metrics alone. rows: filled, of all events and groups; no event makes no line. */
int stat_print_metrics(struct stat_printer *p, const struct stat_set *s,
        const struct stat_row *rows, size_t ngroups, struct text *out);

/* Title, and the times below. wall: of runs in ns; usage: user and system time in ns, or NULL. */
void stat_print_title(
        const struct stat_printer *p, const char *title, unsigned runs, struct text *out);
void stat_print_times(const struct stat_printer *p, const struct stat_mean *wall,
        const uint64_t usage[2], struct text *out);
/* The same of runs whose times in ns are known one by one. */
void stat_print_table(const struct stat_printer *p, const struct stat_mean *wall,
        const double *each, size_t n, struct text *out);

/* ---- recordings ---- */

struct stat_opened { /* of one event: [cpu * nthreads + thread], -1 and 0 where there is none */
	struct sonde_attr attr;
	int *fds;
	uint64_t *ids;
	size_t leader;
	bool grouped; /* members are read with their leader */
};

struct stat_writer;

/* Begins a recording of a set whose events are open. */
int stat_writer_open(struct stat_writer **out, const char *path, const struct stat_set *set,
        const struct stat_opened *opened, struct error *err);
/* STAT_CONFIG and what comes before it. */
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
	bool misused; /* by the options: it cannot run */
	struct sonde_error public_error;
	struct event_list events;
	char **each; /* cgroups that all events are for */
	size_t neach, each_cap;
	struct stat_set set;
	struct stat_opened *opened;
	bool by_cpu; /* counts on cpus, not along with threads */
	bool all_threads; /* of the machine, one by one */
	size_t refused; /* of these, for the event that is opened: not ours to count */
	struct host_workload workload;
	uint64_t soft_limit; /* of descriptors, before it was raised; 0: it was not */
	int stop_fd;
	int workload_status;
	uint64_t start_ns, end_ns; /* when counting began and ended; 0: it has not */
	struct stat_mean wall; /* ns */
	double *walls; /* of each run, ns */
	size_t nwalls, walls_cap;
	uint64_t usage[2]; /* user, system time of the last workload, ns */
	struct stat_printer printer;
	struct stat_writer *writer; /* NULL: none, or it failed: counting goes on */
	int record_rc; /* how it failed */
	int write_rc; /* the output failed, nothing more is written */
	struct host_control control;
	struct text text;
};

int stat_plan(struct sonde_stat *s); /* options to events */
int stat_targets(struct sonde_stat *s); /* options to cpus and threads */
/* Is cpu in a list such as "0-3,7"? NULL: all are. */
bool stat_cpu_wanted(const char *list, int cpu);
int stat_cgroups_plan(struct sonde_stat *s); /* names to events */
int stat_cgroups_expand(struct sonde_stat *s); /* all events for each cgroup */
int stat_cgroup_open(struct sonde_stat *s, const char *name); /* a descriptor of its folder */
/* Is it the workload that is counted, and not only something while it runs? */
bool stat_owns_workload(const struct sonde_stat *s);
int stat_open(struct sonde_stat *s);
void stat_close(struct sonde_stat *s);
int stat_enable(struct sonde_stat *s, bool on);
int stat_read(struct sonde_stat *s); /* into `now` of the set */

/* Reads lines of commands and carries them out. */
int stat_control_read(struct sonde_stat *s);
/* Events on or off, and said so. */
int stat_switch(struct sonde_stat *s, bool on);

void stat_say(struct sonde_stat *s, enum sonde_stat_message kind, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

struct sonde_stat *stat_new_with(
        const struct sonde_stat_options *options, const struct host_kernel *kernel, int root);

#endif
