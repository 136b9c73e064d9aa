/* SPDX-License-Identifier: MIT */
/* The short way of file_next, for loops over many records. */
#ifndef SONDE_FILE_STEP_H
#define SONDE_FILE_STEP_H

#include "file/file.h"

/* The last stream that begins at or before the position. */
const struct file_stream *file_stream_at(const struct file *f, uint64_t position);

/* Usual records: of a known type, with nothing outside their size. */
static inline bool file_is_usual(uint32_t type)
{
	const uint64_t kernel = ((uint64_t)1 << RECORD_KERNEL_MAX) - 2;
	const uint64_t user = ((uint64_t)1 << (RECORD_TYPE_MAX - RECORD_USER_START)) - 1;
	const uint64_t unusual = (uint64_t)1 << (RECORD_TRACING_DATA - RECORD_USER_START) |
	                         (uint64_t)1 << (RECORD_AUXTRACE - RECORD_USER_START) |
	                         (uint64_t)1 << (RECORD_COMPRESSED2 - RECORD_USER_START);

	if (type < RECORD_USER_START) {
		return (kernel >> type & 1) != 0;
	}
	return type < RECORD_TYPE_MAX && ((user & ~unusual) >> (type - RECORD_USER_START) & 1) != 0;
}

/* The next record when it is a usual one of the stream at *position. */
static inline bool file_step_usual(
        const struct file *f, const struct file_stream *s, uint64_t *position, struct record *r)
{
	const uint8_t *p;

	if (*position >= s->end || s->end - *position < RECORD_HEADER_SIZE) {
		return false;
	}
	p = s->bytes.p + (*position - s->base);
	r->type = load_u32(p, f->swap);
	r->misc = load_u16(p + 4, f->swap);
	r->size = load_u16(p + 6, f->swap);
	if (r->size < RECORD_HEADER_SIZE || r->size > s->end - *position ||
	        !file_is_usual(r->type)) {
		return false;
	}
	r->offset = *position;
	r->body = (struct span){p + RECORD_HEADER_SIZE, r->size - RECORD_HEADER_SIZE};
	*position += r->size;
	return true;
}

/* As file_sample_event: mostly without a call. */
static inline const struct file_event *file_sample_event_in(
        const struct file *f, const struct record *r)
{
	size_t place = f->sample_places.n == 1 ? f->sample_places.place[0] : RECORD_NOT_THERE;

	if (f->nevents == 1) {
		return f->events;
	}
	if (place != RECORD_NOT_THERE && r->body.n >= place + 8) {
		uint64_t i = load_u64(r->body.p + place, f->swap) - f->first_id;

		if (i < f->nnear && f->near_ids[i] != 0) {
			return &f->events[f->near_ids[i] - 1];
		}
	}
	return file_sample_event(f, r);
}

/*
 * As file_next, with the stream at *position in *s: mostly without a call. False at the end, with an
 * empty record.
 */
static inline bool file_next_in(
        const struct file *f, const struct file_stream **s, uint64_t *position, struct record *r)
{
	/* Only copies are passed by address, so that *position and *r can stay in registers. */
	uint64_t at = *position;
	struct record other;

	if (__builtin_expect(file_step_usual(f, *s, position, r), 1)) {
		return true;
	}
	if (file_next(f, &at, &other, NULL) <= 0) {
		*r = (struct record){.type = 0};
		return false;
	}
	*position = at;
	*r = other;
	*s = file_stream_at(f, at);
	return true;
}

#endif
