/* SPDX-License-Identifier: MIT */
/*
 * Compressed records. The recorder compresses the contents of its rings with one zstd stream per
 * file and cuts the stream into records:
 *
 *	COMPRESSED (81)   header, zstd bytes up to the record's size (not padded)
 *	COMPRESSED2 (83)  header, u64 data size, zstd bytes, NULs up to a multiple of 8
 *
 *	perf.data:  [ MMAP ][ 81: zstd 1 ][ FINISHED_ROUND ][ 81: zstd 2 ] ...
 *	the spool:  [ MMAP ][ 81: zstd 1 ][ SAMPLE ][ SAM   ...
 *	                                            `-----  kept until zstd 2 is decoded:
 *	            ... [ FINISHED_ROUND ][ 81: zstd 2 ][ SAMPLE ][ SAMPLE ]
 *
 * A record may continue in the next compressed record: its first part is kept. The spool is read
 * like any other stream; runs map its sections to the input, marks show where bytes were skipped.
 * After damage, decoding can continue only at a compressed record that begins with a new zstd
 * frame.
 *
 * In an overflown COMPRESSED2 (iterate.c) with more than PIECE_MAX bytes of data, records may hide
 * after the first piece: complete COMPRESSED2 records up to its end. They are searched from the
 * smallest offset where a chain of them ends exactly there.
 *
 * Source: format document of perf.data; checked against files of perf 6.1, 6.5 and 6.16.
 */
#include "core/array.h"
#include "file/decoder.h"
#include "file/parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define BUFFER_SIZE ((size_t)256 << 10) /* more than the largest record */
#define PIECE_MAX   65519u
#define FRAME_MAGIC 0xfd2fb528u

struct inflate {
	struct file *f;
	struct file_stream *from;
	struct spool spool;
	struct file_run *runs;
	size_t nruns, runs_cap;
	struct file_mark *marks;
	size_t nmarks, marks_cap;
	void *decoder;
	bool lost; /* nothing can be decoded before the next frame */
	uint64_t left_out; /* compressed records skipped since then */
	uint64_t lost_at; /* position of the last of them */
	bool fresh; /* the decoder has read nothing yet */
	uint8_t *buffer; /* [kept part][new bytes] */
	size_t kept;
	uint64_t kept_origin, kept_inside;
	uint64_t origin; /* of the current compressed record */
	uint64_t inside; /* bytes inflated from it so far */
};

static int add_run(struct inflate *z, uint64_t origin, uint64_t inside, bool inflated)
{
	if (!array_reserve(&z->runs, &z->runs_cap, z->nruns + 1, sizeof(*z->runs))) {
		return error_nomem(&z->f->error);
	}
	z->runs[z->nruns++] = (struct file_run){
	        .at = z->spool.size, .origin = origin, .inside = inside, .inflated = inflated};
	return 0;
}

/* Copies bytes of the input unchanged. */
static int copy_plain(struct inflate *z, uint64_t position, uint64_t size)
{
	const struct file_stream *s = z->from;
	const struct file_run *last = z->nruns != 0 ? &z->runs[z->nruns - 1] : NULL;
	uint64_t origin = position - s->base;

	if (last == NULL || last->inflated || last->origin + (z->spool.size - last->at) != origin) {
		TRY(add_run(z, origin, 0, false));
	}
	return spool_append(&z->spool, s->bytes.p + origin, (size_t)size, &z->f->error);
}

