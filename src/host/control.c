/* SPDX-License-Identifier: MIT */
#include "host/control.h"

#include "core/span.h"
#include "core/status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void acknowledge(int ack_fd, const struct host_commands *commands, void *arg)
{
	char text[128];

	if (ack_fd >= 0 && write(ack_fd, "ack\n", 4) != 4) {
		(void)snprintf(
		        text, sizeof(text), "a command cannot be answered: %s", strerror(errno));
		commands->warn(arg, text);
	}
}

static int run_line(const char *line, int ack_fd, const struct host_commands *commands, void *arg)
{
	size_t i, n = strcspn(line, " \t");
	char text[1024];
	int rc;

	for (i = 0; i < commands->n; i++) {
		if (bytes_are(line, n, commands->v[i].name)) {
			rc = commands->v[i].run(arg, line + n + strspn(line + n, " \t"));
			TRY(rc);
			acknowledge(ack_fd, commands, arg);
			return rc;
		}
	}
	if (n > 0) {
		(void)snprintf(text, sizeof(text), "the command '%s' is not known; valid are %s",
		        line, commands->valid);
		commands->warn(arg, text);
	}
	return HOST_CONTROL_GO_ON;
}

int host_control_read(
        struct host_control *c, int fd, int ack_fd, const struct host_commands *commands, void *arg)
{
	ssize_t got = read(fd, c->line + c->n, HOST_CONTROL_LINE - 1 - c->n);
	char *end;
	int rc = HOST_CONTROL_GO_ON;

	if (got <= 0) {
		c->closed |= got == 0 || (errno != EAGAIN && errno != EINTR);
		return HOST_CONTROL_GO_ON;
	}
	c->n += (size_t)got;
	while (rc == HOST_CONTROL_GO_ON && (end = memchr(c->line, '\n', c->n)) != NULL) {
		*end = '\0';
		rc = run_line(c->line, ack_fd, commands, arg);
		TRY(rc);
		c->n -= (size_t)(end + 1 - c->line);
		memmove(c->line, end + 1, c->n);
	}
	c->n = c->n == HOST_CONTROL_LINE - 1 ? 0 : c->n; /* longer than any command */
	return rc;
}
