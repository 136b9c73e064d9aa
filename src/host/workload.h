/* SPDX-License-Identifier: MIT */
/* The measured command: forked early, it waits until all events are open. */
#ifndef SONDE_HOST_WORKLOAD_H
#define SONDE_HOST_WORKLOAD_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Initialise with HOST_NO_WORKLOAD. */
struct host_workload {
	pid_t pid; /* 0: none, or already reaped */
	int go_fd; /* writing a byte to it starts the exec; -1: already started */
	int exec_fd; /* receives errno of a failed exec */
};

#define HOST_NO_WORKLOAD ((struct host_workload){.go_fd = -1, .exec_fd = -1})

struct host_workload_options {
	char *const *argv; /* NULL-terminated */
	bool no_stdout; /* it writes to standard error instead, as standard output is the
	                   recording */
	uint64_t files; /* its soft RLIMIT_NOFILE; 0: the same as this process's */
};

/* Starts a child that waits for host_workload_go. SONDE_ELIMIT, SONDE_EIO. */
int host_workload_fork(
        struct host_workload *w, const struct host_workload_options *o, struct error *err);

/* Lets its exec begin, and does not wait. */
void host_workload_release(struct host_workload *w);

/*
 * Starts its exec and waits for it. SONDE_ENOENT: the command cannot be run. A child that was killed meanwhile is no
 * error: the workload has ended.
 */
int host_workload_go(struct host_workload *w, const char *command, struct error *err);

/* Ends and reaps a child that still waits, and closes the descriptors. */
void host_workload_fini(struct host_workload *w);

/*
 * Raises the limit of open files to the hard limit. Returns the previous soft limit, for the
 * workload: a program that uses select(2) cannot handle more. 0: nothing changed.
 */
uint64_t host_raise_file_limit(void);

#endif
