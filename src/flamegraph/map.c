/* SPDX-License-Identifier: MIT */
#include "flamegraph/map.h"

#include "core/hash.h"

#include <sonde/base.h>

#include <stdlib.h>

#define FIRST_SLOTS 256u

static struct flame_map_slot *find_slot(
        struct flame_map_slot *slots, size_t nslots, uint64_t a, uint64_t b)
{
	size_t i = (size_t)hash_u64(hash_step(a, b)) & (nslots - 1);

	while (slots[i].value != 0 && (slots[i].a != a || slots[i].b != b)) {
		i = (i + 1) & (nslots - 1);
	}
	return &slots[i];
}

uint32_t flame_map_get(const struct flame_map *m, uint64_t a, uint64_t b)
{
	if (m->nslots == 0) {
		return FLAME_NONE;
	}
	return find_slot(m->slots, m->nslots, a, b)->value - 1; /* 0 - 1 is FLAME_NONE */
}

static int grow(struct flame_map *m)
{
	size_t nslots = m->nslots == 0 ? FIRST_SLOTS : m->nslots * 2;
	struct flame_map_slot *slots = calloc(nslots, sizeof(*slots));
	size_t i;

	if (slots == NULL) {
		return SONDE_ENOMEM;
	}
	for (i = 0; i < m->nslots; i++) {
		if (m->slots[i].value != 0) {
			*find_slot(slots, nslots, m->slots[i].a, m->slots[i].b) = m->slots[i];
		}
	}
	free(m->slots);
	m->slots = slots;
	m->nslots = nslots;
	return 0;
}

int flame_map_put(struct flame_map *m, uint64_t a, uint64_t b, uint32_t value)
{
	if (m->count >= m->nslots / 2 && grow(m) < 0) {
		return SONDE_ENOMEM;
	}
	*find_slot(m->slots, m->nslots, a, b) =
	        (struct flame_map_slot){.a = a, .b = b, .value = value + 1};
	m->count++;
	return 0;
}

void flame_map_fini(struct flame_map *m)
{
	free(m->slots);
	*m = (struct flame_map){0};
}
