/* SPDX-License-Identifier: MIT */
/* Clocks, and descriptors that wake a poll (eventfd). */
#ifndef SONDE_CAPTURE_WAIT_H
#define SONDE_CAPTURE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

uint64_t capture_now_ns(int clock);

/* ms for poll(2), rounded up; INT_MAX for more: the caller reads the clock again. */
int capture_timeout(uint64_t ns);

/* -1 with errno. */
int capture_wake_open(void);
void capture_wake(int fd); /* async-signal-safe; -1: ignored */
uint64_t capture_wake_take(int fd); /* number of wakes since the last call */

/* A second request to stop means: do not wait for build ids. */
struct capture_stop {
	int fd;
	uint64_t n; /* number of requests */
};

bool capture_stopped_twice(struct capture_stop *stop);

#endif
