/* SPDX-License-Identifier: MIT */
/* Texts of the samples of tracepoints, with the functions of the recorded kernel. */
#ifndef SONDE_FIELD_TRACES_H
#define SONDE_FIELD_TRACES_H

#include "session/session.h"
#include "trace/text.h"

/* The tracepoints of a recording: made once, read by all workers. */
struct field_traces {
	struct trace_set set;
	const struct trace_event *
	        *of_event; /* by event; NULL: no tracepoint, or without a format */
};

/*
 * Parses the formats of the tracepoints that have samples. SONDE_ENOMEM; call field_traces_fini in
 * any case.
 */
int field_traces_init(struct field_traces *t, const struct sonde_session *s);
void field_traces_fini(struct field_traces *t);

/*
 * Reports once how many samples have no format in the recording, and how many texts are not printed
 * as their formats describe because this build lacks libtraceevent.
 */
void field_traces_report(const struct field_traces *t, struct sonde_session *s);

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
int field_tracer_init(struct field_tracer *t, const struct field_traces *traces,
        const struct sonde_session *s, struct frame_reader *frames);
void field_tracer_fini(struct field_tracer *t);

void field_tracer_put(struct field_tracer *t, const struct trace_event *e,
        const struct session_sample *sample, struct text *out);

#endif
