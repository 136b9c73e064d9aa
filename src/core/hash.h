/* SPDX-License-Identifier: MIT */
/* Hash functions for the open-addressing tables of this library, which probe linearly. */
#ifndef SONDE_CORE_HASH_H
#define SONDE_CORE_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A full 64-bit mix of one word. */
static inline uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 32;
	x *= 0x9e3779b97f4a7c15ULL;
	x ^= x >> 29;
	x *= 0xbf58476d1ce4e5b9ULL;
	x ^= x >> 32;
	return x;
}

/* A bijection: different numbers have different hashes. */
static inline uint32_t hash_u32(uint32_t x)
{
	x ^= x >> 16;
	x *= 0x85ebca6bu;
	x ^= x >> 13;
	x *= 0xc2b2ae35u;
	return x ^ x >> 16;
}

/* Adds a word to a running hash. */
static inline uint64_t hash_step(uint64_t h, uint64_t x)
{
	h = (h ^ x) * 0x9e3779b97f4a7c15ULL;
	return h ^ (h >> 32);
}

static inline uint64_t hash_bytes(const void *data, size_t n)
{
	const uint8_t *p = data;
	uint64_t h = 0x2545f4914f6cdd1dULL ^ n;
	uint64_t w;

	for (; n >= 8; n -= 8, p += 8) {
		memcpy(&w, p, 8);
		h = hash_step(h, w);
	}
	w = 0;
	memcpy(&w, p, n);
	return hash_u64(hash_step(h, w));
}

#endif
