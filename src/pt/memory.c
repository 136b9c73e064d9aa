/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "pt/memory.h"

#include <sys/mman.h>

void *pt_reserve(size_t n)
{
	void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
	        -1, 0);

	return p != MAP_FAILED ? p : NULL;
}

void pt_release(void *p, size_t n)
{
	if (p != NULL) {
		(void)munmap(p, n);
	}
}
