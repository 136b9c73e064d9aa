/* SPDX-License-Identifier: MIT */
/* An arena: many allocations, freed together. Not safe to share between threads. */
#ifndef SONDE_CORE_ARENA_H
#define SONDE_CORE_ARENA_H

#include <stddef.h>

struct arena_block;

/* Zero-initialised is a valid empty arena. */
struct arena {
	struct arena_block *head;
	char *p; /* next free byte of the newest block */
	char *end; /* one past its last byte */
	size_t used; /* bytes handed out since the last reset */
};

void arena_fini(struct arena *a); /* frees everything; the arena is empty and usable again */

/* n bytes, aligned for any type, not cleared; NULL: no memory. Valid until arena_fini. */
void *arena_alloc(struct arena *a, size_t n);
void *arena_zalloc(struct arena *a, size_t n);

/* A copy of n bytes with a NUL behind it. */
char *arena_text(struct arena *a, const char *s, size_t n);

#endif
