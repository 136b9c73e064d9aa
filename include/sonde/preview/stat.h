/* SPDX-License-Identifier: MIT */
/*
 * Counting a command, threads, cpus or the whole machine, and printing the counts: `sonde stat`.
 *
 * Threads: a handle is used by one thread; only sonde_stat_stop may be called from anywhere.
 */
#ifndef SONDE_PREVIEW_STAT_H
#define SONDE_PREVIEW_STAT_H

#include <sonde/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is added up into one row; numbers as STAT_CONFIG records have them. */
enum sonde_stat_by {
	SONDE_STAT_BY_CPU = 0,
	SONDE_STAT_BY_ALL = 1,
	SONDE_STAT_BY_SOCKET = 2,
	SONDE_STAT_BY_DIE = 3,
	SONDE_STAT_BY_CORE = 4,
	SONDE_STAT_BY_THREAD = 5,
	SONDE_STAT_BY_RECORDED = 6, /* reports: as the recording says */
	SONDE_STAT_BY_NODE = 7
};

enum sonde_stat_format { SONDE_STAT_TEXT = 0, SONDE_STAT_CSV, SONDE_STAT_JSON };

enum sonde_stat_message {
	SONDE_STAT_WARNING = 0, /* something is not as asked for */
	SONDE_STAT_NOTE, /* what happens meanwhile */
	SONDE_STAT_VERBOSE
};

/* What comes next. */
enum sonde_stat_moment {
	SONDE_STAT_RUN_BEGINS = 0, /* a run: the workload is not there yet */
	SONDE_STAT_RUN_ENDED, /* it was waited for */
	SONDE_STAT_INTERVAL /* counts of an interval */
};

/* Texts and arrays must live until sonde_stat_free. Zero is the default of what has no comment. */
struct sonde_stat_options {
	size_t size; /* sizeof(struct sonde_stat_options) */
	char *const *workload; /* NULL-terminated command, or NULL */
	const char *const *events; /* event strings; none: a list of the usual ones */
	size_t nevents;
	const char *const *filters; /* one for each event string, entries NULL: none; or NULL */
	int detail; /* 1 to 3: that list with caches */
	bool no_events; /* only the time */
	const char *pids, *tids; /* "12,34", or NULL */
	bool all_cpus;
	const char *cpus; /* "0-3,7", or NULL */
	const char *cgroups; /* names for the events in their order, "a,,b"; or NULL */
	bool no_inherit;
	bool no_scale; /* do not scale counts that shared their counter with others */
	bool all_user, all_kernel;
	enum sonde_stat_by by; /* SONDE_STAT_BY_ALL: the sum */
	unsigned repeat; /* runs; 0 and 1: one */
	uint64_t interval_ms; /* counts of each interval; 0: only at the end */
	uint64_t interval_count; /* stop after so many; 0: never */
	uint64_t timeout_ms; /* stop after this time; 0: never */
	int64_t delay_ms; /* wait before counting; -1: events stay off */
	bool summary; /* sums after the intervals */
	bool no_csv_summary; /* without the word "summary" in front */
	enum sonde_stat_format format;
	const char *separator; /* of CSV */
	const char *thousands; /* between groups of three digits; NULL: none */
	/* a perf.data to write the counts to, or NULL; "-": a stream on standard output */
	const char *record;
	char *const *command_line; /* for that, NULL-terminated */
	void (*message)(void *arg, enum sonde_stat_message kind, const char *text);
	void *message_arg;
	const char *each_cgroup; /* names or patterns: all events for each of them; or NULL */
	/* Many descriptors may be needed: raise the soft limit to the hard one, not for the workload. */
	bool raise_file_limit;
	bool forever; /* run after run, each printed for itself, until it is stopped; no repeat */
	bool has_control; /* lines "enable", "disable" ... are read of control_fd */
	int control_fd,
	        ack_fd; /* ack_fd: answered there when a line was carried out; -1: nowhere */
	bool table; /* of repeats: the time of each run */
	bool metrics_only; /* without the counts that they are made of */
	bool group; /* all events are one group */
	bool interval_headers; /* a header above each interval */
	/* Called before each of enum sonde_stat_moment; a negative result ends the work with that
	 * status. NULL: not called. */
	int (*moment)(void *arg, enum sonde_stat_moment moment);
	void *moment_arg;
	bool no_merge; /* an event on several PMUs of a kind: a row for each, not their sum */
	const char *temp_dir; /* of reports: as of struct sonde_file_options */
};

struct sonde_stat;

/* NULL: no memory. */
SONDE_API struct sonde_stat *sonde_stat_new(const struct sonde_stat_options *options);

/*
 * Opens the counters, runs the workload or waits for the end that the options say, and prints. 0,
 * or SONDE_EARG, SONDE_EPERM, SONDE_ENOENT, SONDE_EUNSUPPORTED, SONDE_ELIMIT, SONDE_EIO,
 * SONDE_ENOMEM.
 */
SONDE_API int sonde_stat_run(struct sonde_stat *s, sonde_write_fn write, void *arg);

/* Makes sonde_stat_run come to its end and print; async-signal-safe. */
SONDE_API void sonde_stat_stop(struct sonde_stat *s);

/* How the (last) workload ended, as waitpid says; -1: there was none. */
SONDE_API int sonde_stat_workload_status(const struct sonde_stat *s);

/* The last failure; never NULL, lives as long as the handle. */
SONDE_API const struct sonde_error *sonde_stat_error(struct sonde_stat *s);

/* Ends a workload that still waits; NULL is fine. */
SONDE_API void sonde_stat_free(struct sonde_stat *s);

/*
 * Prints the counts of a recording of `perf stat record` or `sonde stat record`; of the options
 * by, format, separator, thousands, metrics_only, message count. 0, SONDE_EFORMAT (no counts in it), or as
 * sonde_file_open. message: room for the words about a failure, may be NULL.
 */
SONDE_API int sonde_stat_report(const char *input, const struct sonde_stat_options *options,
        sonde_write_fn write, void *arg, char *message, size_t message_size);

#ifdef __cplusplus
}
#endif

#endif
