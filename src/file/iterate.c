/* SPDX-License-Identifier: MIT */
/*
 * Reading records one after the other:
 *
 *	0  u32 type    4  u16 misc    6  u16 size (of the whole record, 8 or more)    8  body
 *
 * AUXTRACE (71) and TRACING_DATA (66) are followed by bytes outside their size: AUXTRACE by the
 * number in the u64 at 8, TRACING_DATA by the u32 at 8 rounded up to 8 (in simpleperf's files they
 * are inside). COMPRESSED2 (83) has its length twice: size, and u64 data size at 8. Where 16 + data
 * size, rounded up to 8, does not fit into 16 bits, size has wrapped and the record is 16 + data
 * size bytes long, without padding.
 *
 * Damage: an impossible record (shorter than 8, longer than the rest, of an unknown type with
 * nothing plausible after it) ends the chain. Reading continues at the next byte from which CHAIN
 * records follow each other, or fewer that end exactly where the data ends.
 *
 * Source: format document of perf.data; COMPRESSED2's overflow from a public bug analysis.
 */
#include "core/search.h"
#include "file/step.h"

#include <inttypes.h>
#include <stdio.h>

#define CHAIN            4u
#define MISC_UNUSED      0x0ff8u /* between the mode and the flags */
#define UNKNOWN_TYPE_MAX 0x10000u /* the search for a record ignores types from here on */
#define OVERFLOW_DATA    65513u /* from here on, 16 + data rounded up to 8 exceeds 16 bits */

const struct file_stream *file_stream_at(const struct file *f, uint64_t position)
{
	return &f->streams[SEARCH_LAST(f->streams, f->nstreams, start, position)];
}

uint64_t file_begin(const struct file *f)
{
	return f->streams[0].start;
}

uint64_t file_end(const struct file *f)
{
	return f->streams[f->nstreams - 1].end;
}

struct file_place file_place(const struct file *f, uint64_t position)
{
	const struct file_stream *s = file_stream_at(f, position);
	struct file_place place = {.stream = s, .offset = position - s->base};
	const struct file_run *run;

	if (s->runs == NULL || s->nruns == 0) {
		return place;
	}
	run = &s->runs[SEARCH_LAST(s->runs, s->nruns, at, position)];
	place.inflated = run->inflated;
	place.offset = run->origin;
	if (place.inflated) {
		place.inside = run->inside + (position - run->at);
	} else {
		place.offset += position - run->at;
	}
	return place;
}

/* A record header and its claims. */
struct head {
	uint32_t type;
	uint16_t misc;
	uint16_t size;
	uint64_t whole; /* bytes of the record; differs from size in an overflown COMPRESSED2 */
	uint64_t outside; /* bytes after it that belong to it */
};

/* Reads the header at p, with `left` bytes there; false: this is no record. */
static bool take_head(const uint8_t *p, uint64_t left, bool swap, struct head *h)
{
	h->outside = 0;
	h->whole = 0;
	if (left < RECORD_HEADER_SIZE) {
		return false;
	}
	h->type = load_u32(p, swap);
	h->misc = load_u16(p + 4, swap);
	h->size = load_u16(p + 6, swap);
	h->whole = h->size;
	if (h->type == RECORD_COMPRESSED2 && left >= 16) {
		uint64_t data = load_u64(p + 8, swap);

		if (data >= OVERFLOW_DATA && data <= left - 16 &&
		        ((data + 16 + 7) & ~(uint64_t)7) > h->size) {
			h->whole = data + 16;
			return true;
		}
	}
	if (h->size < RECORD_HEADER_SIZE || h->size > left) {
		return false;
	}
	if (h->type == RECORD_AUXTRACE && h->size >= 16) {
		h->outside = load_u64(p + 8, swap);
	} else if (h->type == RECORD_TRACING_DATA && h->size >= 12 && h->size <= 16) {
		h->outside = ((uint64_t)load_u32(p + 8, swap) + 7) & ~(uint64_t)7;
	}
	return true;
}

