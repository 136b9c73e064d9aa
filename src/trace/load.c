/* SPDX-License-Identifier: MIT */
/* Makes the tracepoints of a recording from its formats. */
#include "trace/set.h"

#include "core/array.h"
#include "core/status.h"
#include "trace/program.h"
#include "trace/token.h"

#include <stdlib.h>

static int compare_ids(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int compare_events(const void *a, const void *b)
{
	const struct trace_event *x = a, *y = b;

	return compare_ids(&x->format.id, &y->format.id);
}

/* Returns the position after the string literal that begins at text.p[i]. */
static size_t after_quotes(struct span text, size_t i)
{
	for (i++; i < text.n && text.p[i] != '"'; i++) {
		i += text.p[i] == '\\';
	}
	return i + 1;
}

static void mark_count(struct trace_event *e, struct trace_field *fields, struct span word)
{
	for (size_t i = 0; i < e->nfields; i++) {
		struct trace_field *f = &fields[i];

		if ((f->flags & TRACE_ARRAY) == 0 && f->name.n == word.n &&
		        memcmp(f->name.p, word.p, word.n) == 0) {
			f->flags |= TRACE_COUNT;
			e->counted = true;
		}
	}
}

static bool prints_array(struct span word)
{
	return span_starts(word, SPAN_TEXT("__print_hex")) ||
	       span_starts(word, SPAN_TEXT("__print_array"));
}

/*
 * Marks the numbers ("REC->len") that the print format uses as a length or index of an array: those inside the
 * parentheses of __print_hex and __print_array, and those in brackets. libtraceevent does not
 * compare them with the size of the array.
 */
static void mark_counts(struct trace_event *e, struct trace_field *fields)
{
	struct span text = trace_format_print(&e->format);
	unsigned depth = 0, array = 0, brackets = 0; /* array: the depth inside its parentheses */
	size_t i = 0, n;

	for (; i < text.n; i += n) {
		struct span word = {text.p + i, 0};

		while (i + word.n < text.n && trace_is_word(word.p[word.n])) {
			word.n++;
		}
		n = word.n != 0 ? word.n : 1;
		if (text.p[i] == '"') {
			n = after_quotes(text, i) - i;
		} else if (word.n == 0) {
			depth += text.p[i] == '(';
			depth -= text.p[i] == ')' && depth != 0;
			brackets += text.p[i] == '[';
			brackets -= text.p[i] == ']' && brackets != 0;
			array = depth < array ? 0 : array;
		} else if (prints_array(word) && array == 0) {
			array = depth + 1;
			depth += i + n < text.n && text.p[i + n] == '(';
			n++;
		} else if ((array != 0 || brackets != 0) && i != 0 && text.p[i - 1] == '>') {
			mark_count(e, fields, word);
		}
	}
}

static int add_fields(struct trace_set *s, struct trace_event *e)
{
	struct trace_field field, *fields;
	size_t at = 0, n = 0;

	while (trace_field_next(&e->format, &at, &field)) {
		n++;
	}
	fields = arena_alloc(&s->arena, (n + 1) * sizeof(*fields));
	if (fields == NULL) {
		return SONDE_ENOMEM;
	}
	e->fields = fields;
	at = 0;
	while (trace_field_next(&e->format, &at, &fields[e->nfields])) {
		const struct trace_field *f = &fields[e->nfields++];

		if (f->offset + f->size > e->extent) {
			e->extent = f->offset + f->size;
		}
		e->refers = e->refers || (f->flags & TRACE_DYNAMIC) != 0;
	}
	mark_counts(e, fields);
	return 0;
}

/* Adds the formats of the blob whose ids are in ids[], which is sorted. */
static int add_events(
        struct trace_set *s, struct trace_formats *at, const uint64_t *ids, size_t nids)
{
	struct trace_format format;

	while (s->nevents < nids && trace_formats_next(at, &format)) {
		struct trace_event e = {.format = format};

		if (bsearch(&format.id, ids, nids, sizeof(*ids), compare_ids) != NULL) {
			TRY(add_fields(s, &e));
			TRY(trace_program_new(&e.program, s, &e, &s->arena));
			s->events[s->nevents++] = e;
		}
	}
	qsort(s->events, s->nevents, sizeof(*s->events), compare_events);
	return 0;
}

static int compare_constants(const void *a, const void *b)
{
	const struct trace_constant *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/*
 * Reads a line of the texts of trace_printk, "0xffffffff828195af : "thaw_processes"". A line break at
 * the end of a text is no part of it.
 */
static bool read_constant(struct span line, struct trace_constant *out)
{
	struct tokens t;

	tokens_begin(&t, line);
	out->line = line;
	out->address = t.number;
	if (t.kind != TOKEN_NUMBER) {
		return false;
	}
	tokens_next(&t);
	if (!tokens_skip(&t, ":") || t.kind != TOKEN_TEXT) {
		return false;
	}
	out->text = t.text;
	if (t.text.n > 1 && memcmp(t.text.p + t.text.n - 2, "\\n", 2) == 0) {
		out->text.n -= 2;
	}
	return true;
}

int trace_constants_read(
        struct arena *arena, struct span all, struct trace_constant **out, size_t *n)
{
	struct cursor c = cursor_make(all, false);
	size_t lines = 1; /* the last one may lack its end */

	for (size_t i = 0; i < all.n; i++) {
		lines += all.p[i] == '\n';
	}
	*n = 0;
	*out = arena_alloc(arena, lines * sizeof(**out));
	if (*out == NULL) {
		return SONDE_ENOMEM;
	}
	while (cursor_left(&c) != 0) {
		const uint8_t *end = memchr(c.p, '\n', cursor_left(&c));
		struct span line =
		        cursor_bytes(&c, end != NULL ? (size_t)(end - c.p) : cursor_left(&c));

		*n += read_constant(line, &(*out)[*n]);
		(void)cursor_bytes(&c, cursor_left(&c) != 0);
	}
	qsort(*out, *n, sizeof(**out), compare_constants);
	return 0;
}

int trace_set_init(struct trace_set *s, struct span bytes, const uint64_t *ids, size_t nids)
{
	struct trace_formats at;
	struct trace_blob blob;
	uint64_t *sorted;

	*s = (struct trace_set){.nevents = 0};
	if (nids == 0 || !trace_blob_open(bytes, &blob)) {
		return 0;
	}
	s->big_endian = blob.big_endian;
	s->long_size = blob.long_size;
	sorted = arena_alloc(&s->arena, nids * sizeof(*sorted));
	s->events = arena_alloc(&s->arena, nids * sizeof(*s->events));
	if (sorted == NULL || s->events == NULL) {
		return SONDE_ENOMEM;
	}
	memcpy(sorted, ids, nids * sizeof(*sorted));
	qsort(sorted, nids, sizeof(*sorted), compare_ids);
	trace_formats_begin(&at, &blob);
	TRY(add_events(s, &at, sorted, nids));
	s->printk = trace_formats_printk(&at);
	return trace_constants_read(&s->arena, s->printk, &s->constants, &s->nconstants);
}
