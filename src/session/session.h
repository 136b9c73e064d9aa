/* SPDX-License-Identifier: MIT */
/*
 * The inside of a session, for the layers above it: chunks of samples in no order for counting,
 * windows of samples in time order for printing, and symbols of objects.
 *
 * After sonde_session_open everything here is safe from several threads, each with its own
 * session_worker.
 */
#ifndef SONDE_SESSION_INTERNAL_H
#define SONDE_SESSION_INTERNAL_H

#include "core/arena.h"
#include "core/status.h"
#include "frame/frame.h"
#include "record/record.h"
#include "session/source.h"
#include "timeline/timeline.h"

#include <sonde/session.h>

struct session_sample {
	struct sonde_sample s;
	const struct timeline_view *view; /* thread, comm, address space; until the next sample */
	uint32_t event; /* index of the attr */
	uint32_t cpumode;
	uint64_t offset; /* of the record, bytes from the file's start */
};

/* What one worker needs; init once per worker, use for any number of chunks or windows. */
struct session_worker {
	struct sonde_session *session;
	struct timeline_cursor cursor;
	struct record_scratch scratch;
	/* the current chunk or window */
	const struct session_source *source; /* of the items */
	struct session_item items[SESSION_BATCH];
	size_t nitems, item;
	size_t chunk; /* of the source, when unordered */
	uint64_t at; /* in it */
	struct session_keys keys, spare; /* of a sorted window; for merging */
	size_t key;
	/* a record that is several samples, one for each of its counts */
	struct session_sample counted; /* as it was recorded */
	struct record counted_record;
	const uint64_t *periods; /* [ncounts] */
	size_t ncounts, count, reads_hint;
	bool sorted;
	uint32_t kinds; /* bits by record type: what comes besides samples; set by the user */
};

void session_worker_init(struct session_worker *w, struct sonde_session *s);
void session_worker_fini(struct session_worker *w);

/* Pieces of the data section that can be counted in any order, on any worker. */
size_t session_chunks(const struct sonde_session *s);
void session_chunk_open(struct session_worker *w, size_t chunk);

/* Pieces in time order: all samples of window n come before all of window n + 1. */
size_t session_windows(const struct sonde_session *s);
int session_window_open(struct session_worker *w, size_t window); /* negative: no memory */

/* The next sample of the worker's chunk or window; 1, 0 at its end, negative on failure. */
int session_worker_next(struct session_worker *w, struct session_sample *out);

/*
 * The same with the other records that `kinds` asks for. *r is the record; when it is no sample, *out
 * has who, when and where of its trailer, and the view of the thread that it is about.
 */
int session_worker_next_any(struct session_worker *w, struct record *r, struct session_sample *out);

/* 0, or SONDE_EARG with words where no file was opened. */
int session_ready(struct sonde_session *s);

/*
 * The two halves of sonde_session_open, for callers that may need the header only: after the first
 * one its features can be read, after both everything works.
 */
int session_open_header(struct sonde_session *s, const char *path);
int session_open_records(struct sonde_session *s);

/* Decodes a header feature (record/feature.h) into *out of `size` bytes, which is zero when the
 * feature is absent. 1, 0 when it is absent, or what feature_decode returns. */
int session_feature(
        const struct sonde_session *s, unsigned bit, struct arena *a, void *out, size_t size);
bool session_has_feature(const struct sonde_session *s, unsigned bit);
#define SESSION_FEATURE(s, bit, a, out) session_feature(s, bit, a, out, sizeof(*(out)))

/* Whether records have the other byte order. */
bool session_swap(const struct sonde_session *s);
/* Bytes of all records. */
uint64_t session_size(const struct sonde_session *s);
/*
 * The next record in the order of the input. *position is 0 at first. 1; 0: end. Safe from several
 * threads.
 */
int session_record_next(const struct sonde_session *s, uint64_t *position, struct record *r);
/* All samples were read: the memory of the input's bytes can go; spans of it stay valid. */
void session_forget(const struct sonde_session *s);
const struct timeline *session_timeline(const struct sonde_session *s);
unsigned session_jobs(const struct sonde_session *s);
struct error *session_error(struct sonde_session *s);
struct diag_sink *session_diags(struct sonde_session *s);
void session_progress(struct sonde_session *s, uint64_t done, uint64_t total);

/* What the walk at opening counted. */
struct session_counts {
	uint64_t records[RECORD_TYPE_MAX]; /* by type; unknown ones in unknown_records */
	uint64_t unknown_records;
	uint64_t lost_events; /* sum of "lost" of LOST records */
	uint64_t lost_samples; /* sum of LOST_SAMPLES */
	uint64_t lost_chunks; /* LOST records */
	uint64_t lost; /* what was lost: LOST and LOST_SAMPLES, each loss once */
	uint64_t first_time, last_time; /* of samples, ns; 0 when there are none */
};
const struct session_counts *session_counts(const struct sonde_session *s);

struct session_event_count {
	uint64_t samples, period; /* number of samples, sum of their periods */
	uint64_t lost_records,
	        lost_samples; /* by LOST records and LOST_SAMPLES with the event's id */
	uint64_t lost; /* each loss once */
	uint64_t side_band[RECORD_KERNEL_MAX]; /* records that carry this event's id, by type */
};

/* An event of the recording. Text and ids live as long as the session. */
struct session_event {
	const char *name;
	const uint64_t *ids;
	size_t nids;
	struct sonde_attr attr;
	struct record_plan plan;
	struct session_event_count count;
};

/* The table of events, [sonde_session_events()]; an event's number is its index. */
const struct session_event *session_events(const struct sonde_session *s);
/* The event that has an id; NULL: none. */
const struct session_event *session_event_by_id(const struct sonde_session *s, uint64_t id);

/* What samples hold that this version cannot show; bits. */
enum session_not_shown {
	SESSION_USER_STACKS = 1, /* copies of the stack, to be unwound into call chains */
	SESSION_TRACE_FIELDS = 2, /* the text of tracepoints */
	SESSION_TRACES = 4, /* AUX area traces, to be decoded into samples */
	SESSION_BRANCHES = 8 /* branch stacks */
};

/*
 * Reports each of `kinds` that the recording has, as one SONDE_DIAG_NOT_SHOWN with the number of
 * samples. `instead`: the command that can show it, such as "perf script".
 */
void session_report_not_shown(struct sonde_session *s, unsigned kinds, const char *instead);

/* The path of a control group; NULL: no record names it. */
const char *session_cgroup(const struct sonde_session *s, uint64_t id);

/* What the frames of the recording are found with. */
const struct frame_resolver *session_frames(const struct sonde_session *s);

/* Sets hit[i] of each object that samples fell into, [timeline_objects()]. Negative on failure. */
int session_hits(struct sonde_session *s, bool *hit);

#endif
