/* SPDX-License-Identifier: MIT */
/*
 * The kernel interface for recording and counting: a table of functions, so that tests can use a
 * fake.
 */
#ifndef SONDE_HOST_KERNEL_H
#define SONDE_HOST_KERNEL_H

#include <sonde/attr.h>

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define HOST_ATTR_SIZE 128u /* bytes of the largest attr that perf 6.1 accepts */

#define HOST_OPEN_CLOEXEC 8u /* flags of perf_event_open(2); every event is opened with this one */
#define HOST_OPEN_CGROUP  4u /* pid is a descriptor of a control group's folder */

/* All return -1 or NULL with errno. */
struct host_kernel {
	/* group_fd: the leader of the event's group on that cpu and thread; -1: none */
	int (*open)(
	        const struct sonde_attr *attr, pid_t pid, int cpu, int group_fd, unsigned flags);
	int (*close)(int fd);
	/*
	 * Maps the control page and the data after it. read_only: without data_tail, as for a ring
	 * that the kernel overwrites.
	 */
	void *(*map)(int fd, size_t size, bool read_only);
	int (*pause)(int fd, bool on); /* the kernel stops writing to the event's ring */
	/*
	 * Maps the AUX area of an event whose ring is mapped and has `offset` and `size` in its
	 * control page. overwrite: the kernel overwrites old data without waiting for aux_tail.
	 */
	void *(*map_aux)(int fd, size_t size, uint64_t offset, bool overwrite);
	void (*unmap)(void *map, size_t size);
	int (*id)(int fd, uint64_t *id);
	int (*redirect)(int fd, int ring_fd);
	int (*enable)(int fd, bool on, bool group); /* group: with the members that it leads */
	int (*reset)(int fd, bool group);
	int (*set_filter)(int fd, const char *text);
	ssize_t (*read)(int fd, void *buf, size_t size);
	int (*poll)(struct pollfd *fds, nfds_t n, int timeout_ms);
	/* Registers eax to edx of CPUID; zeros if the leaf or the instruction is missing. */
	void (*cpuid)(uint32_t leaf, uint32_t subleaf, uint32_t out[4]);
	bool (*privileged)(void); /* limits of locked memory do not apply to this process */
	uint64_t (*memlock)(void); /* RLIMIT_MEMLOCK, bytes */
	uint64_t (*ticks)(void); /* the processor's clock, or ns if it cannot be read */
	int (*run_on)(const pid_t *cpus, size_t n); /* runs the calling thread on these cpus only */
};

/* Whether the kernel accepts an event: opens and closes it. False with errno. */
bool host_kernel_takes(
        const struct host_kernel *kernel, const struct sonde_attr *attr, pid_t pid, int cpu);

/* The kernel of this machine. */
const struct host_kernel *host_kernel_linux(void);

#endif
