/* SPDX-License-Identifier: MIT */
/*
 * The recording: trace in AUXTRACE records, and records about tasks next to it.
 *
 * Records are gathered and written in rounds: the trace up to now, the records, FINISHED_ROUND. In a
 * snapshot the trace is kept in memory instead, and only its newest bytes are written on request.
 */
#ifndef SONDE_SOFTPT_TAPE_H
#define SONDE_SOFTPT_TAPE_H

#include "core/text.h"
#include "event/event.h"
#include "file/writer.h"
#include "softpt/flow.h"
#include "softpt/space.h"

#include <sys/types.h>

#define TAPE_TRACE_ID 1u /* ids of the events */
#define TAPE_TASKS_ID 2u

struct tape_options {
	int root;
	const char *path; /* "-": standard output */
	char *const *command_line;
	const char *event_name;
	struct flow_terms terms;
	uint64_t config; /* attr.config */
	const char *filter; /* in the kernel's form; NULL: none */
	bool snapshot;
	uint64_t keep; /* bytes of trace that a snapshot keeps */
	uint64_t round; /* bytes of trace of a round */
	uint64_t max_bytes; /* 0: no limit */
	bool no_build_ids;
	const char *cache; /* the build-id cache to fill; NULL: none */
};

/* The trace of the modelled processor, or of a task. */
struct tape_track {
	struct flow flow;
	uint32_t index;
	pid_t tid; /* -1: of the processor */
	uint64_t end; /* bytes of trace so far */
	uint64_t begin; /* snapshot: the first byte that is still to be written */
	struct text kept; /* snapshot: the newest bytes */
};

struct tape {
	struct tape_options options;
	struct error *err;
	struct event_list events;
	struct file_writer writer;
	bool open, per_cpu;
	int fd;
	struct text records; /* of this round */
	struct text
	        index; /* {u64 offset in the file, u64 size} of AUXTRACE records without trace */
	uint64_t last_time; /* of a record */
	uint64_t begun_wall, begun; /* ns of CLOCK_REALTIME and CLOCK_MONOTONIC */
	uint64_t trace_bytes;
};

/* Opens the output and writes what comes before all records. */
int tape_start(struct tape *tape, const struct tape_options *options, struct error *err);
void tape_fini(struct tape *tape);

int tape_track_init(struct tape *tape, struct tape_track *track, uint32_t index, pid_t tid);
void tape_track_fini(struct tape_track *track);

/* The state of a process that runs already. */
int tape_running(struct tape *tape, pid_t pid);

/* Records of the task pid/tid, at the time of its track. */
struct tape_task {
	struct tape_track *track;
	pid_t pid, tid;
};
void tape_comm(struct tape *tape, const struct tape_task *task, const char *name, bool exec);
void tape_map(struct tape *tape, const struct tape_task *task, const struct space_map *map);
/* ppid, ptid: of the parent. */
void tape_fork(struct tape *tape, const struct tape_task *task, pid_t ppid, pid_t ptid);
void tape_exit(struct tape *tape, const struct tape_task *task, pid_t ppid, pid_t ptid);
void tape_switch(struct tape *tape, const struct tape_task *task, bool out);
void tape_begin_task(struct tape *tape, const struct tape_task *task);

/* Writes the gathered records as they are. */
int tape_put_records(struct tape *tape);

/* Writes a round if enough has been gathered, or in any case. 1: the size limit is reached. */
int tape_pass(struct tape *tape, struct tape_track *track, bool all);

/* Writes the newest trace. */
int tape_snapshot(struct tape *tape, struct tape_track *track);

/* Completes the file. */
int tape_finish(struct tape *tape);

#endif
