/* SPDX-License-Identifier: MIT */
/* What a recording says while it runs. */
#ifndef SONDE_CAPTURE_LOG_H
#define SONDE_CAPTURE_LOG_H

#include "host/kernel.h"

#include <sonde/preview/recorder.h>

struct capture_log {
	void (*message)(void *arg, enum sonde_recorder_message kind, const char *text);
	void *arg;
	bool debug; /* also what -vv says */
};

void capture_say(const struct capture_log *log, enum sonde_recorder_message kind, const char *fmt,
        ...) __attribute__((format(printf, 3, 4)));

/* Say with -vv what is opened and what came of it (fd; -1 with errno, which stays as it is), in
 * perf's lines. flags: without the one that every event has. */
void capture_log_attr(const struct capture_log *log, const struct sonde_attr *attr);
void capture_log_open(
        const struct capture_log *log, pid_t pid, int cpu, int group_fd, unsigned flags, int fd);

/* Would the kernel open this event for this thread? False with errno. */
bool capture_probe(const struct capture_log *log, const struct host_kernel *kernel,
        const struct sonde_attr *attr);

#endif