/* Whether this looks like a record, for the search for the next one. */
static bool plausible(const struct head *h)
{
	static const uint8_t least[RECORD_TYPE_MAX] = {
	        [RECORD_MMAP] = 48,
	        [RECORD_LOST] = 24,
	        [RECORD_COMM] = 24,
	        [RECORD_EXIT] = 32,
	        [RECORD_FORK] = 32,
	        [RECORD_THROTTLE] = 32,
	        [RECORD_UNTHROTTLE] = 32,
	        [RECORD_READ] = 24,
	        [RECORD_SAMPLE] = 16,
	        [RECORD_MMAP2] = 80,
	        [RECORD_AUX] = 32,
	        [RECORD_ITRACE_START] = 16,
	        [RECORD_LOST_SAMPLES] = 16,
	        [RECORD_SWITCH_CPU_WIDE] = 16,
	        [RECORD_NAMESPACES] = 24,
	        [RECORD_KSYMBOL] = 32,
	        [RECORD_BPF_EVENT] = 24,
	        [RECORD_CGROUP] = 24,
	        [RECORD_TEXT_POKE] = 24,
	        [RECORD_AUX_OUTPUT_HW_ID] = 16,
	        [RECORD_CALLCHAIN_DEFERRED] = 24,
	        [RECORD_HEADER_ATTR] = 72,
	        [RECORD_HEADER_EVENT_TYPE] = 80,
	        [RECORD_TRACING_DATA] = 12,
	        [RECORD_BUILD_ID] = 32,
	        [RECORD_ID_INDEX] = 16,
	        [RECORD_AUXTRACE_INFO] = 16,
	        [RECORD_AUXTRACE] = 48,
	        [RECORD_AUXTRACE_ERROR] = 48,
	        [RECORD_THREAD_MAP] = 16,
	        [RECORD_CPU_MAP] = 12,
	        [RECORD_STAT_CONFIG] = 16,
	        [RECORD_STAT] = 48,
	        [RECORD_STAT_ROUND] = 24,
	        [RECORD_EVENT_UPDATE] = 24,
	        [RECORD_TIME_CONV] = 32,
	        [RECORD_HEADER_FEATURE] = 16,
	        [RECORD_COMPRESSED2] = 16,
	};

	if (h->type == 0 || h->type >= UNKNOWN_TYPE_MAX || (h->misc & MISC_UNUSED) != 0) {
		return false;
	}
	if (h->whole != h->size || h->type == RECORD_COMPRESSED) {
		return true;
	}
	if ((h->size & 7) != 0 && h->type != RECORD_HEADER_FEATURE) {
		return false;
	}
	if (h->type == RECORD_FINISHED_ROUND || h->type == RECORD_FINISHED_INIT) {
		return h->size == RECORD_HEADER_SIZE;
	}
	return h->type >= RECORD_TYPE_MAX || h->size >= least[h->type];
}

/*
 * Number of plausible records that follow each other from p on: n, or fewer if the data ends after
 * them; 0 if something else comes first.
 */
static unsigned chain_from(const uint8_t *p, uint64_t left, bool swap, unsigned n)
{
	unsigned i;

	for (i = 0; i < n && left != 0; i++) {
		struct head h;

		if (!take_head(p, left, swap, &h) || !plausible(&h) || h.outside > left - h.whole) {
			return 0;
		}
		p += h.whole + h.outside;
		left -= h.whole + h.outside;
	}
	return i;
}

/*
 * Returns the number of bytes from p to the next records, or left. A single record at the very end
 * counts only if it is aligned as records are.
 */
static uint64_t find_record(const uint8_t *p, uint64_t left, bool swap)
{
	for (uint64_t skip = 1; skip + RECORD_HEADER_SIZE <= left; skip++) {
		uint32_t type = load_u32(p + skip, swap);

		if (record_type_name(type) != NULL &&
		        chain_from(p + skip, left - skip, swap, CHAIN) > (skip % 8 != 0)) {
			return skip;
		}
	}
	return left;
}

/* Mostly printable: output of a program that shares the recorder's output. */
static bool is_text(const uint8_t *p, uint64_t n)
{
	uint64_t odd = 0;

	for (uint64_t i = 0; i < n && i < 4096; i++) {
		if ((p[i] < ' ' || p[i] > '~') && p[i] != '\n' && p[i] != '\t' && p[i] != '\r') {
			odd++;
		}
	}
	return odd * 16 <= (n < 4096 ? n : 4096);
}

/* Sets *gap to the reason why the bytes at p are no record; the next one is `skip` bytes away. */
static void explain(const struct file *f, const struct head *h, const uint8_t *p, uint64_t left,
        uint64_t skip, struct file_gap *gap)
{
	bool to_end = skip == left;
	bool known = left >= RECORD_HEADER_SIZE && record_type_name(h->type) != NULL;
	const char *then = to_end ? "nothing after it can be read" : "reading continues after it";

	gap->kind = SONDE_DIAG_DAMAGED;
	if (!known && left >= RECORD_HEADER_SIZE && is_text(p, skip)) {
		gap->kind = SONDE_DIAG_NOTE;
		(void)snprintf(gap->text, sizeof(gap->text), "%" PRIu64 " bytes of text %s", skip,
		        to_end ? "follow the last record" : "are between the records");
	} else if (left < RECORD_HEADER_SIZE) {
		gap->kind = f->interrupted ? SONDE_DIAG_NOTE : SONDE_DIAG_TRUNCATED;
		(void)snprintf(gap->text, sizeof(gap->text),
		        "%" PRIu64 " bytes at the end of the data are no record", left);
	} else if (to_end && known && f->interrupted && h->size > left) {
		gap->kind = SONDE_DIAG_NOTE; /* it was never complete: nothing is lost */
		(void)snprintf(gap->text, sizeof(gap->text),
		        "the last record is incomplete: it is skipped");
	} else {
		if (to_end && h->size > left) {
			gap->kind = SONDE_DIAG_TRUNCATED;
		}
		(void)snprintf(gap->text, sizeof(gap->text),
		        "a record of type %" PRIu32 " claims %u bytes where %" PRIu64
		        " are left; %s",
		        h->type, h->size, left, then);
	}
	if (!to_end && gap->kind != SONDE_DIAG_NOTE) {
		(void)snprintf(gap->text, sizeof(gap->text),
		        "%" PRIu64 " bytes are no records (type %" PRIu32
		        ", size %u); reading continues after them",
		        skip, h->type, h->size);
	}
}

