/* SPDX-License-Identifier: MIT */
/* The way of records to the file: in order, whole, and to its end, with a worker and without. */
#define _GNU_SOURCE
#include "capture/sink/lane.h"
#include "tap.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define BIG ((size_t)40 << 20) /* bytes: more than the queue of a worker holds */

static char path[] = "/tmp/sonde-test-lane-XXXXXX";

/* Empty pieces in front, between and at the end, as rings give them that do not wrap around. */
static void test_pieces(bool worker)
{
	struct capture_lane lane;
	struct file_writer writer = {0};
	struct error error = {0};
	uint64_t record[2] = {(uint64_t)16 << 48 | 68, 7};
	struct iovec iov[5] = {{NULL, 0}, {record, 8}, {NULL, 0}, {record + 1, 8}, {NULL, 0}};
	struct iovec again[5];
	uint64_t got[5] = {0};
	int fd = open(path, O_RDWR | O_TRUNC | O_CLOEXEC);

	memcpy(again, iov, sizeof(iov));
	writer.fd = fd;
	ok(capture_lane_open(&lane, &writer, 0, worker ? 1 : 0, &error) == 0 &&
	                capture_lane_kernel(&lane, iov, 5, &error) == 0 &&
	                capture_lane_other(&lane, again, 5, &error) == 0 &&
	                capture_lane_drain(&lane, &error) == 0,
	        "pieces of which some are empty");
	ok(pread(fd, got, sizeof(got), 0) == 32 && got[1] == 7 && got[3] == 7, "are written once");
	capture_lane_close(&lane);
	(void)close(fd);
}

/* One call that is longer than the queue, to a worker that sleeps. */
static void test_long(void)
{
	struct capture_lane lane;
	struct file_writer writer = {0};
	struct error error = {0};
	uint8_t *bytes = calloc(1, BIG);
	struct iovec iov = {bytes, BIG};
	int fd = open(path, O_RDWR | O_TRUNC | O_CLOEXEC);

	if (bytes == NULL) {
		abort();
	}
	writer.fd = fd;
	ok(capture_lane_open(&lane, &writer, 0, LANE_BLOCKS_MAX, &error) == 0, "a worker");
	(void)usleep(20000);
	ok(capture_lane_other(&lane, &iov, 1, &error) == 0 &&
	                capture_lane_drain(&lane, &error) == 0 &&
	                lseek(fd, 0, SEEK_END) == (off_t)BIG,
	        "takes more at once than its queue holds");
	capture_lane_close(&lane);
	(void)close(fd);
	free(bytes);
}

struct reader {
	int fd;
	size_t got;
};

/* As slow as a reader that has other things to do. */
static void *read_all(void *arg)
{
	struct reader *r = arg;
	char bytes[32768];
	ssize_t n;

	(void)usleep(20000);
	while ((n = read(r->fd, bytes, sizeof(bytes))) > 0) {
		r->got += (size_t)n;
	}
	return NULL;
}

/* Standard output may be a pipe that another program made non-blocking. */
static void test_full_pipe(void)
{
	struct file_writer writer = {.stream = true};
	struct capture_lane lane;
	struct error error = {0};
	struct reader reader = {0};
	const size_t size = (size_t)1 << 20;
	void *bytes = calloc(1, size);
	struct iovec iov = {bytes, size};
	pthread_t thread;
	int ends[2];

	if (bytes == NULL || pipe2(ends, O_CLOEXEC) != 0 ||
	        fcntl(ends[1], F_SETFL, O_NONBLOCK) != 0) {
		abort();
	}
	reader.fd = ends[0];
	writer.fd = ends[1];
	if (pthread_create(&thread, NULL, read_all, &reader) != 0) {
		abort();
	}
	ok(capture_lane_open(&lane, &writer, 0, 0, &error) == 0 &&
	                capture_lane_other(&lane, &iov, 1, &error) == 0,
	        "waits for the reader of a pipe that does not block");
	capture_lane_close(&lane);
	(void)close(ends[1]);
	(void)pthread_join(thread, NULL);
	eq_u64(reader.got, size, "who gets everything");
	(void)close(ends[0]);
	free(bytes);
}

struct feed {
	struct capture_lane *lane;
	size_t taken; /* bytes; atomic */
};

static void *feed_all(void *arg)
{
	struct feed *f = arg;
	static uint8_t bytes[64 << 10];
	struct error error = {0};

	for (size_t n = 0; n < BIG; n += sizeof(bytes)) {
		struct iovec iov = {bytes, sizeof(bytes)};

		if (capture_lane_other(f->lane, &iov, 1, &error) < 0) {
			break;
		}
		(void)__atomic_add_fetch(&f->taken, sizeof(bytes), __ATOMIC_RELAXED);
	}
	return NULL;
}

/* What a worker with so many blocks takes while nobody reads the pipe that it writes to. */
static size_t taken_by(unsigned blocks)
{
	struct file_writer writer = {.stream = true};
	struct capture_lane lane;
	struct feed feed = {.lane = &lane};
	struct reader reader = {0};
	struct error error = {0};
	pthread_t feeder, thread;
	size_t before, taken = 0;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0) {
		abort();
	}
	writer.fd = ends[1];
	reader.fd = ends[0];
	if (capture_lane_open(&lane, &writer, 0, blocks, &error) != 0 ||
	        pthread_create(&feeder, NULL, feed_all, &feed) != 0) {
		abort();
	}
	do { /* until it takes no more */
		before = taken;
		(void)usleep(300000);
		taken = __atomic_load_n(&feed.taken, __ATOMIC_RELAXED);
	} while (taken != before || taken == 0);
	if (pthread_create(&thread, NULL, read_all, &reader) != 0) {
		abort();
	}
	(void)pthread_join(feeder, NULL);
	capture_lane_close(&lane);
	(void)close(ends[1]);
	(void)pthread_join(thread, NULL);
	(void)close(ends[0]);
	ok(reader.got == BIG, "all of it is written in the end");
	return taken;
}

static void test_blocks(void)
{
	for (unsigned blocks = 1; blocks <= LANE_BLOCKS_MAX; blocks += 3) {
		size_t taken = taken_by(blocks);

		ok(taken > blocks * LANE_BLOCK / 2 && taken <= blocks * LANE_BLOCK + (1 << 20),
		        "a worker takes as much as its blocks hold");
	}
}

int main(void)
{
	int fd = mkstemp(path);

	if (fd < 0) {
		abort();
	}
	(void)close(fd);
	test_blocks();
	test_pieces(false);
	test_pieces(true);
	test_long();
	test_full_pipe();
	(void)unlink(path);
	return tap_done();
}
