/* SPDX-License-Identifier: MIT */
#include "field/trace_keys.h"

#include "core/array.h"
#include "trace/value.h"

#include <stdlib.h>

#define RAW "/raw"

int field_trace_keys_init(struct field_trace_keys *k, const struct field_traces *traces,
        const struct sonde_session *s, bool all_raw)
{
	*k = (struct field_trace_keys){.traces = traces,
	        .session = s,
	        .all_raw = all_raw,
	        .of_event = calloc(sonde_session_events(s) + 1, sizeof(*k->of_event))};
	return k->of_event != NULL ? 0 : SONDE_ENOMEM;
}

void field_trace_keys_fini(struct field_trace_keys *k)
{
	for (size_t i = 0; k->of_event != NULL && i < sonde_session_events(k->session); i++) {
		free(k->of_event[i].v);
	}
	free(k->of_event);
}

static int key_add(struct field_trace_event *e, const struct trace_field *field, bool raw)
{
	for (size_t i = 0; i < e->n; i++) {
		if (e->v[i].field == field) {
			return 0;
		}
	}
	if (!array_reserve(&e->v, &e->cap, e->n + 1, sizeof(*e->v))) {
		return SONDE_ENOMEM;
	}
	e->v[e->n++] = (struct field_trace_key){field, raw};
	return 0;
}

static int keys_add_all(struct field_trace_keys *k, size_t event, bool raw)
{
	const struct trace_event *e = k->traces->of_event[event];

	for (size_t i = 0; e != NULL && i < e->nfields; i++) {
		if ((e->fields[i].flags & TRACE_COMMON) == 0) {
			TRY(key_add(&k->of_event[event], &e->fields[i], raw));
		}
	}
	return e != NULL && e->nfields != 0;
}

/* A word in its parts. */
struct word {
	struct span event; /* n is 0: any event */
	struct span field;
	bool raw;
};

static struct word word_of(const char *text, size_t n)
{
	struct word w = {.field = {(const uint8_t *)text, n}};
	const char *dot = memchr(text, '.', n);
	size_t size = sizeof(RAW) - 1;

	if (dot != NULL) {
		w.event = (struct span){(const uint8_t *)text, (size_t)(dot - text)};
		w.field = (struct span){(const uint8_t *)dot + 1, n - w.event.n - 1};
	}
	if (w.field.n > size && memcmp(w.field.p + w.field.n - size, RAW, size) == 0) {
		w.field.n -= size;
		w.raw = true;
	}
	return w;
}

/* Whether an event is named by the word's part; index: from 0. */
static bool event_is(const struct span part, size_t index, const char *name)
{
	size_t n = strlen(name);
	uint64_t number = 0;

	if (part.n == 0) {
		return true;
	}
	if (part.p[0] == '%') {
		for (size_t i = 1; i < part.n && number <= UINT32_MAX; i++) {
			if (part.p[i] < '0' || part.p[i] > '9') {
				return false;
			}
			number = number * 10 + (uint64_t)(part.p[i] - '0');
		}
		return number == index + 1;
	}
	if (memchr(part.p, ':', part.n) != NULL) {
		return n == part.n && memcmp(name, part.p, n) == 0;
	}
	return span_has((struct span){(const uint8_t *)name, n}, part);
}

void field_trace_keys_offer(const struct field_trace_keys *k, struct near *near)
{
	for (size_t i = 0; i < sonde_session_events(k->session); i++) {
		const struct trace_event *e = k->traces->of_event[i];

		for (size_t f = 0; e != NULL && f < e->nfields; f++) {
			near_offer(near, (const char *)e->fields[f].name.p, e->fields[f].name.n);
		}
	}
}

