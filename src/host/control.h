/* SPDX-License-Identifier: MIT */
/*
 * Commands that come over a descriptor (--control), a line each: NAME [REST]. Those that are known
 * are answered by "ack" and a newline once they are done, also when they had nothing to do, as perf
 * answers them.
 */
#ifndef SONDE_HOST_CONTROL_H
#define SONDE_HOST_CONTROL_H

#include <stdbool.h>
#include <stddef.h>

#define HOST_CONTROL_LINE 4096

enum { HOST_CONTROL_GO_ON = 0, HOST_CONTROL_STOP = 1 };

/* run returns HOST_CONTROL_STOP to leave what follows unread, or a status. */
struct host_command {
	const char *name;
	int (*run)(void *arg, const char *rest);
};

struct host_commands {
	const struct host_command *v;
	size_t n;
	const char *valid; /* their names and arguments, for who sends another one */
	void (*warn)(void *arg, const char *text);
};

struct host_control {
	char line[HOST_CONTROL_LINE]; /* a command that is not complete */
	size_t n;
	bool closed; /* nobody will send anything any more */
};

/*
 * Reads what fd has, and carries out whole lines; arg: of all functions. ack_fd: where they are
 * answered, -1: nowhere. What run returned when that was not 0; else 0.
 */
int host_control_read(struct host_control *c, int fd, int ack_fd,
        const struct host_commands *commands, void *arg);

#endif
