/* SPDX-License-Identifier: MIT */
/*
 * A recording opened for reading: header, attrs with their ids, features, and its records as one
 * range of positions. Spans and records point into memory maps that stay until file_close.
 *
 * A position names a byte of the record streams: the streams stand one behind the other in a range
 * of u64. In a plain file the position of a record is its offset; where records were inflated it is
 * the offset in the spool. file_place says where in the input a position is.
 */
#ifndef SONDE_FILE_H
#define SONDE_FILE_H

#include "abi/abi.h"
#include "core/arena.h"
#include "core/index.h"
#include "core/status.h"
#include "file/source.h"
#include "record/record.h"

/* One attr entry. */
struct file_event {
	struct sonde_attr attr;
	struct record_plan plan;
	struct span bytes; /* the attr as it stands in the input */
	const uint64_t *ids; /* host byte order */
	size_t nids;
	const char *name; /* from EVENT_DESC, else made from the attr; never NULL */
};

/* Where the events of a file have their ids in records: mostly all in one place. */
#define FILE_PLACES 16u /* a plan knows fewer */

struct file_places {
	size_t n;
	uint8_t place[FILE_PLACES]; /* of struct record_plan */
	uint32_t event[FILE_PLACES]; /* the first event with this place */
};

struct file_section {
	uint64_t offset; /* bytes from the file's start */
	uint64_t size; /* bytes; checked against the file */
};

/* An id and the event that has it. */
struct file_id {
	uint64_t id;
	uint32_t event;
};

/* A record that names events, in streams. */
struct file_naming {
	uint32_t type; /* HEADER_EVENT_TYPE or EVENT_UPDATE */
	struct span body;
};

/* Where a stretch of a spool came from: from position `at` up to the next one's. */
struct file_run {
	uint64_t at; /* position */
	uint64_t origin; /* offset in the input: of these bytes, or of their compressed record */
	uint64_t inside; /* offset in what that record holds; only where inflated */
	bool inflated;
};

/* A place in a spool where bytes of the input were stepped over; a header of 8 bytes that no input
 * can have there stands in front of them. */
struct file_mark {
	uint64_t at; /* position of that header */
	uint64_t size; /* bytes behind it */
	enum sonde_diag_kind kind;
	const char *text;
};

/* The records of one file. */
struct file_stream {
	const char *name; /* path */
	struct span bytes; /* the file, or its spool */
	uint64_t base; /* position of the first of these bytes */
	uint64_t start, end; /* positions between which records stand */
	struct file_run *runs; /* NULL: offset in the input = position - base */
	size_t nruns;
	struct file_mark *marks;
	size_t nmarks;
};

/* Where in the input a position is. */
struct file_place {
	const struct file_stream *stream;
	uint64_t offset; /* bytes from the file's start */
	uint64_t inside; /* bytes, where inflated */
	bool inflated;
};

/* Bytes that were stepped over, or a remark on a record. */
struct file_gap {
	enum sonde_diag_kind kind;
	uint64_t position, size; /* bytes */
	char text[160]; /* why */
};

/* Zero-initialised with `diags` set is ready for file_open. Other fields are read-only for users.
 */
