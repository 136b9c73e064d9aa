/* SPDX-License-Identifier: MIT */
#include "field/traces.h"

#include <inttypes.h>
#include <stdlib.h>

static bool is_shown(const struct session_event *e)
{
	return e->attr.type == SONDE_TYPE_TRACEPOINT && e->count.samples != 0;
}

int field_traces_init(struct field_traces *t, const struct sonde_session *s)
{
	const struct session_event *events = session_events(s);
	size_t nevents = sonde_session_events(s), n = 0;
	uint64_t *ids = malloc((nevents + 1) * sizeof(*ids));
	int rc;

	*t = (struct field_traces){.of_event = calloc(nevents + 1, sizeof(void *))};
	if (ids == NULL || t->of_event == NULL) {
		free(ids);
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < nevents; i++) {
		if (is_shown(&events[i])) {
			ids[n++] = events[i].attr.config;
		}
	}
	rc = trace_set_init(&t->set, session_tracing(s), ids, n);
	for (size_t i = 0; rc >= 0 && i < nevents; i++) {
		t->of_event[i] = is_shown(&events[i])
		                         ? trace_set_find(&t->set, events[i].attr.config)
		                         : NULL;
	}
	free(ids);
	return rc;
}

void field_traces_fini(struct field_traces *t)
{
	trace_set_fini(&t->set);
	free(t->of_event);
}

void field_traces_report(const struct field_traces *t, struct sonde_session *s)
{
	uint64_t unknown = 0, without = 0;

	for (size_t i = 0; i < sonde_session_events(s); i++) {
		const struct session_event *e = &session_events(s)[i];
		const struct trace_event *trace = t->of_event[i];

		if (is_shown(e) && trace == NULL) {
			without += e->count.samples;
		} else if (is_shown(e) && trace->program == NULL) {
			unknown += e->count.samples;
		}
	}
	if (without != 0) {
		diag_report(session_diags(s), SONDE_DIAG_NOT_SHOWN, NO_OFFSET,
		        "%" PRIu64 " samples of tracepoints have no text: the recording does not "
		        "contain the formats of their fields",
		        without);
	}
	if (unknown != 0 && !trace_text_has_library()) {
		diag_report(session_diags(s), SONDE_DIAG_NOT_SHOWN, NO_OFFSET,
		        "the texts of %" PRIu64
		        " samples of tracepoints list the fields and their numbers, because this "
		        "build of sonde lacks libtraceevent; to see them as the kernel prints "
		        "them, build sonde with libtraceevent",
		        unknown);
	}
}

/* The kernel function at an address, as trace_symbol_fn. */
static bool find_symbol(void *arg, uint64_t address, struct trace_symbol *out)
{
	struct field_tracer *t = arg;
	const struct frame *f = frame_find(t->frames, t->view, MISC_KERNEL, address);
	const struct timeline *timeline = session_timeline(t->session);
	const struct timeline_object *o;

	if (f == NULL || f->symbol == NULL) {
		return false;
	}
	o = timeline_object(timeline, f->object);
	*out = (struct trace_symbol){
	        .name = frame_symbol_name(t->frames->resolver, f->object, f->symbol),
	        .start = f->ip - (f->address - f->symbol->start),
	        .module =
	                o->kind == TIMELINE_MODULE ? timeline_text(timeline, o->short_name) : NULL,
	};
	return true;
}

int field_tracer_init(struct field_tracer *t, const struct field_traces *traces,
        const struct sonde_session *s, struct frame_reader *frames)
{
	const struct trace_text_options options = {
	        .home = session_frames(s)->options.home, .find = find_symbol, .arg = t};

	*t = (struct field_tracer){.session = s, .frames = frames};
	return trace_text_new(&t->text, &traces->set, &options);
}

void field_tracer_fini(struct field_tracer *t)
{
	trace_text_free(t->text);
}

void field_tracer_put(struct field_tracer *t, const struct trace_event *e,
        const struct session_sample *sample, struct text *out)
{
	const struct span data = {sample->s.raw, sample->s.raw_len};

	t->view = sample->view;
	trace_text_put(t->text, e, data, sample->s.cpu, out);
}
