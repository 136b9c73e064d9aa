/* SPDX-License-Identifier: MIT */
/* The tracepoints of a recording, with their fields: made once, read by all workers. */
#ifndef SONDE_TRACE_SET_H
#define SONDE_TRACE_SET_H

#include "core/arena.h"
#include "trace/format.h"

struct trace_program;

struct trace_event {
	struct trace_format format;
	const struct trace_field *fields; /* common ones too, in the order of the format */
	size_t nfields;
	bool counted; /* some fields are TRACE_COUNT */
	bool refers; /* some fields are TRACE_DYNAMIC */
	uint32_t extent; /* bytes that a sample's data must have for all fields */
	const struct trace_program *program; /* NULL: only libtraceevent knows its print format */
};

/* A constant string of the kernel. */
struct trace_constant {
	uint64_t address;
	struct span text; /* without a line break at its end */
	struct span line; /* "0xADDRESS : "TEXT"", without its end */
};

struct trace_set {
	struct trace_event *events; /* [nevents], by id */
	size_t nevents;
	struct span printk; /* texts of trace_printk and of constant strings */
	struct trace_constant *constants; /* [nconstants] of printk, by address */
	size_t nconstants;
	bool big_endian;
	uint8_t long_size;
	struct arena arena;
};

/*
 * Parses the formats of the tracepoints with these ids in tracing data, which must outlive the set.
 * If the data is empty or damaged, the set lacks events. SONDE_ENOMEM; call trace_set_fini in any case.
 */
int trace_set_init(struct trace_set *s, struct span bytes, const uint64_t *ids, size_t nids);
void trace_set_fini(struct trace_set *s);

/* Returns the tracepoint with this id, or NULL. */
const struct trace_event *trace_set_find(const struct trace_set *s, uint64_t id);

/*
 * Reads the texts of trace_printk (trace_formats_printk) into an array of the arena, sorted by
 * address. SONDE_ENOMEM.
 */
int trace_constants_read(
        struct arena *arena, struct span all, struct trace_constant **out, size_t *n);

/* Returns the constant string at an address of the kernel; .p is NULL if it is not known. */
struct span trace_set_constant(const struct trace_set *s, uint64_t address);

/* Returns the tracepoint's field, a common one too, or NULL. */
const struct trace_field *trace_event_field(const struct trace_event *e, struct span name);

#endif
