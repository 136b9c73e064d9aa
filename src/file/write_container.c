/* SPDX-License-Identifier: MIT */
/*
 * What the containers have around the records; doc/format.md draws them.
 *
 * Seekable file: header (data.size 0 until it is closed), ids, attrs, records; then the table of
 * features and their payloads, and the header again.
 * Stream: 16 bytes of header; an ATTR record for each event, FEATURE records, an empty FEATURE
 * record as end mark; TRACING_DATA and BUILD_ID records; then the records.
 */
#include "file/write.h"

#define RECORD_MAX 0xfff8u /* bytes, the largest multiple of 8 that a record's size can say */
/* Feature number of the end mark: perf 6.1's, unless the stream has features it does not know. */
#define STREAM_LAST 32u

void write_u32(const struct sonde_writer *w, struct text *t, uint32_t v)
{
	v = w->swap ? __builtin_bswap32(v) : v;
	text_bytes(t, (const char *)&v, sizeof(v));
}

void write_u64(const struct sonde_writer *w, struct text *t, uint64_t v)
{
	v = w->swap ? __builtin_bswap64(v) : v;
	text_bytes(t, (const char *)&v, sizeof(v));
}

static int put_text(struct sonde_writer *w, struct text *t)
{
	if (t->failed) {
		return error_nomem(&w->error);
	}
	return sink_put(&w->streams[0].sink, t->p, t->n, &w->error);
}

/* ---- seekable ---- */

/* final: all is written; before that readers must not look for features. */
static void header_make(struct sonde_writer *w, struct text *t, uint64_t data_size, bool final)
{
	write_u64(w, t, FILE_MAGIC2);
	write_u64(w, t, FILE_HEADER_SIZE);
	write_u64(w, t, w->entry_size);
	write_u64(w, t, w->attrs_at);
	write_u64(w, t, w->attrs_size);
	write_u64(w, t, w->data_at);
	write_u64(w, t, data_size);
	write_u64(w, t, 0);
	write_u64(w, t, 0);
	for (unsigned i = 0; i < FEATURE_BITS; i += 64) {
		uint64_t bits = 0;

		for (unsigned b = 0; b < 64; b++) {
			bits |= (uint64_t)w->features[i + b].set << b;
		}
		write_u64(w, t, final ? bits : 0);
	}
}

int write_file_start(struct sonde_writer *w)
{
	struct text *t = &w->scratch;
	uint64_t at = FILE_HEADER_SIZE;
	size_t room = ATTR_SIZE_VER0;

	t->n = 0;
	for (size_t i = 0; i < w->nevents; i++) {
		room = w->events[i].attr_size > room ? w->events[i].attr_size : room;
		at += w->events[i].nids * 8;
	}
	room = (room + 7) / 8 * 8;
	w->entry_size = room + 16;
	w->attrs_at = at;
	w->attrs_size = w->nevents * w->entry_size;
	w->data_at = w->attrs_at + w->attrs_size;
	header_make(w, t, 0, false);
	for (size_t i = 0; i < w->nevents; i++) {
		for (size_t j = 0; j < w->events[i].nids; j++) {
			write_u64(w, t, w->events[i].ids[j]);
		}
	}
	at = FILE_HEADER_SIZE;
	for (size_t i = 0; i < w->nevents; i++) {
		const struct write_event *e = &w->events[i];

		text_bytes(t, (const char *)e->attr, e->attr_size);
		text_fill(t, '\0', room - e->attr_size);
		write_u64(w, t, at);
		write_u64(w, t, e->nids * 8);
		at += e->nids * 8;
	}
	return put_text(w, t);
}

int write_file_finish(struct sonde_writer *w)
{
	struct sink *s = &w->streams[0].sink;
	uint64_t data_size = s->at - w->data_at;
	uint64_t at = s->at;
	struct text *t = &w->scratch;

	t->n = 0;
	for (unsigned i = 0; i < FEATURE_BITS; i++) {
		at += w->features[i].set ? 16 : 0;
	}
	for (unsigned i = 0; i < FEATURE_BITS; i++) {
		if (w->features[i].set) {
			write_u64(w, t, at);
			write_u64(w, t, w->features[i].n);
			at += w->features[i].n;
		}
	}
	TRY(put_text(w, t));
	for (unsigned i = 0; i < FEATURE_BITS; i++) {
		TRY(sink_put(s, w->features[i].bytes, w->features[i].n, &w->error));
	}
	TRY(sink_flush(s, &w->error));
	t->n = 0;
	header_make(w, t, data_size, true);
	return t->failed ? error_nomem(&w->error) : sink_patch(s, t->p, t->n, 0, &w->error);
}

/* ---- stream ---- */

static void record_header(struct sonde_writer *w, uint32_t type, uint16_t misc, size_t size)
{
	uint8_t header[RECORD_HEADER_SIZE];

	store_u32(header, type, w->swap);
	store_u16(header + 4, misc, w->swap);
	store_u16(header + 6, (uint16_t)size, w->swap);
	text_bytes(&w->scratch, (const char *)header, sizeof(header));
}

