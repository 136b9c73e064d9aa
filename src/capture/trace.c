/* SPDX-License-Identifier: MIT */
/* What is asked of the kernel and what it answers, for -vv: the same lines as perf's. */
#include "capture/capture.h"
#include "record/attr_text.h"

#include <errno.h>

static bool wanted(const struct sonde_record *r)
{
	return r->options.message != NULL && r->options.debug;
}

static void say(struct sonde_record *r, struct text *t)
{
	text_char(t, '\0');
	if (!t->failed) {
		r->options.message(r->options.message_arg, SONDE_RECORD_DEBUG, t->p);
	}
	text_fini(t);
}

void capture_trace_attr(struct sonde_record *r, const struct sonde_attr *attr)
{
	struct text t = {0};

	if (!wanted(r)) {
		return;
	}
	record_attr_block(&t, attr);
	t.n -= t.n > 0; /* its last end of line: a message is told without */
	say(r, &t);
}

void capture_trace_open(
        struct sonde_record *r, pid_t pid, int cpu, int group_fd, unsigned flags, int fd)
{
	struct text t = {0};
	int kept = errno;

	if (!wanted(r)) {
		return;
	}
	text_printf(&t, "sys_perf_event_open: pid %d  cpu %d  group_fd %d  flags 0x%x", (int)pid,
	        cpu, group_fd, HOST_OPEN_CLOEXEC | flags);
	if (fd >= 0) {
		text_printf(&t, " = %d", fd);
	} else {
		text_printf(&t, "\nsys_perf_event_open failed, error %d", -kept);
	}
	say(r, &t);
	errno = kept;
}

bool capture_probe(struct sonde_record *r, const struct sonde_attr *attr)
{
	int fd;

	capture_trace_attr(r, attr);
	fd = r->kernel->open(attr, 0, -1, -1, 0);
	capture_trace_open(r, 0, -1, -1, 0, fd);
	if (fd >= 0) {
		(void)r->kernel->close(fd);
	}
	return fd >= 0;
}
