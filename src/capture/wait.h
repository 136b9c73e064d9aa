/* SPDX-License-Identifier: MIT */
/* Clocks, and descriptors that wake who polls them (eventfd). */
#ifndef SONDE_CAPTURE_WAIT_H
#define SONDE_CAPTURE_WAIT_H

#include <stdbool.h>
#include <stdint.h>

uint64_t capture_now_ns(int clock);

/* ms as poll(2) has them, rounded up; INT_MAX for more: who waits looks at the clock again. */
int capture_timeout(uint64_t ns);

/* -1 with errno. */
int capture_wake_open(void);
void capture_wake(int fd); /* async-signal-safe; -1: nobody waits */
uint64_t capture_wake_take(int fd); /* how often it was raised since the last time */

/* Who says stop a second time does not want to wait for build ids. */
struct capture_stop {
	int fd;
	uint64_t n; /* how often somebody said stop */
};

bool capture_stopped_twice(struct capture_stop *stop);

#endif
