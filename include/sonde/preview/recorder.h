/* SPDX-License-Identifier: MIT */
/*
 * Recording: opens events, reads their rings and writes perf.data.
 *
 * Threads: a recorder is used by one thread; only sonde_recorder_stop, sonde_recorder_switch and
 * sonde_recorder_snapshot may be called from anywhere.
 */
#ifndef SONDE_PREVIEW_RECORDER_H
#define SONDE_PREVIEW_RECORDER_H

#include <sonde/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sonde_recorder_message {
	SONDE_RECORDER_WARNING = 0, /* something is not as asked for */
	SONDE_RECORDER_VERBOSE, /* details, for -v */
	SONDE_RECORDER_NOTICE, /* what happens to files, printed as "[ sonde record: TEXT ]" */
	SONDE_RECORDER_STATE, /* events were enabled or disabled, in the words of perf */
	SONDE_RECORDER_LINE, /* a whole line in the words of perf -v */
	SONDE_RECORDER_DEBUG /* lines as perf prints them with -vv; only with `debug` */
};

enum sonde_recorder_choice { SONDE_RECORDER_AUTO = 0, SONDE_RECORDER_YES, SONDE_RECORDER_NO };

/* Control groups for events: the first for the first, and so on; one alone is for all of them. */
struct sonde_recorder_cgroup_filter {
	const char *names; /* "a,,b": paths below the mounted hierarchy; an empty one is for none */
	size_t nevents; /* it is for those of the first nevents event strings */
};

/* A filter for the events of one string: the last of the first nevents event strings. */
struct sonde_recorder_filter {
	const char *text; /* of a tracepoint's fields, or addresses: "filter main @ /bin/x" */
	size_t nevents;
};

/*
 * Who is recorded: the workload, or running processes, or whatever runs on cpus. Lists of ids and
 * cpus are as in "12,34" and "0,2-3".
 */
struct sonde_recorder_targets {
	char *const *workload; /* NULL-terminated command, started for this; NULL: none */
	const char *pids; /* processes with all their threads */
	const char *tids; /* threads: each with a ring of its own, without their children */
	const char *user; /* all processes of a user, by name or number; not with pids or tids */
	const char *cpus; /* only there; without pids, tids and user all processes */
	bool all_cpus; /* all processes on all cpus */
	bool per_thread; /* rings for threads, not cpus: no children, no times by default */
	bool no_inherit; /* without the threads and processes that they start */
	bool inherit; /* tids with the threads that they start */
	/* what runs in control groups, with all_cpus or cpus; in the order of the command line */
	const struct sonde_recorder_cgroup_filter *cgroups;
	size_t ncgroups;
};

/* Which events, and how often they are sampled. */
struct sonde_recorder_events {
	const char *const *strings; /* none: cycles, or cpu-clock where the machine has no cycles */
	size_t n;
	const struct sonde_recorder_filter *filters; /* in the order of the command line */
	size_t nfilters;
	uint64_t frequency; /* samples a second; 0: 4000; UINT64_MAX: what the kernel allows */
	uint64_t period; /* a sample every so many events; not 0 wins over frequency */
	bool strict_frequency; /* one that the kernel does not allow is an error */
	bool group; /* all events are one group */
	bool all_user; /* of all events only what happens in user space; in the kernel */
	bool all_kernel;
	bool use_clock; /* times are of the clock `clockid`; else of the kernel's own */
	int clockid; /* CLOCK_MONOTONIC, ... */
};

/* Call chains in samples. */
struct sonde_recorder_chains {
	bool frame_pointers; /* as mode "fp" */
	const char *mode; /* "fp[,FRAMES]", "dwarf[,BYTES]", "lbr", "no"; NULL: frame_pointers */
	bool kernel_only; /* the kernel's part only; the user's */
	bool user_only;
};

