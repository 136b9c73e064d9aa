/* SPDX-License-Identifier: MIT */
/*
 * The control page of a ring, as perf_event_open(2) lays it out:
 *
 *	0     u32 version, compat_version
 *	1024  u64 data_head   the kernel's, read with acquire
 *	1032  u64 data_tail   ours, written with release
 *	1040  u64 data_offset bytes from the page's start; 0: one page (kernels before 4.1)
 *	1048  u64 data_size   bytes; 0: everything after the page
 */
#include "capture/rings/ring.h"

#include "core/array.h"
#include "core/status.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT_COMPAT 4
#define AT_HEAD   1024
#define AT_TAIL   1032
#define AT_OFFSET 1040
#define AT_SIZE   1048

bool capture_ring_init(struct capture_ring *ring, void *page, size_t map_size)
{
	uint64_t offset, size;
	uint32_t compat;

	*ring = (struct capture_ring){.page = page, .map_size = map_size};
	memcpy(&compat, (uint8_t *)page + AT_COMPAT, sizeof(compat));
	offset = *capture_ring_word(ring, AT_OFFSET);
	size = *capture_ring_word(ring, AT_SIZE);
	if (offset == 0) {
		offset = (uint64_t)sysconf(_SC_PAGESIZE);
	}
	if (size == 0 && offset < map_size) {
		size = map_size - offset;
	}
	if (compat != 0 || offset > map_size || size > map_size - offset || size == 0 ||
	        (size & (size - 1)) != 0) {
		return false;
	}
	ring->data = (uint8_t *)page + offset;
	ring->size = size;
	ring->tail = *capture_ring_word(ring, AT_TAIL);
	ring->head = ring->tail;
	return true;
}

bool capture_ring_look(struct capture_ring *ring)
{
	ring->head = __atomic_load_n(capture_ring_word(ring, AT_HEAD), __ATOMIC_ACQUIRE);
	return ring->head != ring->tail;
}

int capture_ring_pieces(const struct capture_ring *ring, struct iovec out[2])
{
	uint64_t n = ring->head - ring->tail;
	uint64_t at = ring->tail & (ring->size - 1);
	uint64_t first = n < ring->size - at ? n : ring->size - at;

	if (n == 0) {
		return 0;
	}
	out[0] = (struct iovec){.iov_base = ring->data + at, .iov_len = first};
	if (first == n) {
		return 1;
	}
	out[1] = (struct iovec){.iov_base = ring->data, .iov_len = n - first};
	return 2;
}

void capture_ring_release(struct capture_ring *ring)
{
	ring->tail = ring->head;
	__atomic_store_n(capture_ring_word(ring, AT_TAIL), ring->tail, __ATOMIC_RELEASE);
}

/*
 * A ring that is written backward: the head decreases from 0, and the newest record begins there.
 * Older records follow, up to where this ring was read last, or where the kernel has overwritten
 * it. Returns pieces of complete records, the oldest first; the caller frees *out.
 */
int capture_ring_backward(struct capture_ring *ring, struct iovec **out, size_t *n)
{
	uint64_t mask = ring->size - 1;
	uint64_t at, first, left;
	struct iovec *list = NULL;
	size_t cap = 0, i, k = 0;
	uint16_t size;

	*out = NULL;
	*n = 0;
	ring->head = __atomic_load_n(capture_ring_word(ring, AT_HEAD), __ATOMIC_ACQUIRE);
	left = ring->tail - ring->head;
	left = left < ring->size ? left : ring->size;
	for (at = ring->head; left >= 8; at += size, left -= size) {
		/* sizes are multiples of 8, like the ring's: a header never wraps */
		memcpy(&size, ring->data + ((at + 6) & mask), sizeof(size));
		if (size < 8 || size > left) {
			break; /* the oldest record is partly overwritten */
		}
		if (!array_reserve(&list, &cap, k + 2, sizeof(*list))) {
			free(list);
			return SONDE_ENOMEM;
		}
		first = ring->size - (at & mask);
		first = first < size ? first : size;
		/* reversed below, so the second half of a record that wraps comes first here */
		if (first < size) {
			list[k++] = (struct iovec){ring->data, size - first};
		}
		list[k++] = (struct iovec){ring->data + (at & mask), first};
	}
	for (i = 0; i < k / 2; i++) {
		struct iovec one = list[i];

		list[i] = list[k - 1 - i];
		list[k - 1 - i] = one;
	}
	ring->tail = ring->head;
	*out = list;
	*n = k;
	return 0;
}