static enum file_step step_over(const struct file *f, const struct head *h, const uint8_t *p,
        uint64_t left, uint64_t *position, struct file_gap *gap)
{
	uint64_t skip = find_record(p, left, f->swap);

	gap->position = *position;
	gap->size = skip;
	explain(f, h, p, left, skip, gap);
	*position += skip;
	return FILE_GAP;
}

/* Returns a gap if there is a mark at *position. */
static bool step_mark(const struct file_stream *s, uint64_t *position, struct file_gap *gap)
{
	const struct file_mark *m;

	if (s->nmarks == 0) {
		return false;
	}
	m = &s->marks[SEARCH_LAST(s->marks, s->nmarks, at, *position)];
	if (m->at != *position) {
		return false;
	}
	*position += RECORD_HEADER_SIZE;
	gap->kind = m->kind;
	gap->position = *position;
	gap->size = m->size;
	(void)snprintf(gap->text, sizeof(gap->text), "%s", m->text);
	*position += m->size;
	return true;
}

/* file_step for everything but the usual records. */
static enum file_step step_slowly(const struct file *f, const struct file_stream *s,
        uint64_t *position, struct record *r, struct file_gap *gap)
{
	uint64_t left = s->end - *position;
	const uint8_t *p = s->bytes.p + (*position - s->base);
	struct head h = {0};

	if (s->nmarks != 0 && step_mark(s, position, gap)) {
		return FILE_GAP;
	}
	if (!take_head(p, left, f->swap, &h)) {
		return step_over(f, &h, p, left, position, gap);
	}
	if (record_type_name(h.type) == NULL && h.whole != left &&
	        chain_from(p + h.whole, left - h.whole, f->swap, CHAIN - 1) == 0) {
		return step_over(f, &h, p, left, position, gap);
	}
	r->type = h.type;
	r->misc = h.misc;
	r->size = h.size;
	r->offset = *position;
	r->body = (struct span){p + RECORD_HEADER_SIZE, (size_t)h.whole - RECORD_HEADER_SIZE};
	*position += h.whole;
	left -= h.whole;
	if (h.outside > left) {
		gap->kind = SONDE_DIAG_TRUNCATED;
		gap->position = r->offset;
		(void)snprintf(gap->text, sizeof(gap->text),
		        "trace data is cut off: %" PRIu64 " bytes where %" PRIu64 " are left",
		        h.outside, left);
		h.outside = left;
	}
	*position += h.outside;
	return FILE_RECORD;
}

enum file_step file_step(
        const struct file *f, uint64_t *position, struct record *r, struct file_gap *gap)
{
	const struct file_stream *s = file_stream_at(f, *position);

	gap->size = 0;
	gap->text[0] = '\0';
	while (*position >= s->end) {
		if (s == f->streams + f->nstreams - 1) {
			return FILE_END;
		}
		s++;
		*position = s->start;
	}
	if (file_step_usual(f, s, position, r)) {
		return FILE_RECORD;
	}
	return step_slowly(f, s, position, r, gap);
}

void file_gap_report(const struct file *f, const struct file_gap *gap, struct diag_sink *diags)
{
	struct file_place place = file_place(f, gap->position);

	if (place.stream == f->streams) {
		diag_report(diags, gap->kind, place.offset, "%s%s", gap->text,
		        place.inflated ? " (in what is compressed there)" : "");
	} else {
		diag_report(
		        diags, gap->kind, place.offset, "%s: %s", place.stream->name, gap->text);
	}
}

int file_next(const struct file *f, uint64_t *position, struct record *r, struct diag_sink *diags)
{
	struct file_gap gap;

	if (__builtin_expect(file_step_usual(f, file_stream_at(f, *position), position, r), 1)) {
		return 1;
	}
	for (;;) {
		enum file_step step = file_step(f, position, r, &gap);

		if (gap.text[0] != '\0' && diags != NULL) {
			file_gap_report(f, &gap, diags);
		}
		if (step != FILE_GAP) {
			return step == FILE_RECORD;
		}
	}
}

struct span file_outside(const struct file *f, const struct record *r)
{
	const struct file_stream *s;
	uint64_t left;
	const uint8_t *p;
	struct head h;

	if (r->type != RECORD_AUXTRACE && r->type != RECORD_TRACING_DATA) {
		return (struct span){NULL, 0};
	}
	s = file_stream_at(f, r->offset);
	left = s->end - r->offset;
	p = s->bytes.p + (r->offset - s->base);
	if (!take_head(p, left, f->swap, &h) || h.outside == 0) {
		return (struct span){NULL, 0};
	}
	left -= h.whole;
	return (struct span){p + h.whole, (size_t)(h.outside < left ? h.outside : left)};
}
