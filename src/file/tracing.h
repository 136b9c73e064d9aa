/* SPDX-License-Identifier: MIT */
/* Formats of tracepoints, as the recorder copied them from tracefs. */
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
 * The format of the tracepoint that has this number (attr.config); the blob is the payload of the
 * feature TRACING_DATA, or what follows such a record. False: it is not there, or the blob is
 * damaged before it. Spans point into the blob.
 */
bool tracing_find(struct span blob, uint64_t id, struct tracing_format *out);

/* The next field of a format that is the tracepoint's own, begin with *at 0; false: no more. */
bool tracing_next_field(const struct tracing_format *format, size_t *at, struct span *name);

#endif
