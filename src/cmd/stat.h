/* SPDX-License-Identifier: MIT */
/* Shared by the files of `sonde stat`: the command line, and its options as tables. */
#ifndef SONDE_CMD_STAT_H
#define SONDE_CMD_STAT_H

#include "cmd/options.h"

#include <sonde/preview/stat.h>

#include <stdio.h>

struct stat_command {
	struct sonde_stat_options options;
	const char **events, **filters;
	const char *output;
	uint64_t output_fd; /* 0: not given */
	bool append, big_numbers, inherit, scale, quiet, csv_summary;
	bool streams; /* the recording goes to standard output: as in perf, no counts are printed */
	bool by_core, by_socket, by_die, by_node, by_thread, by_cpu, json;
	bool transactions, topdown, smi_cost, iostat, sync, interval_clear;
	const char *metrics, *cpu_type, *before, *after;
	bool hook_failed; /* a command of --pre failed, which was reported already */
	int verbose;
	int write_errno; /* errno of the failed write of counts; 0: none failed */
	uint64_t repeat, level;
	bool repeat_given, level_given;
	char thousands[8];
	FILE *out;
};

/* option_fn; the target is the struct stat_command. */
int stat_on_event(const struct option_def *def, const char *arg, bool unset);
int stat_on_filter(const struct option_def *def, const char *arg, bool unset);
int stat_on_delay(const struct option_def *def, const char *arg, bool unset);
int stat_on_separator(const struct option_def *def, const char *arg, bool unset);
int stat_on_control(const struct option_def *def, const char *arg, bool unset);
int stat_on_iostat(const struct option_def *def, const char *arg, bool unset);

/*
 * Checks that options do not contradict each other and that this machine supports them. Returns
 * OPTIONS_RUN, or the exit status after printing the mistake.
 */
int stat_check_options(struct stat_command *c, const struct option_command *command);

/* c: the struct stat_command, o: its options */
#define STAT_COUNT_OPTIONS(c, o)                                                                   \
	OPTION_HEADING("What to count"),                                                           \
	        OPTION_EACH('e', "event", stat_on_event, (c), "EVENT[,EVENT]",                     \
	                "events, such as task-clock, page-faults:u, {cycles,instructions}"),       \
	        OPTION_EACH(0, "filter", stat_on_filter, (c), "EXPRESSION",                        \
	                "of the tracepoints before it, only these"),                               \
	        OPTION_COUNT('d', "detailed", &(o)->detail,                                        \
	                "events of caches too; more with -d -d and -d -d -d"),                     \
	        OPTION_SWITCH('n', "null", &(o)->no_events, "no events: only the time"),           \
	        OPTION_SWITCH('g', "group", &(o)->group, "all events count at the same times"),    \
	        OPTION_SWITCH('a', "all-cpus", &(o)->all_cpus, "all processes on all cpus"),       \
	        OPTION_TEXT('C', "cpu", &(o)->cpus, "CPUS", "only these cpus: 0-3,7"),             \
	        OPTION_TEXT('p', "pid", &(o)->pids, "PID[,PID]", "running processes"),             \
	        OPTION_TEXT('t', "tid", &(o)->tids, "TID[,TID]", "running threads"),               \
	        OPTION_TEXT('G', "cgroup", &(o)->cgroups, "NAME[,NAME]",                           \
	                "cgroups, one for each event; the last for the rest"),                     \
	        OPTION_TEXT(0, "for-each-cgroup", &(o)->each_cgroup, "NAME[,NAME]",                \
	                "all events for each of these, which may be patterns"),                    \
	        OPTION_SWITCH('i', "no-inherit", &(o)->no_inherit, "no child processes"),          \
	        OPTION_SWITCH(0, "all-user", &(o)->all_user, "user space only"),                   \
	        OPTION_SWITCH(0, "all-kernel", &(o)->all_kernel, "the kernel only")

#define STAT_MODEL_OPTIONS(c)                                                                      \
	OPTION_HEADING("Of some processors"),                                                      \
	        OPTION_TEXT('M', "metrics", &(c)->metrics, "NAME[,NAME]",                          \
	                "metrics of the processor's model"),                                       \
	        OPTION_SWITCH('T', "transaction", &(c)->transactions, "transactional memory"),     \
	        OPTION_SWITCH(0, "topdown", &(c)->topdown, "where the pipeline waits"),            \
	        {                                                                                  \
	                .long_name = "td-level",                                                   \
	                .kind = OPTION_KIND_UINT,                                                  \
	                .arg = OPTION_REQUIRED,                                                    \
	                .target = &(c)->level,                                                     \
	                .given = &(c)->level_given,                                                \
	                .arg_name = "N",                                                           \
	                .help = "of --topdown: how deep; 0: as deep as it goes",                   \
	        },                                                                                 \
	        OPTION_SWITCH(0, "smi-cost", &(c)->smi_cost, "time in the firmware"),              \
	        OPTION_CALL(0, "iostat", OPTION_OPTIONAL, stat_on_iostat, (c), "PORTS",            \
	                "traffic of I/O ports"),                                                   \
	        OPTION_TEXT(0, "cputype", &(c)->cpu_type, "TYPE",                                  \
	                "only cores of this type: core, atom"),                                    \
	        OPTION_SWITCH(0, "no-merge", &(c)->options.no_merge,                               \
	                "a row for each PMU that an event counts on, not their sum")

