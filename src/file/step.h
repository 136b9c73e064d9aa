/* SPDX-License-Identifier: MIT */
/* The short way of file_next: records of usual types. */
#ifndef SONDE_FILE_STEP_H
#define SONDE_FILE_STEP_H

#include "file/file.h"

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

#endif
