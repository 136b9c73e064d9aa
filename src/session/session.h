/* SPDX-License-Identifier: MIT */
/*
 * A session for higher layers: chunks of samples in any order for counting, windows of samples in
 * time order for printing, and symbols of objects.
 *
 * After sonde_session_open all functions are safe from several threads, each with its own
 * session_worker.
 */
#ifndef SONDE_SESSION_INTERNAL_H
#define SONDE_SESSION_INTERNAL_H

#include "aux/aux.h"
#include "core/arena.h"
#include "core/status.h"
#include "frame/frame.h"
#include "record/record.h"
#include "session/source.h"
#include "timeline/timeline.h"

#include <sonde/session.h>

struct session_sample {
	struct sonde_sample s;
	const struct aux_extra *extra; /* of a sample that was made of a trace; NULL: of others */
	const struct timeline_view *view; /* thread, name, address space; valid until the next
	                                     sample */
	uint32_t event; /* index of the attr */
	uint32_t cpumode;
	uint16_t type, misc; /* of the record */
	uint64_t offset; /* of the record, in bytes from the file's start */
};

/* The time of the code at a sample, for frame_code_then: without times the order of the recording. */
static inline uint64_t session_sample_then(const struct session_sample *s)
{
	if ((s->s.present & SONDE_SAMPLE_TIME) != 0) {
		return s->s.time;
	}
	return s->extra != NULL ? UINT64_MAX : s->offset;
}

/* State of a worker; initialise it once, use it for any number of chunks or windows. */
struct session_worker {
	uint64_t own_chain[2]; /* of a sample whose calls are not known */
	struct sonde_session *session;
	struct timeline_cursor cursor;
	struct record_scratch scratch;
	/* the current chunk or window */
	const struct session_source *source; /* of the items */
	struct session_item items[SESSION_BATCH];
	size_t nitems, item;
	size_t chunk; /* of the source, in any order */
	struct session_state *states; /* by source; NULL until needed */
	int failed; /* status of reading records that failed */
	struct session_keys keys, spare; /* keys of a sorted window; for merging */
	size_t key;
	/* a record that becomes several samples, one for each count */
	struct session_sample counted; /* the sample as recorded */
	struct record counted_record;
	const uint64_t *periods; /* [ncounts] */
	size_t ncounts, count, reads_hint;
	/* samples of branches that share a record */
	struct session_sample run; /* the first one */
	struct record run_record; /* its record, with the misc of the last one */
	struct aux_extra run_extra; /* of the last one that was returned */
	const struct aux_branch *branches; /* [nbranches], that are left */
	size_t nbranches;
	bool sorted;
	uint32_t kinds; /* bits by record type: records to return besides samples; set by the
	                   caller */
};

void session_worker_init(struct session_worker *w, struct sonde_session *s);
void session_worker_fini(struct session_worker *w);

/* Parts of the recording that can be counted in any order, on any worker. */
size_t session_chunks(const struct sonde_session *s);
void session_chunk_open(struct session_worker *w, size_t chunk);

/* Parts in time order: all samples of window n come before those of window n + 1. */
size_t session_windows(const struct sonde_session *s);
int session_window_open(struct session_worker *w, size_t window); /* negative: out of memory */

/* Returns the next sample of the chunk or window: 1, 0 at its end, negative: failure. */
int session_worker_next(struct session_worker *w, struct session_sample *out);

/*
 * As session_worker_next, with other records selected by `kinds`. *r is the record; if it is no
 * sample, *out has pid, tid, time and cpu of its trailer, and the view of the thread that it is
 * about.
 */
int session_worker_next_any(struct session_worker *w, struct record *r, struct session_sample *out);

/*
 * The samples after the worker's last one that differ from it by their branch only; in *out, valid
 * until the worker opens another chunk or window. Returns their number: the worker goes on after them.
 */
size_t session_worker_run(struct session_worker *w, const struct aux_branch **out);

/* The counts of a record with counts of several events. */
struct session_group {
	const struct sonde_record_read_value *values; /* [n]; ids of events */
	const uint64_t *periods; /* [n]: how much they rose; 0: there is no sample for it */
	size_t n;
};

/*
 * Whether a sample, the worker's last one, is the last one of a record with counts; then *out has
 * all of them, valid until the next sample.
 */
bool session_worker_group(const struct session_worker *w, const struct session_sample *sample,
        struct session_group *out);

/*
 * Calls fn for each record of the types in `kinds`, chunk by chunk and so in the order of the file, with
 * the trailer and view that session_worker_next_any returns; samples are left out. Returns 0, the
 * negative result of fn at which it stopped, or a failure of looking up the thread.
 */
typedef int (*session_record_fn)(
        void *arg, const struct record *r, const struct session_sample *sample);
int session_each_record(struct sonde_session *s, uint32_t kinds, session_record_fn fn, void *arg);

/* 0, or SONDE_EARG with a text if no file is open. */
int session_ready(struct sonde_session *s);

/*
 * The two halves of sonde_session_open, for callers that may need only the header: after the first,
 * features can be read; after both, everything.
 */
int session_open_header(struct sonde_session *s, const char *path);
int session_open_records(struct sonde_session *s);

/*
 * Decodes a header feature (record/feature.h) into *out of `size` bytes, which is zero if the
 * feature is absent. Returns 1, 0 if absent, or the result of feature_decode.
 */
int session_feature(
        const struct sonde_session *s, unsigned bit, struct arena *a, void *out, size_t size);
bool session_has_feature(const struct sonde_session *s, unsigned bit);
#define SESSION_FEATURE(s, bit, a, out) session_feature(s, bit, a, out, sizeof(*(out)))

