/* SPDX-License-Identifier: MIT */
/*
 * Recording: opens events, reads their rings and writes perf.data.
 *
 * Threads: a recorder is used by one thread; only sonde_recorder_stop, sonde_recorder_switch and
 * sonde_recorder_snapshot may be called from any thread or signal handler.
 */
#ifndef SONDE_PREVIEW_RECORDER_H
#define SONDE_PREVIEW_RECORDER_H

#include <sonde/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sonde_recorder_message {
	SONDE_RECORDER_WARNING = 0, /* an option cannot be followed */
	SONDE_RECORDER_VERBOSE, /* details, for -v */
	SONDE_RECORDER_NOTICE, /* about output files, printed as "[ sonde record: TEXT ]" */
	SONDE_RECORDER_STATE, /* events were enabled or disabled, with perf's text */
	SONDE_RECORDER_LINE, /* a whole line, as perf prints with -v */
	SONDE_RECORDER_DEBUG /* lines, as perf prints with -vv; only with `debug` */
};

enum sonde_recorder_choice { SONDE_RECORDER_AUTO = 0, SONDE_RECORDER_YES, SONDE_RECORDER_NO };

/* Control groups of events: one name for each event, in order; a single name is for all events. */
struct sonde_recorder_cgroup_filter {
	const char *names; /* "a,,b": paths below the mounted hierarchy; "": no control group */
	size_t nevents; /* applies to the events of the first nevents event strings */
};

/* A filter for the events of one event string. */
struct sonde_recorder_filter {
	const char *text; /* of a tracepoint's fields, or addresses: "filter main @ /bin/x" */
	size_t nevents; /* applies to event string number nevents, from 1 */
};

/*
 * The recorded tasks: the workload, running processes, or all tasks on cpus. Lists of ids are
 * written "12,34", lists of cpus "0,2-3".
 */
struct sonde_recorder_targets {
	char *const *workload; /* NULL-terminated command that is started; NULL: none */
	const char *pids; /* processes with all their threads */
	const char *tids; /* threads: one ring per thread, without their children */
	const char *user; /* all processes of a user, by name or number; not with pids or tids */
	const char *cpus; /* only on these cpus; without pids, tids and user: all processes */
	bool all_cpus; /* all processes on all cpus */
	bool per_thread; /* rings per thread, not per cpu: no children, by default no times */
	bool no_inherit; /* without the threads and processes that the targets start */
	bool inherit; /* tids with the threads that they start */
	/* tasks in control groups, with all_cpus or cpus; in the order of the command line */
	const struct sonde_recorder_cgroup_filter *cgroups;
	size_t ncgroups;
};

/* The events, and how often they are sampled. */
struct sonde_recorder_events {
	const char *const *strings; /* n 0: cycles, or cpu-clock if the machine has no cycles */
	size_t n;
	const struct sonde_recorder_filter *filters; /* in the order of the command line */
	size_t nfilters;
	uint64_t frequency; /* samples per second; 0: 4000; UINT64_MAX: the kernel's maximum */
	uint64_t period; /* number of events per sample; 0: use the frequency */
	bool strict_frequency; /* a frequency above the kernel's maximum is an error */
	bool group; /* all events are one group */
	bool all_user; /* count all events in user space only */
	bool all_kernel; /* count all events in the kernel only */
	bool use_clock; /* times are from the clock `clockid`, not the kernel's default one */
	int clockid; /* CLOCK_MONOTONIC, ... */
};

/* Call chains in samples. */
struct sonde_recorder_chains {
	bool frame_pointers; /* as mode "fp" */
	/*
	 * "fp[,FRAMES]", "dwarf[,BYTES]" (copies of stacks), "unwind[,BYTES]" (chains made of such
	 * copies while recording), "lbr", "no"; NULL: frame_pointers
	 */
	const char *mode;
	bool kernel_only; /* only frames of the kernel */
	bool user_only; /* only frames of the user program */
};

