/* SPDX-License-Identifier: MIT */
/*
 * The text of a tracepoint's sample, as its print format describes it. A trace_text belongs to one
 * worker: libtraceevent's handles cannot be shared.
 */
#ifndef SONDE_TRACE_TEXT_H
#define SONDE_TRACE_TEXT_H

#include "core/text.h"
#include "trace/set.h"

struct trace_text;

/* The kernel function at an address, for print formats such as %pS. */
struct trace_symbol {
	const char *name; /* valid until the next call */
	const char *module; /* NULL: part of the kernel's own image */
	uint64_t start; /* address */
};

/* Finds it; false: unknown. */
typedef bool (*trace_symbol_fn)(void *arg, uint64_t address, struct trace_symbol *out);

struct trace_text_options {
	const char *home; /* folder of the user's plugins for libtraceevent; NULL: none are used */
	trace_symbol_fn find;
	void *arg;
};

/* Whether this build has libtraceevent, which knows the language of print formats. */
bool trace_text_has_library(void);

/*
 * Makes it for a set, which must outlive it. Several may not be made at the same time: parsing in
 * libtraceevent has global state. SONDE_ENOMEM.
 */
int trace_text_new(
        struct trace_text **out, const struct trace_set *s, const struct trace_text_options *o);
void trace_text_free(struct trace_text *t);

/*
 * Appends the text of a sample's data. If the data is cut short or a length is beyond its end, or if
 * only the library knows the print format and this build has none, the text has the names and values
 * of all fields that are complete.
 */
void trace_text_put(struct trace_text *t, const struct trace_event *e, struct span data,
        uint32_t cpu, struct text *out);

#endif
