/* SPDX-License-Identifier: MIT */
/* The argument of --control. */
#include "cmd/options.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Opens a FIFO with O_RDWR: then reading has no end of file when another process closes it. */
static int open_control(const char *command, const char *arg, size_t n, bool fifo, int *fd)
{
	char name[4096];
	char *end;
	long v;

	if (n == 0 || n >= sizeof(name)) {
		return -1;
	}
	memcpy(name, arg, n);
	name[n] = '\0';
	if (fifo) {
		*fd = open(name, O_RDWR | O_CLOEXEC);
		if (*fd < 0) {
			(void)fprintf(stderr, "sonde %s: --control cannot open '%s': %s\n", command,
			        name, strerror(errno));
		}
		return *fd < 0 ? -1 : 0;
	}
	v = strtol(name, &end, 10);
	*fd = (int)v;
	return end != name && *end == '\0' && v >= 0 && v <= INT_MAX && fcntl(*fd, F_GETFD) >= 0
	               ? 0
	               : -1;
}

int options_control(const char *command, const char *arg, int *control_fd, int *ack_fd)
{
	bool fifo = arg != NULL && strncmp(arg, "fifo:", 5) == 0;
	const char *names = arg;
	size_t n;

	*ack_fd = -1;
	if (arg == NULL) {
		return 0;
	}
	if (fifo || strncmp(arg, "fd:", 3) == 0) {
		names += fifo ? 5 : 3;
		n = strcspn(names, ",");
		if (open_control(command, names, n, fifo, control_fd) == 0 &&
		        (names[n] == '\0' || open_control(command, names + n + 1,
		                                     strlen(names + n + 1), fifo, ack_fd) == 0)) {
			return 0;
		}
	}
	(void)fprintf(stderr,
	        "sonde %s: --control wants fd:NUMBER[,NUMBER] of open descriptors, or "
	        "fifo:NAME[,NAME] of FIFOs, not '%s'\n",
	        command, arg);
	return -1;
}