/* Other fields of samples. */
struct sonde_recorder_samples {
	enum sonde_recorder_choice times; /* default: yes, except with per_thread */
	enum sonde_recorder_choice periods; /* default: yes if the frequency varies them */
	const char *branches; /* "any,u", with the names of perf's -j; NULL: no branches */
	const char *user_regs; /* "ax,bx"; "": all registers of the machine; NULL: none */
	const char *intr_regs; /* the same, with the values at the time of the sample */
	bool addresses; /* of data, with data sources and mappings of data */
	bool phys_addresses; /* of data */
	bool data_page_sizes;
	bool code_page_sizes;
	bool cpu;
	bool identifier; /* the event's id at a fixed offset */
	bool raw; /* a tracepoint's fields */
	bool weights;
	bool transactions;
	bool none; /* no samples, only side-band */
	bool thread_counts; /* counts of each task when it ends, for `report -T` */
	bool running_time; /* the time for which counters of a group ran */
};

/* Side-band records. */
struct sonde_recorder_side_band {
	bool switches; /* context switches */
	bool no_switches; /* no context switches, even if a trace needs them */
	bool namespaces;
	bool cgroups; /* also the control group of each sample */
	bool no_bpf; /* no BPF programs that are loaded during the recording */
	const char *synthesis; /* state before the start: "task,mmap,cgroup,all", "no"; NULL: all */
	bool tail_synthesis; /* the state at the end instead; always with buffers.overwrite */
	uint64_t synth_threads; /* threads that read the state, with all_cpus; 0: 1 */
	uint64_t maps_limit_ms; /* time limit for reading the mappings of a process; 0: 500 */
};

/* Build ids of mapped objects; at the end of a recording, samples are searched for objects. */
struct sonde_recorder_build_ids {
	bool none;
	bool all; /* of all mapped objects, even without samples */
	bool in_mappings; /* the kernel records them with mappings; none in the header */
	bool sample_times; /* times of the first and last sample in the header, even with `none` */
	/* folder for copies of the objects with samples, like perf's ~/.debug; made if missing;
	 * NULL: none */
	const char *cache;
};

/* Trace of a processor: the AUX area of an event such as intel_pt//. */
struct sonde_recorder_aux {
	size_t pages; /* of an area, a power of two; 0: 4 MiB, or less if limits require it */
	bool snapshot; /* write trace only on request, see sonde_recorder_snapshot */
	bool snapshot_on_exit; /* also at the end */
	uint64_t snapshot_size; /* bytes; 0: the area's size */
	bool sample; /* samples of the other events in the AUX event's group contain trace */
	uint64_t sample_size; /* bytes; 0: 4096 */
};

/* The rings that the kernel fills. */
struct sonde_recorder_buffers {
	size_t pages; /* of data, a power of two; 0: as limits allow, 512 KiB at most,
	                 or 2 MiB with chains "unwind" */
	uint64_t flush_bytes; /* a ring with this many bytes is read; at most a quarter of it */
	bool overwrite; /* keep only the newest records, and write them at the end */
	bool no_buffering; /* wake up for every sample */
	const char *affinity; /* "cpu", "node": move there to read a cpu's ring; "sys", NULL: do
	                         not move */
	bool raise_file_limit; /* raise the soft RLIMIT_NOFILE to the hard one, except for the
	                          workload */
};

/* The output. */
struct sonde_recorder_output {
	const char *path; /* NULL: "perf.data"; "-": standard output, as a stream */
	char *const *command_line; /* for the header, NULL-terminated; NULL: none */
	bool kcore; /* path is a folder, with a copy of the kernel's code beside the data */
	int compress; /* zstd level 1 to 22, on a separate thread; 0: not compressed */
	bool async; /* write on a separate thread */
	unsigned async_blocks; /* maximum number of unwritten blocks of 4 MiB, 1 to 4; 0: 1 */
	const char *threads; /* path is a folder, written by threads: "cpu", "core", "package",
	                        "numa", or "CPUS/AFFINITY:..."; "" is "cpu"; NULL: one file */
	uint64_t max_bytes; /* stop after writing this many bytes; 0: never */
	bool timestamps; /* add the time to the name of the file; always with switched files */
};

