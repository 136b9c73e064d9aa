/* SPDX-License-Identifier: MIT */
/*
 * The end of a rewriter: writes the records of the last stage in the output's container and byte
 * order.
 */
#ifndef SONDE_REWRITE_OUTPUT_H
#define SONDE_REWRITE_OUTPUT_H

#include "core/text.h"
#include "file/file.h"

#include <sonde/preview/rewrite.h>

/* The target: a path, a function, or a descriptor. */
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
	const struct file *events; /* events of the output: those of `in`, or of a view of it */
	struct error *error;
	struct sonde_writer *writer;
	bool opened;
	bool to_pipe, to_directory;
	bool turn; /* the output has another byte order than the input */
	bool spread; /* records of one stream go to data.N by processor */
	uint32_t cpus; /* available cpus of NRCPUS */
	uint64_t records; /* written */
	uint64_t rounds_first; /* FINISHED_ROUND records before all others */
	uint64_t rounds_last; /* and after all others */
	struct output_feature features[FEATURE_BITS];
	struct text build_ids; /* from BUILD_ID records, for the feature */
	uint8_t *room; /* for converted bytes */
	size_t room_size;
};

/* Plans the form of the output; events and features may be read and changed after that. */
int output_plan(struct output *o, const struct sonde_rewriter_options *options,
        const struct output_target *target);
void output_fini(struct output *o);

/* Whether a feature is set and copied, not made by the writer; and whether its fields fit. */
bool output_takes_feature(const struct output *o, unsigned bit);
bool output_feature_fits(const struct output *o, unsigned bit);
void output_drop_feature(struct output *o, unsigned bit);
int output_set_feature(struct output *o, unsigned bit, const void *bytes, size_t n);

/* Writes events and features. */
int output_open(struct output *o, const struct output_target *target);
/* Writes a record; bytes, size, payload, payload_size, stream, type and position must be set. */
int output_record(struct output *o, const struct sonde_raw_record *r);
/* Call after the last record. */
int output_end(struct output *o);
int output_close(struct output *o);

/* Records that describe a container: the writer makes new ones. */
static inline bool output_record_is_made(uint32_t type)
{
	return type == RECORD_HEADER_ATTR || type == RECORD_HEADER_EVENT_TYPE ||
	       type == RECORD_TRACING_DATA || type == RECORD_HEADER_FEATURE ||
	       type == RECORD_COMPRESSED || type == RECORD_COMPRESSED2;
}

/* Converts the record for functions of lower layers. */
struct record output_record_of(const struct sonde_raw_record *raw);

#endif
