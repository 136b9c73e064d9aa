/* SPDX-License-Identifier: MIT */
/* What the parts of `sonde record` share: the command line, and its options as tables. */
#ifndef SONDE_CMD_RECORD_H
#define SONDE_CMD_RECORD_H

#include "cmd/options.h"

#include <sonde/preview/record.h>

struct record_command {
	struct sonde_record_options options;
	const char **events;
	struct sonde_record_cgroup *cgroups;
	struct sonde_record_filter *filters;
	char exclude_self[32]; /* a filter: not what this process does */
	bool switches_given; /* --switch-events or its --no- stood there */
	bool quiet;
	bool inherit_given; /* -i or --inherit stood there */
	bool build_id_cache;
	bool bpf_events;
	int verbose;
};

/* option_fn; the target is the struct record_command, of the last three the option's member. */
int record_on_event(const struct option_def *def, const char *arg, bool unset);
int record_on_frequency(const struct option_def *def, const char *arg, bool unset);
int record_on_pages(const struct option_def *def, const char *arg, bool unset);
int record_on_clock(const struct option_def *def, const char *arg, bool unset);
int record_on_filter(const struct option_def *def, const char *arg, bool unset);
int record_on_exclude_perf(const struct option_def *def, const char *arg, bool unset);
int record_on_snapshot(const struct option_def *def, const char *arg, bool unset);
int record_on_aux_sample(const struct option_def *def, const char *arg, bool unset);
int record_on_cgroups(const struct option_def *def, const char *arg, bool unset);
int record_on_choice(const struct option_def *def, const char *arg, bool unset);
int record_on_branch_any(const struct option_def *def, const char *arg, bool unset);
int record_on_registers(const struct option_def *def, const char *arg, bool unset);

/* c: the struct record_command, o: its options */
#define RECORD_TARGET_OPTIONS(c, o)                                                                \
	OPTION_HEADING("What to record"),                                                          \
	        OPTION_SWITCH('a', "all-cpus", &(o)->all_cpus, "all processes on all cpus"),       \
	        OPTION_TEXT(                                                                       \
	                'C', "cpu", &(o)->cpus, "LIST", "all processes on cpus such as 0,2-3"),    \
	        OPTION_TEXT('p', "pid", &(o)->pids, "PID[,PID]", "running processes"),             \
	        OPTION_TEXT(                                                                       \
	                't', "tid", &(o)->tids, "TID[,TID]", "running threads, without children"), \
	        OPTION_TEXT('u', "uid", &(o)->user, "USER", "all processes of a user"),            \
	        OPTION_CALL('G', "cgroup", OPTION_REQUIRED, record_on_cgroups, (c), "NAME[,NAME]", \
	                "with -a: what runs in control groups"),                                   \
	        OPTION_SWITCH(0, "per-thread", &(o)->per_thread, "rings for threads, not cpus"),   \
	{                                                                                          \
		.short_name = 'i', .long_name = "no-inherit", .kind = OPTION_KIND_SWITCH,          \
		.target = &(o)->no_inherit, .given = &(c)->inherit_given,                          \
		.help = "no child processes"                                                       \
	}

#define RECORD_EVENT_OPTIONS(c, o)                                                                 \
	OPTION_CALL('e', "event", OPTION_REQUIRED, record_on_event, (c), "EVENT[,EVENT]",          \
	        "events, such as cpu-clock, page-faults:u (default: cycles)"),                     \
	        OPTION_CALL('F', "freq", OPTION_REQUIRED, record_on_frequency, (c), "N|max",       \
	                "samples a second (default: 4000)"),                                       \
	        OPTION_UINT('c', "count", &(o)->period, "N", "a sample every N events"),           \
	        OPTION_CALL(0, "filter", OPTION_REQUIRED, record_on_filter, (c), "FILTER",         \
	                "for the tracepoint or trace in front of it"),                             \
	        OPTION_CALL(0, "exclude-perf", OPTION_NONE, record_on_exclude_perf, (c), NULL,     \
	                "not what sonde does itself: a filter for the tracepoint in front of it"), \
	        OPTION_SWITCH(0, "all-user", &(o)->all_user, "only what happens in user space"),   \
	        OPTION_SWITCH(                                                                     \
	                0, "all-kernel", &(o)->all_kernel, "only what happens in the kernel")