/*
 * Appends the attr as a stream needs it: its own size says where the ids begin. Zeros behind it are
 * padding of an attrs section and stay away; a size that is wrong otherwise is set right. Bytes.
 */
static size_t attr_put(struct sonde_writer *w, const struct write_event *e)
{
	uint32_t claimed = load_u32(e->attr + 4, w->swap);
	size_t n = claimed >= ATTR_SIZE_VER0 && claimed < e->attr_size ? claimed : e->attr_size;
	size_t at = w->scratch.n;

	for (size_t i = n; i < e->attr_size; i++) {
		n = e->attr[i] != 0 ? e->attr_size : n;
	}
	text_bytes(&w->scratch, (const char *)e->attr, n);
	if (n != claimed && !w->scratch.failed && (claimed != 0 || n != ATTR_SIZE_VER0)) {
		store_u32((uint8_t *)w->scratch.p + at + 4, (uint32_t)n, w->swap);
	}
	return n;
}

static int attrs_put(struct sonde_writer *w)
{
	for (size_t i = 0; i < w->nevents; i++) {
		const struct write_event *e = &w->events[i];
		size_t at = w->scratch.n, n = RECORD_HEADER_SIZE + e->attr_size + e->nids * 8;

		if (n > RECORD_MAX) {
			return error_set(&w->error, SONDE_EARG, NO_OFFSET,
			        "event %zu has %zu ids, more than the ATTR record of a stream can "
			        "hold; write a seekable file",
			        i, e->nids);
		}
		record_header(w, RECORD_HEADER_ATTR, 0, n);
		n = RECORD_HEADER_SIZE + attr_put(w, e) + e->nids * 8;
		if (!w->scratch.failed) {
			store_u16((uint8_t *)w->scratch.p + at + 6, (uint16_t)n, w->swap);
		}
		for (size_t j = 0; j < e->nids; j++) {
			write_u64(w, &w->scratch, e->ids[j]);
		}
	}
	return 0;
}

/* Features that a stream has as records of their own, or not at all. */
static bool feature_streams(unsigned bit)
{
	return bit != FEATURE_TRACING_DATA && bit != FEATURE_BUILD_ID && bit != FEATURE_AUXTRACE &&
	       bit != FEATURE_DIR_FORMAT;
}

static void features_put(struct sonde_writer *w)
{
	unsigned last = STREAM_LAST;

	for (unsigned i = 1; i < FEATURE_BITS; i++) {
		const struct write_feature *f = &w->features[i];
		size_t padded = (f->n + 7) / 8 * 8;

		if (!f->set || !feature_streams(i) ||
		        RECORD_HEADER_SIZE + 8 + padded > RECORD_MAX) {
			continue;
		}
		last = i >= STREAM_LAST ? i + 1 : last;
		record_header(w, RECORD_HEADER_FEATURE, 0, RECORD_HEADER_SIZE + 8 + padded);
		write_u64(w, &w->scratch, i);
		text_bytes(&w->scratch, (const char *)f->bytes, f->n);
		text_fill(&w->scratch, '\0', padded - f->n);
	}
	record_header(w, RECORD_HEADER_FEATURE, 0, RECORD_HEADER_SIZE + 8);
	write_u64(w, &w->scratch, last);
}

static void tracing_put(struct sonde_writer *w)
{
	const struct write_feature *f = &w->features[FEATURE_TRACING_DATA];
	size_t padded = (f->n + 7) / 8 * 8;

	if (!f->set) {
		return;
	}
	record_header(w, RECORD_TRACING_DATA, 0, RECORD_HEADER_SIZE + 8);
	write_u32(w, &w->scratch, (uint32_t)padded);
	write_u32(w, &w->scratch, 0);
	text_bytes(&w->scratch, (const char *)f->bytes, f->n);
	text_fill(&w->scratch, '\0', padded - f->n);
}

/* The feature's entries are records already, but for their type. */
static void build_ids_put(struct sonde_writer *w)
{
	const struct write_feature *f = &w->features[FEATURE_BUILD_ID];
	struct cursor c = cursor_make((struct span){f->bytes, f->n}, w->swap);

	while (cursor_left(&c) >= RECORD_HEADER_SIZE) {
		uint16_t misc, size;
		struct span body;

		(void)cursor_u32(&c);
		misc = cursor_u16(&c);
		size = cursor_u16(&c);
		body = cursor_bytes(&c, size >= RECORD_HEADER_SIZE ? size - RECORD_HEADER_SIZE : 0);
		if (c.bad || body.n == 0) {
			return;
		}
		record_header(w, RECORD_BUILD_ID, misc, size);
		text_bytes(&w->scratch, (const char *)body.p, body.n);
	}
}

int write_pipe_start(struct sonde_writer *w)
{
	w->scratch.n = 0;
	write_u64(w, &w->scratch, FILE_MAGIC2);
	write_u64(w, &w->scratch, PIPE_HEADER_SIZE);
	TRY(attrs_put(w));
	features_put(w);
	tracing_put(w);
	build_ids_put(w);
	return put_text(w, &w->scratch);
}
