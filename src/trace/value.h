/* SPDX-License-Identifier: MIT */
/* Values of fields in the data of a sample. */
#ifndef SONDE_TRACE_VALUE_H
#define SONDE_TRACE_VALUE_H

#include "core/text.h"
#include "trace/set.h"

/*
 * The bytes of a field: of a dynamic field, those that it refers to. False: they are not all in
 * data.
 */
bool trace_value(
        const struct trace_set *s, const struct trace_field *f, struct span data, struct span *out);

/*
 * Whether the bytes of all fields are in data, and no length or index is larger than data: then
 * libtraceevent reads no bytes further than 8 times the size of data.
 */
bool trace_values_fit(const struct trace_set *s, const struct trace_event *e, struct span data);

/* The number in 1, 2, 4 or 8 bytes, without sign extension; 0 for other sizes. */
uint64_t trace_number(const struct trace_set *s, struct span bytes);

/*
 * Appends the text of a field: "12", "0xffff", "bash", "ARRAY[01, 02]". Appends nothing if its
 * bytes are not all in data.
 */
void trace_value_text(
        const struct trace_set *s, const struct trace_field *f, struct span data, struct text *out);

/* Appends "prev_comm=bash prev_pid=12 ...": all own fields, for events without a print format. */
void trace_values_text(
        const struct trace_set *s, const struct trace_event *e, struct span data, struct text *out);

#endif
