/* SPDX-License-Identifier: MIT */
/* Functions inlined into functions, whose lines the tests of this folder compare; it is also run. */
#include <stdint.h>
#include <stdlib.h>

#define INLINE static inline __attribute__((always_inline))
#define ALONE  __attribute__((noinline))

volatile uint64_t sink;

INLINE uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 29;
	return x;
}

INLINE uint64_t twice(uint64_t x)
{
	return mix(mix(x) + 1);
}

static ALONE uint64_t leaf(uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		sum += twice(i);
	}
	return sum;
}

static ALONE uint64_t other(uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		sum ^= mix(i) + 3;
	}
	return sum;
}

INLINE uint64_t middle(uint64_t n)
{
	return leaf(n) + other(n / 2);
}

ALONE uint64_t outer(uint64_t n)
{
	uint64_t result = middle(n);

	sink += result;
	return result * 3;
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 0) : 1000;

	for (int i = 0; i < 20; i++) {
		sink += outer(n);
	}
	return 0;
}
