/* SPDX-License-Identifier: MIT */
/* The fake kernel keeps the rules that tests of recording rely on. */
#include "abi/abi.h"
#include "fake/fake.h"
#include "tap.h"

#include <errno.h>
#include <stdlib.h>

#define PT_TYPE 10u
#define PAGE    FAKE_PAGE

static const struct host_kernel *k;

static int open_event(uint32_t type, uint64_t config, uint64_t flags, pid_t pid)
{
	struct sonde_attr attr = {.type = type,
	        .size = 128,
	        .config = config,
	        .sample_type = SONDE_SAMPLE_TID | SONDE_SAMPLE_TIME | SONDE_SAMPLE_IDENTIFIER,
	        .flags = flags | 1u << SONDE_FLAG_SAMPLE_ID_ALL};

	return k->open(&attr, pid, 0, -1, 0);
}

static uint64_t *word(void *map, size_t at)
{
	return (uint64_t *)(void *)((uint8_t *)map + at);
}

static uint8_t *map_aux(int fd, void *map, size_t pages, bool overwrite)
{
	*word(map, 1072) = 2 * PAGE;
	*word(map, 1080) = pages * PAGE;
	return k->map_aux(fd, pages * PAGE, 2 * PAGE, overwrite);
}

static void test_data_ring(void)
{
	struct capture_ring ring;
	void *map;
	int fd, sent = 0;

	fake_reset(&(struct fake_options){0});
	fd = open_event(SONDE_TYPE_SOFTWARE, 0, 0, 7);
	map = k->map(fd, 2 * PAGE, false);
	ok(capture_ring_init(&ring, map, 2 * PAGE), "a ring of one page");
	fake_run(0, 7, 7);
	while (fake_sample(fake_event(0), 1)) {
		sent++;
	}
	eq_u64(sent, PAGE / 32, "samples of 32 bytes fill it");
	(void)fake_sample(fake_event(0), 1);
	ok(capture_ring_look(&ring), "there is something to read");
	capture_ring_release(&ring);
	ok(fake_sample(fake_event(0), 1), "room again");
	ok(capture_ring_look(&ring), "and something new");
	eq_u64(ring.head - ring.tail, 48 + 32, "LOST, then the sample");
	k->unmap(map, 2 * PAGE);
	(void)k->close(fd);
	eq_u64(fake_open_fds(), 0, "closed");
	eq_u64(fake_locked(), 0, "and unlocked");
}

static void test_side_band(void)
{
	struct capture_ring ring;
	void *map;
	int fd;

	fake_reset(&(struct fake_options){0});
	fd = open_event(SONDE_TYPE_SOFTWARE, SONDE_SW_DUMMY,
	        1u << SONDE_FLAG_COMM | 1u << SONDE_FLAG_DISABLED | 1u << SONDE_FLAG_INHERIT, 7);
	map = k->map(fd, 2 * PAGE, false);
	(void)capture_ring_init(&ring, map, 2 * PAGE);
	fake_comm(7, "early");
	ok(!capture_ring_look(&ring), "an event that is off yields nothing");
	(void)k->enable(fd, true, false);
	fake_mmap(7, 0x1000, 0x1000, "/bin/true");
	ok(!capture_ring_look(&ring), "nor one that does not ask for it");
	fake_comm(8, "other");
	ok(!capture_ring_look(&ring), "nor one of another task");
	fake_fork(7, 8);
	fake_comm(8, "child");
	ok(capture_ring_look(&ring), "but of a child");
	k->unmap(map, 2 * PAGE);
}

