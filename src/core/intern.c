/* SPDX-License-Identifier: MIT */
#include "core/intern.h"

#include "core/array.h"
#include "core/hash.h"

#include <stdlib.h>
#include <string.h>

void intern_fini(struct intern *in)
{
	arena_fini(&in->arena);
	free(in->texts);
	index_fini(&in->index);
	*in = (struct intern){0};
}

/* Returns the id of s[0..n), or INTERN_NONE; *at: its slot, or the slot to insert it. */
static uint32_t intern_slot(
        const struct intern *in, const char *s, size_t n, uint32_t hash, size_t *at)
{
	uint32_t id;

	*at = hash;
	while (in->index.n != 0 && (id = index_next(&in->index, hash, at)) != INDEX_NONE) {
		const char *t = in->texts[id];

		if (strncmp(t, s, n) == 0 && t[n] == '\0') {
			return id;
		}
		++*at;
	}
	return INTERN_NONE;
}

uint32_t intern_find(const struct intern *in, const char *s, size_t n)
{
	size_t at;

	n = strnlen(s, n);
	return intern_slot(in, s, n, (uint32_t)hash_bytes(s, n), &at);
}

uint32_t intern_add(struct intern *in, const char *s, size_t n)
{
	uint32_t hash;
	uint32_t id;
	size_t at;
	char *copy;

	n = strnlen(s, n);
	hash = (uint32_t)hash_bytes(s, n);
	if (index_room(&in->index) < 0) {
		return INTERN_NONE;
	}
	id = intern_slot(in, s, n, hash, &at);
	if (id != INTERN_NONE) {
		return id;
	}
	if (in->count >= INTERN_NONE - 1 ||
	        !array_reserve(&in->texts, &in->cap, in->count + 1, sizeof(*in->texts))) {
		return INTERN_NONE;
	}
	copy = arena_text(&in->arena, s, n);
	if (copy == NULL) {
		return INTERN_NONE;
	}
	id = (uint32_t)in->count++;
	in->texts[id] = copy;
	index_put(&in->index, hash, at, id);
	return id;
}
