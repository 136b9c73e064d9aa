/* SPDX-License-Identifier: MIT */
/*
 * A perf.data file opened for reading: header, attrs with their ids, features, and the records of
 * the data section. The whole file is mapped; spans and records point into it until file_close.
 */
#ifndef SONDE_FILE_H
#define SONDE_FILE_H

#include "abi/abi.h"
#include "core/arena.h"
#include "core/status.h"
#include "record/record.h"

/* One attr entry. */
struct file_event {
	struct sonde_attr attr;
	struct record_plan plan;
	const uint64_t *ids; /* host byte order */
	size_t nids;
	const char *name; /* from EVENT_DESC, else made from the attr; never NULL */
};

struct file_section {
	uint64_t offset; /* bytes from the file's start */
	uint64_t size; /* bytes; checked against the file */
};

struct file_id_slot {
	uint64_t id;
	uint32_t event; /* index + 1; 0: free slot */
};

/* Zero-initialised with `diags` set is ready for file_open. Fields are read-only for users. */
struct file {
	struct error error;
	struct diag_sink *diags;
	struct arena arena;
	const char *path;
	struct span bytes; /* the whole file */
	bool mapped; /* bytes are our mapping */
	bool swap; /* the writer's byte order is not ours */
	bool interrupted; /* data size was 0: the recorder did not end; data runs to the end of the
	                     file */
	bool truncated; /* the file is shorter than its header says, or a record is cut */
	uint64_t header_size;
	uint64_t attr_size; /* of one entry of the attrs section, in bytes */
	struct file_section data;
	uint64_t feature_bits[FEATURE_BITS / 64];
	struct file_section features[FEATURE_BITS]; /* size 0 and offset 0 when absent */
	struct file_event *events;
	size_t nevents;
	struct file_id_slot *ids;
	size_t nslots; /* a power of two, or 0 */
};

/* Opens and reads header, attrs, ids, event names. Negative: f->error says why; close all the same.
 */
int file_open(struct file *f, const char *path);
/* The same over bytes that the caller keeps (tests, fuzzing). */
int file_open_bytes(struct file *f, struct span bytes, const char *name);
void file_close(struct file *f);

static inline bool file_has_feature(const struct file *f, enum abi_feature bit)
{
	return (f->feature_bits[(unsigned)bit / 64] >> ((unsigned)bit % 64) & 1) != 0;
}

/* The bytes of a feature; n is 0 when it is absent. */
struct span file_feature(const struct file *f, enum abi_feature bit);

/*
 * The record at *offset (from the file's start; begin with f->data.offset); *offset moves to the
 * next one. 1: *r is filled; 0: end of data; records that do not fit are reported as a diagnostic
 * and end it. Safe from several threads with own offsets when `diags` is NULL.
 */
int file_next(const struct file *f, uint64_t *offset, struct record *r, struct diag_sink *diags);

/* The event of an id; NULL when nobody has it. */
const struct file_event *file_event_by_id(const struct file *f, uint64_t id);

/* The event that a sample or side-band record belongs to; NULL: cannot be told. */
const struct file_event *file_sample_event(const struct file *f, const struct record *r);
const struct file_event *file_record_event(const struct file *f, const struct record *r);

#endif