/* Adds a mark for bytes of the input that are no records, or (size 0) for a note. */
static int add_mark(struct inflate *z, const struct file_gap *gap)
{
	static const uint8_t header[RECORD_HEADER_SIZE] = {
	        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	struct file_mark *m;

	if (!array_reserve(&z->marks, &z->marks_cap, z->nmarks + 1, sizeof(*z->marks))) {
		return error_nomem(&z->f->error);
	}
	m = &z->marks[z->nmarks++];
	*m = (struct file_mark){
	        .at = z->spool.size,
	        .size = gap->size,
	        .kind = gap->kind,
	        .text = arena_text(&z->f->arena, gap->text, strlen(gap->text)),
	};
	if (m->text == NULL) {
		return error_nomem(&z->f->error);
	}
	TRY(add_run(z, gap->position - z->from->base, 0, false));
	TRY(spool_append(&z->spool, header, sizeof(header), &z->f->error));
	if (gap->size == 0) {
		return add_run(z, gap->position - z->from->base, 0, false);
	}
	return copy_plain(z, gap->position, gap->size);
}

/* Writes n bytes of the buffer, which begins with the kept part. */
static int write_inflated(struct inflate *z, size_t n, size_t fresh_n)
{
	size_t old = z->kept < n ? z->kept : n;

	if (n == 0) {
		z->kept += fresh_n;
		return 0;
	}
	if (old != 0) {
		TRY(add_run(z, z->kept_origin, z->kept_inside, true));
		TRY(spool_append(&z->spool, z->buffer, old, &z->f->error));
	}
	if (n > old) {
		TRY(add_run(z, z->origin, z->inside, true));
		TRY(spool_append(&z->spool, z->buffer + old, n - old, &z->f->error));
	}
	if (n >= z->kept) {
		z->kept_origin = z->origin;
		z->kept_inside = z->inside + (n - z->kept);
	}
	z->kept = z->kept + fresh_n - n;
	memmove(z->buffer, z->buffer + n, z->kept);
	return 0;
}

/*
 * Size in bytes of the complete records at the start of the buffer; all of it if they are
 * malformed.
 */
static size_t whole_records(const struct inflate *z, size_t n)
{
	size_t at = 0;

	while (n - at >= RECORD_HEADER_SIZE) {
		size_t size = load_u16(z->buffer + at + 6, z->f->swap);

		if (size < RECORD_HEADER_SIZE) {
			return n;
		}
		if (size > n - at) {
			break;
		}
		at += size;
	}
	return at;
}

static int restart(struct inflate *z)
{
	if (z->decoder != NULL) {
		decoder_zstd.stop(z->decoder);
	}
	z->decoder = decoder_zstd.start();
	z->fresh = true;
	return z->decoder != NULL ? 0 : error_nomem(&z->f->error);
}

/* Returns 1: done, 0: damaged, negative: failure. */
static int decode(struct inflate *z, struct span in)
{
	long n;

	while ((n = decoder_zstd.next(
	                z->decoder, &in, z->buffer + z->kept, BUFFER_SIZE - z->kept)) > 0) {
		size_t fresh_n = (size_t)n;
		size_t whole;

		z->fresh = false;
		if (z->kept == 0) {
			z->kept_origin = z->origin;
			z->kept_inside = z->inside;
		}
		whole = whole_records(z, z->kept + fresh_n);
		TRY(write_inflated(z, whole, fresh_n));
		z->inside += fresh_n;
	}
	z->fresh = z->fresh && n == 0 && in.n != 0;
	return n == 0;
}

static int report_lost(struct inflate *z, uint64_t position, const char *why)
{
	struct file_gap gap = {.kind = SONDE_DIAG_DAMAGED, .position = position};

	(void)snprintf(gap.text, sizeof(gap.text), "%s", why);
	z->kept = 0; /* its other part is lost */
	return add_mark(z, &gap);
}

static int report_left_out(struct inflate *z)
{
	struct file_gap gap = {.kind = SONDE_DIAG_DAMAGED, .position = z->lost_at};

	if (z->left_out == 0) {
		return 0;
	}
	(void)snprintf(gap.text, sizeof(gap.text),
	        "%" PRIu64
	        " compressed records up to here continue a damaged one: they are skipped",
	        z->left_out);
	z->left_out = 0;
	return add_mark(z, &gap);
}

static int feed(struct inflate *z, struct span in, uint64_t position)
{
	bool frame = in.n >= 4 && load_u32(in.p, HOST_BIG_ENDIAN) == FRAME_MAGIC;
	bool fresh = z->fresh;
	int rc;

	if (z->lost && !frame) {
		z->left_out++;
		z->lost_at = position;
		return 0;
	}
	if (z->lost) {
		TRY(report_left_out(z));
		TRY(restart(z));
		fresh = true;
		z->lost = false;
	}
	rc = decode(z, in);
	if (rc == 0 && frame && !fresh && z->inside == 0) { /* a frame of a new recorder */
		TRY(restart(z));
		z->kept = 0;
		rc = decode(z, in);
	}
	if (rc != 0) {
		return rc;
	}
	z->lost = true;
	return report_lost(z, position,
	        "a compressed record is damaged; reading continues at the next zstd frame");
}

/*
 * Returns the offset in p where a chain of COMPRESSED2 records begins that ends with p; p.n if
 * there is none.
 */
static size_t find_pieces(struct span p, bool swap)
{
	for (size_t at = 0; at + 16 <= p.n; at++) {
		size_t end = at;

		while (end + 16 <= p.n && load_u32(p.p + end, swap) == RECORD_COMPRESSED2 &&
		        load_u16(p.p + end + 4, swap) == 0 && load_u16(p.p + end + 6, swap) >= 16 &&
		        load_u16(p.p + end + 6, swap) <= p.n - end) {
			end += load_u16(p.p + end + 6, swap);
		}
		if (end == p.n) {
			return at;
		}
	}
	return p.n;
}

static int feed_pieces(struct inflate *z, struct span data, uint64_t position)
{
	size_t at = data.n > PIECE_MAX ? find_pieces(data, z->f->swap) : data.n;

	TRY(feed(z, (struct span){data.p, at}, position));
	while (at < data.n) {
		size_t size = load_u16(data.p + at + 6, z->f->swap);
		uint64_t claim = load_u64(data.p + at + 8, z->f->swap);
		size_t n = claim != 0 && claim <= size - 16 ? (size_t)claim : size - 16;

		TRY(feed(z, (struct span){data.p + at + 16, n}, position));
		at += size;
	}
	return 0;
}

static int inflate_record(struct inflate *z, const struct record *r)
{
	struct span data = r->body;

	z->origin = r->offset - z->from->base;
	z->inside = 0;
	if (r->type == RECORD_COMPRESSED2) {
		uint64_t n = data.n >= 8 ? load_u64(data.p, z->f->swap) : 0;

		if (data.n < 8 || n > data.n - 8) {
			return report_lost(
			        z, r->offset, "a compressed record claims more bytes than it has");
		}
		data = (struct span){data.p + 8, (size_t)n};
	}
	return data.n != 0 ? feed_pieces(z, data, r->offset) : 0;
}

/* Decodes what the file has of a last compressed record that is cut off. */
static int inflate_cut(struct inflate *z, const struct file_gap *gap)
{
	const uint8_t *p = z->from->bytes.p + (gap->position - z->from->base);
	uint32_t type = gap->size > 16 ? load_u32(p, z->f->swap) : 0;
	size_t skip = type == RECORD_COMPRESSED ? 8 : 16;

	if (type != RECORD_COMPRESSED && type != RECORD_COMPRESSED2) {
		return 0;
	}
	z->origin = gap->position - z->from->base;
	z->inside = 0;
	TRY(feed(z, (struct span){p + skip, (size_t)gap->size - skip}, gap->position));
	z->kept = 0; /* was never complete */
	return 0;
}

static int inflate_all(struct inflate *z)
{
	struct file one = *z->f; /* the same file with this stream only */
	uint64_t position = z->from->start;
	struct record r;
	struct file_gap gap;
	enum file_step step;

	one.streams = z->from;
	one.nstreams = 1;
	while ((step = file_step(&one, &position, &r, &gap)) != FILE_END) {
		if (step == FILE_GAP) {
			if (position == z->from->end) {
				TRY(inflate_cut(z, &gap));
			}
			TRY(add_mark(z, &gap));
			continue;
		}
		TRY(copy_plain(z, r.offset, position - r.offset));
		if (r.type == RECORD_COMPRESSED || r.type == RECORD_COMPRESSED2) {
			TRY(inflate_record(z, &r));
		}
	}
	TRY(report_left_out(z));
	return write_inflated(z, z->kept, 0);
}

/* Replaces the stream's bytes by the spool. */
static int take_spool(struct inflate *z)
{
	struct source source;
	struct file_stream *s = z->from;

	TRY(spool_finish(&z->spool, &source, &z->f->error));
	TRY(file_keep_source(z->f, &source));
	s->bytes = source.bytes;
	s->base = s->start;
	s->end = s->start + source.bytes.n;
	for (size_t i = 0; i < z->nruns; i++) {
		z->runs[i].at += s->base;
	}
	for (size_t i = 0; i < z->nmarks; i++) {
		z->marks[i].at += s->base;
	}
	s->runs = z->runs;
	s->nruns = z->nruns;
	s->marks = z->marks;
	s->nmarks = z->nmarks;
	z->runs = NULL;
	z->marks = NULL;
	return 0;
}

static int inflate_stream(struct file *f, struct file_stream *s)
{
	struct inflate z = {
	        .f = f, .from = s, .buffer = malloc(BUFFER_SIZE), .spool.temp_dir = f->temp_dir};
	int rc;

	rc = z.buffer != NULL ? restart(&z) : error_nomem(&f->error);
	if (rc == 0) {
		rc = inflate_all(&z);
	}
	if (rc >= 0) {
		rc = take_spool(&z);
	}
	if (z.decoder != NULL) {
		decoder_zstd.stop(z.decoder);
	}
	spool_fini(&z.spool);
	free(z.buffer);
	free(z.runs);
	free(z.marks);
	return rc;
}

/*
 * If the header has no COMPRESSED feature, the first sample outside a compressed record decides
 * too.
 */
static bool has_compressed(const struct file *f, const struct file_stream *s, bool unsure)
{
	struct file one = *f;
	uint64_t position = s->start;
	struct record r;

	one.streams = f->streams + (s - f->streams);
	one.nstreams = 1;
	while (file_next(&one, &position, &r, NULL) > 0) {
		if (r.type == RECORD_COMPRESSED || r.type == RECORD_COMPRESSED2) {
			return true;
		}
		if (r.type == RECORD_SAMPLE && !unsure) {
			return false;
		}
	}
	return false;
}

/* Moves later streams so that their positions stay above those of a stream that grew. */
static void move_streams(struct file *f)
{
	for (size_t i = 1; i < f->nstreams; i++) {
		struct file_stream *s = &f->streams[i];
		uint64_t start = (f->streams[i - 1].end / 4096 + 2) * 4096;
		uint64_t by = start > s->start ? start - s->start : 0;

		s->base += by;
		s->start += by;
		s->end += by;
		for (size_t j = 0; j < s->nruns; j++) {
			s->runs[j].at += by;
		}
		for (size_t j = 0; j < s->nmarks; j++) {
			s->marks[j].at += by;
		}
	}
}

int file_inflate(struct file *f)
{
	bool unsure = f->interrupted || f->truncated || /* features may be missing */
	              file_has_feature(f, FEATURE_COMPRESSED);

	for (size_t i = 0; i < f->nstreams; i++) {
		struct file_stream *s = &f->streams[i];

		if (s->runs != NULL || (f->pipe && !f->compressed) ||
		        !has_compressed(f, s, unsure || f->pipe)) {
			continue;
		}
		if (decoder_zstd.start == NULL) {
			return error_set(&f->error, SONDE_EUNSUPPORTED, NO_OFFSET,
			        "%s holds compressed records (-z), and this build has no libzstd",
			        s->name);
		}
		TRY(inflate_stream(f, s));
		f->compressed = true;
	}
	move_streams(f);
	return 0;
}
