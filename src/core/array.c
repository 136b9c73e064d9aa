/* SPDX-License-Identifier: MIT */
#include "core/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE       ((uintptr_t)4 << 10) /* bytes: on most machines */
#define LARGE_PAGE ((size_t)2 << 20)
#define HEADER     64u /* bytes: at least those of malloc */

/*
 * Rounds the size of a large block up so that it is whole large pages together with the header that
 * malloc adds: Linux aligns such a mapping, and keeps its large pages when realloc moves it.
 */
static size_t whole_pages(size_t size)
{
	return size < LARGE_PAGE ? size
	                         : ((size + HEADER + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1)) - HEADER;
}

bool array_reserve(void *data, size_t *cap, size_t need, size_t size)
{
	size_t n = *cap + *cap / 2;
	void *old;
	void *p;

	if (need <= *cap) {
		return true;
	}
	if (n < need) {
		n = need;
	}
	if (n < 16) {
		n = 16;
	}
	if (n > SIZE_MAX / 2 / size) {
		return false;
	}
	memcpy(&old, data, sizeof(old));
	n = whole_pages(n * size) / size;
	p = realloc(old, n * size);
	if (p == NULL) {
		return false;
	}
	memcpy(data, &p, sizeof(p));
	*cap = n;
	array_spread(p, n * size);
	return true;
}

void array_fit(void *data, size_t *cap, size_t n, size_t size)
{
	void *old;
	void *p;

	if (n == *cap || n == 0) {
		return;
	}
	memcpy(&old, data, sizeof(old));
	p = realloc(old, n * size);
	if (p != NULL) {
		memcpy(data, &p, sizeof(p));
		*cap = n;
	}
}

void array_spread(void *p, size_t size)
{
	uintptr_t before = (uintptr_t)p & (PAGE - 1);

	/*
	 * Whole pages, with the header of malloc: half of a mapping with other flags could not be
	 * moved by realloc. A kernel that has no such pages changes nothing.
	 */
	if (p != NULL && size >= LARGE_PAGE) {
		(void)madvise((char *)p - before, (before + size + PAGE - 1) & ~(PAGE - 1),
		        MADV_HUGEPAGE);
	}
}

void *array_map(size_t size)
{
	size_t more, all = size + LARGE_PAGE;
	char *p;

	if (size < LARGE_PAGE) {
		return calloc(1, size);
	}
	p = all < size
	            ? MAP_FAILED
	            : mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		return NULL;
	}
	more = -(uintptr_t)p & (LARGE_PAGE - 1); /* before the first large page */
	size = (size + PAGE - 1) & ~(PAGE - 1);
	if (more != 0) {
		(void)munmap(p, more);
	}
	(void)munmap(p + more + size, all - more - size);
	array_spread(p + more, size);
	return p + more;
}

void array_unmap(void *p, size_t size)
{
	if (size < LARGE_PAGE) {
		free(p);
	} else if (p != NULL) {
		(void)munmap(p, size);
	}
}
