/* SPDX-License-Identifier: MIT */
#include "capture/rings/watch.h"

#include "abi/abi.h"
#include "core/array.h"
#include "core/span.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

bool capture_watch_open(struct capture_watch *w, const struct host_kernel *kernel,
        const struct capture_log *log, const struct sonde_attr *attr, int cpu, size_t pages)
{
	size_t size = (pages + 1) * (size_t)sysconf(_SC_PAGESIZE), cap = w->cap;
	int fd = kernel->open(attr, -1, cpu, -1, 0);
	void *map;
	int why;

	capture_log_open(log, -1, cpu, -1, 0, fd);
	if (fd < 0) {
		return false;
	}
	if (!array_reserve(&w->rings, &cap, w->n + 1, sizeof(*w->rings)) ||
	        !array_reserve(&w->fds, &w->cap, w->n + 1, sizeof(*w->fds))) {
		errno = ENOMEM;
	} else if ((map = kernel->map(fd, size, false)) != NULL) {
		if (capture_ring_init(&w->rings[w->n], map, size)) {
			w->fds[w->n++] = fd;
			return true;
		}
		kernel->unmap(map, size);
		errno = EOPNOTSUPP;
	}
	why = errno;
	(void)kernel->close(fd);
	errno = why;
	return false;
}

static void empty(struct capture_ring *ring,
        void (*record)(void *arg, const uint8_t head[CAPTURE_WATCH_HEAD], size_t size), void *arg)
{
	uint8_t head[CAPTURE_WATCH_HEAD];
	uint64_t mask = ring->size - 1;
	size_t k, size;

	while (ring->head - ring->tail >= RECORD_HEADER_SIZE) {
		for (k = 0; k < sizeof(head); k++) {
			head[k] = ring->data[(ring->tail + k) & mask];
		}
		size = load_u16(head + 6, false);
		if (size < RECORD_HEADER_SIZE || size > ring->head - ring->tail) {
			break;
		}
		record(arg, head, size);
		ring->tail += size;
	}
	capture_ring_release(ring);
}

void capture_watch_look(struct capture_watch *w,
        void (*record)(void *arg, const uint8_t head[CAPTURE_WATCH_HEAD], size_t size), void *arg)
{
	size_t i;

	for (i = 0; i < w->n; i++) {
		if (capture_ring_look(&w->rings[i])) {
			empty(&w->rings[i], record, arg);
		}
	}
}

void capture_watch_close(struct capture_watch *w, const struct host_kernel *kernel)
{
	size_t i;

	for (i = 0; i < w->n; i++) {
		kernel->unmap(w->rings[i].page, w->rings[i].map_size);
		(void)kernel->close(w->fds[i]);
	}
	free(w->rings);
	free(w->fds);
	*w = (struct capture_watch){0};
}
