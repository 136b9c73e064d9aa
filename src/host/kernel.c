/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/kernel.h"

#include "abi/abi.h"
#include "record/record.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ioctl numbers of perf events: perf_event_open(2) */
#define IOC_ENABLE       _IO('$', 0)
#define IOC_DISABLE      _IO('$', 1)
#define IOC_RESET        _IO('$', 3)
#define IOC_SET_OUTPUT   _IO('$', 5)
#define IOC_SET_FILTER   _IOW('$', 6, char *)
#define IOC_ID           _IOR('$', 7, uint64_t *)
#define IOC_PAUSE_OUTPUT _IOW('$', 9, uint32_t)

#define IOC_FLAG_GROUP 1ul

static int linux_open(
        const struct sonde_attr *attr, pid_t pid, int cpu, int group_fd, unsigned flags)
{
	uint8_t bytes[ATTR_SIZE_NOW];
	int fd;

	record_attr_encode(attr, bytes);
	do { /* a signal such as that of Ctrl-C interrupts the call: its flag is read later */
		fd = (int)syscall(SYS_perf_event_open, bytes, pid, cpu, group_fd,
		        (unsigned long)(HOST_OPEN_CLOEXEC | flags));
	} while (fd < 0 && errno == EINTR);
	return fd;
}

static void *linux_map(int fd, size_t size, bool read_only)
{
	void *p =
	        mmap(NULL, size, read_only ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static void *linux_map_aux(int fd, size_t size, uint64_t offset, bool overwrite)
{
	void *p = mmap(NULL, size, overwrite ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED, fd,
	        (off_t)offset);

	return p == MAP_FAILED ? NULL : p;
}

static int linux_pause(int fd, bool on)
{
	return ioctl(fd, IOC_PAUSE_OUTPUT, on ? 1 : 0);
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

static int linux_enable(int fd, bool on, bool group)
{
	return ioctl(fd, on ? IOC_ENABLE : IOC_DISABLE, group ? IOC_FLAG_GROUP : 0ul);
}

static int linux_reset(int fd, bool group)
{
	return ioctl(fd, IOC_RESET, group ? IOC_FLAG_GROUP : 0ul);
}

static int linux_set_filter(int fd, const char *text)
{
	return ioctl(fd, IOC_SET_FILTER, text);
}

static bool linux_privileged(void)
{
	return geteuid() == 0;
}

static uint64_t linux_memlock(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_MEMLOCK, &limit) == 0 ? (uint64_t)limit.rlim_cur : 0;
}

#if defined(__x86_64__) || defined(__i386__)
static void linux_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
	memset(out, 0, 4 * sizeof(*out));
	(void)__get_cpuid_count(leaf, subleaf, &out[0], &out[1], &out[2], &out[3]);
}

static uint64_t linux_ticks(void)
{
	return __builtin_ia32_rdtsc();
}
#else
static void linux_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
	(void)leaf;
	(void)subleaf;
	memset(out, 0, 4 * sizeof(*out));
}

static uint64_t linux_ticks(void)
{
	struct timespec ts = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}
#endif

static int linux_run_on(const pid_t *cpus, size_t n)
{
	cpu_set_t set;
	size_t i;

	CPU_ZERO(&set);
	for (i = 0; i < n; i++) {
		if (cpus[i] >= 0 && cpus[i] < CPU_SETSIZE) {
			CPU_SET((size_t)cpus[i], &set);
		}
	}
	return sched_setaffinity(0, sizeof(set), &set);
}

bool host_kernel_takes(
        const struct host_kernel *kernel, const struct sonde_attr *attr, pid_t pid, int cpu)
{
	int fd = kernel->open(attr, pid, cpu, -1, 0);

	if (fd >= 0) {
		(void)kernel->close(fd);
	}
	return fd >= 0;
}

const struct host_kernel *host_kernel_linux(void)
{
	static const struct host_kernel kernel = {
	        .open = linux_open,
	        .close = close,
	        .map = linux_map,
	        .map_aux = linux_map_aux,
	        .pause = linux_pause,
	        .unmap = linux_unmap,
	        .id = linux_id,
	        .redirect = linux_redirect,
	        .enable = linux_enable,
	        .reset = linux_reset,
	        .set_filter = linux_set_filter,
	        .read = read,
	        .poll = poll,
	        .cpuid = linux_cpuid,
	        .privileged = linux_privileged,
	        .memlock = linux_memlock,
	        .ticks = linux_ticks,
	        .run_on = linux_run_on,
	};

	return &kernel;
}
