/* SPDX-License-Identifier: MIT */
/* The formats of tracepoints of several recordings. */
#include "edit/merge.h"

#include "file/reader.h"
#include "trace/format.h"

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

/* Replaces the formats in m->words by the same ones and those of `in` that are missing. */
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
	return 0;
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
