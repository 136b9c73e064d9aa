/* SPDX-License-Identifier: MIT */
/*
 * A snapshot copies the newest bytes of a ring, so that it may begin with bytes of the one before:
 *
 *	snapshot   ----------------|=========
 *	the next                   =========|------------
 *	                            overlap
 *
 * The overlap is the longest end of the first that the second begins with, found in linear time with
 * the table of Knuth, Morris and Pratt.
 */
#include "aux/inside.h"

#include "pt/packet.h"

#include <stdlib.h>

/* borders[i]: length of the longest proper beginning of p[0..i] that is also its end. */
static void borders_set(const uint8_t *p, uint32_t n, uint32_t *borders)
{
	uint32_t k = 0;

	borders[0] = 0;
	for (uint32_t i = 1; i < n; i++) {
		while (k != 0 && p[i] != p[k]) {
			k = borders[k - 1];
		}
		k += p[i] == p[k];
		borders[i] = k;
	}
}

int aux_overlap(struct span before, struct span after, size_t *out)
{
	uint32_t n = (uint32_t)(before.n < after.n ? before.n : after.n);
	const uint8_t *end = before.p + before.n;
	uint32_t *borders;
	uint32_t k = 0;

	*out = 0;
	if (n == 0 || before.n > UINT32_MAX || after.n > UINT32_MAX) {
		return 0;
	}
	borders = malloc(n * sizeof(*borders));
	if (borders == NULL) {
		return SONDE_ENOMEM;
	}
	borders_set(after.p, n, borders);
	for (const uint8_t *p = end - n; p < end; p++) {
		while (k != 0 && (k == n || *p != after.p[k])) {
			k = borders[k - 1];
		}
		k += *p == after.p[k];
	}
	free(borders);
	/* a few bytes may be equal by chance, a PSB may not */
	*out = k != 0 && pt_find_psb(after.p, after.p + k) != NULL ? k : 0;
	return 0;
}
