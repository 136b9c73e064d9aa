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

uint32_t intern_add(struct intern *in, const char *s, size_t n)
{
	uint32_t hash;
	uint32_t id;
	size_t at;
	char *copy;

	n = strnlen(s, n);
	hash = (uint32_t)hash_bytes(s, n);
	at = hash;
	if (index_room(&in->index) < 0) {
		return INTERN_NONE;
	}
	while ((id = index_next(&in->index, hash, &at)) != INDEX_NONE) {
		const char *t = in->texts[id];

		if (strncmp(t, s, n) == 0 && t[n] == '\0') {
			return id;
		}
		at++;
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
