/* SPDX-License-Identifier: MIT */
/*
 * Commands over a descriptor (--control), a line each: NAME [REST]. As in perf, known commands are
 * answered with "ack" and a newline once they are done, even if they had no effect.
 */
#ifndef SONDE_HOST_CONTROL_H
#define SONDE_HOST_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#define HOST_CONTROL_LINE 4096

enum { HOST_CONTROL_GO_ON = 0, HOST_CONTROL_STOP = 1 };

/* run returns a status, or HOST_CONTROL_STOP to leave later commands unread. */
struct host_command {
	const char *name;
	int (*run)(void *arg, const char *rest);
};

struct host_commands {
	const struct host_command *v;
	size_t n;
	const char *valid; /* the valid commands with arguments, for the message about an unknown
	                      one */
	void (*warn)(void *arg, const char *text);
};

struct host_control {
	char line[HOST_CONTROL_LINE]; /* an incomplete command */
	size_t n;
	bool closed; /* the other end is closed */
};

/*
 * Reads fd and carries out complete lines; arg: passed to all functions. ack_fd: for answers, -1:
 * none. Returns the first result of run that is not 0, else 0.
 */
int host_control_read(struct host_control *c, int fd, int ack_fd,
        const struct host_commands *commands, void *arg);

#endif
