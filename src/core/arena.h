/* SPDX-License-Identifier: MIT */
/* An arena: many allocations that are freed together. Use by one thread at a time. */
#ifndef SONDE_CORE_ARENA_H
#define SONDE_CORE_ARENA_H

#include <stddef.h>

struct arena_block;

/* Empty when zero-initialised. */
struct arena {
	struct arena_block *head;
	char *p; /* next free byte of the newest block */
	char *end; /* one past its last byte */
	size_t used; /* bytes allocated since the last reset */
};

void arena_fini(struct arena *a); /* frees everything; the arena is empty and can be used again */

/*
 * Allocates n bytes, aligned for any type, not cleared; NULL: out of memory. Valid until
 * arena_fini.
 */
void *arena_alloc(struct arena *a, size_t n);
void *arena_zalloc(struct arena *a, size_t n);

/* Copies n bytes and appends a NUL. */
char *arena_text(struct arena *a, const char *s, size_t n);

#endif
