/* SPDX-License-Identifier: MIT */
/* Clocks, and descriptors that wake a poll (eventfd). */
#ifndef SONDE_HOST_WAIT_H
#define SONDE_HOST_WAIT_H

#include <stdbool.h>
#include <stdint.h>

uint64_t host_now_ns(int clock);

/* ms for poll(2), rounded up; INT_MAX for more: the caller reads the clock again. */
int host_timeout(uint64_t ns);

/* -1 with errno. */
int host_wake_open(void);
void host_wake(int fd); /* async-signal-safe; -1: ignored */
uint64_t host_wake_take(int fd); /* number of wakes since the last call */

/* A second request to stop means: do not wait for build ids. */
struct host_stop {
	int fd;
	uint64_t n; /* number of requests */
};

bool host_stopped_twice(struct host_stop *stop);

#endif
