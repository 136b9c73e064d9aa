/* SPDX-License-Identifier: MIT */
/* The parts of a session. Private to this layer: the layers above use session.h. */
#ifndef SONDE_SESSION_INSIDE_H
#define SONDE_SESSION_INSIDE_H

#include "core/index.h"
#include "file/file.h"
#include "session/reads.h"
#include "session/session.h"

struct session_round { /* records up to here were all written before the next mark */
	uint64_t end; /* bytes from the file's start */
	uint64_t limit; /* no sample behind the following round is at or before this time */
};

struct session_cgroup { /* a CGROUP record */
	uint64_t id;
	const char *path; /* in the input */
};

/* A sample as the public API shows it, and what was asked about it. Zero-initialised is valid. */
struct session_shown {
	struct session_sample sample;
	struct sonde_event event;
	struct frame_reader reader; /* made when first asked for */
	struct sonde_frame *frames;
	size_t frames_cap;
};

/* Fills the event of shown->sample. */
const struct sonde_event *session_show(struct session_shown *shown, const struct sonde_session *s);
void session_shown_fini(struct session_shown *shown);

struct sonde_session {
	struct sonde_session_options options;
	struct error error;
	struct sonde_error *shown; /* what sonde_session_error gives out */
	struct diag_sink diags;
	struct file file;
	struct timeline *timeline;
	struct session_counts counts;
	struct session_event *events; /* [nevents] */
	size_t nevents;
	struct record *build_ids; /* BUILD_ID records, until the timeline is built */
	size_t nbuild_ids, build_ids_cap;
	uint64_t *chunks; /* start offsets, and the end behind them */
	size_t nchunks, chunks_cap;
	struct session_round *rounds;
	size_t nrounds, rounds_cap;
	struct session_reads reads; /* periods from counts in samples */
	struct frame_resolver frames;
	struct session_cgroup *cgroups; /* in the order of the file */
	size_t ncgroups, cgroups_cap;
	struct index cgroup_ids; /* of cgroups */
	struct session_worker next; /* of sonde_session_next */
	size_t next_window;
	bool next_open;
	struct session_shown shown_sample;
	bool misused; /* by the options: it cannot be opened */
	bool opened; /* was tried */
	bool ready; /* and succeeded */
};

/* Walks all records once: side-band into the timeline, chunks, rounds, counts. */
int session_walk(struct sonde_session *s);

/* Keeps the path of a CGROUP record: the first one of an id stays, as in perf. */
int session_cgroup_add(struct sonde_session *s, const struct record *r);

#endif
