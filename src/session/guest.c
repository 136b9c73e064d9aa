/* SPDX-License-Identifier: MIT */
/* The guests that event ids belong to, by ID_INDEX records that perf inject --guest-data wrote. */
#include "core/array.h"
#include "core/hash.h"
#include "session/inside.h"

#define ID_SIZE      32u /* u64 id, idx, cpu, tid */
#define MACHINE_SIZE 16u /* u64 machine_pid, vcpu */

/* Returns the index of an id's guest, or INDEX_NONE with *at for inserting it. */
static uint32_t guest_find(const struct sonde_session *s, uint64_t id, size_t *at)
{
	uint32_t hash = (uint32_t)hash_u64(id);
	uint32_t i;

	*at = hash;
	while ((i = index_next(&s->guest_ids, hash, at)) != INDEX_NONE && s->guests[i].id != id) {
		++*at;
	}
	return i;
}

struct session_guest session_guest(const struct sonde_session *s, uint64_t id)
{
	static const struct session_guest host = {.vcpu = -1};
	size_t at;
	uint32_t i = s->nguests != 0 ? guest_find(s, id, &at) : INDEX_NONE;

	return i != INDEX_NONE ? s->guests[i] : host;
}

static int guest_add(struct sonde_session *s, const struct session_guest *guest)
{
	size_t at;
	uint32_t i;

	TRY(index_room(&s->guest_ids));
	i = guest_find(s, guest->id, &at);
	if (i != INDEX_NONE) {
		s->guests[i] = *guest;
		return 0;
	}
	if (guest->machine_pid == 0) {
		return 0;
	}
	if (!array_reserve(&s->guests, &s->guests_cap, s->nguests + 1, sizeof(*s->guests))) {
		return SONDE_ENOMEM;
	}
	index_put(&s->guest_ids, (uint32_t)hash_u64(guest->id), at, (uint32_t)s->nguests);
	s->guests[s->nguests++] = *guest;
	return 0;
}

/* u64 n; n ids; n machines, if the record is long enough */
int session_guests_add(struct sonde_session *s, const struct record *r)
{
	struct cursor ids = cursor_make(r->body, s->swap);
	struct cursor machines;
	uint64_t n = cursor_u64(&ids);

	if (ids.bad || n > (r->body.n - sizeof(n)) / (ID_SIZE + MACHINE_SIZE)) {
		return 0; /* without machines: all ids are the host's */
	}
	machines = ids;
	(void)cursor_take(&machines, (size_t)n * ID_SIZE);
	for (uint64_t i = 0; i < n; i++) {
		struct session_guest guest = {.id = cursor_u64(&ids)};

		(void)cursor_take(&ids, ID_SIZE - sizeof(guest.id));
		guest.machine_pid = (int32_t)cursor_u64(&machines);
		guest.vcpu = (int32_t)cursor_u64(&machines);
		TRY(guest_add(s, &guest));
	}
	return 0;
}
