/* SPDX-License-Identifier: MIT */
/*
 * A recording opened for reading: header, attrs with their ids, features, and its records as one
 * range of positions. Spans and records point into memory maps that stay until file_close.
 *
 * A position identifies a byte of the record streams, which follow each other in a range of u64. In
 * a plain file the position of a record is its offset; where records were inflated it is the offset
 * in the spool. file_place converts a position to its place in the input.
 */
#ifndef SONDE_FILE_H
#define SONDE_FILE_H

#include "abi/abi.h"
#include "bundle/bundle.h"
#include "core/arena.h"
#include "core/index.h"
#include "core/status.h"
#include "file/source.h"
#include "record/record.h"

/* One attr entry. */
struct file_event {
	struct sonde_attr attr;
	struct record_plan plan;
	struct span bytes; /* the attr as it is in the input */
	const uint64_t *ids; /* host byte order */
	size_t nids;
	const char *name; /* from EVENT_DESC, else derived from the attr; never NULL */
};

/* Offsets of ids in the records of a file; usually all events have the same one. */
#define FILE_PLACES 16u /* more than the possible offsets in a plan */

struct file_places {
	size_t n;
	uint8_t place[FILE_PLACES]; /* offset, as in struct record_plan */
	uint32_t event[FILE_PLACES]; /* the first event with this offset */
};

struct file_section {
	uint64_t offset; /* bytes from the file's start */
	uint64_t size; /* bytes; checked against the file */
};

/* An id and its event. */
struct file_id {
	uint64_t id;
	uint32_t event;
};

/* A record with a name of an event, in streams. */
struct file_naming {
	uint32_t type; /* HEADER_EVENT_TYPE or EVENT_UPDATE */
	struct span body;
};

/* Origin of a section of a spool: from position `at` up to the next one's. */
struct file_run {
	uint64_t at; /* position */
	uint64_t origin; /* offset in the input of these bytes, or of their compressed record */
	uint64_t inside; /* offset in the inflated data of that record; 0 if not inflated */
	bool inflated;
};

/*
 * A position in a spool where bytes of the input were skipped. A header of 8 bytes that no input
 * can contain precedes them.
 */
struct file_mark {
	uint64_t at; /* position of that header */
	uint64_t size; /* skipped bytes, after the header */
	enum sonde_diag_kind kind;
	const char *text;
};

/* The records of one file. */
struct file_stream {
	const char *name; /* path */
	struct span bytes; /* the file, or its spool */
	uint64_t base; /* position of the first of these bytes */
	uint64_t start, end; /* positions: first record, end of the last one */
	struct file_run *runs; /* NULL: offset in the input = position - base */
	size_t nruns;
	struct file_mark *marks;
	size_t nmarks;
};

/* The place of a position in the input. */
struct file_place {
	const struct file_stream *stream;
	uint64_t offset; /* bytes from the file's start */
	uint64_t inside; /* bytes into the inflated data */
	bool inflated;
};

/* Bytes that were skipped, or a note on a record. */
struct file_gap {
	enum sonde_diag_kind kind;
	uint64_t position, size; /* bytes */
	char text[160]; /* the reason */
};

/*
 * Set `diags` and zero the other members before file_open; after it they are read-only for users.
 */
struct file {
	struct error error;
	struct diag_sink *diags;
	struct arena arena;
	const char *path; /* as given; "-" is standard input */
	int64_t modified; /* last change of the input, seconds since 1970; 0: unknown */
	struct span bytes; /* the whole main file; offsets of sections are relative to it */
	struct source *sources; /* closed by file_close */
	size_t nsources, sources_cap;
	/* set before file_open */
	bool check_owner; /* refuse files of users other than this one and root */
	const char
	        *temp_dir; /* for copies of input that cannot be mapped; NULL: /var/tmp or /tmp */
	/* results */
	bool swap; /* the writer's byte order is not the host's */
	bool pipe; /* a stream of records, which include the attrs and features */
	bool directory;
	bool interrupted; /* the recorder was killed (doc/decisions/0010) */
	bool truncated; /* the file is shorter than its header says, or a record is cut */
	bool names_cut; /* EVENT_DESC is cut off */
	bool old; /* version 1 */
	bool compressed; /* a stream holds compressed records */
	uint64_t header_size;
	uint64_t attr_size; /* size of an entry of the attrs section in bytes; 0 in pipes */
	struct file_section data;
	struct file_stream *streams; /* in rising order of positions; at least one */
	size_t nstreams, streams_cap;
	uint64_t feature_bits[FEATURE_BITS / 64];
	struct file_section features[FEATURE_BITS]; /* size 0 and offset 0 when absent */
	struct file_event *events;
	size_t nevents, events_cap;
	struct file_places sample_places, trailer_places; /* offsets of ids in records */
	struct span event_types; /* version 1 only */
	struct file_naming *namings; /* of pipes, used once all events are read */
	size_t nnamings, namings_cap;
	const char *kallsyms; /* of the recorded kernel, in a directory; NULL: none */
	struct bundle *bundle; /* that the recording is in; NULL: none */
	struct span archive; /* its bytes */
	struct file_id *ids; /* no id twice */
	struct index id_index;
	/* Numbers of events, + 1, by id from first_id on, as the kernel gives ids in a row; 0: none,
	 * nnear is 0 if they are far apart. */
	uint32_t *near_ids;
	uint64_t first_id;
	size_t nnear;
};

