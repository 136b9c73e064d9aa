/* SPDX-License-Identifier: MIT */
/*
 * The recorder owns a plan, rings, a sink and the workload. Only files of this folder use it; those
 * in plan/, rings/ and sink/ get the parts they need.
 */
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
#include "core/status.h"
#include "core/text.h"
#include "file/writer.h"
#include "host/affinity.h"
#include "host/description.h"
#include "host/synth.h"
#include "host/wait.h"
#include "host/workload.h"

#include <sonde/preview/recorder.h>

struct sonde_recorder {
	struct sonde_recorder_options options;
	const struct host_kernel *kernel;
	struct capture_log log;
	int root_fd; /* descriptor of the directory that contains proc and sys: "/" except in
	                tests */
	struct error error;
	bool misused; /* the options are wrong: it cannot start */
	struct sonde_recorder_result result;

	struct capture_plan plan;
	struct capture_rings rings;
	bool watches_bpf; /* details of BPF programs are wanted */
	struct capture_bpf bpf;
	struct host_affinity affinity; /* the cpus near which it reads a ring */

	struct host_workload workload;
	struct host_stop stop;
	int snapshot_fd;

	struct capture_output output;
	struct capture_streams streams; /* threads that read rings */
	bool tail_synthesis;
	struct host_synth synth; /* which state of the running system is recorded */
	int switch_fd;
	struct capture_triggers triggers;
	struct capture_control control;
	uint64_t clock_wall_ns, clock_ns;
};

/* ---- records before and after those of the kernel ---- */

int capture_synth_plan(struct sonde_recorder *r); /* options to r->synth */
int capture_synth(struct sonde_recorder *r); /* start state into the file */
int capture_lost(struct sonde_recorder *r); /* counts of lost samples, at the end */

/* ---- the run ---- */

/* Writes data of rings to the output: of rings with enough, or of all. */
int capture_pass(struct sonde_recorder *r, bool all);
/* Writes the current contents of overwritten rings. */
int capture_dump_backward(struct sonde_recorder *r);
/* Takes a snapshot of every AUX area, after the records in the rings. */
int capture_snapshot(struct sonde_recorder *r);
int capture_loop(struct sonde_recorder *r);

/* ---- the output ---- */

/* Opens the first file and writes everything before the records. SONDE_EIO, SONDE_EPERM, ... */
int capture_output_start(struct sonde_recorder *r);

/* Writes the features of a directory, before its threads write. */
int capture_output_describe(struct sonde_recorder *r);

/* Whether the file has, or may have, samples with copies of stacks although chains are made. */
bool capture_output_copies(const struct sonde_recorder *r);

/* Completes the file; quick: without reading it back. */
int capture_output_finish(struct sonde_recorder *r, bool quick);

/* After a failure: keeps complete records, and features if there is room. The error is kept. */
void capture_output_salvage(struct sonde_recorder *r);

/* Continues in another file. */
int capture_output_switch(struct sonde_recorder *r);

/* Returns ms until the file must be switched because of its age; -1: never. */
int capture_output_timeout(const struct sonde_recorder *r);
/* 1: switch the file now; 2: the size limit is reached, stop. */
int capture_output_due(struct sonde_recorder *r);

/* Events as the file describes them, the plain ones first. */
struct capture_events {
	struct event_list list; /* only the array is its own */
	struct host_ids *ids; /* by event */
	uint64_t *copied; /* ids of events of copied stacks */
	size_t ncopied;
};

/* copies: also the events of samples that keep their copies of stacks. 0 or SONDE_ENOMEM. */
int capture_events_make(struct capture_events *out, const struct sonde_recorder *r, bool copies);
void capture_events_fini(struct capture_events *e);
/* With --call-graph unwind, starts the stage that makes call chains. */
int capture_events_unwind(struct sonde_recorder *r);

#define CAPTURE_FEATURES_MAX 32
/* Returns the header features; free with capture_features_free. 0 or SONDE_ENOMEM. */
int capture_features(struct sonde_recorder *r, const struct capture_scan *scan,
        struct file_writer_feature out[CAPTURE_FEATURES_MAX], size_t *count);
void capture_features_free(struct file_writer_feature *features, size_t n);

#endif
