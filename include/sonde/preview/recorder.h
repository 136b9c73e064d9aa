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
	SONDE_RECORDER_VERBOSE, /* what a curious user wants to know */
	SONDE_RECORDER_NOTICE, /* what happens to files, for "[ ... ]" */
	SONDE_RECORDER_STATE, /* what events do now, in the words of perf */
	SONDE_RECORDER_LINE, /* the same, as a whole line in the words of perf -v */
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

/* Zero is the default of every member. Texts and arrays must live until sonde_recorder_free. */
struct sonde_recorder_options {
	size_t size; /* sizeof(struct sonde_recorder_options) */
	char *const *workload; /* NULL-terminated command, or NULL */
	const char *const
	        *events; /* event strings; none: cycles, or cpu-clock where there are none */
	size_t nevents;
	const char *pids; /* "12,34", or NULL */
	bool all_cpus;
	uint64_t frequency; /* in Hz; 0: 4000; UINT64_MAX: what the kernel allows */
	uint64_t period; /* in events; not 0 wins over frequency */
	bool strict_frequency; /* one that the kernel does not allow is an error */
	bool group; /* all events are one group */
	bool callchains;
	bool no_inherit;
	bool no_build_ids;
	bool no_bpf_events;
	bool switch_events;
	bool namespaces;
	bool cgroups;
	bool use_clockid;
	int clockid;
	const char *clockid_name;
	size_t mmap_pages; /* data pages of a ring, a power of two; 0: what the limits allow, 512
	                      KiB */
	size_t aux_pages; /* of an AUX area, a power of two; 0: 4 MiB, or what limits allow */
	bool snapshot; /* trace only on request, see sonde_recorder_snapshot */
	bool snapshot_on_exit; /* and at the end */
	uint64_t snapshot_size; /* bytes; 0: the AUX area's size */
	bool aux_sample; /* pieces of trace in samples of the other events of the AUX event's group
	                  */
	uint64_t aux_sample_size; /* bytes; 0: 4096 */
	const struct sonde_recorder_filter *filters; /* in the order of the command line */
	size_t nfilters;
	bool kcore; /* a copy of the kernel's code beside the data: output is a folder */
	bool no_switch_events; /* not even where a trace needs them */
	const char *output; /* NULL: "perf.data" */
	char *const *command_line; /* for the header, NULL-terminated, or NULL */

	/* who, beside workload, pids and all_cpus */
	const char
	        *tids; /* threads, "12,34": each with a ring of its own, without their children */
	const char *user; /* all processes of a user, by name or number */
	const char *cpus; /* "0,2-3": only there; without pids, tids and user all processes */
	bool per_thread; /* rings for threads, not cpus: no children, no times by default */
	bool inherit; /* asked for by name: tids with the threads that they start */
	const struct sonde_recorder_cgroup_filter
	        *cgroup_filters; /* in the order of the command line */
	size_t ncgroup_filters;

	/* what a sample holds */
	const char
	        *call_graph; /* "fp[,FRAMES]", "dwarf[,BYTES]", "lbr", "no"; NULL: as callchains */
	const char *branch_filter; /* "any,u"; names as perf's -j; NULL: no branches */
	const char *user_regs; /* "ax,bx", "" for all that there are, NULL for none */
	const char *intr_regs; /* the same, as they are when the sample is taken */
	enum sonde_recorder_choice timestamps; /* by default: but for per_thread */
	enum sonde_recorder_choice periods; /* by default: where the frequency varies them */
	bool data_addresses; /* and data sources, and mappings of data */
	bool phys_addresses;
	bool data_page_sizes;
	bool code_page_sizes;
	bool sample_cpu;
	bool sample_identifier;
	bool raw;
	bool weights;
	bool transactions;
	bool no_samples;
	bool thread_counts; /* counts of each task when it ends, for `report -T` */
	bool running_time; /* how long counters of a group ran */
	bool all_user; /* of all events only what happens in user space; in the kernel */
	bool all_kernel;
	bool kernel_callchains; /* the kernel's part of call chains only; the user's */
	bool user_callchains;
	bool no_buffering; /* wakes up for every sample */

