/* SPDX-License-Identifier: MIT */
#include "capture/recorder.h"
#include "tap.h"

#define PAGE ((size_t)4096)
#define DATA 8192

static _Alignas(8) uint8_t map[PAGE + DATA];

static uint64_t *word(size_t at)
{
	return (uint64_t *)(void *)(map + at);
}

static void reset(void)
{
	memset(map, 0, sizeof(map));
}

static void test_layout(void)
{
	struct capture_ring ring;

	reset();
	ok(capture_ring_init(&ring, map, sizeof(map)),
	        "offset and size of 0 mean one page and the rest");
	ok(ring.data == map + PAGE, "data starts behind one page");
	eq_u64(ring.size, DATA, "size of the data");
	*word(1040) = PAGE * 2;
	*word(1048) = PAGE;
	ok(capture_ring_init(&ring, map, sizeof(map)), "the page's own offset and size");
	ok(ring.data == map + 2 * PAGE, "data starts where the page says");
	*word(1048) = DATA;
	ok(!capture_ring_init(&ring, map, sizeof(map)), "data past the end of the map");
	*word(1040) = PAGE;
	*word(1048) = 3000;
	ok(!capture_ring_init(&ring, map, sizeof(map)), "a size that is no power of two");
	reset();
	map[4] = 1;
	ok(!capture_ring_init(&ring, map, sizeof(map)), "an incompatible layout");
}

static void test_wrap(void)
{
	struct capture_ring ring;
	struct iovec v[2];

	reset();
	*word(1032) = 3 * DATA - 24;
	*word(1024) = *word(1032);
	ok(capture_ring_init(&ring, map, sizeof(map)), "ring that was used before");
	ok(!capture_ring_look(&ring), "nothing to read");
	eq_u64(capture_ring_pieces(&ring, v), 0, "no piece");
	*word(1024) += 64;
	ok(capture_ring_look(&ring), "64 bytes to read");
	eq_u64(capture_ring_pieces(&ring, v), 2, "two pieces where the ring wraps");
	ok(v[0].iov_base == map + PAGE + DATA - 24, "first piece at the end");
	eq_u64(v[0].iov_len, 24, "its length");
	ok(v[1].iov_base == map + PAGE, "second piece at the start");
	eq_u64(v[1].iov_len, 40, "its length");
	*word(1024) += 8;
	capture_ring_release(&ring);
	eq_u64(*word(1032), 3 * DATA + 40, "the tail is what was looked at, not what came later");
	ok(capture_ring_look(&ring), "the later bytes are still there");
	*word(1024) = *word(1032) + DATA;
	ok(capture_ring_look(&ring), "a full ring");
	capture_ring_pieces(&ring, v);
	eq_u64(v[0].iov_len + v[1].iov_len, DATA, "all of it");
}

int main(void)
{
	test_layout();
	test_wrap();
	return tap_done();
}
