/* SPDX-License-Identifier: MIT */
/* The recorder owns a plan, rings, a sink and the workload; only the files of this folder see it, those
 * of the rooms (plan, rings, sink) take what they need. */
#ifndef SONDE_CAPTURE_RECORDER_H
#define SONDE_CAPTURE_RECORDER_H

#include "capture/control.h"
#include "capture/plan/plan.h"
#include "capture/rings/bpf.h"
#include "capture/rings/rings.h"
#include "capture/rings/trigger.h"
#include "capture/scan.h"
#include "capture/sink/output.h"
#include "capture/sink/stream.h"
#include "capture/wait.h"
#include "core/status.h"
#include "core/text.h"
#include "file/writer.h"
#include "host/affinity.h"
#include "host/synth.h"
#include "host/workload.h"

#include <sonde/preview/recorder.h>

struct sonde_recorder {
	struct sonde_recorder_options options;
	const struct host_kernel *kernel;
	struct capture_log log;
	int root_fd; /* where proc and sys are: "/" but for tests */
	struct error error;
	bool misused; /* by the options: it cannot start */
	struct sonde_error public_error;
	struct sonde_recorder_result result;

	struct capture_plan plan;
	struct capture_rings rings;
	bool watches_bpf; /* somebody asks about BPF programs */
	struct capture_bpf bpf;
	struct host_affinity affinity; /* near which cpu it reads a ring */

	struct host_workload workload;
	struct capture_stop stop;
	int snapshot_fd;

	struct capture_output output;
	struct capture_streams streams; /* threads that read rings */
	bool tail_synthesis;
	struct host_synth synth; /* what of the running system is recorded */
	int switch_fd;
	struct capture_triggers triggers;
	struct capture_control control;
	uint64_t clock_wall_ns, clock_ns;
};

/* ---- what comes before and after records of the kernel ---- */

int capture_synth_plan(struct sonde_recorder *r); /* options to r->synth */
int capture_synth(struct sonde_recorder *r); /* start state into the file */
int capture_lost(struct sonde_recorder *r); /* counts of lost samples, at the end */

/* ---- the run ---- */

/* Writes what rings have to the output: full enough ones, or all. */
int capture_pass(struct sonde_recorder *r, bool all);
/* Writes what overwritten rings hold now. */
int capture_dump_backward(struct sonde_recorder *r);
/* Takes a snapshot of every AUX area, after the records in the rings. */
int capture_snapshot(struct sonde_recorder *r);
int capture_loop(struct sonde_recorder *r);

/* ---- the output ---- */

/* Opens the first file and writes what comes before records. SONDE_EIO, SONDE_EPERM, ... */
int capture_output_start(struct sonde_recorder *r);

/* Features of a folder, before its threads write. */
int capture_output_describe(struct sonde_recorder *r);

/* Completes the file; quick: without reading it back. */
int capture_output_finish(struct sonde_recorder *r, bool quick);

/* After a failure: leaves whole records only, and features if there is room. Keeps the error. */
void capture_output_salvage(struct sonde_recorder *r);

/* Goes on in another file. */
int capture_output_switch(struct sonde_recorder *r);

/* ms until the file must be switched because of its age; -1: never. */
int capture_output_timeout(const struct sonde_recorder *r);
/* 1: it is time to switch; 2: all is full, stop. */
int capture_output_due(struct sonde_recorder *r);

#define CAPTURE_FEATURES_MAX 32
/* The header features, to be freed with capture_features_free. 0 or SONDE_ENOMEM. */
int capture_features(struct sonde_recorder *r, const struct capture_scan *scan,
        struct file_writer_feature out[CAPTURE_FEATURES_MAX], size_t *count);
void capture_features_free(struct file_writer_feature *features, size_t n);

#endif
