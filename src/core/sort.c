/* SPDX-License-Identifier: MIT */
#include "core/sort.h"

#define DIGIT_BITS 11
#define DIGITS     ((size_t)1 << DIGIT_BITS)
#define AHEAD      32
#define PASSES     3 /* for the 32 bits of half a key */

/* One stable pass by the digit at `shift`, of which at[] has the number of each value. */
static void pass(const uint64_t *in, uint64_t *out, size_t n, unsigned shift, uint32_t at[DIGITS])
{
	uint32_t sum = 0;

	for (size_t d = 0; d < DIGITS; d++) {
		uint32_t count = at[d];

		at[d] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++) {
		out[at[in[i] >> shift & (DIGITS - 1)]++] = in[i];
	}
}

/*
 * Sorts by half of the keys: each with its number beside it, so that memory is read in order.
 * Returns the bits that are not the same in all whole keys.
 */
static uint64_t sort_half(
        const uint64_t *keys, unsigned half, uint32_t *order, uint64_t *spare, size_t n)
{
	uint32_t counts[PASSES][DIGITS] = {0};
	uint64_t *in = spare;
	uint64_t *out = spare + n;
	uint64_t first = keys[order[0]];
	uint64_t varies = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t key = keys[order[i]];
		uint64_t part = key >> half << 32;

		if (i + AHEAD < n) {
			__builtin_prefetch(&keys[order[i + AHEAD]]);
		}
		in[i] = part | order[i];
		varies |= key ^ first;
		for (unsigned k = 0; k < PASSES; k++) {
			counts[k][part >> (32 + k * DIGIT_BITS) & (DIGITS - 1)]++;
		}
	}
	for (unsigned k = 0; k < PASSES; k++) {
		uint64_t *swap = in;

		if (((varies >> half << 32) >> (32 + k * DIGIT_BITS) & (DIGITS - 1)) == 0) {
			continue;
		}
		pass(in, out, n, 32 + k * DIGIT_BITS, counts[k]);
		in = out;
		out = swap;
	}
	for (size_t i = 0; i < n; i++) {
		order[i] = (uint32_t)in[i];
	}
	return varies;
}

void sort_order(const uint64_t *keys, uint32_t *order, uint64_t *spare, size_t n)
{
	if (n > 1 && sort_half(keys, 0, order, spare, n) >> 32 != 0) {
		(void)sort_half(keys, 32, order, spare, n);
	}
}
