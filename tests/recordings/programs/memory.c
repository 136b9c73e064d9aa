/* SPDX-License-Identifier: MIT */
/* Touches pages of its data, its stack and of an anonymous mapping; writes a watched word. */
#include "start.h"

#define PAGES     6
#define PAGE      4096
#define RW        3 /* PROT_READ | PROT_WRITE */
#define ANONYMOUS 0x22 /* MAP_PRIVATE | MAP_ANONYMOUS */

char table[PAGES * PAGE] __attribute__((aligned(PAGE)));
volatile unsigned long watched = 1;

__attribute__((noinline)) void touch(volatile char *at)
{
	for (unsigned i = 0; i < PAGES; i++) {
		at[i * PAGE] = (char)i;
	}
}

__attribute__((noinline)) void touch_stack(void)
{
	volatile char deep[PAGES * PAGE];

	touch(deep);
}

__attribute__((noinline)) void watch(void)
{
	for (unsigned i = 0; i < 20; i++) {
		watched += i;
	}
}

int program(long argc, char **argv)
{
	char *mapped = (char *)call6(__NR_mmap, 0, PAGES * PAGE, RW, ANONYMOUS, -1, 0);

	(void)argc;
	(void)argv;
	touch(table);
	touch(mapped);
	touch_stack();
	watch();
	return 0;
}
