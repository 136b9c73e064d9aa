/* SPDX-License-Identifier: MIT */
#include "core/sort.h"

#include <string.h>

#define DIGIT_BITS 11
#define DIGITS     ((size_t)1 << DIGIT_BITS)

/* One stable pass over the digit at `shift`. */
static void pass(const uint64_t *keys, const uint32_t *in, uint32_t *out, size_t n, unsigned shift)
{
	uint32_t at[DIGITS] = {0};
	uint32_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		at[keys[in[i]] >> shift & (DIGITS - 1)]++;
	}
	for (size_t d = 0; d < DIGITS; d++) {
		uint32_t count = at[d];

		at[d] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++) {
		out[at[keys[in[i]] >> shift & (DIGITS - 1)]++] = in[i];
	}
}

void sort_order(const uint64_t *keys, uint32_t *order, uint32_t *spare, size_t n)
{
	uint32_t *in = order;
	uint32_t *out = spare;
	uint64_t varies = 0; /* bits that differ between keys */

	for (size_t i = 1; i < n; i++) {
		varies |= keys[order[i]] ^ keys[order[0]];
	}
	for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
		uint32_t *swap = in;

		if ((varies >> shift & (DIGITS - 1)) == 0) {
			continue;
		}
		pass(keys, in, out, n, shift);
		in = out;
		out = swap;
	}
	if (in != order) {
		memcpy(order, in, n * sizeof(*order));
	}
}
