/* SPDX-License-Identifier: MIT */
/* The formats of tracepoints and the texts of trace_printk of several recordings. */
#include "edit/merge.h"

#include "edit/tracing.h"
#include "file/reader.h"
#include "trace/set.h"

#include <inttypes.h>

static void format_append(struct text *out, const struct trace_format *format, bool swap)
{
	uint8_t number[8];

	text_bytes(out, (const char *)format->system.p, format->system.n);
	text_char(out, '\0');
	store_u32(number, 1, swap);
	text_bytes(out, (const char *)number, 4);
	store_u64(number, format->text.n, swap);
	text_bytes(out, (const char *)number, 8);
	text_bytes(out, (const char *)format->text.p, format->text.n);
}

/* Of an address with two texts the first recording's stays: as with symbols, one kernel is known. */
static void texts_note(const struct edit_merge *m, const struct merge_input *in, size_t n,
        const struct trace_constant *first)
{
	if (n != 0) {
		diag_report(m->inputs[0].f->diags, SONDE_DIAG_NOTE, NO_OFFSET,
		        "%zu text%s of trace_printk in %s %s of another text in the recordings "
		        "before it, which is printed in its place; the first one is at 0x%" PRIx64,
		        n, n == 1 ? "" : "s", in->name,
		        n == 1 ? "has the address" : "have addresses", first->address);
	}
}

/* Appends the lines of texts whose address the ones so far lack. */
static int texts_missing(struct edit_merge *m, const struct merge_input *in, struct span so_far,
        struct span others, struct text *out)
{
	struct trace_constant *mine, *other, *clash = NULL;
	size_t nmine, nother, nclash = 0;
	struct arena arena = {0};
	int rc = trace_constants_read(&arena, so_far, &mine, &nmine);

	if (rc == 0) {
		rc = trace_constants_read(&arena, others, &other, &nother);
	}
	for (size_t i = 0, at = 0; rc == 0 && i < nother; i++) {
		while (at < nmine && mine[at].address < other[i].address) {
			at++;
		}
		if (at == nmine || mine[at].address != other[i].address) {
			text_bytes(out, (const char *)other[i].line.p, other[i].line.n);
			text_char(out, '\n');
		} else if (!span_equal(mine[at].text, other[i].text)) {
			clash = nclash++ == 0 ? &other[i] : clash;
		}
	}
	texts_note(m, in, nclash, clash);
	arena_fini(&arena);
	return rc;
}

/* Adds the texts of trace_printk in a blob to those in m->words. */
static int texts_add(
        struct edit_merge *m, const struct merge_input *in, struct span blob, bool swap)
{
	struct span so_far = {(const uint8_t *)m->words.p, m->words.n};
	struct span mine = edit_tracing_split(so_far).prints, rest;
	struct text added = {0};
	uint8_t number[4];
	int rc;

	if (mine.n != 0 && mine.p[mine.n - 1] != '\n') {
		text_char(&added, '\n');
	}
	rc = texts_missing(m, in, mine, edit_tracing_split(blob).prints, &added);
	if (rc == 0 && added.n > 1 && (mine.p == NULL || added.n > UINT32_MAX - mine.n)) {
		rc = error_set(&m->e->error, SONDE_EFORMAT, NO_OFFSET,
		        "the texts of trace_printk in %s cannot be merged: those of the recordings "
		        "before it are damaged, or all together are over 4 GiB",
		        in->name);
	} else if (rc == 0 && added.n > 1) {
		size_t start = (size_t)(mine.p - so_far.p);

		store_u32(number, (uint32_t)(mine.n + added.n), swap);
		memcpy(m->words.p + start - sizeof(number), number, sizeof(number));
		rest = (struct span){mine.p + mine.n, so_far.n - start - mine.n};
		text_bytes(&added, (const char *)rest.p, rest.n);
		m->words.n = start + mine.n;
		text_bytes(&m->words, added.p, added.n);
	}
	if (rc == SONDE_ENOMEM || added.failed || m->words.failed) {
		rc = error_nomem(&m->e->error);
	}
	text_fini(&added);
	return rc;
}

/* Replaces the formats in m->words by the same ones and those of `in` that are missing, and so texts. */
static int formats_add(struct edit_merge *m, const struct merge_input *in, struct span blob)
{
	struct span so_far = {(const uint8_t *)m->words.p, m->words.n};
	struct trace_blob mine, other;
	struct trace_formats at, end;
	struct trace_format format, same;
	struct text added = {0};
	uint32_t n = 0;
	size_t systems, tail;

	if (!trace_blob_open(so_far, &mine) || !trace_blob_open(blob, &other) ||
	        mine.big_endian != other.big_endian) {
		return error_set(&m->e->error, SONDE_EFORMAT, NO_OFFSET,
		        "the formats of tracepoints in %s cannot be merged: they are damaged or of "
		        "another byte order",
		        in->name);
	}
	trace_formats_begin(&end, &mine);
	while (trace_formats_next(&end, &format)) {
	}
	systems = (size_t)(mine.systems.p - so_far.p);
	tail = (size_t)(end.c.p - so_far.p);
	trace_formats_begin(&at, &other);
	while (trace_formats_next(&at, &format)) {
		if (!trace_format_find(so_far, format.id, &same)) {
			format_append(&added, &format, mine.systems.swap);
			n++;
		} else if (!span_equal(same.text, format.text)) {
			text_fini(&added);
			return error_set(&m->e->error, SONDE_EFORMAT, NO_OFFSET,
			        "%s cannot be merged: its tracepoint %.*s has the number or the "
			        "fields of another one in the recordings before it",
			        in->name, (int)format.name.n, (const char *)format.name.p);
		}
	}
	text_bytes(&added, m->words.p + tail, m->words.n - tail);
	m->words.n = tail;
	text_bytes(&m->words, added.p, added.n);
	if (m->words.failed || added.failed || m->words.p == NULL) {
		text_fini(&added);
		return error_nomem(&m->e->error);
	}
	store_u32((uint8_t *)m->words.p + systems,
	        load_u32((uint8_t *)m->words.p + systems, mine.systems.swap) + n,
	        mine.systems.swap);
	text_fini(&added);
	return texts_add(m, in, blob, mine.systems.swap);
}

int merge_formats(struct edit_merge *m, struct sonde_rewriter *rw)
{
	m->words.n = 0;
	for (size_t i = 0; i < m->ninputs; i++) {
		struct span blob = file_feature(m->inputs[i].f, FEATURE_TRACING_DATA);

		if (blob.n != 0 && m->words.n != 0) {
			TRY(formats_add(m, &m->inputs[i], blob));
		} else if (blob.n != 0) {
			text_bytes(&m->words, (const char *)blob.p, blob.n);
		}
	}
	if (m->words.failed) {
		return error_nomem(&m->e->error);
	}
	return m->words.n == 0 ? 0
	                       : sonde_rewriter_set_feature(
	                                 rw, FEATURE_TRACING_DATA, m->words.p, m->words.n);
}
