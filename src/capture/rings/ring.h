/* SPDX-License-Identifier: MIT */
/* A ring that the kernel fills: `page` is the control page, the data follows it. */
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
	uint64_t head; /* when last read */
	bool backward; /* the kernel writes from the end to the start and overwrites old records */
	int fd; /* of the event that it is mapped from */
};

/* A word of the control page. */
static inline uint64_t *capture_ring_word(const struct capture_ring *ring, size_t at)
{
	return (uint64_t *)(void *)((uint8_t *)ring->page + at);
}

/* Checks the control page; false: it is invalid. */
bool capture_ring_init(struct capture_ring *ring, void *page, size_t map_size);

/* Reads the head (acquire); true: there is data. */
bool capture_ring_look(struct capture_ring *ring);

/* Sets out to the data between tail and head, one or two pieces; returns how many. */
int capture_ring_pieces(const struct capture_ring *ring, struct iovec out[2]);

/* Returns the bytes up to the head to the kernel (release). */
void capture_ring_release(struct capture_ring *ring);

/* Finds complete records of a backward ring that is paused; SONDE_ENOMEM. */
int capture_ring_backward(struct capture_ring *ring, struct iovec **out, size_t *n);

#endif
