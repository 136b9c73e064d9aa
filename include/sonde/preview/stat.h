/* SPDX-License-Identifier: MIT */
/*
 * Counts events of a command, of threads, cpus or the whole machine, and prints the counts: `sonde
 * stat`.
 *
 * Threads: a handle is used by one thread; only sonde_stat_stop may be called from any thread or
 * signal handler.
 */
#ifndef SONDE_PREVIEW_STAT_H
#define SONDE_PREVIEW_STAT_H

#include <sonde/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The counts that one row sums; values as in STAT_CONFIG records. */
enum sonde_stat_by {
	SONDE_STAT_BY_CPU = 0,
	SONDE_STAT_BY_ALL = 1,
	SONDE_STAT_BY_SOCKET = 2,
	SONDE_STAT_BY_DIE = 3,
	SONDE_STAT_BY_CORE = 4,
	SONDE_STAT_BY_THREAD = 5,
	SONDE_STAT_BY_RECORDED = 6, /* sonde_stat_report: as recorded */
	SONDE_STAT_BY_NODE = 7
};

enum sonde_stat_format { SONDE_STAT_TEXT = 0, SONDE_STAT_CSV, SONDE_STAT_JSON };

enum sonde_stat_message {
	SONDE_STAT_WARNING = 0, /* an option cannot be followed */
	SONDE_STAT_NOTE, /* progress */
	SONDE_STAT_VERBOSE
};

/* When `moment` is called. */
enum sonde_stat_moment {
	SONDE_STAT_RUN_BEGINS = 0, /* before the workload of a run is started */
	SONDE_STAT_RUN_ENDED, /* after the workload of a run ended */
	SONDE_STAT_INTERVAL /* before the counts of an interval are printed */
};

/* Texts and arrays must be valid until sonde_stat_free. The default of all members is 0. */
struct sonde_stat_options {
	size_t size; /* sizeof(struct sonde_stat_options) */
	char *const *workload; /* NULL-terminated command, or NULL */
	const char *const *events; /* event strings; nevents 0: the default events */
	size_t nevents;
	const char *const *filters; /* one for each event string, or NULL; NULL: none */
	int detail; /* 1 to 3: adds cache events to the default events */
	bool no_events; /* measure only the time */
	const char *pids, *tids; /* "12,34", or NULL */
	bool all_cpus;
	const char *cpus; /* "0-3,7", or NULL */
	const char *cgroups; /* one name for each event, in order: "a,,b"; or NULL */
	bool no_inherit;
	bool no_scale; /* do not scale counts of events that shared a hardware counter */
	bool all_user, all_kernel;
	enum sonde_stat_by by; /* SONDE_STAT_BY_ALL: the sum */
	unsigned repeat; /* number of runs; 0 and 1: one */
	uint64_t interval_ms; /* print counts at this interval; 0: only at the end */
	uint64_t interval_count; /* stop after this number of intervals; 0: never */
	uint64_t timeout_ms; /* stop after this time; 0: never */
	int64_t delay_ms; /* enable events after this time; -1: events stay disabled */
	bool summary; /* print sums after the intervals */
	bool no_csv_summary; /* omit the word "summary" at the beginning of lines */
	enum sonde_stat_format format;
	const char *separator; /* of CSV */
	const char *thousands; /* between groups of three digits; NULL: none */
	/* path of a perf.data file for the counts; "-": a stream on standard output; NULL: none */
	const char *record;
	char *const *command_line; /* for the header of `record`, NULL-terminated */
	void (*message)(void *arg, enum sonde_stat_message kind, const char *text);
	void *message_arg;
	const char *each_cgroup; /* names or patterns: count all events for each of them; or NULL */
	/* Raise the soft limit of open files to the hard limit, but not in the workload. */
	bool raise_file_limit;
	bool forever; /* repeat until stopped, and print each run; `repeat` is not used */
	bool has_control; /* read lines "enable", "disable" ... from control_fd */
	int control_fd, ack_fd; /* ack_fd: executed lines are acknowledged there; -1: none */
	bool table; /* of repeats: print the time of each run */
	bool metrics_only; /* print metrics without their counts */
	bool group; /* all events are one group */
	bool interval_headers; /* print a header above each interval */
	/* Called at each enum sonde_stat_moment; a negative result ends sonde_stat_run with that
	 * status. NULL: not called. */
	int (*moment)(void *arg, enum sonde_stat_moment moment);
	void *moment_arg;
	bool no_merge; /* print a row for each PMU of a kind, not their sum */
	const char *temp_dir; /* sonde_stat_report: as in struct sonde_file_options */
};

struct sonde_stat;

/* Returns a new handle; options may be NULL. NULL: out of memory. */
SONDE_API struct sonde_stat *sonde_stat_new(const struct sonde_stat_options *options);

/*
 * Opens the counters, runs the workload or waits until the options end counting, and prints the
 * counts. 0, SONDE_EARG, SONDE_EPERM, SONDE_ENOENT, SONDE_EUNSUPPORTED, SONDE_ELIMIT, SONDE_EIO or
 * SONDE_ENOMEM.
 */
SONDE_API int sonde_stat_run(struct sonde_stat *s, sonde_write_fn write, void *arg);

/* Makes sonde_stat_run stop counting and print; async-signal-safe. */
SONDE_API void sonde_stat_stop(struct sonde_stat *s);

/* Returns the wait status of the last workload, as waitpid does; -1: no workload. */
SONDE_API int sonde_stat_workload_status(const struct sonde_stat *s);

/* The last failure; never NULL; valid as long as the handle. */
SONDE_API const struct sonde_error *sonde_stat_error(const struct sonde_stat *s);

/* Frees the handle, and ends a workload that has not been started yet; NULL is fine. */
SONDE_API void sonde_stat_free(struct sonde_stat *s);

/*
 * Prints the counts of a recording of `perf stat record` or `sonde stat record` at path `input`. Of
 * the handle's options only by, format, separator, thousands, metrics_only and temp_dir are used. 0;
 * SONDE_EFORMAT: the recording has no counts; SONDE_EOUTPUT; or as sonde_file_open.
 */
SONDE_API int sonde_stat_report(
        struct sonde_stat *s, const char *input, sonde_write_fn write, void *arg);

#ifdef __cplusplus
}
#endif

#endif