	/* where it goes; output "-" is standard output, as a stream */
	int compress; /* zstd level 1 to 22, on a thread of its own; 0: not compressed */
	bool async_writes; /* on a thread of its own */
	uint64_t flush_bytes; /* a ring is read when it has as many; at most a quarter of it */
	const char *threads; /* a folder, written by threads: "cpu", "core", "package", "numa", or
	                        "CPUS/AFFINITY:..." ; "" is "cpu"; NULL: one file */
	const char *affinity; /* "cpu", "node": runs there while it reads a cpu's ring; NULL, "sys":
	                         wherever it is */
	bool switch_output; /* another file whenever sonde_recorder_switch asks for it, */
	const char *const *triggers; /* event strings, which are not recorded: whenever one happens
	                                on any cpu; sets switch_output */
	size_t ntriggers;
	uint64_t switch_bytes; /* when it has as many (0: never) */
	uint64_t switch_ns; /* or after that time (0: never) */
	uint64_t switch_files; /* keeps the last ones only; 0: all */
	uint64_t max_bytes; /* stops when as many are written; 0: never */
	bool timestamp_names; /* the time is part of the file's name; with switch_output always */
	bool overwrite; /* rings keep the newest records, which are written at the end */
	bool tail_synthesis; /* the state of the system as it is at the end; with overwrite always */
	const char *synthesis; /* "task,mmap,cgroup,all" or "no"; NULL: all */
	uint64_t synth_threads; /* that read it, with all_cpus; 0: 1 */
	uint64_t maps_limit_ms; /* that reading a process's mappings may take; 0: 500 */
	bool all_build_ids; /* of everything that was mapped, hit or not */
	bool mapping_build_ids; /* in records of mappings, by the kernel; not in the header */

	bool dry_run; /* reads the options and stops */

	/* when */
	const char *delay; /* "MS", "-1" (until it is told), "FROM-TO,..." in ms; NULL: at once */
	int control_fd; /* commands come here, with has_control; see sonde-record(1) */
	int ack_fd; /* and are answered here; -1: nowhere */
	bool has_control;
	void (*message)(void *arg, enum sonde_recorder_message kind, const char *text);
	void *message_arg;
	bool debug; /* also tell of every attr and every call that opens one */
	bool raise_file_limit; /* of this process, to what RLIMIT_NOFILE may be; not the workload's
	                        */
	bool sample_times; /* times of the first and last sample in the header also with
	                      no_build_ids, all_build_ids and mapping_build_ids */
	const char *build_id_cache; /* a folder, made where it is missing, that takes the objects
	                               that were hit, as perf's ~/.debug does; NULL: none */
	unsigned async_blocks; /* with async_writes: blocks of 4 MiB that may wait to be written, 1
	                          to 4; 0: 1 */
};

/* The registers that user_regs and intr_regs know here, in their order, separated by blanks. */
SONDE_API const char *sonde_recorder_registers(void);

struct sonde_recorder;

/* NULL: no memory. */
SONDE_API struct sonde_recorder *sonde_recorder_new(const struct sonde_recorder_options *options);

/*
 * Opens everything, writes the state of the running system, and lets the workload go. 0,
 * SONDE_EARG, SONDE_EPERM, SONDE_ENOENT, SONDE_EIO, SONDE_EUNSUPPORTED, SONDE_ELIMIT, SONDE_ENOMEM.
 */
SONDE_API int sonde_recorder_start(struct sonde_recorder *recorder);

/*
 * Reads rings until the workload or all targets ended or sonde_recorder_stop was called; then takes
 * what is left and completes the file. 0, SONDE_EIO, SONDE_ENOMEM.
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
	uint64_t trace_pieces; /* that the kernel told of */
	uint64_t trace_lost; /* of these, how many end where the AUX area had no room */
	uint64_t trace_gaps; /* and how many have other gaps or are mixed with another's */
	uint64_t unpacked, packed; /* bytes into compression and out of it; 0: not compressed */
	int workload_status; /* as waitpid says; -1 without a workload */
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