static void test_full_trace(void)
{
	void *map;
	uint8_t *aux;
	int fd;

	fake_reset(&(struct fake_options){.aux_type = PT_TYPE});
	fd = open_event(PT_TYPE, 0, 0, 7);
	map = k->map(fd, 2 * PAGE, false);
	aux = map_aux(fd, map, 2, false);
	if (!ok(aux != NULL, "an AUX area")) {
		abort();
	}
	fake_trace(0, 100);
	eq_u64(fake_pieces(), 0, "an idle cpu makes nothing");
	fake_run(0, 7, 7);
	fake_trace(0, 100);
	eq_u64(*word(map, 1056), 0, "what was made is not to be seen");
	fake_trace(0, PAGE);
	eq_u64(*word(map, 1056), PAGE + 100, "until the watermark");
	fake_trace(0, 2 * PAGE);
	eq_u64(*word(map, 1056), 2 * PAGE, "full");
	ok(!fake_event(0)->enabled, "then the event is off");
	eq_u64(fake_piece(fake_pieces() - 1)->size, PAGE + 100, "what found no room");
	ok(fake_piece(fake_pieces() - 1)->lost, "is declared lost");
	*word(map, 1064) = 2 * PAGE;
	fake_trace(0, 64);
	eq_u64(fake_aux_end(0), 2 * PAGE, "room alone does not start it");
	(void)k->enable(fd, true, false);
	fake_trace(0, PAGE);
	eq_u64(fake_aux_end(0), 3 * PAGE, "IOC_ENABLE does");
	eq_u64(aux[0], fake_aux_byte(0, 2 * PAGE), "and the area goes round");
	ok(fake_aux_byte(0, 2 * PAGE) == fake_pt_byte(0, 3 * PAGE + 100), "behind what was lost");
	k->unmap(aux, 2 * PAGE);
	k->unmap(map, 2 * PAGE);
}

static void test_overwrite(void)
{
	void *map;
	uint8_t *aux;
	int fd;

	fake_reset(&(struct fake_options){.aux_type = PT_TYPE});
	fd = open_event(PT_TYPE, 0, 0, 7);
	map = k->map(fd, 2 * PAGE, false);
	aux = map_aux(fd, map, 1, true);
	if (aux == NULL) {
		abort();
	}
	fake_run(0, 7, 7);
	fake_trace(0, 5 * PAGE + 10);
	eq_u64(*word(map, 1056), 0, "overwrite: nothing is told while it runs");
	(void)k->enable(fd, false, false);
	eq_u64(*word(map, 1056), 5 * PAGE + 10, "until it is off");
	eq_u64(aux[9], fake_pt_byte(0, 5 * PAGE + 9), "the area has the newest");
	eq_u64(aux[10], fake_pt_byte(0, 4 * PAGE + 10), "and before it the oldest");
	k->unmap(aux, PAGE);
	k->unmap(map, 2 * PAGE);
}

static void test_refusals(void)
{
	struct sonde_attr attr = {.type = SONDE_TYPE_SOFTWARE, .size = 128, .aux_watermark = 1};
	void *map;
	int fd;

	fake_reset(&(struct fake_options){.attr_size = 104});
	ok(k->open(&attr, 7, 0, -1, 0) < 0 && errno == E2BIG,
	        "a field that the kernel does not know");
	attr.aux_watermark = 0;
	fd = k->open(&attr, 7, 0, -1, 0);
	ok(fd >= 0, "it may be there when it is zero");
	ok(k->open(&attr, 7, 1, -1, 0) < 0 && errno == ENODEV, "a cpu that is not there");
	fake_offline(0);
	ok(k->open(&attr, 7, 0, -1, 0) < 0 && errno == ENODEV, "or no more");
	fake_reset(&(struct fake_options){
	        .unprivileged = true, .memlock = PAGE, .aux_type = PT_TYPE, .mlock_kb = 12});
	ok(open_event(SONDE_TYPE_TRACEPOINT, 1, 0, 7) < 0 && errno == EACCES, "no tracepoints");
	fd = open_event(PT_TYPE, 0, 0, 7);
	map = k->map(fd, 2 * PAGE, false);
	ok(map != NULL, "a ring within the limit");
	ok(map_aux(fd, map, 4, false) == NULL && errno == EPERM, "an AUX area above it");
	ok(map_aux(fd, map, 2, false) != NULL, "and one that just fits");
	k->unmap(map, 2 * PAGE);
}

int main(void)
{
	k = fake_kernel();
	test_data_ring();
	test_side_band();
	test_full_trace();
	test_overwrite();
	test_refusals();
	fake_end();
	return tap_done();
}