#define STAT_TIME_OPTIONS(c, o)                                                                    \
	OPTION_HEADING("When"),                                                                    \
	        {                                                                                  \
	                .short_name = 'r',                                                         \
	                .long_name = "repeat",                                                     \
	                .kind = OPTION_KIND_UINT,                                                  \
	                .arg = OPTION_REQUIRED,                                                    \
	                .target = &(c)->repeat,                                                    \
	                .given = &(c)->repeat_given,                                               \
	                .arg_name = "N",                                                           \
	                .help = "run N times: mean and its error; 0: until it is stopped",         \
	        },                                                                                 \
	        OPTION_SWITCH(0, "table", &(o)->table, "of -r: the time of each run"),             \
	        OPTION_TEXT(0, "pre", &(c)->before, "COMMAND", "for the shell, before each run"),  \
	        OPTION_TEXT(0, "post", &(c)->after, "COMMAND", "behind each run"),                 \
	        OPTION_SWITCH('S', "sync", &(c)->sync, "call sync(2) before each run"),            \
	        OPTION_UINT('I', "interval-print", &(o)->interval_ms, "MS",                        \
	                "counts of each interval"),                                                \
	        OPTION_UINT(0, "interval-count", &(o)->interval_count, "N", "only so many"),       \
	        OPTION_SWITCH(0, "interval-clear", &(c)->interval_clear,                           \
	                "clear the screen before each"),                                           \
	        OPTION_SWITCH(0, "summary", &(o)->summary, "the sums behind the intervals"),       \
	        OPTION_UINT(0, "timeout", &(o)->timeout_ms, "MS", "stop after this time"),         \
	        OPTION_CALL(0, "control", OPTION_REQUIRED, stat_on_control, (c),                   \
	                "fd:N[,N]|fifo:F[,F]", "commands, and where they are answered"),           \
	        OPTION_CALL('D', "delay", OPTION_REQUIRED, stat_on_delay, (c), "MS",               \
	                "wait before counting; -1: begin with events off")

#define STAT_SUM_OPTIONS(c)                                                                        \
	OPTION_HEADING("Sums of"), OPTION_SWITCH('A', "no-aggr", &(c)->by_cpu, "each cpu"),        \
	        OPTION_SWITCH(0, "per-core", &(c)->by_core, "cores"),                              \
	        OPTION_SWITCH(0, "per-die", &(c)->by_die, "dies"),                                 \
	        OPTION_SWITCH(0, "per-socket", &(c)->by_socket, "sockets"),                        \
	        OPTION_SWITCH(0, "per-node", &(c)->by_node, "NUMA nodes"),                         \
	        OPTION_SWITCH(0, "per-thread", &(c)->by_thread, "each thread of -p, -t or -a"),    \
	        OPTION_SWITCH(0, "scale", &(c)->scale,                                             \
	                "scale counts that shared their counter (the default)")

#define STAT_OUTPUT_OPTIONS(c)                                                                     \
	OPTION_HEADING("Output"),                                                                  \
	        OPTION_CALL('x', "field-separator", OPTION_REQUIRED, stat_on_separator, (c),       \
	                "TEXT", "lines of fields"),                                                \
	        OPTION_SWITCH('j', "json-output", &(c)->json, "lines of JSON"),                    \
	        OPTION_SWITCH('B', "big-num", &(c)->big_numbers,                                   \
	                "separate thousands as the locale does (the default)"),                    \
	        OPTION_SWITCH(0, "csv-summary", &(c)->csv_summary,                                 \
	                "begin lines of --summary with that word (the default)"),                  \
	        OPTION_SWITCH(0, "metric-only", &(c)->options.metrics_only,                        \
	                "metrics without the counts that they are made of"),                       \
	        OPTION_SWITCH(0, "append", &(c)->append, "add to what is in that file"),           \
	        OPTION_UINT(0, "log-fd", &(c)->output_fd, "FD", "write to an open file"),          \
	        OPTION_SWITCH(0, "quiet", &(c)->quiet, "no output"),                               \
	        OPTION_COUNT('v', "verbose", &(c)->verbose, "say more")

#endif
