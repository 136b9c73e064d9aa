/* SPDX-License-Identifier: MIT */
/* The end of a rewriter: what comes out of the last stage, in the container and byte order of the
 * output. */
#ifndef SONDE_REWRITE_OUTPUT_H
#define SONDE_REWRITE_OUTPUT_H

#include "core/text.h"
#include "file/file.h"

#include <sonde/preview/rewrite.h>

/* Where it goes: a path, a function, or a descriptor. */
struct output_target {
	const char *path; /* "-": standard output; NULL: not to a path */
	sonde_write_fn write; /* NULL: not to a function */
	void *write_arg;
	int fd;
};

/* A header feature that a stage changed. */
struct output_feature {
	bool changed;
	bool gone;
	struct text bytes; /* in the input's byte order */
};

struct output {
	struct file *in;
	const struct file *events; /* those of the output: of `in`, or of a view of it */
	struct error *error;
	struct sonde_writer *writer;
	bool opened;
	bool to_pipe, to_directory;
	bool turn; /* the output's byte order is not the input's */
	bool spread; /* records of one stream go to data.N by processor */
	uint32_t cpus; /* NRCPUS available */
	uint64_t records; /* written */
	struct output_feature features[FEATURE_BITS];
	struct text build_ids; /* of BUILD_ID records, for the feature */
	uint8_t *room; /* for turned bytes */
	size_t room_size;
};

/* Chooses the form of the output: events and features may be read and changed after that. */
int output_plan(struct output *o, const struct sonde_rewriter_options *options,
        const struct output_target *target);
void output_fini(struct output *o);

/* Whether a feature is set, and not one that the writer makes; and whether all its fields fit. */
bool output_takes_feature(const struct output *o, unsigned bit);
bool output_feature_fits(const struct output *o, unsigned bit);
void output_drop_feature(struct output *o, unsigned bit);
int output_set_feature(struct output *o, unsigned bit, const void *bytes, size_t n);

/* Writes events and features. */
int output_open(struct output *o, const struct output_target *target);
/* A record, of which bytes, size, payload, payload_size, stream, type and position are set. */
int output_record(struct output *o, const struct sonde_raw_record *r);
/* After the last record. */
int output_end(struct output *o);
int output_close(struct output *o);

/* Records that describe a container: the writer makes those of the output. */
static inline bool output_record_is_made(uint32_t type)
{
	return type == RECORD_HEADER_ATTR || type == RECORD_HEADER_EVENT_TYPE ||
	       type == RECORD_TRACING_DATA || type == RECORD_HEADER_FEATURE ||
	       type == RECORD_COMPRESSED || type == RECORD_COMPRESSED2;
}

/* The record for functions of lower layers. */
struct record output_record_of(const struct sonde_raw_record *raw);

#endif
