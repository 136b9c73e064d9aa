/* SPDX-License-Identifier: MIT */
/* Texts by libtraceevent, private to trace: traceevent.c, or traceevent_none.c without the library. */
#ifndef SONDE_TRACE_LIBRARY_H
#define SONDE_TRACE_LIBRARY_H

#include "trace/text.h"

struct trace_library;

bool trace_library_present(void);

/*
 * The events that have a program are left out, unless the user has plugins. *out is NULL if no event
 * needs the library, or it is not present. SONDE_ENOMEM.
 */
int trace_library_new(
        struct trace_library **out, const struct trace_set *s, const struct trace_text_options *o);
void trace_library_free(struct trace_library *l);

/* Whether a plugin of the user prints the event. */
bool trace_library_handles(struct trace_library *l, const struct trace_event *e);

/*
 * Appends the text of data, for which trace_values_fit is true, of an event that was not left out.
 * NULs follow it, as many as the library may read.
 */
void trace_library_put(struct trace_library *l, struct span data, uint32_t cpu, struct text *out);

#endif
