/* SPDX-License-Identifier: MIT */
#include "core/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE ((size_t)64 * 1024)

struct arena_block {
	struct arena_block *next;
	alignas(max_align_t) char bytes[];
};

void arena_fini(struct arena *a)
{
	while (a->head != NULL) {
		struct arena_block *next = a->head->next;

		free(a->head);
		a->head = next;
	}
	*a = (struct arena){0};
}

void *arena_alloc(struct arena *a, size_t n)
{
	size_t need = (n + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
	struct arena_block *b;
	size_t size;
	char *p;

	if (need < n || need > SIZE_MAX / 2) {
		return NULL;
	}
	if (a->head == NULL || (size_t)(a->end - a->p) < need) {
		size = need > BLOCK_SIZE ? need : BLOCK_SIZE;
		b = malloc(sizeof(*b) + size);
		if (b == NULL) {
			return NULL;
		}
		b->next = a->head;
		a->head = b;
		a->p = b->bytes;
		a->end = b->bytes + size;
	}
	p = a->p;
	a->p += need;
	a->used += need;
	return p;
}

void *arena_zalloc(struct arena *a, size_t n)
{
	void *p = arena_alloc(a, n);

	return p != NULL ? memset(p, 0, n) : NULL;
}

char *arena_text(struct arena *a, const char *s, size_t n)
{
	char *p = arena_alloc(a, n + 1);

	if (p != NULL) {
		memcpy(p, s, n);
		p[n] = '\0';
	}
	return p;
}
