/* SPDX-License-Identifier: MIT */
/* Ranges made flat have at each address the value of the highest rank. */
#include "symbol/cover.h"

#include "tap.h"

#include <stdlib.h>

#define SPACE 40u

static uint32_t at(const struct covers *flat, uint64_t address)
{
	for (size_t i = 0; i < flat->n; i++) {
		if (flat->v[i].start <= address && address < flat->v[i].end) {
			return flat->v[i].value;
		}
	}
	return 0;
}

/* Paints random ranges one after the other, which is the slow way to the same result. */
static bool same_as_painted(unsigned *seed, size_t n)
{
	uint32_t painted[SPACE] = {0};
	struct covers c = {0}, flat = {0};
	bool same = true;

	for (size_t i = 0; i < n; i++) {
		uint64_t start = (uint64_t)rand_r(seed) % SPACE;
		uint64_t end = start + 1 + (uint64_t)rand_r(seed) % (SPACE - start);

		for (uint64_t k = start; k < end; k++) {
			painted[k] = (uint32_t)i + 1;
		}
		same = same && covers_add(&c, &(struct cover){start, end, i, (uint32_t)i + 1}) == 0;
	}
	same = same && covers_flatten(&c, &flat) == 0;
	for (uint64_t k = 0; k < SPACE; k++) {
		same = same && at(&flat, k) == painted[k];
	}
	for (size_t i = 1; i < flat.n; i++) {
		same = same && flat.v[i].start >= flat.v[i - 1].end;
	}
	covers_fini(&c);
	covers_fini(&flat);
	return same;
}

int main(void)
{
	unsigned seed = 1;
	size_t good = 0;

	for (size_t i = 0; i < 2000; i++) {
		good += same_as_painted(&seed, i % 12);
	}
	eq_u64(good, 2000,
	        "random ranges made flat are the same as ranges painted in order of rank");
	return tap_done();
}
