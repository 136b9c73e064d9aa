/* SPDX-License-Identifier: MIT */
/* Records in memory, with the branches of those that are runs. */
#include "aux/inside.h"

#include "core/array.h"

#include <stdlib.h>

void aux_room_fini(struct aux_room *room)
{
	free(room->bytes);
	free(room->made);
	free(room->branches);
	*room = (struct aux_room){0};
}

void aux_room_clear(struct aux_room *room)
{
	room->nbytes = 0;
	room->nmade = 0;
	room->nbranches = 0;
	room->run_range = NULL;
}

const uint8_t *aux_record(struct aux_room *room, size_t i)
{
	const struct aux_made *m = &room->made[i];
	uint8_t *p = room->bytes + m->at;

	if (m->nbranches != 0) {
		struct aux_extra extra;

		memcpy(&extra, p + m->size, sizeof(extra));
		extra.branches = room->branches + m->first;
		extra.nbranches = m->nbranches;
		memcpy(p + m->size, &extra, sizeof(extra));
	}
	return p;
}

bool aux_room_is_full(const struct aux_follower *f)
{
	return f->room == NULL || (f->room_max != 0 && aux_room_bytes(f->room) > f->room_max);
}

size_t aux_room_bytes(const struct aux_room *room)
{
	return room->nbytes + room->nmade * sizeof(*room->made) +
	       room->nbranches * sizeof(*room->branches);
}

static bool reserve(struct aux_room *room, const struct aux_room *more)
{
	return array_reserve(&room->bytes, &room->bytes_cap, room->nbytes + more->nbytes, 1) &&
	       array_reserve(&room->made, &room->made_cap, room->nmade + more->nmade,
	               sizeof(*room->made)) &&
	       array_reserve(&room->branches, &room->branches_cap,
	               room->nbranches + more->nbranches, sizeof(*room->branches));
}

static void append(struct aux_room *room, const struct aux_room *from)
{
	if (from->nmade == 0) {
		return;
	}
	memcpy(room->bytes + room->nbytes, from->bytes, from->nbytes);
	for (size_t i = 0; i < from->nmade; i++) {
		struct aux_made *m = &room->made[room->nmade++];

		*m = from->made[i];
		m->at += room->nbytes;
		m->first += room->nbranches;
	}
	if (from->nbranches != 0) {
		memcpy(room->branches + room->nbranches, from->branches,
		        from->nbranches * sizeof(*from->branches));
	}
	room->run_range = NULL;
	room->nbytes += from->nbytes;
	room->nbranches += from->nbranches;
}

int aux_room_append(struct aux_room *room, const struct aux_room *from)
{
	if (!reserve(room, from)) {
		return SONDE_ENOMEM;
	}
	append(room, from);
	return 0;
}

struct aux_room *aux_room_copy(const struct aux_room *room)
{
	struct aux_room *copy = calloc(1, sizeof(*copy));

	if (copy == NULL) {
		return NULL;
	}
	copy->bytes = malloc(room->nbytes + 1);
	copy->made = malloc(room->nmade * sizeof(*copy->made) + 1);
	copy->branches = malloc(room->nbranches * sizeof(*copy->branches) + 1);
	if (copy->bytes == NULL || copy->made == NULL || copy->branches == NULL) {
		aux_room_fini(copy);
		free(copy);
		return NULL;
	}
	append(copy, room);
	return copy;
}
