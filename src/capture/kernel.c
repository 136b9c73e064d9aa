/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "abi/abi.h"
#include "capture/capture.h"
#include "record/record.h"

#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ioctl numbers of perf events: perf_event_open(2) */
#define IOC_ENABLE     _IO('$', 0)
#define IOC_DISABLE    _IO('$', 1)
#define IOC_SET_OUTPUT _IO('$', 5)
#define IOC_ID         _IOR('$', 7, uint64_t *)

#define OPEN_CLOEXEC 8ul

static int linux_open(const struct sonde_attr *attr, pid_t pid, int cpu, int group_fd)
{
	uint8_t bytes[ATTR_SIZE_NOW];

	record_attr_encode(attr, bytes);
	return (int)syscall(SYS_perf_event_open, bytes, pid, cpu, group_fd, OPEN_CLOEXEC);
}

static void *linux_map(int fd, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void linux_unmap(void *map, size_t size)
{
	(void)munmap(map, size);
}

static int linux_id(int fd, uint64_t *id)
{
	return ioctl(fd, IOC_ID, id);
}

static int linux_redirect(int fd, int ring_fd)
{
	return ioctl(fd, IOC_SET_OUTPUT, ring_fd);
}

static int linux_enable(int fd, bool on)
{
	return ioctl(fd, on ? IOC_ENABLE : IOC_DISABLE, 0);
}

const struct capture_kernel *capture_kernel_linux(void)
{
	static const struct capture_kernel kernel = {
	        .open = linux_open,
	        .close = close,
	        .map = linux_map,
	        .unmap = linux_unmap,
	        .id = linux_id,
	        .redirect = linux_redirect,
	        .enable = linux_enable,
	        .read = read,
	        .poll = poll,
	};

	return &kernel;
}