struct file {
	struct error error;
	struct diag_sink *diags;
	struct arena arena;
	const char *path; /* as given; "-" is standard input */
	int64_t modified; /* last change of the input, seconds since 1970; 0: unknown */
	struct span bytes; /* the whole main file; offsets of sections count from here */
	struct source *sources; /* what is closed at the end */
	size_t nsources, sources_cap;
	bool check_owner; /* set before file_open: refuse what is neither ours nor root's */
	bool swap; /* the writer's byte order is not ours */
	bool pipe; /* a stream of records: attrs and features stand among them */
	bool directory;
	bool interrupted; /* the recorder did not end (doc/decisions/0010) */
	bool truncated; /* the file is shorter than its header says, or a record is cut */
	bool names_cut; /* EVENT_DESC does not hold what it says */
	bool old; /* version 1 */
	bool compressed; /* a stream holds compressed records */
	uint64_t header_size;
	uint64_t attr_size; /* of one entry of the attrs section, in bytes; 0 in pipes */
	struct file_section data;
	struct file_stream *streams; /* in rising order of positions; at least one after opening */
	size_t nstreams, streams_cap;
	uint64_t feature_bits[FEATURE_BITS / 64];
	struct file_section features[FEATURE_BITS]; /* size 0 and offset 0 when absent */
	struct file_event *events;
	size_t nevents, events_cap;
	struct file_places sample_places, trailer_places; /* of ids in records */
	struct span event_types; /* of version 1 */
	struct file_naming *namings; /* of pipes, until names are given */
	size_t nnamings, namings_cap;
	const char *kallsyms; /* of the recorded kernel, in a directory; NULL: none */
	struct file_id *ids; /* each once */
	struct index id_index;
};

/* Opens and reads header, attrs, ids, event names. Negative: f->error says why; close all the same.
 */
int file_open(struct file *f, const char *path);
/* The same over bytes that the caller keeps (tests, fuzzing). */
int file_open_bytes(struct file *f, struct span bytes, const char *name);
/*
 * Opens the compressed records: streams that hold some are replaced by a spool in which each
 * compressed record is followed by what it holds. Call before records are read; needs no more than
 * a window of memory. What cannot be decompressed is a mark in the stream. SONDE_EUNSUPPORTED:
 * there are some and this build has no libzstd. SONDE_ENOMEM, SONDE_EIO.
 */
int file_inflate(struct file *f);
/* Gives back the memory of all bytes that were read; spans stay valid, at the price of reading
 * again. */
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
/* CPUs of the machine, as NRCPUS says; 0: not known. Other features' sizes depend on it. */
uint32_t file_cpus(const struct file *f);

/* Positions between which all records stand. */
uint64_t file_begin(const struct file *f);
uint64_t file_end(const struct file *f);

struct file_place file_place(const struct file *f, uint64_t position);

/*
 * What stands at *position (begin with file_begin); *position moves behind it. These are pure
 * functions of the position, safe from several threads.
 *
 * FILE_RECORD: *r is filled; gap->size is 0, and where gap->text is not empty it is a remark on the
 * record. FILE_GAP: bytes that are no record were stepped over, *gap says which and why. FILE_END.
 */
enum file_step { FILE_END = 0, FILE_RECORD = 1, FILE_GAP = 2 };
enum file_step file_step(
        const struct file *f, uint64_t *position, struct record *r, struct file_gap *gap);

/* The next record; gaps are reported to diags, when that is not NULL, and stepped over. 1, 0: end.
 */
int file_next(const struct file *f, uint64_t *position, struct record *r, struct diag_sink *diags);

/* Reports a gap or a remark with its place. */
void file_gap_report(const struct file *f, const struct file_gap *gap, struct diag_sink *diags);

/* Bytes behind a record, outside its size: trace data, and format texts in pipes. */
struct span file_outside(const struct file *f, const struct record *r);

/*
 * For a copy of a struct file: gives it events and an index of ids of its own, in which they can be
 * changed; the rest is shared with the original, which stays open longer. Freed by file_free_events,
 * also after a failure. SONDE_ENOMEM.
 */
int file_own_events(struct file *f);
void file_free_events(struct file *f);
/* Replaces an event of a copy, or adds one at f->nevents. Of *e bytes (64 or more), ids and name are
 * used and copied; ids and the name of an old event may be NULL: they stay. SONDE_ENOMEM. */
int file_set_event(struct file *f, size_t event, const struct file_event *e);

/* The event of an id; NULL when nobody has it. */
const struct file_event *file_event_by_id(const struct file *f, uint64_t id);

/* The event that a sample or side-band record belongs to; NULL: cannot be told. */
const struct file_event *file_sample_event(const struct file *f, const struct record *r);
const struct file_event *file_record_event(const struct file *f, const struct record *r);

#endif
