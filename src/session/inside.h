/* SPDX-License-Identifier: MIT */
/* The parts of a session. Private to this layer: the layers above use session.h. */
#ifndef SONDE_SESSION_INSIDE_H
#define SONDE_SESSION_INSIDE_H

#include "core/index.h"
#include "file/reader.h"
#include "session/pick.h"
#include "session/reads.h"
#include "session/session.h"

#include <sonde/preview/session.h>

struct session_cgroup { /* a CGROUP record */
	uint64_t id;
	const char *path; /* in the input */
};

/* A record as the public API shows it, and what was asked about it. Zero-initialised is valid. */
struct session_shown {
	struct session_sample sample;
	struct record record; /* when it is no sample */
	struct sonde_typed_record typed;
	struct sonde_event event;
	struct frame_reader reader; /* made when first asked for */
	struct sonde_frame *frames;
	size_t frames_cap;
};

/* The next event that sonde_session_choose wants, in shown->event. 1, 0 at the end of the worker's
 * chunk or window, SONDE_ENOMEM. */
int session_show_next(
        struct session_shown *shown, const struct sonde_session *s, struct session_worker *w);
void session_shown_fini(struct session_shown *shown);

struct sonde_session {
	struct sonde_session_options options;
	struct error error;
	struct diag_sink diags;
	struct sonde_file *reader;
	struct file *file; /* of the reader */
	struct timeline *timeline;
	struct session_counts counts;
	bool swap; /* records have the other byte order */
	bool ids; /* events have ids */
	struct session_source *sources[SESSION_STREAMS]; /* the file first */
	size_t nsources;
	struct session_event *events; /* the file's first */
	size_t nevents, events_cap;
	struct record *build_ids; /* BUILD_ID records, until the timeline is built */
	size_t nbuild_ids, build_ids_cap;
	struct session_reads reads; /* periods from counts in samples */
	struct frame_resolver frames;
	struct session_cgroup *cgroups; /* in the order of the file */
	size_t ncgroups, cgroups_cap;
	struct index cgroup_ids; /* of cgroups */
	struct session_worker next; /* of sonde_session_next */
	size_t next_window;
	bool next_open;
	struct session_shown shown_sample;
	struct pick pick; /* of sonde_session_choose */
	uint32_t kinds;
	bool filtered, no_samples;
	struct sonde_process process; /* of the lists */
	struct sonde_thread_life thread;
	struct sonde_mapping mapping;
	struct sonde_object object, mapped;
	bool misused; /* by the options: it cannot be opened */
	bool opened; /* was tried */
	bool ready; /* and succeeded */
};

/* The source of a file's records; NULL: no memory. */
struct session_source *session_file_source(
        const struct file *file, struct diag_sink *diags, bool counts_only);

/* Walks all records of all sources once: side-band into the timeline, counts. */
int session_walk(struct sonde_session *s);

/* Keeps the path of a CGROUP record: the first one of an id stays, as in perf. */
int session_cgroup_add(struct sonde_session *s, const struct record *r);

#endif