int field_trace_keys_choose(struct field_trace_keys *k, const char *text, size_t n)
{
	struct word w = word_of(text, n);
	bool all = span_is(w.field, "trace_fields") || span_is(w.field, "*");
	int named = 0, found = 0;

	for (size_t i = 0; i < sonde_session_events(k->session); i++) {
		const struct trace_event *e = k->traces->of_event[i];
		const struct trace_field *field;
		int rc;

		if (!event_is(w.event, i, session_events(k->session)[i].name)) {
			continue;
		}
		named++;
		if (all) {
			rc = keys_add_all(k, i, w.raw || k->all_raw);
			found += rc > 0;
		} else {
			field = e != NULL ? trace_event_field(e, w.field) : NULL;
			rc = field != NULL ? key_add(&k->of_event[i], field, w.raw || k->all_raw)
			                   : 0;
			found += field != NULL;
		}
		if (rc < 0) {
			return rc;
		}
	}
	if (all && w.event.n == 0) {
		return 1; /* as in perf, no column if there is no tracepoint */
	}
	return w.event.n != 0 && named > 1 ? SONDE_EARG : found;
}

/* Removes a word and the blank after it from a text. */
static struct span next_word(struct span *text)
{
	const uint8_t *blank = text->n != 0 ? memchr(text->p, ' ', text->n) : NULL;
	struct span word = {text->p, blank != NULL ? (size_t)(blank - text->p) : text->n};
	size_t n = word.n + (blank != NULL);

	*text = (struct span){text->p + n, text->n - n};
	return word;
}

/*
 * Finds the value of a field in an event's text, as perf does: in "pid=12", it is the part of the
 * word after the field's name and one character. In "pid 12" it is the next word.
 */
static bool find_value(struct span text, struct span name, struct span *out)
{
	struct span left = text;
	struct span word;

	if (text.n == 0) {
		return false;
	}
	word = next_word(&left);
	while (word.n < name.n || memcmp(word.p, name.p, name.n) != 0) {
		if (left.n == 0) {
			return false;
		}
		word = next_word(&left);
	}
	if (word.n == name.n) {
		*out = next_word(&left);
	} else {
		*out = (struct span){word.p + name.n + 1, word.n - name.n - 1};
	}
	return true;
}

static void put_bytes(struct text *out, struct span bytes)
{
	for (size_t i = 0; i < bytes.n; i++) {
		text_hex(out, (uint8_t)~bytes.p[i], 2, '0');
	}
	text_char(out, ' ');
}

/* The cells of a text are separated by tabs. */
static void clean_cell(struct text *out, size_t start)
{
	for (size_t i = start; i < out->n; i++) {
		if (out->p[i] == '\t' || out->p[i] == '\n' || out->p[i] == '\0') {
			out->p[i] = ' ';
		}
	}
}

static void put_cell(const struct trace_set *set, const struct field_trace_key *key,
        struct span data, struct span text, struct text *out)
{
	size_t start = out->n;
	struct span value;

	if (!key->raw && find_value(text, key->field->name, &value)) {
		text_bytes(out, (const char *)value.p, value.n);
	} else {
		trace_value_text(set, key->field, data, out);
	}
	clean_cell(out, start);
}

void field_trace_key_text(const struct field_trace_keys *k, struct field_tracer *tracer,
        const struct session_sample *s, struct text *scratch, struct text *out)
{
	const struct field_trace_event *keys = &k->of_event[s->event];
	const struct trace_set *set = &k->traces->set;
	const struct span data = {s->s.raw, s->s.raw_len};
	struct span bytes, text;
	bool pretty = false;

	scratch->n = 0;
	for (size_t i = 0; i < keys->n; i++) {
		pretty = pretty || !keys->v[i].raw;
		if (trace_value(set, keys->v[i].field, data, &bytes)) {
			put_bytes(out, bytes);
		}
	}
	text_char(out, '\n');
	if (pretty) {
		field_tracer_put(tracer, k->traces->of_event[s->event], s, scratch);
	}
	text = (struct span){(const uint8_t *)scratch->p, scratch->n};
	for (size_t i = 0; i < keys->n; i++) {
		text_bytes(out, "\t", i != 0);
		put_cell(set, &keys->v[i], data, text, out);
	}
	out->failed = out->failed || scratch->failed;
}

unsigned field_trace_key_width(const struct trace_field *f)
{
	if ((f->flags & TRACE_DYNAMIC) != 0) {
		return 0;
	}
	return (f->flags & TRACE_ARRAY) != 0 ? f->size : 2 * f->size + 2;
}
