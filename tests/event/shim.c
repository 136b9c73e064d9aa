/* SPDX-License-Identifier: MIT */
/*
 * Replaces perf_event_open(2) of a program (LD_PRELOAD): logs each request, and opens an event that
 * counts nothing, so that every event seems to exist. Its ring cannot be mapped, as later steps do
 * not matter.
 *
 * EVENT_LOG names the file that gets a line for each call: the bytes of the attr in hex, then pid,
 * cpu and group_fd.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Offsets in the attr (perf_event_open(2)), and bits that the replacement does not support. */
enum {
	AT_TYPE = 0,
	AT_SIZE = 4,
	AT_CONFIG = 8,
	AT_SAMPLE_TYPE = 24,
	AT_FLAGS = 40,
	AT_BREAKPOINT = 52,
	AT_CONFIG1 = 56,
	AT_BRANCHES = 72,
	ATTR_MOST = 256,
	TYPE_SOFTWARE = 1,
	SOFTWARE_DUMMY = 9
};
#define PRECISE_AND_AUX_OUTPUT (3ull << 15 | 1ull << 31)
#define BRANCH_STACK_AND_AUX   (1ull << 11 | 1ull << 20)

/* Descriptors of events; their rings cannot be mapped, so that a recorder ends once all are open. */
static unsigned char opened[4096];

static void note(const uint8_t *attr, uint32_t size, const long a[6])
{
	const char *path = getenv("EVENT_LOG");
	char line[3 * ATTR_MOST];
	size_t n = 0;
	uint32_t i;
	int fd = path != NULL ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;

	if (fd < 0) {
		return;
	}
	for (i = 0; i < size; i++) {
		n += (size_t)snprintf(line + n, sizeof(line) - n, "%02x", attr[i]);
	}
	n += (size_t)snprintf(
	        line + n, sizeof(line) - n, " %d %d %d\n", (int)a[1], (int)a[2], (int)a[3]);
	if (write(fd, line, n) < 0) {
		perror(path);
	}
	(void)close(fd);
}

static void clear_bits(uint8_t *p, uint64_t bits)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	v &= ~bits;
	memcpy(p, &v, sizeof(v));
}

static long open_stand_in(long (*real)(long, ...), const long a[6])
{
	uint8_t attr[ATTR_MOST] = {0};
	const uint8_t *asked;
	uint32_t type = TYPE_SOFTWARE;
	uint64_t config = SOFTWARE_DUMMY;
	uint32_t size;
	int cpu = (int)a[2];
	long fd;

	memcpy(&asked, &a[0], sizeof(asked));
	memcpy(&size, asked + AT_SIZE, sizeof(size));
	size = size < 64 || size > ATTR_MOST ? 64 : size;
	memcpy(attr, asked, size);
	note(attr, size, a);
	memcpy(attr + AT_TYPE, &type, sizeof(type));
	memcpy(attr + AT_CONFIG, &config, sizeof(config));
	clear_bits(attr + AT_SAMPLE_TYPE, BRANCH_STACK_AND_AUX);
	clear_bits(attr + AT_FLAGS, PRECISE_AND_AUX_OUTPUT);
	memset(attr + AT_BREAKPOINT, 0, 4);
	memset(attr + AT_CONFIG1, 0, 16);
	memset(attr + AT_BRANCHES, 0, 8);
	if (size > 112) {
		memset(attr + 112, 0, size - 112);
	}
	/* the simulated machine has more cpus */
	cpu = cpu >= (int)sysconf(_SC_NPROCESSORS_ONLN) ? 0 : cpu;
	fd = real(SYS_perf_event_open, attr, a[1], cpu, a[3], a[4]);
	if (fd >= 0 && fd < (long)sizeof(opened)) {
		opened[fd] = 1;
	}
	return fd;
}

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc reserves its names
__attribute__((visibility("default"))) void *mmap(
        void *addr, size_t size, int prot, int flags, int fd, off_t offset)
{
	void *(*real)(void *, size_t, int, int, int, off_t);

	*(void **)&real = dlsym(RTLD_NEXT, "mmap");
	if (fd >= 0 && fd < (int)sizeof(opened) && opened[fd] != 0 && getenv("EVENT_LOG") != NULL) {
		errno = EINVAL;
		return MAP_FAILED;
	}
	return real(addr, size, prot, flags, fd, offset);
}

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): libc reserves its names
__attribute__((visibility("default"))) long syscall(long number, ...)
{
	long (*real)(long, ...);
	long a[6];
	va_list ap;
	int i;

	va_start(ap, number);
	for (i = 0; i < 6; i++) {
		a[i] = va_arg(ap, long);
	}
	va_end(ap);
	*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	return number == SYS_perf_event_open ? open_stand_in(real, a)
	                                     : real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
