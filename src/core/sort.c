/* SPDX-License-Identifier: MIT */
#include "core/sort.h"

#define DIGIT_BITS 11
#define DIGITS     ((size_t)1 << DIGIT_BITS)

/* One stable pass by the digit at `shift`. */
static void pass(const uint64_t *in, uint64_t *out, size_t n, unsigned shift)
{
	uint32_t at[DIGITS] = {0};
	uint32_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		at[in[i] >> shift & (DIGITS - 1)]++;
	}
	for (size_t d = 0; d < DIGITS; d++) {
		uint32_t count = at[d];

		at[d] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++) {
		out[at[in[i] >> shift & (DIGITS - 1)]++] = in[i];
	}
}

/* Sorts by half of the keys: each with its number beside it, so that memory is read in order. */
static void sort_half(
        const uint64_t *keys, unsigned half, uint32_t *order, uint64_t *spare, size_t n)
{
	uint64_t *in = spare;
	uint64_t *out = spare + n;
	uint64_t varies = 0; /* bits that are not the same in all keys */

	for (size_t i = 0; i < n; i++) {
		in[i] = keys[order[i]] >> half << 32 | order[i];
		varies |= in[i] ^ in[0];
	}
	for (unsigned shift = 32; shift < 64; shift += DIGIT_BITS) {
		uint64_t *swap = in;

		if ((varies >> shift & (DIGITS - 1)) == 0) {
			continue;
		}
		pass(in, out, n, shift);
		in = out;
		out = swap;
	}
	for (size_t i = 0; i < n; i++) {
		order[i] = (uint32_t)in[i];
	}
}

void sort_order(const uint64_t *keys, uint32_t *order, uint64_t *spare, size_t n)
{
	uint64_t varies = 0;

	for (size_t i = 1; i < n; i++) {
		varies |= keys[order[i]] ^ keys[order[0]];
	}
	for (unsigned half = 0; half < 64; half += 32) {
		if ((uint32_t)(varies >> half) != 0) {
			sort_half(keys, half, order, spare, n);
		}
	}
}
