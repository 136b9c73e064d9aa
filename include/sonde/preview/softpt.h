/* SPDX-License-Identifier: MIT */
/*
 * Software PT: traces programs as Intel PT does, on processors without it. The program runs under
 * ptrace(2), and its exact flow is written as Intel PT packets in a perf.data file. Time is modelled.
 *
 *	struct sonde_softpt_options options = {.size = sizeof(options), .workload = argv};
 *	struct sonde_softpt *s = sonde_softpt_new(&options);
 *	int rc = s ? sonde_softpt_start(s) : SONDE_ENOMEM;
 *
 *	rc = rc < 0 ? rc : sonde_softpt_run(s);
 *	sonde_softpt_free(s);
 *
 * Threads: one thread calls all functions of a handle; only sonde_softpt_stop and
 * sonde_softpt_snapshot may be called from any thread or signal handler. While it runs, waitpid(2)
 * is called for all children of the process.
 */
#ifndef SONDE_PREVIEW_SOFTPT_H
#define SONDE_PREVIEW_SOFTPT_H

#include <sonde/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Texts and arrays must be valid until sonde_softpt_free. */
struct sonde_softpt_options {
	size_t size; /* sizeof(struct sonde_softpt_options) */
	const char *event; /* "intel_pt/TERMS/u"; NULL: intel_pt//u */
	char *const *workload; /* command and arguments, ended by NULL; NULL: none */
	const char *pids; /* "PID,PID": running processes, with their threads; NULL: none */
	const char *filter; /* address filters, as in sonde-record(1); NULL: none */
	const char *output; /* NULL: perf.data; "-": standard output */
	char *const *command_line; /* for the file, ended by NULL; NULL: none */
	size_t area_pages; /* size of the AUX area that is modelled; 0: 4 MiB */
	uint64_t snapshot_size; /* bytes that a snapshot keeps; 0: the area */
	uint64_t max_bytes; /* stop when the file has so many bytes; 0: no limit */
	bool snapshot; /* keep trace in memory, and write it at sonde_softpt_snapshot */
	bool snapshot_on_exit;
	bool no_build_ids;
	const char *build_id_cache; /* copy objects to this build-id cache; NULL: do not */
	bool single_steps; /* execute every instruction alone: slow, for comparison */
};

struct sonde_softpt;

/* A new handle; options may be NULL. NULL: out of memory or file descriptors. */
SONDE_API struct sonde_softpt *sonde_softpt_new(const struct sonde_softpt_options *options);

/* NULL is fine. A workload that has not been started yet is ended. */
SONDE_API void sonde_softpt_free(struct sonde_softpt *s);

/*
 * Opens the output, and starts the workload or attaches to the processes. 0; SONDE_EARG: an option
 * is invalid; SONDE_ENOENT: no such process or command; SONDE_EPERM: it may not be traced;
 * SONDE_EUNSUPPORTED: not on this machine; SONDE_EIO, SONDE_EOUTPUT, SONDE_ENOMEM. Once per handle.
 */
SONDE_API int sonde_softpt_start(struct sonde_softpt *s);

/*
 * Traces until all tasks have ended, a limit is reached or sonde_softpt_stop was called, and
 * completes the file. Attached processes then run on without a tracer, a workload is sent SIGTERM.
 * 0; SONDE_EIO, SONDE_EOUTPUT, SONDE_ENOMEM.
 */
SONDE_API int sonde_softpt_run(struct sonde_softpt *s);

/* Async-signal-safe: make sonde_softpt_run end; make it take a snapshot. */
SONDE_API void sonde_softpt_stop(struct sonde_softpt *s);
SONDE_API void sonde_softpt_snapshot(struct sonde_softpt *s);

struct sonde_softpt_result {
	size_t size;
	uint64_t insns; /* instructions that were executed */
	uint64_t stops; /* of the program, to follow its flow; without system calls and signals */
	uint64_t steps; /* of these: for a single instruction */
	uint64_t syscalls, signals, tasks, switches;
	uint64_t gaps; /* places where the flow was lost; the trace stops and starts again there */
	uint64_t branch_bits, target_packets, psbs;
	uint64_t trace_bytes, bytes; /* of trace; of all records in the file */
	uint64_t run_ns; /* time of sonde_softpt_run until the last task ended */
	bool block_steps; /* this processor can stop at branches only (BTF) */
	int workload_status; /* as from waitpid; -1: no workload */
};

/* Never NULL; valid as long as the handle. */
SONDE_API const struct sonde_softpt_result *sonde_softpt_get_result(const struct sonde_softpt *s);
SONDE_API const struct sonde_error *sonde_softpt_error(const struct sonde_softpt *s);

#ifdef __cplusplus
}
#endif

#endif
