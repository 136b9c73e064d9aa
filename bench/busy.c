/* SPDX-License-Identifier: MIT */
/*
 * busy [STEPS]: one thread that runs a call tree of small functions, 4 to 18 deep, with frame
 * pointers. A recording of it has long call chains, and all addresses are in functions of this
 * program.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef uint64_t (*node_fn)(uint64_t x, unsigned depth);

static uint64_t descend(uint64_t x, unsigned depth);

static uint64_t mix(uint64_t x)
{
	for (int i = 0; i < 40; i++) {
		x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15u;
	}
	return x;
}

#define NODE(name, turns)                                                                          \
	static __attribute__((noinline)) uint64_t name(uint64_t x, unsigned depth)                 \
	{                                                                                          \
		uint64_t sum = 0;                                                                  \
                                                                                                   \
		for (unsigned i = 0; i < (turns); i++) {                                           \
			sum += mix(x + i);                                                         \
		}                                                                                  \
		return sum ^ descend(sum, depth);                                                  \
	}

NODE(plant_seed, 1)
NODE(water_bed, 2)
NODE(pull_weed, 1)
NODE(turn_soil, 3)
NODE(tie_vine, 1)
NODE(cut_hedge, 2)
NODE(pick_pear, 4)
NODE(rake_leaf, 1)

/* NOLINTNEXTLINE(misc-no-recursion): the program must have deep chains */
static __attribute__((noinline)) uint64_t descend(uint64_t x, unsigned depth)
{
	static const node_fn nodes[] = {plant_seed, water_bed, pull_weed, turn_soil, tie_vine,
	        cut_hedge, pick_pear, rake_leaf};

	return depth == 0 ? mix(x) : nodes[x >> 61](x, depth - 1);
}

int main(int argc, char **argv)
{
	unsigned long steps = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
	uint64_t x = 1;

	for (unsigned long i = 0; i < steps; i++) {
		x += descend(mix(x), 2 + (unsigned)(x % 8));
	}
	printf("%llx\n", (unsigned long long)x);
	return 0;
}