/*
 * Opens a file and reads header, attrs, ids and names of events. Negative: see f->error; call
 * file_close in any case.
 */
int file_open(struct file *f, const char *path);
/* As file_open, for an open descriptor, which stays open: a file from its start, or a pipe. */
int file_open_fd(struct file *f, int fd);
/* As file_open, for bytes that the caller owns. */
int file_open_bytes(struct file *f, struct span bytes, const char *name);
/*
 * Inflates compressed records: a stream with some is replaced by a spool in which each compressed
 * record is followed by its contents. Call before reading records; uses a window of memory. Data
 * that cannot be decompressed becomes a mark in the stream. SONDE_EUNSUPPORTED: there are
 * compressed records and this build has no libzstd. SONDE_ENOMEM, SONDE_EIO.
 */
int file_inflate(struct file *f);
/*
 * Returns the pages of all bytes read to the system; spans stay valid and are read again when used.
 */
void file_forget(const struct file *f);
void file_close(struct file *f);

static inline bool file_has_feature(const struct file *f, enum abi_feature bit)
{
	return (f->feature_bits[(unsigned)bit / 64] >> ((unsigned)bit % 64) & 1) != 0;
}

static inline bool file_has_features(const struct file *f)
{
	return (f->feature_bits[0] | f->feature_bits[1] | f->feature_bits[2] |
	               f->feature_bits[3]) != 0;
}

/* The bytes of a feature; n is 0 when it is absent. */
struct span file_feature(const struct file *f, enum abi_feature bit);
/* Number of cpus in NRCPUS, which sizes of other features depend on; 0: unknown. */
uint32_t file_cpus(const struct file *f);

/* Range of positions of all records. */
uint64_t file_begin(const struct file *f);
uint64_t file_end(const struct file *f);

struct file_place file_place(const struct file *f, uint64_t position);

/*
 * Reads what is at *position (begin with file_begin) and advances *position past it. The result
 * depends on the position only; safe from several threads.
 *
 * FILE_RECORD: *r is filled; gap->size is 0, and gap->text, if not empty, is a note on the record.
 * FILE_GAP: bytes that are no record were skipped, *gap has the range and the reason. FILE_END.
 */
enum file_step { FILE_END = 0, FILE_RECORD = 1, FILE_GAP = 2 };
enum file_step file_step(
        const struct file *f, uint64_t *position, struct record *r, struct file_gap *gap);

/*
 * Reads the next record; gaps are skipped and, unless diags is NULL, reported. Returns 1, or 0 at
 * the end.
 */
int file_next(const struct file *f, uint64_t *position, struct record *r, struct diag_sink *diags);

/* The last stream that begins at or before the position. */
const struct file_stream *file_stream_at(const struct file *f, uint64_t position);

/* Reports a gap or a note with its place in the input. */
void file_gap_report(const struct file *f, const struct file_gap *gap, struct diag_sink *diags);

/*
 * Bytes that follow a record and are not in its size: trace data, and formats of tracepoints in
 * pipes.
 */
struct span file_outside(const struct file *f, const struct record *r);

/*
 * For a copy of a struct file: gives it its own events and index of ids, which can be changed; the
 * rest is shared with the original, which must outlive the copy. Call file_free_events in any case.
 * SONDE_ENOMEM.
 */
int file_own_events(struct file *f);
void file_free_events(struct file *f);
/*
 * Replaces an event of a copy, or adds one at f->nevents. The bytes of *e (64 or more), ids and
 * name are copied; NULL ids or name keep those of the old event. SONDE_ENOMEM.
 */
int file_set_event(struct file *f, size_t event, const struct file_event *e);

/* Returns the event with an id, or NULL. */
const struct file_event *file_event_by_id(const struct file *f, uint64_t id);

/* Returns the event of a sample or side-band record; NULL: unknown. */
const struct file_event *file_sample_event(const struct file *f, const struct record *r);
const struct file_event *file_record_event(const struct file *f, const struct record *r);

#endif
