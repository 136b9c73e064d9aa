/* SPDX-License-Identifier: MIT */
/*
 * A tracepoint's print format as a program, which prints what libtraceevent prints. It is made once
 * and never changes, so that all workers share it.
 */
#ifndef SONDE_TRACE_PROGRAM_H
#define SONDE_TRACE_PROGRAM_H

#include "core/text.h"
#include "trace/set.h"
#include "trace/text.h"

struct trace_program;

/*
 * Compiles the print format of an event. *out is NULL if it has parts that only libtraceevent
 * prints. The program is valid as long as the arena and the format. SONDE_ENOMEM.
 */
int trace_program_new(const struct trace_program **out, const struct trace_set *s,
        const struct trace_event *e, struct arena *arena);

/*
 * Appends the text of a sample's data. False: a field's bytes are not all in it, or a length is
 * negative; then nothing was appended.
 */
bool trace_program_put(const struct trace_program *p, const struct trace_set *s, struct span data,
        const struct trace_text_options *o, struct text *out);

#endif
