/* SPDX-License-Identifier: MIT */
/* Events that are not recorded: small rings, of which only headers of records are read. */
#ifndef SONDE_CAPTURE_RINGS_WATCH_H
#define SONDE_CAPTURE_RINGS_WATCH_H

#include "capture/log.h"
#include "capture/rings/ring.h"

#define CAPTURE_WATCH_HEAD 16u /* bytes of each record that are read */

/* Zero-initialised: no event. */
struct capture_watch {
	struct capture_ring *rings;
	int *fds; /* by ring: descriptors to poll */
	size_t n, cap;
};

/* Opens another event, for all tasks on a cpu. False with errno. */
bool capture_watch_open(struct capture_watch *w, const struct host_kernel *kernel,
        const struct capture_log *log, const struct sonde_attr *attr, int cpu, size_t pages);

/* Empties the rings; calls record with the first bytes of each record and its size. */
void capture_watch_look(struct capture_watch *w,
        void (*record)(void *arg, const uint8_t head[CAPTURE_WATCH_HEAD], size_t size), void *arg);

void capture_watch_close(struct capture_watch *w, const struct host_kernel *kernel);

#endif
