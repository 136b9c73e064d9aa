/* SPDX-License-Identifier: MIT */
/* What counting needs from the kernel, and the words for what it refuses. */
#ifndef SONDE_COUNTER_COUNTER_H
#define SONDE_COUNTER_COUNTER_H

#include "core/status.h"

#include <sonde/counter.h>

#include <stdbool.h>
#include <sys/types.h>

enum counter_ioctl { COUNTER_ENABLE, COUNTER_DISABLE, COUNTER_RESET };

/* The kernel as counting sees it, so that a fake can stand in. All return -1 with errno. */
struct counter_kernel {
	void *arg; /* of the fake; the last argument of every call */
	int (*open)(const struct sonde_attr *attr, pid_t pid, int cpu, int group_fd,
	        unsigned long flags, void *arg);
	int (*close)(int fd, void *arg);
	ssize_t (*read)(int fd, void *buf, size_t size, void *arg);
	int (*control)(int fd, enum counter_ioctl what, bool group, void *arg);
	int (*id)(int fd, uint64_t *id, void *arg);
	void *(*map)(int fd, void *arg); /* the control page, read-only; NULL with errno */
	void (*unmap)(void *page, void *arg);
	int (*filter)(int fd, const char *filter, void *arg);
};

const struct counter_kernel *counter_kernel_linux(void);

#define COUNTER_OPEN_CLOEXEC 8ul
#define COUNTER_OPEN_CGROUP  4ul /* pid is the descriptor of a cgroup's directory */

/*
 * What is tried when an attr is refused with EINVAL or E2BIG: fewer things that older kernels, or
 * PMUs without guests, do not know. step: 1, 2, ...; false behind the last one.
 */
bool counter_attr_ease(struct sonde_attr *attr, const struct sonde_attr *asked, unsigned step);

/* The words and the status for an errno of open. root: where proc is; all: on all threads. */
int counter_open_failed(struct error *err, int root, const char *name,
        const struct sonde_attr *attr, bool all, int why);

/*
 * The values that read gave: the first, or those of a group. n: numbers there are. False when they
 * are too few. *nr: how many values, at most max of them in out.
 */
bool counter_values(uint64_t read_format, const uint64_t *numbers, size_t n,
        struct sonde_counter_value *out, size_t max, size_t *nr);

/* As counter_kernel_linux, for tests. */
struct sonde_counter *counter_new_with(
        const struct sonde_counter_options *options, const struct counter_kernel *kernel);

#endif
