/* SPDX-License-Identifier: MIT */
#include "core/hash.h"
#include "core/index.h"
#include "tests/tap.h"

enum { N = 5000 };

/* Only a few hashes: many elements share one, and the table has to compare keys. */
static uint32_t hash_of(uint64_t key, bool few)
{
	return (uint32_t)hash_u64(few ? key % 50 : key);
}

static uint32_t find(
        const struct index *x, const uint64_t *keys, uint64_t key, bool few, size_t *at)
{
	uint32_t hash = hash_of(key, few);
	uint32_t id;

	*at = hash;
	while ((id = index_next(x, hash, at)) != INDEX_NONE && keys[id] != key) {
		++*at;
	}
	return id;
}

static void test_elements(bool few, const char *what)
{
	static uint64_t keys[N];
	struct index x = {0};
	bool good = true;
	size_t at = 0;

	for (uint32_t i = 0; i < N; i++) {
		keys[i] = (uint64_t)i * 7 + 1;
		good = good && index_room(&x) == 0 &&
		       find(&x, keys, keys[i], few, &at) == INDEX_NONE;
		index_put(&x, hash_of(keys[i], few), at, i);
	}
	for (uint32_t i = 0; i < N; i++) {
		good = good && find(&x, keys, keys[i], few, &at) == i &&
		       find(&x, keys, keys[i] + 1, few, &at) == INDEX_NONE;
	}
	ok(good && x.n == N, what);
	ok(x.nslots >= (size_t)2 * N && (x.nslots & (x.nslots - 1)) == 0,
	        "at least half of the slots are free");
	index_fini(&x);
	ok(x.nslots == 0 && x.n == 0, "after index_fini the index is empty");
}

static void test_replace(void)
{
	const uint64_t keys[] = {10, 20, 20};
	struct index x = {0};
	size_t at;

	for (uint32_t i = 0; i < 2; i++) {
		(void)index_room(&x);
		(void)find(&x, keys, keys[i], false, &at);
		index_put(&x, hash_of(keys[i], false), at, i);
	}
	(void)find(&x, keys, 20, false, &at);
	index_replace(&x, at, 2);
	eq_u64(find(&x, keys, 20, false, &at), 2, "a replaced element is found under its key");
	eq_u64(x.n, 2, "replacing adds no element");
	eq_u64(index_guess(&x, hash_of(10, false)), 0, "the guess for a lone element is right");
	index_fini(&x);
	eq_u64(index_guess(&x, hash_of(10, false)), INDEX_NONE, "an empty index guesses nothing");
	index_prefetch(&x, 1);
}

static void test_numbers(void)
{
	const uint32_t numbers[] = {0, 1, 2, 0x10000, 0x80000000u, UINT32_MAX - 1};
	const uint32_t n = sizeof(numbers) / sizeof(numbers[0]);
	struct index x = {0};
	bool good = true;
	size_t at;

	eq_u64(index_find_u32(&x, 0, &at), INDEX_NONE, "an empty index has no number");
	for (uint32_t i = 0; i < n + N; i++) {
		uint32_t number = i < n ? numbers[i] : i * 3000 + 5;

		good = good && index_room(&x) == 0 && index_find_u32(&x, number, &at) == INDEX_NONE;
		index_put_u32(&x, number, at, i);
	}
	for (uint32_t i = 0; i < n + N; i++) {
		uint32_t number = i < n ? numbers[i] : i * 3000 + 5;

		good = good && index_find_u32(&x, number, &at) == i;
	}
	ok(good, "numbers are found without keys");
	eq_u64(index_find_u32(&x, UINT32_MAX, &at), INDEX_NONE, "other numbers are not");
	eq_u64(index_find_u32(&x, 6, &at), INDEX_NONE, "nor is one next to a known number");
	index_fini(&x);
}

int main(void)
{
	test_elements(false, "5000 elements with different hashes are found, others are not");
	test_elements(true, "5000 elements that share 50 hashes are found, others are not");
	test_replace();
	test_numbers();
	return tap_done();
}
