/* SPDX-License-Identifier: MIT */
#include "host/wait.h"

#include <errno.h>
#include <limits.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

uint64_t host_now_ns(int clock)
{
	struct timespec ts = {0};

	(void)clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int host_timeout(uint64_t ns)
{
	uint64_t ms = ns / 1000000 + (ns % 1000000 != 0);

	return ms < INT_MAX ? (int)ms : INT_MAX;
}

int host_wake_open(void)
{
	return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

void host_wake(int fd)
{
	uint64_t one = 1;
	int kept = errno;

	if (fd >= 0 && write(fd, &one, sizeof(one)) < 0) {
		/* the counter is full: it was raised already */
	}
	errno = kept;
}

uint64_t host_wake_take(int fd)
{
	uint64_t n = 0;

	return read(fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

bool host_stopped_twice(struct host_stop *stop)
{
	stop->n += host_wake_take(stop->fd);
	return stop->n > 1;
}