/* What else a sample holds. */
struct sonde_recorder_samples {
	enum sonde_recorder_choice times; /* by default: but for per_thread */
	enum sonde_recorder_choice periods; /* by default: where the frequency varies them */
	const char *branches; /* "any,u"; names as perf's -j; NULL: no branches */
	const char *user_regs; /* "ax,bx", "" for all that the machine has, NULL for none */
	const char *intr_regs; /* the same, as they are when the sample is taken */
	bool addresses; /* of data, with data sources, and mappings of data */
	bool phys_addresses; /* of data */
	bool data_page_sizes;
	bool code_page_sizes;
	bool cpu;
	bool identifier; /* the event's id at a fixed place */
	bool raw; /* a tracepoint's fields */
	bool weights;
	bool transactions;
	bool none; /* no samples at all: side-band only */
	bool thread_counts; /* counts of each task when it ends, for `report -T` */
	bool running_time; /* how long counters of a group ran */
};

/* What is recorded beside samples. */
struct sonde_recorder_side_band {
	bool switches; /* of tasks */
	bool no_switches; /* not even where a trace needs them */
	bool namespaces;
	bool cgroups; /* and the control group of each sample */
	bool no_bpf; /* no BPF programs that are loaded meanwhile */
	const char *synthesis; /* state before the start: "task,mmap,cgroup,all", "no"; NULL: all */
	bool tail_synthesis; /* the state at the end instead; with buffers.overwrite always */
	uint64_t synth_threads; /* that read that state, with all_cpus; 0: 1 */
	uint64_t maps_limit_ms; /* that reading a process's mappings may take; 0: 500 */
};

/* Build ids of what was mapped, which the end of a recording looks for in the samples. */
struct sonde_recorder_build_ids {
	bool none;
	bool all; /* of everything that was mapped, hit or not */
	bool in_mappings; /* in records of mappings, by the kernel; not in the header */
	bool sample_times; /* first and last one in the header, also where nothing is looked for */
	/* a folder, made where it is missing, that takes the objects that were hit, as perf's
	 * ~/.debug does; NULL: none */
	const char *cache;
};

/* Trace of a processor: the AUX area of an event such as intel_pt//. */
struct sonde_recorder_aux {
	size_t pages; /* of an area, a power of two; 0: 4 MiB, or what limits allow */
	bool snapshot; /* trace only on request, see sonde_recorder_snapshot */
	bool snapshot_on_exit; /* and at the end */
	uint64_t snapshot_size; /* bytes; 0: the area's size */
	bool sample; /* pieces of trace in samples of the other events of the AUX event's group */
	uint64_t sample_size; /* bytes; 0: 4096 */
};

/* The rings that the kernel fills. */
struct sonde_recorder_buffers {
	size_t pages; /* of data, a power of two; 0: what the limits allow, 512 KiB at most */
	uint64_t flush_bytes; /* a ring is read when it has as many; at most a quarter of it */
	bool overwrite; /* keep the newest records, which are written at the end */
	bool no_buffering; /* wakes up for every sample */
	const char *affinity; /* "cpu", "node": runs there while it reads a cpu's ring; NULL, "sys":
	                         wherever it is */
	bool raise_file_limit; /* of this process, to what RLIMIT_NOFILE may be; not the workload's
	                        */
};

/* Where it goes. */
struct sonde_recorder_output {
	const char *path; /* NULL: "perf.data"; "-": standard output, as a stream */
	char *const *command_line; /* for the header, NULL-terminated; NULL: none */
	bool kcore; /* a copy of the kernel's code beside the data: path is a folder */
	int compress; /* zstd level 1 to 22, on a thread of its own; 0: not compressed */
	bool async; /* written on a thread of its own */
	unsigned async_blocks; /* of 4 MiB that may wait to be written, 1 to 4; 0: 1 */
	const char *threads; /* a folder, written by threads: "cpu", "core", "package", "numa", or
	                        "CPUS/AFFINITY:..."; "" is "cpu"; NULL: one file */
	uint64_t max_bytes; /* stops when as many are written; 0: never */
	bool timestamps; /* the time is part of the file's name; with files one after the other
	                    always */
};

/* Files one after the other: another one begins at each of these. */
struct sonde_recorder_switching {
	bool on_request; /* see sonde_recorder_switch */
	const char *const *triggers; /* event strings, which are not recorded: whenever one happens
	                                on any cpu; sets on_request */
	size_t ntriggers;
	uint64_t bytes; /* when the file has as many; 0: never */
	uint64_t ns; /* after that time; 0: never */
	uint64_t files; /* keeps the last ones only; 0: all */
};

