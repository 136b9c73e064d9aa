/* SPDX-License-Identifier: MIT */
/* Overlaps of snapshots: equal to those of a search that tries every length, on random bytes. */
#include "aux/inside.h"
#include "pt/packet.h"

#include "tap.h"

#include <string.h>

#define SIZE 96

static uint64_t state = 1;

static unsigned next(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

/* The plain search. */
static size_t expected(struct span before, struct span after)
{
	size_t n = before.n < after.n ? before.n : after.n;

	while (n != 0 && memcmp(before.p + before.n - n, after.p, n) != 0) {
		n--;
	}
	return n != 0 && pt_find_psb(after.p, after.p + n) != NULL ? n : 0;
}

/* Few different bytes, so that many beginnings repeat; PSBs are 16 bytes 02 82. */
static size_t fill(uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		p[i] = (uint8_t)next(2);
	}
	for (size_t at = next(20); n >= 16 && at <= n - 16; at += 16 + next(40)) {
		for (size_t i = 0; i < 16; i++) {
			p[at + i] = i % 2 == 0 ? 0x02 : 0x82;
		}
	}
	return n;
}

static void test_random(void)
{
	unsigned wrong = 0, found = 0;

	for (unsigned round = 0; round < 20000; round++) {
		uint8_t a[SIZE], b[2 * SIZE];
		struct span before = {a, fill(a, next(SIZE))};
		size_t common = before.n != 0 ? next((unsigned)before.n + 1) : 0, out;
		struct span after = {b, common};

		memcpy(b, a + before.n - common, common);
		after.n += fill(b + common, next(SIZE));
		wrong += aux_overlap(before, after, &out) != 0 || out != expected(before, after);
		found += out != 0;
	}
	eq_u64(wrong, 0, "the overlap of 20,000 pairs is that of a plain search");
	ok(found > 5000 && found < 20000, "some pairs overlap, and some do not");
}

static void test_limits(void)
{
	uint8_t bytes[] = {0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
	        0x02, 0x82, 0x02, 0x82};
	struct span psb = {bytes, sizeof(bytes)}, empty = {bytes, 0}, few = {bytes, 8};
	size_t out;

	ok(aux_overlap(psb, psb, &out) == 0 && out == 16, "equal snapshots overlap whole");
	ok(aux_overlap(empty, psb, &out) == 0 && out == 0, "nothing before: no overlap");
	ok(aux_overlap(psb, empty, &out) == 0 && out == 0, "nothing after: no overlap");
	ok(aux_overlap(psb, few, &out) == 0 && out == 0,
	        "equal bytes without a PSB are no overlap");
}

int main(void)
{
	test_random();
	test_limits();
	return tap_done();
}
