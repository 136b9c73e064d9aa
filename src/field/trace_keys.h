/* SPDX-License-Identifier: MIT */
/*
 * Fields of tracepoints as keys of rows: all that were chosen form one key, whose text is
 *
 *	bytes of the fields in hexadecimal '\n' text of the first field '\t' text of the second ...
 *
 * The digits are inverted, so that a lower text comes first where perf prints larger bytes first.
 */
#ifndef SONDE_FIELD_TRACE_KEYS_H
#define SONDE_FIELD_TRACE_KEYS_H

#include "core/near.h"
#include "field/traces.h"

struct field_trace_key {
	const struct trace_field *field;
	bool raw; /* the value, even if the event's text has another one for it */
};

/* The chosen fields of one event, in the order of columns. */
struct field_trace_event {
	struct field_trace_key *v;
	size_t n, cap;
};

struct field_trace_keys {
	const struct field_traces *traces;
	const struct sonde_session *session;
	struct field_trace_event *of_event; /* by event */
	bool all_raw;
};

/* traces and the session must outlive it. SONDE_ENOMEM; call field_trace_keys_fini in any case. */
int field_trace_keys_init(struct field_trace_keys *k, const struct field_traces *traces,
        const struct sonde_session *s, bool all_raw);
void field_trace_keys_fini(struct field_trace_keys *k);

/*
 * Chooses "[EVENT.]FIELD[/raw]", "EVENT.*" or "trace_fields"; EVENT is part of an event's name, its
 * whole name if that contains ':', or %N for the N-th event. Returns the number of events that have
 * such a field (of "trace_fields" at least 1), SONDE_EARG if EVENT is part of several names, or
 * SONDE_ENOMEM.
 */
int field_trace_keys_choose(struct field_trace_keys *k, const char *text, size_t n);

/* Offers the names of fields, without their event, as corrections of a mistyped word. */
void field_trace_keys_offer(const struct field_trace_keys *k, struct near *near);

/* Appends the text of a sample's key. scratch: for the text of its event. */
void field_trace_key_text(const struct field_trace_keys *k, struct field_tracer *tracer,
        const struct session_sample *s, struct text *scratch, struct text *out);

/* The texts of the fields in a key's text: "TEXT\tTEXT". */
static inline const char *field_trace_key_cells(const char *text)
{
	return strchr(text, '\n') + 1;
}

/* Minimum width of a field's column: room for its value in hexadecimal, or for its characters. */
unsigned field_trace_key_width(const struct trace_field *f);

#endif
