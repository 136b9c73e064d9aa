/* SPDX-License-Identifier: MIT */
/* The command that is measured: forked early, it waits until all events are open. */
#ifndef SONDE_HOST_WORKLOAD_H
#define SONDE_HOST_WORKLOAD_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Fill it with HOST_NO_WORKLOAD before use. */
struct host_workload {
	pid_t pid; /* 0: none, or it was waited for */
	int go_fd; /* a byte lets it exec; -1: it has gone */
	int exec_fd; /* errno of a failed exec comes here */
};

#define HOST_NO_WORKLOAD ((struct host_workload){.go_fd = -1, .exec_fd = -1})

struct host_workload_options {
	char *const *argv; /* NULL-terminated */
	bool no_stdout; /* it writes to standard error instead: the stream is ours alone */
	uint64_t files; /* its soft RLIMIT_NOFILE; 0: as this process has it */
};

/* Starts a child that waits for host_workload_go. SONDE_ELIMIT, SONDE_EIO. */
int host_workload_fork(
        struct host_workload *w, const struct host_workload_options *o, struct error *err);

/*
 * Lets it exec. SONDE_ENOENT: the command cannot be run. A child that was killed meanwhile is no
 * error: it is a workload that has ended.
 */
int host_workload_go(struct host_workload *w, const char *command, struct error *err);

/* Ends and reaps one that still waits, closes the descriptors. */
void host_workload_fini(struct host_workload *w);

/*
 * Lets this process open as many files as the hard limit allows. Returns the soft limit before, for
 * the workload: a program that uses select(2) cannot have more. 0: it is as it was.
 */
uint64_t host_raise_file_limit(void);

#endif
