/* SPDX-License-Identifier: MIT */
/*
 * Bytes of mapped files that stay when the file is cut. A page that the file has no more is not
 * readable: the process gets SIGBUS. Only system calls fail without a signal, so one copies a block
 * before it is first read, and the copy takes the place of the mapping: pointers into it stay.
 */
#define _GNU_SOURCE /* mremap, process_vm_readv */
#include "image/image.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#define BLOCK ((size_t)128 << 10) /* a multiple of all sizes of pages */
#define PAGE  ((size_t)4 << 10) /* the smallest page */

struct image_kept {
	_Atomic(bool) blocks[1]; /* as many as the file has */
};

static size_t block_count(size_t n)
{
	return n / BLOCK + (n % BLOCK != 0);
}

struct image_kept *image_kept_new(size_t n)
{
	return calloc(1, sizeof(struct image_kept) + block_count(n) * sizeof(_Atomic(bool)));
}

/* Copies what is readable; false: nothing is, or copies are not allowed. */
static bool copy(void *to, void *from, size_t n)
{
	struct iovec local = {to, n}, remote = {from, n};

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)n;
}

/* Copies a block; pages that are not readable stay zero. */
static void block_copy(uint8_t *to, uint8_t *from, size_t n)
{
	if (copy(to, from, n)) {
		return;
	}
	for (size_t at = 0; at < n; at += PAGE) {
		(void)copy(to + at, from + at, n - at < PAGE ? n - at : PAGE);
	}
}

/* Whether this process may copy its own memory so. */
static bool can_copy(void)
{
	uint8_t from = 1, to = 0;

	return copy(&to, &from, 1) && to == 1;
}

static void block_keep(const struct image_file *f, size_t block)
{
	uint8_t *place = (uint8_t *)f->map + block * BLOCK;
	size_t left = f->bytes.n - block * BLOCK, n = left < BLOCK ? left : BLOCK;
	void *own;

	if (!can_copy()) {
		return;
	}
	own = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (own == MAP_FAILED) {
		return;
	}
	block_copy(own, place, n);
	if (mremap(own, n, n, MREMAP_MAYMOVE | MREMAP_FIXED, place) == MAP_FAILED) {
		(void)munmap(own, n);
	}
}

void image_file_keep(const struct image_file *f, struct span part)
{
	size_t at, last;

	if (f->kept == NULL || part.n == 0 || part.p < f->bytes.p ||
	        part.p >= f->bytes.p + f->bytes.n) {
		return;
	}
	at = (size_t)(part.p - f->bytes.p);
	last = part.n <= f->bytes.n - at ? at + part.n - 1 : f->bytes.n - 1;
	for (size_t i = at / BLOCK; i <= last / BLOCK; i++) {
		_Atomic(bool) *kept = &f->kept->blocks[i];

		/* Two threads may copy the same block: either copy does. */
		if (!atomic_load_explicit(kept, memory_order_acquire)) {
			block_keep(f, i);
			atomic_store_explicit(kept, true, memory_order_release);
		}
	}
}
