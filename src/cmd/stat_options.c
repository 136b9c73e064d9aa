/* SPDX-License-Identifier: MIT */
/* Options of `sonde stat` whose arguments need parsing, and checks of their combinations. */
#include "cmd/stat.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PMUS "/sys/bus/event_source/devices"

int stat_on_event(const struct option_def *def, const char *arg, bool unset)
{
	struct stat_command *c = def->target;

	if (unset) {
		c->options.nevents = 0;
		return 0;
	}
	c->events[c->options.nevents++] = arg;
	return 0;
}

int stat_on_filter(const struct option_def *def, const char *arg, bool unset)
{
	struct stat_command *c = def->target;

	if (c->options.nevents == 0) {
		(void)fprintf(stderr, "sonde stat: --filter must follow the -e that it is for\n");
		return -1;
	}
	c->filters[c->options.nevents - 1] = unset ? NULL : arg;
	return 0;
}

int stat_on_delay(const struct option_def *def, const char *arg, bool unset)
{
	struct stat_command *c = def->target;
	char *end;

	c->options.delay_ms = 0;
	if (unset) {
		return 0;
	}
	c->options.delay_ms = strtol(arg, &end, 10);
	if (end == arg || *end != '\0' || c->options.delay_ms < -1 ||
	        c->options.delay_ms > INT32_MAX) {
		(void)fprintf(stderr, "sonde stat: -D wants milliseconds, or -1, not '%s'\n", arg);
		return -1;
	}
	return 0;
}

int stat_on_separator(const struct option_def *def, const char *arg, bool unset)
{
	struct stat_command *c = def->target;

	c->options.format = unset ? SONDE_STAT_TEXT : SONDE_STAT_CSV;
	c->options.separator = unset ? NULL : strcmp(arg, "\\t") == 0 ? "\t" : arg;
	return 0;
}

int stat_on_control(const struct option_def *def, const char *arg, bool unset)
{
	struct stat_command *c = def->target;
	int flags;

	c->options.has_control = !unset;
	if (options_control(
	            "stat", unset ? NULL : arg, &c->options.control_fd, &c->options.ack_fd) < 0) {
		return -1;
	}
	flags = unset ? -1 : fcntl(c->options.control_fd, F_GETFL);
	if (flags >= 0) {
		(void)fcntl(c->options.control_fd, F_SETFL, flags | O_NONBLOCK);
	}
	return 0;
}

int stat_on_iostat(const struct option_def *def, const char *arg, bool unset)
{
	struct stat_command *c = def->target;

	(void)arg;
	c->iostat = !unset;
	return 0;
}

static bool exists(const char *folder, const char *name)
{
	char path[512];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	return access(path, F_OK) == 0;
}

/* Checks options that only some processors support: 0, or the exit status if this one does not. */
static int check_model(struct stat_command *c, const struct option_command *command)
{
	char name[128];
	const struct absent {
		bool asked;
		const char *option, *needs, *reason, *instead;
	} absent[] = {
	        {c->topdown, "--topdown", "bus/event_source/devices/cpu/events/topdown-retiring",
	                "the system does not support top-down events",
	                "its formulas are not known here; count cpu/topdown-retiring/ and the "
	                "like"},
	        {c->smi_cost, "--smi-cost", "devices/cpu/freeze_on_smi",
	                "freeze_on_smi is not supported",
	                "it is not done here; count {msr/aperf/,msr/smi/,cycles}"},
	        {c->cpu_type != NULL, "--cputype", name,
	                "this machine has no PMU of cores of that type",
	                "it is not done here; name the PMU with each event: cpu_TYPE/cycles/"},
	};
	size_t i;

	if (c->iostat) {
		return options_mistake(command, "--iostat: no PMU here counts what I/O ports do");
	}
	(void)snprintf(name, sizeof(name), "bus/event_source/devices/cpu_%s",
	        c->cpu_type != NULL ? c->cpu_type : "");
	if (c->level_given && !c->topdown) {
		return options_mistake(command, "--td-level needs --topdown");
	}
	if (c->topdown && !c->options.all_cpus) {
		return options_mistake(command, "--topdown counts on cpus: it needs -a");
	}
	for (i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
		const struct absent *a = &absent[i];

		if (a->asked) {
			(void)fprintf(stderr, "sonde stat: %s: %s\n", a->option,
			        exists("/sys", a->needs) ? a->instead : a->reason);
			return 255;
		}
	}
	if (c->transactions && !exists(PMUS, "cpu/events/tx-start")) {
		(void)fprintf(stderr,
		        "sonde stat: -T: cannot set up transaction events: no PMU 'cpu' with the "
		        "event tx-start is there\n");
		return 255;
	}
	return 0;
}

static int check_times(const struct stat_command *c, const struct option_command *command)
{
	const struct sonde_stat_options *o = &c->options;

	if (o->interval_count != 0 && o->interval_ms == 0) {
		return options_mistake(command, "--interval-count counts intervals: -I is missing");
	}
	if (o->timeout_ms != 0 && o->interval_ms != 0) {
		return options_mistake(command, "--timeout and -I do not go together");
	}
	if (o->timeout_ms != 0 && o->timeout_ms < 10) {
		return options_mistake(command, "--timeout wants at least 10 ms");
	}
	if (c->repeat > 100000) {
		return options_mistake(command, "-r wants a number of runs up to 100000");
	}
	if (o->table && c->repeat < 2) {
		return options_mistake(command, "--table is of several runs: -r is missing");
	}
	return 0;
}

int stat_check_options(struct stat_command *c, const struct option_command *command)
{
	const struct sonde_stat_options *o = &c->options;
	int rc;

	if (c->json && o->format == SONDE_STAT_CSV) {
		return options_mistake(command, "either -x or -j: both were given");
	}
	if (c->output != NULL && c->output_fd != 0) {
		return options_mistake(command, "either --output or --log-fd: both were given");
	}
	if (o->cgroups != NULL && o->each_cgroup != NULL) {
		return options_mistake(command, "-G and --for-each-cgroup do not go together");
	}
	if (o->metrics_only && (c->by_thread || c->repeat_given)) {
		return options_mistake(
		        command, "--metric-only goes with neither --per-thread nor -r");
	}
	rc = check_times(c, command);
	rc = rc == 0 ? check_model(c, command) : rc;
	return rc == 0 ? OPTIONS_RUN : rc;
}
