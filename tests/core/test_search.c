/* SPDX-License-Identifier: MIT */
#include "core/search.h"

#include "tests/tap.h"

struct change {
	uint32_t to;
	uint64_t time;
};

/* The same by looking at each element. */
static size_t last_of(const struct change *v, size_t n, uint64_t time)
{
	size_t last = 0;

	for (size_t i = 0; i < n; i++) {
		last = v[i].time <= time ? i : last;
	}
	return last;
}

int main(void)
{
	const struct change v[] = {{1, 10}, {2, 20}, {3, 20}, {4, 30}, {5, UINT64_MAX}};
	const uint64_t keys[] = {0, 9, 10, 11, 19, 20, 21, 29, 30, 31, UINT64_MAX - 1, UINT64_MAX};
	bool good = true;

	for (size_t n = 0; n <= sizeof(v) / sizeof(v[0]); n++) {
		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
			good = good && SEARCH_LAST(v, n, time, keys[k]) == last_of(v, n, keys[k]);
		}
	}
	ok(good, "the last element up to a key is found in arrays of each length");
	eq_u64(v[SEARCH_LAST(v, 4, time, 25)].to, 3, "of equal elements it is the last one");
	eq_u64(SEARCH_LAST(v, 4, time, 5), 0, "if all elements are greater it is the first one");
	eq_u64(SEARCH_LAST((const struct change *)NULL, 0, time, 5), 0, "an empty array has none");
	return tap_done();
}
