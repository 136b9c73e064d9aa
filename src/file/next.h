/* SPDX-License-Identifier: MIT */
/* file_next and file_sample_event for loops over many records: mostly without a call. */
#ifndef SONDE_FILE_NEXT_H
#define SONDE_FILE_NEXT_H

#include "file/step.h"

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
