/* SPDX-License-Identifier: MIT */
/*
 * Commands while counting: as in perf, "stop" is answered without effect, and "snapshot" is
 * unknown.
 */
#include "stat/stat.h"

int stat_switch(struct sonde_stat *s, bool on)
{
	TRY(stat_enable(s, on));
	stat_say(s, SONDE_STAT_NOTE, on ? "Events enabled" : "Events disabled");
	return 0;
}

static int do_enable(void *arg, const char *rest)
{
	(void)rest;
	return stat_switch(arg, true);
}

static int do_disable(void *arg, const char *rest)
{
	(void)rest;
	return stat_switch(arg, false);
}

static int do_nothing(void *arg, const char *rest)
{
	(void)rest;
	(void)arg;
	return 0;
}

static int do_evlist(void *arg, const char *rest)
{
	struct sonde_stat *s = arg;
	size_t e;

	(void)rest;
	for (e = 0; e < s->set.nevents; e++) {
		stat_say(s, SONDE_STAT_NOTE, "%s", s->set.events[e].name);
	}
	return 0;
}

static void warn(void *arg, const char *text)
{
	stat_say(arg, SONDE_STAT_WARNING, "%s", text);
}

int stat_control_read(struct sonde_stat *s)
{
	static const struct host_command list[] = {{"enable", do_enable}, {"disable", do_disable},
	        {"evlist", do_evlist}, {"ping", do_nothing}, {"stop", do_nothing}};
	static const struct host_commands commands = {.v = list,
	        .n = sizeof(list) / sizeof(list[0]),
	        .valid = "enable, disable, evlist, ping",
	        .warn = warn};

	return host_control_read(
	        &s->control, s->options.control_fd, s->options.ack_fd, &commands, s);
}
