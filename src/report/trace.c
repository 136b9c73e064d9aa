/* SPDX-License-Identifier: MIT */
/*
 * Columns of the fields of tracepoints: the key FIELD_TRACE_FIELDS is one column of the report, whose
 * title and cells consist of those of the event's fields. Events without such a field lack it.
 */
#include "report/report.h"

#include "core/escape.h"

#include <stdlib.h>

static const struct field_trace_event *fields_of(const struct report *r, uint32_t event)
{
	return &r->profile.trace_keys.of_event[event];
}

bool report_trace_choose(struct report *r, const char *word, size_t n, int *rc)
{
	*rc = profile_traces_init(&r->profile, r->options.raw_trace);
	if (*rc < 0) {
		return true;
	}
	*rc = field_trace_keys_choose(&r->profile.trace_keys, word, n);
	if (*rc == SONDE_EARG) {
		*rc = error_set(session_error(r->session), SONDE_EARG, NO_OFFSET,
		        "--sort: several events have '%.*s' in their names: write the whole name, "
		        "as SYSTEM:EVENT.FIELD",
		        (int)strcspn(word, "."), word);
	}
	return *rc != 0;
}

/* Bytes of the next field in the digits of a key, which a blank follows. */
static size_t next_bytes(const char **digits)
{
	size_t n = strcspn(*digits, " \n");

	*digits += n + ((*digits)[n] == ' ');
	return n / 2;
}

/* Widens the fields for a row: as in perf, dynamic fields have room for all of their bytes. */
static void widths_widen(struct report *r, const struct profile_row *row)
{
	const struct field_trace_event *fields = fields_of(r, row->event);
	const uint32_t *words = profile_row_words(&r->profile, row, FIELD_TRACE_FIELDS);
	const char *digits = intern_text(&r->profile.texts.texts, *words);
	const char *cell = field_trace_key_cells(digits);

	for (size_t i = 0; i < fields->n; i++) {
		bool dynamic = (fields->v[i].field->flags & TRACE_DYNAMIC) != 0;
		size_t bytes = next_bytes(&digits), n = strcspn(cell, "\t");
		int width = (int)(dynamic && bytes > n ? bytes : n);

		r->trace_widths[i] = width > r->trace_widths[i] ? width : r->trace_widths[i];
		cell += n + (cell[n] == '\t');
	}
}

/* Sets the widths of the event's fields; returns the width of all. */
static int widths_set(struct report *r, uint32_t event)
{
	const struct field_trace_event *fields = fields_of(r, event);
	int sum = 0;

	for (size_t i = 0; i < fields->n; i++) {
		const struct trace_field *f = fields->v[i].field;
		size_t width = field_trace_key_width(f);

		r->trace_widths[i] = (int)(f->name.n > width ? f->name.n : width);
	}
	for (size_t k = 0; k < r->table->norder; k++) {
		widths_widen(r, &r->table->rows[r->table->order[k]]);
	}
	for (size_t i = 0; i < fields->n; i++) {
		sum += r->trace_widths[i] + (i != 0 ? 2 : 0);
	}
	return sum;
}

int report_trace_reset(struct report *r)
{
	size_t most = 0;

	if (r->table->norder == 0) {
		return 0;
	}
	r->trace_event = r->table->rows[r->table->order[0]].event;
	for (uint32_t e = 0; e < sonde_session_events(r->session); e++) {
		most = fields_of(r, e)->n > most ? fields_of(r, e)->n : most;
	}
	if (most != 0 && r->table->members > 1) {
		return error_set(session_error(r->session), SONDE_EARG, NO_OFFSET,
		        "fields of tracepoints have no columns in a group of events: add "
		        "--no-group");
	}
	if (r->trace_widths == NULL) {
		r->trace_widths = calloc(most + 1, sizeof(*r->trace_widths));
	}
	return r->trace_widths != NULL ? widths_set(r, r->trace_event) : SONDE_ENOMEM;
}

bool report_trace_hidden(const struct report *r)
{
	return fields_of(r, r->trace_event)->n == 0;
}

static void put_between(const struct report *r, size_t i, struct text *out)
{
	if (i != 0) {
		text_str(out, r->options.separator != NULL ? r->options.separator : "  ");
	}
}

/* Right-aligned, and cut to the width. */
static void put_cell(
        const struct report *r, struct text *out, const char *text, size_t n, size_t width)
{
	size_t start;

	n = n < width ? n : width;
	text_fill(out, ' ', width - n);
	start = out->n;
	text_bytes(out, text, n);
	escape_plain_from(out, start);
	report_text_clean(r, out, start);
}

void report_trace_title(const struct report *r, struct text *out)
{
	const struct field_trace_event *fields = fields_of(r, r->trace_event);

	for (size_t i = 0; i < fields->n; i++) {
		const struct span name = fields->v[i].field->name;

		put_between(r, i, out);
		put_cell(r, out, (const char *)name.p, name.n, (size_t)r->trace_widths[i]);
	}
}

void report_trace_dots(const struct report *r, struct text *out)
{
	for (size_t i = 0; i < fields_of(r, r->trace_event)->n; i++) {
		put_between(r, i, out);
		text_fill(out, '.', (size_t)r->trace_widths[i]);
	}
}

void report_trace_cells(
        const struct report *r, const struct profile_row *row, const char *text, struct text *out)
{
	for (size_t i = 0; i < fields_of(r, row->event)->n; i++) {
		size_t n = strcspn(text, "\t");

		put_between(r, i, out);
		put_cell(r, out, text, n, (size_t)r->trace_widths[i]);
		text += n + (text[n] == '\t');
	}
}

void report_trace_json(
        const struct report *r, const struct profile_row *row, const char *text, struct json *out)
{
	const struct field_trace_event *fields = fields_of(r, row->event);
	struct text name = {0};

	json_object(out, field_at(FIELD_TRACE_FIELDS)->info.name);
	for (size_t i = 0; i < fields->n && !name.failed; i++) {
		size_t n = strcspn(text, "\t");

		name.n = 0;
		text_bytes(&name, (const char *)fields->v[i].field->name.p,
		        fields->v[i].field->name.n);
		text_char(&name, '\0');
		if (!name.failed) {
			json_string(out, name.p, text, n);
		}
		text += n + (text[n] == '\t');
	}
	json_close(out);
	out->out->failed = out->out->failed || name.failed;
	text_fini(&name);
}