/* The letters of the option itrace, and the traces that they select; NULL: none are decoded. */
const struct itrace *session_itrace(const struct sonde_session *s);
const struct aux *session_aux(const struct sonde_session *s);
/* Whether the recording has traces, of any kind. */
bool session_has_traces(const struct sonde_session *s);
/* Errors in traces whose samples are wanted. */
uint64_t session_trace_errors(const struct sonde_session *s);

/* The formats of tracepoints that the recorder copied; n is 0 if there are none. */
struct span session_tracing(const struct sonde_session *s);

/* Whether records are in the other byte order. */
bool session_swap(const struct sonde_session *s);
/* Size of all records in bytes. */
uint64_t session_size(const struct sonde_session *s);
/*
 * Returns the next record of the file, of any type, in input order: 1, or 0 at the end. *position is
 * 0 at first. For records of tools, which only files have (STAT, THREAD_MAP); those of the kernel, of
 * all sources: session_worker_next_any. Safe from several threads.
 */
int session_file_record_next(const struct sonde_session *s, uint64_t *position, struct record *r);
/*
 * Returns the input's pages to the system, from any thread: spans stay valid, as pages are read again
 * when they are used.
 */
void session_forget(const struct sonde_session *s);
const struct timeline *session_timeline(const struct sonde_session *s);
unsigned session_jobs(const struct sonde_session *s);
struct error *session_error(struct sonde_session *s);
struct diag_sink *session_diags(struct sonde_session *s);
void session_progress(struct sonde_session *s, uint64_t done, uint64_t total);

/* Results of the walk at opening. */
struct session_counts {
	uint64_t records[RECORD_TYPE_MAX]; /* by type; unknown ones in unknown_records */
	uint64_t unknown_records;
	uint64_t lost_events; /* sum of "lost" in LOST records */
	uint64_t lost_samples; /* sum of LOST_SAMPLES */
	uint64_t lost_chunks; /* number of LOST records */
	uint64_t lost; /* sum of both, each loss counted once */
	uint64_t first_time, last_time; /* of samples, ns; 0: no samples */
};
const struct session_counts *session_counts(const struct sonde_session *s);

struct session_event_count {
	uint64_t samples, period; /* number of samples, sum of their periods */
	uint64_t lost_records,
	        lost_samples; /* by LOST records and LOST_SAMPLES with the event's id */
	uint64_t lost; /* each loss counted once */
	uint64_t side_band[RECORD_KERNEL_MAX]; /* records with this event's id, by type */
};

/* An event of the recording. Its text and ids are valid as long as the session. */
struct session_event {
	const char *name;
	const uint64_t *ids;
	size_t nids;
	struct sonde_attr attr;
	struct record_plan plan;
	struct session_event_count count;
	bool made; /* only traces have its samples, which are made of them */
	bool at_end; /* its samples have no times, and are after all others */
	/* Its samples get call chains, or branch stacks, of traces (the letters G and L). */
	bool gets_chain, gets_branches;
};

/* Whether samples that are made of traces have no times, and are after all others. */
bool session_made_at_end(const struct sonde_session *s);

/* The table of events, [sonde_session_events()]; an event's number is its index. */
const struct session_event *session_events(const struct sonde_session *s);
/*
 * Checks that an option names an event of the recording: 0, also for NULL, or SONDE_EARG with a
 * text that has similar names.
 */
int session_event_check(struct sonde_session *s, const char *option, const char *name);
/* Whether an event was recorded without chains because of its term call-graph=no. */
bool session_event_lacks_chains(const struct sonde_session *s, size_t event);
/* Returns the event with an id, or NULL. */
const struct session_event *session_event_by_id(const struct sonde_session *s, uint64_t id);

/* Contents of samples that this version cannot show; bits. */
enum session_not_shown {
	SESSION_USER_STACKS = 1, /* copies of the stack that cannot be unwound */
	SESSION_TRACES = 4, /* AUX area traces, not decoded into samples */
	SESSION_STAT = 8 /* counts of perf stat */
};

/*
 * Reports each of `kinds` that the recording has, as one SONDE_DIAG_NOT_SHOWN with the number of
 * samples. `instead`: a command that can show it, such as "perf script".
 */
void session_report_not_shown(struct sonde_session *s, unsigned kinds, const char *instead);

/*
 * Reports which share of the unwound call chains is not complete, and why, as one
 * SONDE_DIAG_NOT_SHOWN; if all are complete, as a note. Nothing if no chains were unwound.
 * 0, or SONDE_ENOMEM.
 */
int session_report_unwound(struct sonde_session *s);

/* Returns the path of a control group; NULL: no record has it. */
const char *session_cgroup(const struct sonde_session *s, uint64_t id);

/* The guest that recorded the samples of an event's id. */
struct session_guest {
	uint64_t id;
	int32_t machine_pid; /* of the guest's process on the host; 0: the host itself */
	int32_t vcpu; /* processor of the guest; -1: none */
};
struct session_guest session_guest(const struct sonde_session *s, uint64_t id);

/* The resolver for frames of the recording. */
const struct frame_resolver *session_frames(const struct sonde_session *s);

/* Prepares session_hits, before the session is opened: most recordings are then read only once. */
void session_want_hits(struct sonde_session *s);
/* Sets hit[i] for each object that samples hit, [timeline_objects()]. Negative: failure. */
int session_hits(struct sonde_session *s, bool *hit);
/* The same, also for their callers, branches and data. */
int session_all_hits(struct sonde_session *s, bool *hit);

#endif
