/* SPDX-License-Identifier: MIT */
/* Formats of tracepoints that the recorder copied from tracefs. */
#ifndef SONDE_FILE_TRACING_H
#define SONDE_FILE_TRACING_H

#include "core/span.h"
#include "core/text.h"

struct tracing_format {
	struct span system; /* "sched" */
	struct span name; /* "sched_switch" */
	struct span text; /* the format file */
};

/*
 * Finds the format of the tracepoint with this number (attr.config); the blob is the payload of the
 * feature TRACING_DATA, or the bytes after such a record. False: not found, or the blob is damaged
 * before it. Spans point into the blob.
 */
bool tracing_find(struct span blob, uint64_t id, struct tracing_format *out);

/* Returns the next of the tracepoint's own fields; begin with *at 0. False: no more. */
bool tracing_next_field(const struct tracing_format *format, size_t *at, struct span *name);

/* Bytes of a field in the data of a tracepoint. */
struct tracing_place {
	uint32_t offset, size;
};

/* The place of the tracepoint's own field `name`; false: it has no such field. */
bool tracing_field(
        const struct tracing_format *format, const char *name, struct tracing_place *out);

#endif
