/* SPDX-License-Identifier: MIT */
/* Burns time in program -> outer -> inner and program -> other -> inner; argument: rounds. */
#include "start.h"

static volatile unsigned long sum;

__attribute__((noinline)) void inner(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		sum += i;
	}
}

__attribute__((noinline)) void outer(void)
{
	inner(3000);
	sum++;
}

__attribute__((noinline)) void other(void)
{
	for (unsigned i = 0; i < 1000; i++) {
		sum ^= i;
	}
	inner(1000);
	sum++;
}

int program(long argc, char **argv)
{
	unsigned rounds = 0;

	for (const char *c = argc > 1 ? argv[1] : "1000"; *c >= '0' && *c <= '9'; c++) {
		rounds = rounds * 10 + (unsigned)(*c - '0');
	}
	for (unsigned i = 0; i < rounds; i++) {
		outer();
		other();
	}
	return 0;
}
