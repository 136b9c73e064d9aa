/* SPDX-License-Identifier: MIT */
/* A hash table from two words to a small number; linear probing. */
#ifndef SONDE_FLAMEGRAPH_MAP_H
#define SONDE_FLAMEGRAPH_MAP_H

#include <stddef.h>
#include <stdint.h>

#define FLAME_NONE UINT32_MAX

struct flame_map_slot {
	uint64_t a, b;
	uint32_t value; /* number + 1; 0: free */
};

/* Zero-initialised is a valid empty map. */
struct flame_map {
	struct flame_map_slot *slots;
	size_t nslots; /* a power of two, or 0 */
	size_t count;
};

/* The number of (a, b), or FLAME_NONE. */
uint32_t flame_map_get(const struct flame_map *m, uint64_t a, uint64_t b);

/* Adds what is not there yet; value < FLAME_NONE. Negative: no memory. */
int flame_map_put(struct flame_map *m, uint64_t a, uint64_t b, uint32_t value);
void flame_map_fini(struct flame_map *m);

#endif
