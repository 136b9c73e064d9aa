/* SPDX-License-Identifier: MIT */
/* Texts of tracepoints as keys of rows: the text of a sample, and the text of its chosen fields. */
#ifndef SONDE_FIELD_TRACE_TEXTS_H
#define SONDE_FIELD_TRACE_TEXTS_H

#include "core/intern.h"
#include "field/trace_keys.h"

/*
 * Texts that one worker made from samples, numbered: keys of rows are 32-bit words. Empty when
 * zero-initialised; one with `traces` and a tracer makes texts, any can store them.
 */
struct field_texts {
	const struct field_traces *traces;
	const struct field_trace_keys *keys; /* NULL: no fields were chosen */
	struct field_tracer tracer;
	struct intern texts;
	struct text buffer, scratch;
	bool failed; /* out of memory */
};

/* frames: as for field_tracer_init. SONDE_ENOMEM; call field_texts_fini in any case. */
int field_texts_init(struct field_texts *t, const struct field_traces *traces,
        const struct field_trace_keys *keys, const struct sonde_session *s,
        struct frame_reader *frames);
void field_texts_fini(struct field_texts *t);

/* These return the number of a sample's text; 0 and `failed`: out of memory. */
uint32_t field_texts_trace(struct field_texts *t, const struct session_sample *sample);
uint32_t field_texts_fields(struct field_texts *t, const struct session_sample *sample);

#endif
