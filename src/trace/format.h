/* SPDX-License-Identifier: MIT */
/* Formats of tracepoints that the recorder copied from tracefs, and their fields. */
#ifndef SONDE_TRACE_FORMAT_H
#define SONDE_TRACE_FORMAT_H

#include "core/span.h"

#define TRACE_OFFSET_MAX UINT16_MAX /* larger offsets and sizes of fields are not believed */

/* The blob: the payload of the feature TRACING_DATA, or the bytes after such a record. */
struct trace_blob {
	struct cursor systems; /* at the number of systems */
	bool big_endian; /* of the recorded machine */
	uint8_t long_size; /* bytes of its type long */
};

/* False: it is no blob, or is damaged before its first system. */
bool trace_blob_open(struct span bytes, struct trace_blob *out);

struct trace_format {
	struct span system; /* "sched" */
	struct span name; /* "sched_switch" */
	struct span text; /* the format file */
	uint64_t id; /* attr.config of its events */
};

/* A position in a blob; begin with trace_formats_begin. */
struct trace_formats {
	struct cursor c;
	struct span system;
	uint32_t systems, formats; /* that are left, in the blob and in the system */
};

void trace_formats_begin(struct trace_formats *at, const struct trace_blob *blob);
/* Returns the next format that has a number. False: no more, or the blob is damaged. */
bool trace_formats_next(struct trace_formats *at, struct trace_format *out);

/* Skips the formats that are left; returns the texts of trace_printk: "0xADDRESS : "TEXT"\n". */
struct span trace_formats_printk(struct trace_formats *at);

/* Finds the format with this id. Spans point into the blob. */
bool trace_format_find(struct span blob, uint64_t id, struct trace_format *out);

/* The text after "print fmt: ": a format in quotes, and its arguments; n is 0 if there is none. */
struct span trace_format_print(const struct trace_format *format);

enum trace_field_flag {
	TRACE_COMMON = 1, /* every tracepoint has it: common_type, common_pid, ... */
	TRACE_SIGNED = 2,
	TRACE_ARRAY = 4,
	TRACE_STRING = 8, /* an array of characters */
	TRACE_POINTER = 16,
	TRACE_LONG = 32, /* of type long, for which numbers are hexadecimal */
	TRACE_DYNAMIC = 64, /* u16 offset and, in the upper half, u16 size of the data */
	TRACE_RELATIVE = 128, /* as TRACE_DYNAMIC, with the offset from the end of the field */
	TRACE_COUNT =
	        256 /* set by trace_set_init: the print format may use it as a length or index */
};

struct trace_field {
	struct span name;
	struct span
	        type; /* the declaration up to the name: "unsigned short", "__data_loc char[]" */
	uint32_t offset, size; /* bytes, in the data of a sample */
	unsigned flags;
};

/*
 * Returns the next field; begin with *at 0. False: no more. Fields without a place in the data are
 * skipped.
 */
bool trace_field_next(const struct trace_format *format, size_t *at, struct trace_field *out);

/* Finds the tracepoint's own field `name`. */
bool trace_field_find(const struct trace_format *format, struct span name, struct trace_field *out);

#endif
