/* SPDX-License-Identifier: MIT */
/* Private to session: its parts. Higher layers use session.h. */
#ifndef SONDE_SESSION_INSIDE_H
#define SONDE_SESSION_INSIDE_H

#include "core/index.h"
#include "file/reader.h"
#include "session/hit_pages.h"
#include "session/pick.h"
#include "session/reads.h"
#include "session/session.h"

#include <sonde/preview/session.h>

struct session_cgroup { /* from a CGROUP record */
	uint64_t id;
	const char *path; /* in the input */
};

/*
 * A record or sample for the public API, with results of its accessors. Empty when
 * zero-initialised.
 */
struct session_shown {
	struct session_sample sample;
	struct record record; /* when it is no sample */
	struct sonde_typed_record typed;
	struct sonde_event event;
	struct frame_reader reader; /* made when first needed */
	struct sonde_frame *frames;
	size_t frames_cap;
};

void session_shown_fini(struct session_shown *shown);

struct sonde_session {
	struct sonde_session_options options;
	struct image_roots roots; /* of symfs */
	const char **roots_list; /* their array */
	_Atomic bool progress_busy; /* a worker is in on_progress */
	struct error error;
	struct diag_sink diags;
	struct sonde_file *reader;
	struct file *file; /* owned by the reader */
	struct timeline *timeline;
	struct session_counts counts;
	bool swap; /* records have the other byte order */
	bool ids; /* events have ids */
	struct session_source *sources[SESSION_STREAMS]; /* the file first */
	size_t nsources;
	struct session_event *events; /* the file's first */
	size_t nevents, events_cap;
	struct record *build_ids; /* BUILD_ID records, kept until the timeline is built */
	size_t nbuild_ids, build_ids_cap;
	struct session_reads reads; /* periods of samples with counts */
	struct itrace itrace; /* from the option */
	struct aux *aux; /* traces; NULL: they are not wanted */
	struct session_window *windows; /* if there are traces; else those of the first source */
	size_t nwindows, windows_cap;
	struct frame_resolver frames;
	struct arena header; /* what the resolver has of the header */
	struct sonde_record_time_conv tsc; /* the last TIME_CONV record; time_mult 0: none */
	char *debug_folder; /* `.debug` of the option home */
	char *kernel_copy; /* kallsyms of session_choose_kernel; NULL: there is no copy */
	struct session_cgroup *cgroups; /* in file order */
	size_t ncgroups, cgroups_cap;
	struct index cgroup_ids; /* of cgroups */
	struct session_aux_flags { /* AUX records: all, and those with a flag */
		uint64_t records, truncated, partial, collisions;
	} aux_flags;
	bool guest_code; /* samples of guests have the guest's views */
	struct session_guest *guests; /* of ids, by the last ID_INDEX record with each */
	size_t nguests, guests_cap;
	struct index guest_ids; /* of guests */
	struct session_worker next; /* for sonde_session_next */
	size_t next_window;
	bool next_open;
	struct session_shown shown_sample;
	struct pick pick; /* for sonde_session_choose */
	uint32_t kinds;
	bool filtered, no_samples;
	struct sonde_process process; /* for the lists */
	struct sonde_thread_life thread;
	struct sonde_mapping mapping;
	struct sonde_object object, mapped;
	size_t epoch_records; /* side-band records in an epoch of the timeline; 0: EPOCH_RECORDS */
	struct session_locator *locator; /* of sonde_session_locate; NULL until needed */
	bool wants_hits; /* session_hits will be called */
	struct hit_pages *pages; /* of the samples; NULL: not collected */
	bool misused; /* the options are wrong: it cannot be opened */
	bool opened; /* opening was tried */
	bool ready; /* opening succeeded */
};

/* Makes the source of a file's records; NULL: out of memory. */
struct session_source *session_file_source(
        const struct file *file, struct diag_sink *diags, bool counts_only);

/* Chooses the events whose samples get call chains or branch stacks of traces, before session_walk. */
void session_aux_choose(struct sonde_session *s);

/* Makes samples of the traces that session_walk found, after the timeline was sealed. */
int session_aux_open(struct sonde_session *s);

/* Walks all records of all sources once: side-band goes to the timeline, records are counted. */
int session_walk(struct sonde_session *s);

/* Reads records of the timeline again, see timeline_limit; arg: the session. */
int session_reread(void *arg, uint64_t after, uint64_t limit, struct timeline_notes *notes);

/* Stores the path of a CGROUP record; as in perf, the first one of an id is kept. */
int session_cgroup_add(struct sonde_session *s, const struct record *r);

/* Reads the jitdump file that a record maps, if it is one. SONDE_ENOMEM. */
int session_jit_add(struct sonde_session *s, const struct record *r, uint64_t time);

/* Frees what sonde_session_locate made, before the timeline is freed. */
void session_locator_free(struct sonde_session *s);

/* Sets *can if the header names this host and its kernel; SONDE_ENOMEM. */
int session_find_kernel(const struct sonde_session *s, bool *can);

/* Uses the copy of the recorded kernel in the cache of build ids, if there is one. SONDE_ENOMEM. */
int session_choose_kernel(struct sonde_session *s, const char *build_ids);

/* Adds the code of BPF programs to the resolver. SONDE_ENOMEM. */
int session_programs_add(struct sonde_session *s);

/* Stores the guests of an ID_INDEX record. SONDE_ENOMEM. */
int session_guests_add(struct sonde_session *s, const struct record *r);

#endif