/* Switching of output files: each of these starts a new file. */
struct sonde_recorder_switching {
	bool on_request; /* see sonde_recorder_switch */
	const char *const *triggers; /* event strings: each such event on any cpu, which is not
	                                recorded; sets on_request */
	size_t ntriggers;
	uint64_t bytes; /* size of the file; 0: any */
	uint64_t ns; /* time since the start of the file; 0: any */
	uint64_t files; /* keep this number of newest files; 0: all */
};

/* When events are enabled. */
struct sonde_recorder_control {
	const char *delay; /* "MS", "-1" (until a command), "FROM-TO,..." in ms; NULL: at once */
	bool commands; /* read commands from fd, see sonde-record(1) */
	int fd;
	int ack_fd; /* acknowledges commands; -1: none */
};

/*
 * Texts and arrays must be valid until sonde_recorder_free. The structs in this preview may grow:
 * compile the program again for each version of the library.
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
	bool dry_run; /* check the options and stop; with debug, report every attr */
	void (*message)(void *arg, enum sonde_recorder_message kind, const char *text);
	void *message_arg;
	bool debug; /* also report every attr, and every call that opens an event */
};

/* Returns the names for user_regs and intr_regs on this machine, in order, separated by blanks. */
SONDE_API const char *sonde_recorder_registers(void);

struct sonde_recorder;

/* Returns a new recorder; options may be NULL. NULL: out of memory. */
SONDE_API struct sonde_recorder *sonde_recorder_new(const struct sonde_recorder_options *options);

/*
 * Opens events and output, writes the state of the running system, and starts the workload. 0;
 * SONDE_EARG: an option or an event string is invalid; SONDE_ENOENT: no such process, user, control
 * group or command; SONDE_EPERM, SONDE_EUNSUPPORTED: the kernel refuses an event; SONDE_ELIMIT: too
 * many files, or too high a frequency; SONDE_EIO, SONDE_EOUTPUT, SONDE_ENOMEM. Once per handle.
 */
SONDE_API int sonde_recorder_start(struct sonde_recorder *recorder);

/*
 * Reads rings until the workload or all targets ended, or sonde_recorder_stop was called; then
 * reads the remaining records and completes the file. 0; SONDE_EIO, SONDE_EPERM, SONDE_EOUTPUT,
 * SONDE_ENOMEM: the file has the records written so far.
 */
SONDE_API int sonde_recorder_run(struct sonde_recorder *recorder);

/* Makes sonde_recorder_run take a snapshot of the AUX area; async-signal-safe. */
SONDE_API void sonde_recorder_snapshot(struct sonde_recorder *recorder);

/* Makes sonde_recorder_run continue in a new file, with switching.on_request; async-signal-safe. */
SONDE_API void sonde_recorder_switch(struct sonde_recorder *recorder);

/*
 * Makes sonde_recorder_run end; async-signal-safe. After a second call it does not search for build
 * ids.
 */
SONDE_API void sonde_recorder_stop(struct sonde_recorder *recorder);

struct sonde_recorder_result {
	size_t size;
	uint64_t wakeups;
	uint64_t bytes; /* of records in the file */
	uint64_t samples;
	uint64_t lost; /* samples and records that the kernel dropped because a ring was full */
	uint64_t trace_pieces; /* AUX records of the kernel */
	uint64_t trace_lost; /* of these: cut because the AUX area was full */
	uint64_t trace_gaps; /* of these: with other gaps, or mixed with trace of others */
	uint64_t unpacked, packed; /* bytes before and after compression; 0: not compressed */
	uint64_t unwound; /* samples with a chain that mode "unwind" made of a copied stack */
	uint64_t copies; /* samples of that mode that kept the copy: it could not keep up, or not
	                    unwind them */
	int workload_status; /* wait status, as from waitpid; -1: no workload */
};

/* Returns the counts of a recording; valid as long as the recorder. */
SONDE_API const struct sonde_recorder_result *sonde_recorder_get_result(
        const struct sonde_recorder *recorder);

/* The last failure; never NULL; valid as long as the recorder. */
SONDE_API const struct sonde_error *sonde_recorder_error(const struct sonde_recorder *recorder);

/* Frees the recorder, and ends a workload that has not been started yet; NULL is fine. */
SONDE_API void sonde_recorder_free(struct sonde_recorder *recorder);

#ifdef __cplusplus
}
#endif

#endif
