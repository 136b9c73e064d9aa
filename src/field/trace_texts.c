/* SPDX-License-Identifier: MIT */
#include "field/trace_texts.h"

#include "trace/value.h"

int field_texts_init(struct field_texts *t, const struct field_traces *traces,
        const struct field_trace_keys *keys, const struct sonde_session *s,
        struct frame_reader *frames)
{
	*t = (struct field_texts){.traces = traces, .keys = keys};
	return field_tracer_init(&t->tracer, traces, s, frames);
}

void field_texts_fini(struct field_texts *t)
{
	field_tracer_fini(&t->tracer);
	intern_fini(&t->texts);
	text_fini(&t->buffer);
	text_fini(&t->scratch);
}

/* Returns the number of the text in the buffer. */
static uint32_t number_of_buffer(struct field_texts *t)
{
	uint32_t id;

	text_char(&t->buffer, '\0');
	id = t->buffer.failed ? INTERN_NONE : intern_add(&t->texts, t->buffer.p, t->buffer.n);
	t->failed = t->failed || id == INTERN_NONE;
	return id != INTERN_NONE ? id : 0;
}

/* As in perf, in place of the event's text: " NAME=VALUE NAME=VALUE", without common fields. */
static void put_values(const struct field_texts *t, const struct trace_event *e,
        const struct session_sample *sample, struct text *out)
{
	const struct span data = {sample->s.raw, sample->s.raw_len};

	for (size_t i = 0; i < e->nfields; i++) {
		const struct trace_field *field = &e->fields[i];

		if ((field->flags & TRACE_COMMON) != 0) {
			continue;
		}
		text_char(out, ' ');
		text_bytes(out, (const char *)field->name.p, field->name.n);
		text_char(out, '=');
		trace_value_text(&t->traces->set, field, data, out);
	}
}

uint32_t field_texts_trace(struct field_texts *t, const struct session_sample *sample)
{
	const struct trace_event *e = t->traces->of_event[sample->event];

	t->buffer.n = 0;
	if (e != NULL && t->keys != NULL && t->keys->all_raw) {
		put_values(t, e, sample, &t->buffer);
	} else if (e != NULL) {
		field_tracer_put(&t->tracer, e, sample, &t->buffer);
	} else if (sonde_session_event_attr(t->tracer.session, sample->event)->type !=
	           SONDE_TYPE_TRACEPOINT) {
		text_str(&t->buffer, "N/A"); /* as in perf */
	}
	return number_of_buffer(t);
}

uint32_t field_texts_fields(struct field_texts *t, const struct session_sample *sample)
{
	t->buffer.n = 0;
	if (t->keys != NULL) {
		field_trace_key_text(t->keys, &t->tracer, sample, &t->scratch, &t->buffer);
	} else {
		text_char(&t->buffer, '\n');
	}
	return number_of_buffer(t);
}
