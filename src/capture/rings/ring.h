/* SPDX-License-Identifier: MIT */
/* One ring that the kernel fills: `page` is the control page, data comes after it. */
#ifndef SONDE_CAPTURE_RINGS_RING_H
#define SONDE_CAPTURE_RINGS_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct capture_ring {
	void *page;
	size_t map_size;
	uint8_t *data;
	uint64_t size; /* bytes, a power of two */
	uint64_t tail;
	uint64_t head; /* as of the last look */
	bool backward; /* the kernel writes from the end to the start, over what is old */
	int fd; /* of the event that it is mapped from */
};

/* Checks the control page; false when it makes no sense. */
bool capture_ring_init(struct capture_ring *ring, void *page, size_t map_size);

/* Takes a look at the head (acquire); true when there is something to read. */
bool capture_ring_look(struct capture_ring *ring);

/* What is between tail and head as one or two pieces; returns how many. */
int capture_ring_pieces(const struct capture_ring *ring, struct iovec out[2]);

/* Gives the bytes up to the head back to the kernel (release). */
void capture_ring_release(struct capture_ring *ring);

/* Whole records of a ring that is written backward and is paused; SONDE_ENOMEM. */
int capture_ring_backward(struct capture_ring *ring, struct iovec **out, size_t *n);

#endif
