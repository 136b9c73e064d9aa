/* SPDX-License-Identifier: MIT */
/* Addresses of processes at a time, without a sample. */
#include "session/inside.h"

#include "symbol/location.h"

#include <stdlib.h>

struct session_locator {
	struct timeline_cursor cursor;
	struct lines_place place;
	struct locations found;
};

void session_locator_free(struct sonde_session *s)
{
	if (s->locator != NULL) {
		timeline_cursor_fini(s->timeline, &s->locator->cursor);
		locations_fini(&s->locator->found);
		free(s->locator);
	}
}

static int locate(struct sonde_session *s, const struct timeline_view *v, struct sonde_location *l)
{
	struct session_locator *locator = s->locator;
	uint32_t mode = l->address >> 63 != 0 ? MISC_KERNEL : MISC_USER;
	struct frame frame = frame_locate_new(&s->frames, v, mode, l->address);
	const char *before = NULL;

	l->object_address = l->address;
	if (frame.object == FRAME_NOWHERE) {
		return 0;
	}
	l->object = frame_object_name(s->timeline, timeline_object(s->timeline, frame.object));
	TRY(frame_name(&s->frames, &frame));
	if (frame.symbol != NULL) {
		l->symbol = frame_symbol_name(&s->frames, frame.object, frame.symbol);
		l->symbol_offset = frame.address - frame.symbol->start;
		if (l->symbol == NULL) {
			return SONDE_ENOMEM;
		}
	} else {
		TRY(frame_function_before(&s->frames, &frame, &before));
	}
	TRY(frame_lines(&s->frames, &frame, &locator->place));
	l->object_address = locator->place.address;
	return location_functions(
	        &locator->found, l, &locator->place, before, s->frames.options.demangle);
}

static int locate_all(
        struct sonde_session *s, const struct timeline_view *v, const uint64_t *addresses, size_t n)
{
	struct locations *found = &s->locator->found;

	TRY(locations_begin(found, n));
	for (size_t i = 0; i < n; i++) {
		found->v[i] = (struct sonde_location){.address = addresses[i]};
		TRY(locate(s, v, &found->v[i]));
	}
	return 0;
}

int sonde_session_locate(struct sonde_session *s, uint32_t pid, uint64_t time,
        const uint64_t *addresses, size_t n, const struct sonde_location **out)
{
	const struct timeline_view *v;

	if (!s->ready) {
		return error_set(&s->error, SONDE_EARG, NO_OFFSET, "the session is not open");
	}
	if (s->locator == NULL) {
		s->locator = calloc(1, sizeof(*s->locator));
	}
	if (s->locator == NULL) {
		return error_nomem(&s->error);
	}
	v = timeline_at(s->timeline, &s->locator->cursor, pid, pid, time);
	if (s->locator->cursor.failed != 0) {
		return error_ensure(&s->error, s->locator->cursor.failed);
	}
	if (locate_all(s, v, addresses, n) < 0) {
		return error_nomem(&s->error);
	}
	*out = s->locator->found.v;
	return 0;
}
