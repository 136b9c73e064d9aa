/* SPDX-License-Identifier: MIT */
/*
 * Commands while it counts, a line each. Those that a counting perf carries out are answered by
 * "ack" and a newline; "stop" is answered and does nothing, "snapshot" is not known: as seen there.
 */
#include "stat/stat.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

int stat_switch(struct sonde_stat *s, bool on)
{
	TRY(stat_enable(s, on));
	stat_say(s, SONDE_STAT_NOTE, on ? "Events enabled" : "Events disabled");
	return 0;
}

static int do_enable(struct sonde_stat *s)
{
	return stat_switch(s, true);
}

static int do_disable(struct sonde_stat *s)
{
	return stat_switch(s, false);
}

static int do_nothing(struct sonde_stat *s)
{
	(void)s;
	return 0;
}

static int do_evlist(struct sonde_stat *s)
{
	size_t e;

	for (e = 0; e < s->set.nevents; e++) {
		stat_say(s, SONDE_STAT_NOTE, "%s", s->set.events[e].name);
	}
	return 0;
}

static const struct command {
	const char *name;
	int (*run)(struct sonde_stat *s);
} commands[] = {{"enable", do_enable}, {"disable", do_disable}, {"evlist", do_evlist},
        {"ping", do_nothing}, {"stop", do_nothing}};

static int run_line(struct sonde_stat *s, const char *line)
{
	size_t i, n = strcspn(line, " \t");

	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strlen(commands[i].name) == n && memcmp(commands[i].name, line, n) == 0) {
			TRY(commands[i].run(s));
			if (s->options.ack_fd >= 0 && write(s->options.ack_fd, "ack\n", 4) != 4) {
				stat_say(s, SONDE_STAT_WARNING, "a command cannot be answered: %s",
				        strerror(errno));
			}
			return 0;
		}
	}
	if (n > 0) {
		stat_say(s, SONDE_STAT_WARNING,
		        "the command '%s' is not known; valid are enable, disable, evlist, ping",
		        line);
	}
	return 0;
}

int stat_control_read(struct sonde_stat *s)
{
	ssize_t got;
	char *end;

	if (s->line == NULL && (s->line = malloc(STAT_CONTROL_LINE)) == NULL) {
		return error_nomem(&s->error);
	}
	got = read(s->options.control_fd, s->line + s->nline, STAT_CONTROL_LINE - 1 - s->nline);
	if (got <= 0) {
		s->control_closed |= got == 0 || (errno != EAGAIN && errno != EINTR);
		return 0;
	}
	s->nline += (size_t)got;
	while ((end = memchr(s->line, '\n', s->nline)) != NULL) {
		*end = '\0';
		TRY(run_line(s, s->line));
		s->nline -= (size_t)(end + 1 - s->line);
		memmove(s->line, end + 1, s->nline);
	}
	s->nline = s->nline == STAT_CONTROL_LINE - 1 ? 0 : s->nline; /* no command is that long */
	return 0;
}
