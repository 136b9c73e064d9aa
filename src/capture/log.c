/* SPDX-License-Identifier: MIT */
#include "capture/log.h"

#include "core/text.h"
#include "record/attr_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

void capture_say(
        const struct capture_log *log, enum sonde_recorder_message kind, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (log->message == NULL) {
		return;
	}
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	log->message(log->arg, kind, text);
}

static bool wanted(const struct capture_log *log)
{
	return log->message != NULL && log->debug;
}

static void say(const struct capture_log *log, struct text *t)
{
	text_char(t, '\0');
	if (!t->failed) {
		log->message(log->arg, SONDE_RECORDER_DEBUG, t->p);
	}
	text_fini(t);
}

void capture_log_attr(const struct capture_log *log, const struct sonde_attr *attr)
{
	struct text t = {0};

	if (!wanted(log)) {
		return;
	}
	record_attr_block(&t, attr);
	t.n -= t.n > 0; /* messages have no newline at their end */
	say(log, &t);
}

void capture_log_open(
        const struct capture_log *log, pid_t pid, int cpu, int group_fd, unsigned flags, int fd)
{
	struct text t = {0};
	int kept = errno;

	if (!wanted(log)) {
		return;
	}
	text_printf(&t, "sys_perf_event_open: pid %d  cpu %d  group_fd %d  flags 0x%x", (int)pid,
	        cpu, group_fd, HOST_OPEN_CLOEXEC | flags);
	if (fd >= 0) {
		text_printf(&t, " = %d", fd);
	} else {
		text_printf(&t, "\nsys_perf_event_open failed, error %d", -kept);
	}
	say(log, &t);
	errno = kept;
}

bool capture_probe(const struct capture_log *log, const struct host_kernel *kernel,
        const struct sonde_attr *attr)
{
	int fd;

	capture_log_attr(log, attr);
	fd = kernel->open(attr, 0, -1, -1, 0);
	capture_log_open(log, 0, -1, -1, 0, fd);
	if (fd >= 0) {
		(void)kernel->close(fd);
	}
	return fd >= 0;
}