/* When events are on. */
struct sonde_recorder_control {
	const char *delay; /* "MS", "-1" (until a command), "FROM-TO,..." in ms; NULL: at once */
	bool commands; /* come from fd; see sonde-record(1) */
	int fd;
	int ack_fd; /* where commands are answered; -1: nowhere */
};

/*
 * Texts and arrays must live until sonde_recorder_free. The groups of this preview may still grow:
 * a program is compiled again for each version of the library.
 */
struct sonde_recorder_options {
	size_t size; /* sizeof(struct sonde_recorder_options) */
	struct sonde_recorder_targets targets;
	struct sonde_recorder_events events;
	struct sonde_recorder_chains chains;
	struct sonde_recorder_samples samples;
	struct sonde_recorder_side_band side_band;
	struct sonde_recorder_build_ids build_ids;
	struct sonde_recorder_aux aux;
	struct sonde_recorder_buffers buffers;
	struct sonde_recorder_output output;
	struct sonde_recorder_switching switching;
	struct sonde_recorder_control control;
	bool dry_run; /* reads the options and stops; with debug, every attr is reported */
	void (*message)(void *arg, enum sonde_recorder_message kind, const char *text);
	void *message_arg;
	bool debug; /* also report every attr and every call that opens one */
};

/* The registers that user_regs and intr_regs know here, in their order, separated by blanks. */
SONDE_API const char *sonde_recorder_registers(void);

struct sonde_recorder;

/* NULL: no memory. */
SONDE_API struct sonde_recorder *sonde_recorder_new(const struct sonde_recorder_options *options);

/*
 * Opens everything, writes the state of the running system, and lets the workload go. 0; SONDE_EARG: an
 * option or an event string makes no sense; SONDE_ENOENT: no such process, user, control group or
 * command; SONDE_EPERM, SONDE_EUNSUPPORTED: the kernel refuses an event; SONDE_ELIMIT: too many files,
 * or too high a rate; SONDE_EIO, SONDE_EOUTPUT, SONDE_ENOMEM. Once per handle.
 */
SONDE_API int sonde_recorder_start(struct sonde_recorder *recorder);

/*
 * Reads rings until the workload or all targets ended or sonde_recorder_stop was called; then takes
 * the rest and completes the file. 0, SONDE_EIO, SONDE_EPERM, SONDE_EOUTPUT, SONDE_ENOMEM: then the
 * file has the records so far.
 */
SONDE_API int sonde_recorder_run(struct sonde_recorder *recorder);

/* Makes sonde_recorder_run take a snapshot of the AUX area; async-signal-safe. */
SONDE_API void sonde_recorder_snapshot(struct sonde_recorder *recorder);

/* Makes sonde_recorder_run go on in another file, with switch_output; async-signal-safe. */
SONDE_API void sonde_recorder_switch(struct sonde_recorder *recorder);

/*
 * Makes sonde_recorder_run end; async-signal-safe. A second call makes it end without looking for
 * build ids.
 */
SONDE_API void sonde_recorder_stop(struct sonde_recorder *recorder);

struct sonde_recorder_result {
	size_t size;
	uint64_t wakeups;
	uint64_t bytes; /* of records in the file */
	uint64_t samples;
	uint64_t lost; /* samples and records that the kernel had no room for */
	uint64_t trace_pieces; /* AUX records of the kernel */
	uint64_t trace_lost; /* of these: cut because the AUX area was full */
	uint64_t trace_gaps; /* of these: with other gaps, or mixed with another's trace */
	uint64_t unpacked, packed; /* bytes into compression and out of it; 0: not compressed */
	int workload_status; /* as of waitpid; -1: no workload */
};

/* What was recorded; lives as long as the recorder. */
SONDE_API const struct sonde_recorder_result *sonde_recorder_get_result(
        struct sonde_recorder *recorder);

/* The last failure; never NULL, lives as long as the recorder. */
SONDE_API const struct sonde_error *sonde_recorder_error(struct sonde_recorder *recorder);

/* Ends a workload that never started; NULL is fine. */
SONDE_API void sonde_recorder_free(struct sonde_recorder *recorder);

#ifdef __cplusplus
}
#endif

#endif