#define RECORD_SAMPLE_OPTIONS(c, o)                                                                \
	OPTION_HEADING("What a sample holds"),                                                     \
	        OPTION_SWITCH('g', NULL, &(o)->callchains, "call chains by frame pointers"),       \
	        OPTION_TEXT(0, "call-graph", &(o)->call_graph, "MODE[,SIZE]",                      \
	                "call chains: fp, dwarf (stack dumps) or lbr"),                            \
	        OPTION_SWITCH(0, "kernel-callchains", &(o)->kernel_callchains,                     \
	                "the kernel's part of call chains only"),                                  \
	        OPTION_SWITCH(0, "user-callchains", &(o)->user_callchains,                         \
	                "the user's part of call chains only"),                                    \
	        OPTION_SWITCH('d', "data", &(o)->data_addresses, "data addresses"),                \
	        OPTION_SWITCH(0, "phys-data", &(o)->phys_addresses, "physical data addresses"),    \
	        OPTION_SWITCH(0, "data-page-size", &(o)->data_page_sizes, "page sizes of data"),   \
	        OPTION_SWITCH(0, "code-page-size", &(o)->code_page_sizes, "page sizes of code"),   \
	        OPTION_CALL('T', "timestamp", OPTION_NONE, record_on_choice, &(o)->timestamps,     \
	                NULL, "times (the default)"),                                              \
	        OPTION_CALL('P', "period", OPTION_NONE, record_on_choice, &(o)->periods, NULL,     \
	                "periods"),                                                                \
	        OPTION_SWITCH(0, "sample-cpu", &(o)->sample_cpu, "cpus"),                          \
	        OPTION_SWITCH(0, "sample-identifier", &(o)->sample_identifier,                     \
	                "the event's id at a fixed place"),                                        \
	        OPTION_SWITCH('s', "stat", &(o)->thread_counts, "counts of each task as it ends"), \
	        OPTION_SWITCH('n', "no-samples", &(o)->no_samples, "no samples"),                  \
	        OPTION_SWITCH('R', "raw-samples", &(o)->raw, "raw data"),                          \
	        OPTION_SWITCH('W', "weight", &(o)->weights, "weights"),                            \
	        OPTION_SWITCH(0, "transaction", &(o)->transactions, "transaction flags"),          \
	        OPTION_CALL('b', "branch-any", OPTION_NONE, record_on_branch_any,                  \
	                &(o)->branch_filter, NULL, "recent branches"),                             \
	        OPTION_TEXT('j', "branch-filter", &(o)->branch_filter, "KIND[,KIND]",              \
	                "recent branches of some kinds"),                                          \
	        OPTION_CALL('I', "intr-regs", OPTION_OPTIONAL, record_on_registers,                \
	                &(o)->intr_regs, "REGS", "registers; '?' lists them"),                     \
	        OPTION_CALL(0, "user-regs", OPTION_OPTIONAL, record_on_registers, &(o)->user_regs, \
	                "REGS", "user-space registers"),                                           \
	        OPTION_SWITCH(0, "running-time", &(o)->running_time, "how long counters ran"),     \
	        OPTION_CALL('k', "clockid", OPTION_REQUIRED, record_on_clock, (c), "CLOCK",        \
	                "clock for times")

#define RECORD_SIDE_BAND_OPTIONS(c, o)                                                             \
	OPTION_HEADING("Side-band"),                                                               \
	        {.long_name = "switch-events",                                                     \
	                .kind = OPTION_KIND_SWITCH,                                                \
	                .target = &(o)->switch_events,                                             \
	                .given = &(c)->switches_given,                                             \
	                .help = "context switches"},                                               \
	        OPTION_SWITCH(0, "namespaces", &(o)->namespaces, "namespaces of tasks"),           \
	        OPTION_SWITCH(0, "all-cgroups", &(o)->cgroups, "cgroups of samples"),              \
	        OPTION_SWITCH(                                                                     \
	                0, "bpf-event", &(c)->bpf_events, "loading of BPF programs (the default)")

#define RECORD_TRACE_OPTIONS(c, o)                                                                 \
	OPTION_HEADING("Trace (an event with an AUX area, such as intel_pt//)"),                   \
	        OPTION_CALL('S', "snapshot", OPTION_OPTIONAL, record_on_snapshot, (c), "[e]SIZE",  \
	                "trace only what a SIGUSR2 asks for; e: and the end"),                     \
	        OPTION_CALL(0, "aux-sample", OPTION_OPTIONAL, record_on_aux_sample, (c), "BYTES",  \
	                "pieces of trace in samples of the other events of its group"),            \
	        OPTION_SWITCH(0, "kcore", &(o)->kcore, "copy the kernel's code: writes a folder")

#define RECORD_OUTPUT_OPTIONS(c, o)                                                                \
	OPTION_HEADING("How"),                                                                     \
	        OPTION_TEXT('o', "output", &(o)->output, "FILE", "output (default: perf.data)"),   \
	        OPTION_CALL('m', "mmap-pages", OPTION_REQUIRED, record_on_pages, (c),              \
	                "PAGES|SIZE[,AUX]", "size of a cpu's ring, and of its AUX area"),          \
	        OPTION_SWITCH(0, "no-buffering", &(o)->no_buffering, "wake up for every sample"),  \
	        OPTION_SWITCH('B', "no-buildid", &(o)->no_build_ids, "no build ids in the file"),  \
	        OPTION_SWITCH('N', "no-buildid-cache", &(c)->build_id_cache,                       \
	                "accepted; sonde never fills ~/.debug")

#endif
