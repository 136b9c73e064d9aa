/* SPDX-License-Identifier: MIT */
/* Texts of the samples of tracepoints, with the functions of the recorded kernel. */
#ifndef SONDE_FIELD_TRACES_H
#define SONDE_FIELD_TRACES_H

#include "session/session.h"
#include "trace/text.h"

/*
 * Parses the formats of the tracepoints that have samples. SONDE_ENOMEM; call trace_set_fini in any
 * case.
 */
int field_traces_init(struct trace_set *set, const struct sonde_session *s);

/*
 * Reports once how many samples have no format in the recording, and that this build shows all
 * texts without their print formats.
 */
void field_traces_report(const struct trace_set *set, struct sonde_session *s);

/* Prints texts for one worker. */
struct field_tracer {
	const struct sonde_session *session;
	struct trace_text *text;
	struct frame_reader *frames; /* of the worker */
	const struct timeline_view *view; /* of the sample that is printed */
};

/*
 * Makes a tracer whose texts name functions through *frames, which must outlive it. Not for several
 * threads at a time. SONDE_ENOMEM; call field_tracer_fini in any case.
 */
int field_tracer_init(struct field_tracer *t, const struct trace_set *set,
        const struct sonde_session *s, struct frame_reader *frames);
void field_tracer_fini(struct field_tracer *t);

void field_tracer_put(struct field_tracer *t, const struct trace_event *e,
        const struct session_sample *sample, struct text *out);

#endif
