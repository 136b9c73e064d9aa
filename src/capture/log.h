/* SPDX-License-Identifier: MIT */
/* Messages of a running recorder. */
#ifndef SONDE_CAPTURE_LOG_H
#define SONDE_CAPTURE_LOG_H

#include "host/kernel.h"

#include <sonde/preview/recorder.h>

struct capture_log {
	void (*message)(void *arg, enum sonde_recorder_message kind, const char *text);
	void *arg;
	bool debug; /* with the messages of -vv */
};

void capture_say(const struct capture_log *log, enum sonde_recorder_message kind, const char *fmt,
        ...) __attribute__((format(printf, 3, 4)));

/*
 * With -vv, log the event to open and the result (fd; -1 with errno, which is kept) in perf's
 * lines. flags: without the one that every event has.
 */
void capture_log_attr(const struct capture_log *log, const struct sonde_attr *attr);
void capture_log_open(
        const struct capture_log *log, pid_t pid, int cpu, int group_fd, unsigned flags, int fd);

/* Whether the kernel would open this event for this thread. False with errno. */
bool capture_probe(const struct capture_log *log, const struct host_kernel *kernel,
        const struct sonde_attr *attr);

#endif
