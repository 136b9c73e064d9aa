/* SPDX-License-Identifier: MIT */
#include "core/intern.h"

#include "core/array.h"
#include "core/hash.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void intern_fini(struct intern *in)
{
	arena_fini(&in->arena);
	free(in->texts);
	free(in->slots);
	*in = (struct intern){0};
}

static bool intern_rehash(struct intern *in)
{
	size_t n = in->nslots != 0 ? in->nslots * 2 : 64;
	uint32_t *slots = calloc(n, sizeof(*slots));

	if (slots == NULL) {
		return false;
	}
	for (size_t id = 0; id < in->count; id++) {
		size_t i = hash_bytes(in->texts[id], strlen(in->texts[id])) & (n - 1);

		while (slots[i] != 0) {
			i = (i + 1) & (n - 1);
		}
		slots[i] = (uint32_t)id + 1;
	}
	free(in->slots);
	in->slots = slots;
	in->nslots = n;
	return true;
}

uint32_t intern_add(struct intern *in, const char *s, size_t n)
{
	char *copy;
	size_t i;

	n = strnlen(s, n);
	if ((in->count + 1) * 2 > in->nslots && !intern_rehash(in)) {
		return INTERN_NONE;
	}
	for (i = hash_bytes(s, n) & (in->nslots - 1); in->slots[i] != 0;
	        i = (i + 1) & (in->nslots - 1)) {
		const char *t = in->texts[in->slots[i] - 1];

		if (strncmp(t, s, n) == 0 && t[n] == '\0') {
			return in->slots[i] - 1;
		}
	}
	if (in->count >= INTERN_NONE - 1 ||
	        !array_reserve(&in->texts, &in->cap, in->count + 1, sizeof(*in->texts))) {
		return INTERN_NONE;
	}
	copy = arena_text(&in->arena, s, n);
	if (copy == NULL) {
		return INTERN_NONE;
	}
	in->texts[in->count] = copy;
	in->slots[i] = (uint32_t)++in->count;
	return (uint32_t)in->count - 1;
}
