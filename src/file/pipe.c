/* SPDX-License-Identifier: MIT */
/*
 * A stream of records after a header of 16 bytes: u64 magic, u64 size (16). Records replace the
 * sections of a seekable file; most come before the others:
 *
 *	HEADER_ATTR (64)        attr (attr.size bytes), u64 ids[]
 *	HEADER_EVENT_TYPE (65)  u64 event, char name[64]
 *	TRACING_DATA (66)       u32 size, and that many bytes after the record
 *	EVENT_UPDATE (78)       u64 what, u64 id, value
 *	HEADER_FEATURE (80)     u64 feature, payload; an empty one ends them, except for features
 *	                        that are only flags (15, 19)
 *
 * Source: format document of perf.data, checked against streams of perf 3.4 to 6.16.
 */
#include "file/parts.h"

#include "core/array.h"

static int take_attr(struct file *f, const struct record *r)
{
	struct span attr = r->body;
	struct span ids = {NULL, 0};
	uint32_t size;

	if (attr.n < ATTR_SIZE_VER0) {
		diag_report(f->diags, SONDE_DIAG_DAMAGED, r->offset,
		        "the description of an event is too short");
		return 0;
	}
	size = load_u32(attr.p + 4, f->swap);
	if (size == 0) {
		size = ATTR_SIZE_VER0;
	}
	if (size < ATTR_SIZE_VER0 || size > attr.n) {
		diag_report(f->diags, SONDE_DIAG_DAMAGED, r->offset,
		        "the description of an event claims %u bytes, its record has %zu", size,
		        attr.n);
		size = attr.n < ATTR_SIZE_NOW ? (uint32_t)attr.n : ATTR_SIZE_NOW;
	}
	attr.n = size;
	ids = (struct span){r->body.p + size, r->body.n - size};
	return file_add_event(f, attr, ids);
}

static void set_feature(struct file *f, uint64_t bit, struct span payload)
{
	if (bit >= FEATURE_BITS || (f->feature_bits[bit / 64] >> (bit % 64) & 1) != 0) {
		return;
	}
	f->feature_bits[bit / 64] |= (uint64_t)1 << (bit % 64);
	f->features[bit] = (struct file_section){
	        .offset = (uint64_t)(payload.p - f->bytes.p), .size = payload.n};
}

static void take_feature(struct file *f, const struct record *r)
{
	uint64_t bit = r->body.n >= 8 ? load_u64(r->body.p, f->swap) : 0;

	if (r->body.n > 8 || bit == FEATURE_BRANCH_STACK || bit == FEATURE_STAT) {
		set_feature(f, bit, (struct span){r->body.p + 8, r->body.n - 8});
	}
}

/* Stored until the ids of all events are known. */
static int keep_naming(struct file *f, const struct record *r)
{
	if (!array_reserve(&f->namings, &f->namings_cap, f->nnamings + 1, sizeof(*f->namings))) {
		return error_nomem(&f->error);
	}
	f->namings[f->nnamings++] = (struct file_naming){.type = r->type, .body = r->body};
	return 0;
}

/* Sonde's recorder writes two rounds in a row before the records and at the end (writer.h). */
struct rounds {
	unsigned in_row; /* up to the last record, not counting those before the first */
	bool records; /* there was a record other than events, features and rounds */
	bool promised; /* two rounds in a row precede the records */
};

static void count_round(struct rounds *n, uint32_t type)
{
	if (type == RECORD_FINISHED_ROUND) {
		n->in_row++;
		if (n->in_row == 2 && !n->records && !n->promised) {
			n->promised = true;
			n->in_row = 0; /* they are not the ones at the end */
		}
		return;
	}
	n->in_row = 0;
	n->records |= type != RECORD_HEADER_ATTR && type != RECORD_HEADER_FEATURE &&
	              type != RECORD_TRACING_DATA;
}

int file_read_pipe(struct file *f)
{
	uint64_t position = file_begin(f);
	struct rounds rounds = {0};
	struct record r;

	while (file_next(f, &position, &r, NULL) > 0) {
		count_round(&rounds, r.type);
		switch (r.type) {
		case RECORD_HEADER_ATTR: TRY(take_attr(f, &r)); break;
		case RECORD_HEADER_FEATURE: take_feature(f, &r); break;
		case RECORD_TRACING_DATA:
			if (file_outside(f, &r).n != 0) {
				set_feature(f, FEATURE_TRACING_DATA, file_outside(f, &r));
			}
			break;
		case RECORD_HEADER_EVENT_TYPE:
		case RECORD_EVENT_UPDATE: TRY(keep_naming(f, &r)); break;
		case RECORD_COMPRESSED:
		case RECORD_COMPRESSED2: f->compressed = true; break;
		default: break;
		}
	}
	f->interrupted = rounds.promised && rounds.in_row < 2;
	if (f->interrupted) {
		diag_report(f->diags, SONDE_DIAG_NOTE, f->bytes.n,
		        "the recorder did not finish: its last records are missing");
	}
	return 0;
}
