/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cmd/options.h"

#include <sonde/preview/record.h>

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int cmd_record(int argc, char **argv);

struct command {
	struct sonde_record_options options;
	const char **events;
	bool quiet;
	bool inherit;
	bool build_id_cache;
	bool bpf_events;
	int verbose;
};

/* What a signal handler can reach. */
static struct sonde_record *volatile running;
static volatile sig_atomic_t stopped_by; /* 0: nothing did */

static void on_signal(int sig)
{
	stopped_by = sig;
	if (running != NULL) {
		sonde_record_stop(running);
	}
}

static void on_message(void *arg, enum sonde_record_message kind, const char *text)
{
	const struct command *c = arg;

	if (kind == SONDE_RECORD_DEBUG || kind == SONDE_RECORD_LINE) {
		if (c->verbose > 0) {
			(void)fprintf(stderr, "%s\n", text);
		}
	} else if (!c->quiet && (kind == SONDE_RECORD_WARNING || c->verbose > 0)) {
		(void)fprintf(stderr, "sonde record: %s\n", text);
	}
}

static int on_event(const struct option_def *def, const char *arg, bool unset)
{
	struct command *c = def->target;

	if (unset) {
		c->options.nevents = 0;
		return 0;
	}
	c->events[c->options.nevents++] = arg;
	return 0;
}

static int on_frequency(const struct option_def *def, const char *arg, bool unset)
{
	struct command *c = def->target;

	c->options.frequency = 0;
	if (unset) {
		return 0;
	}
	if (strcmp(arg, "max") == 0) {
		c->options.frequency = UINT64_MAX;
		return 0;
	}
	if (!options_number(arg, &c->options.frequency) || c->options.frequency == 0) {
		(void)fprintf(stderr,
		        "sonde record: -F wants a frequency in Hz or 'max', not '%s'\n", arg);
		return -1;
	}
	return 0;
}

/* Pages, or bytes with B, K, M, G behind the number; rounded up to a power of two of pages. */
static int on_pages(const struct option_def *def, const char *arg, bool unset)
{
	struct command *c = def->target;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned long long v;
	size_t pages = 1;
	unsigned shift;
	char *end;

	if (unset) {
		c->options.mmap_pages = 0;
		return 0;
	}
	v = strtoull(arg, &end, 10);
	shift = toupper(*end) == 'K'   ? 10
	        : toupper(*end) == 'M' ? 20
	        : toupper(*end) == 'G' ? 30
	                               : 0;
	if (end == arg || v == 0 || v > (1ull << 30) || (*end != '\0' && end[1] != '\0') ||
	        (*end != '\0' && strchr("BKMGbkmg", *end) == NULL)) {
		(void)fprintf(stderr,
		        "sonde record: -m wants pages, or a size such as 512K, not '%s'\n", arg);
		return -1;
	}
	if (*end != '\0') {
		v = ((v << shift) + page - 1) / page;
	}
	while (pages < v) {
		pages *= 2;
	}
	if (pages != v) {
		(void)fprintf(stderr, "rounding mmap pages size to %zuK (%zu pages)\n",
		        pages * page / 1024, pages);
	}
	c->options.mmap_pages = pages;
	return 0;
}

static int on_clock(const struct option_def *def, const char *arg, bool unset)
{
	static const struct {
		const char *name;
		int id;
	} clocks[] = {{"monotonic", CLOCK_MONOTONIC}, {"mono", CLOCK_MONOTONIC},
	        {"monotonic_raw", CLOCK_MONOTONIC_RAW}, {"raw", CLOCK_MONOTONIC_RAW},
	        {"realtime", CLOCK_REALTIME}, {"real", CLOCK_REALTIME},
	        {"boottime", CLOCK_BOOTTIME}, {"boot", CLOCK_BOOTTIME}, {"tai", CLOCK_TAI}};
	struct command *c = def->target;
	const char *name = arg;
	uint64_t number;
	size_t i;

	c->options.use_clockid = !unset;
	if (unset) {
		return 0;
	}
	if (options_number(arg, &number) && number < 12) {
		c->options.clockid = (int)number;
		return 0;
	}
	name += strncasecmp(name, "CLOCK_", 6) == 0 ? 6 : 0;
	for (i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		if (strcasecmp(name, clocks[i].name) == 0) {
			c->options.clockid = clocks[i].id;
			return 0;
		}
	}
	(void)fprintf(stderr,
	        "sonde record: -k does not know the clock '%s'; valid are monotonic, "
	        "monotonic_raw, "
	        "realtime, boottime, tai\n",
	        arg);
	return -1;
}

static int on_call_graph(const struct option_def *def, const char *arg, bool unset)
{
	struct command *c = def->target;

	if (!unset && strcmp(arg, "fp") != 0) {
		(void)fprintf(
		        stderr, "sonde record: --call-graph knows 'fp' only, not '%s'\n", arg);
		return -1;
	}
	c->options.callchains = !unset;
	return 0;
}

static void print_result(struct command *c, struct sonde_record *r)
{
	const struct sonde_record_result *res = sonde_record_get_result(r);
	const char *name = c->options.output != NULL ? c->options.output : "perf.data";

	if (c->quiet) {
		return;
	}
	(void)fprintf(stderr, "[ sonde record: Woken up %llu times to write data ]\n",
	        (unsigned long long)res->wakeups);
	if (res->lost > 0) {
		(void)fprintf(stderr,
		        "[ sonde record: lost %llu events: try larger rings (-m) or a lower "
		        "frequency "
		        "(-F) ]\n",
		        (unsigned long long)res->lost);
	}
	if (res->samples == 0) {
		(void)fprintf(stderr, "[ sonde record: Captured and wrote %.3f MB %s ]\n",
		        (double)res->bytes / 1024 / 1024, name);
		return;
	}
	(void)fprintf(stderr, "[ sonde record: Captured and wrote %.3f MB %s (%llu samples) ]\n",
	        (double)res->bytes / 1024 / 1024, name, (unsigned long long)res->samples);
}

/*
 * Ends as the workload ended, or by the signal that stopped the recording: a shell that waits must
 * see that someone interrupted it.
 */
static int workload_exit(int status)
{
	int sig = status != -1 && WIFSIGNALED(status) ? WTERMSIG(status) : (int)stopped_by;

	if (sig != 0) {
		(void)signal(sig, SIG_DFL);
		(void)raise(sig);
		return 128 + sig; /* blocked, or one that does not end a process */
	}
	return status == -1 ? 0 : WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int run(struct command *c)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct sonde_record *r = sonde_record_new(&c->options);
	int rc, status;

	if (r == NULL) {
		(void)fprintf(stderr, "sonde record: out of memory or file descriptors\n");
		return 255;
	}
	running = r;
	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	rc = sonde_record_start(r);
	rc = rc < 0 ? rc : sonde_record_run(r);
	if (rc < 0) {
		(void)fprintf(stderr, "sonde record: %s\n", sonde_record_error(r)->text);
	} else {
		print_result(c, r);
	}
	status = sonde_record_get_result(r)->workload_status;
	running = NULL;
	(void)signal(SIGINT, SIG_DFL);
	(void)signal(SIGTERM, SIG_DFL);
	sonde_record_free(r);
	if (rc < 0) {
		return rc == SONDE_EARG ? 129 : 255; /* as for an option that is not known */
	}
	return workload_exit(status);
}

static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static int parse_and_run(struct command *c, int argc, char **argv)
{
	struct sonde_record_options *o = &c->options;
	const struct option_def defs[] = {
	        OPTION_HEADING("What to record"),
	        OPTION_SWITCH('a', "all-cpus", &o->all_cpus, "all processes on all cpus"),
	        OPTION_TEXT('p', "pid", &o->pids, "PID[,PID]", "running processes"),
	        OPTION_CALL('e', "event", OPTION_REQUIRED, on_event, c, "EVENT[,EVENT]",
	                "events, such as cpu-clock, page-faults:u (default: cycles)"),
	        OPTION_CALL('F', "freq", OPTION_REQUIRED, on_frequency, c, "N|max",
	                "samples a second (default: 4000)"),
	        OPTION_UINT('c', "count", &o->period, "N", "a sample every N events"),
	        OPTION_SWITCH('g', NULL, &o->callchains, "call chains by frame pointers"),
	        OPTION_CALL(
	                0, "call-graph", OPTION_REQUIRED, on_call_graph, c, "fp", "the same as -g"),

	        OPTION_SWITCH('i', "no-inherit", &o->no_inherit, "no child processes"),
	        OPTION_SWITCH(0, "switch-events", &o->switch_events, "context switches"),
	        OPTION_SWITCH(0, "namespaces", &o->namespaces, "namespaces of tasks"),
	        OPTION_SWITCH(0, "all-cgroups", &o->cgroups, "cgroups of samples"),
	        OPTION_SWITCH(
	                0, "bpf-event", &c->bpf_events, "loading of BPF programs (the default)"),
	        OPTION_CALL(
	                'k', "clockid", OPTION_REQUIRED, on_clock, c, "CLOCK", "clock for times"),
	        OPTION_HEADING("How"),
	        OPTION_TEXT('o', "output", &o->output, "FILE", "output (default: perf.data)"),
	        OPTION_CALL('m', "mmap-pages", OPTION_REQUIRED, on_pages, c, "PAGES|SIZE",
	                "size of a cpu's ring"),
	        OPTION_SWITCH('B', "no-buildid", &o->no_build_ids, "no build ids in the file"),
	        OPTION_SWITCH('N', "no-buildid-cache", &c->build_id_cache,
	                "accepted; sonde never fills ~/.debug"),
	        OPTION_SWITCH('q', "quiet", &c->quiet, "errors only"),
	        OPTION_COUNT('v', "verbose", &c->verbose, "say more"),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "record",
	        .usage = "[options] [--] [command]",
	        .about = "Samples a command, processes or the whole machine into perf.data.",
	        .defs = defs,
	};
	struct option_rest rest;
	int rc = options_parse(&command, argc, argv, &rest);

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (rest.argc == 0 && o->pids == NULL && !o->all_cpus) {
		return options_mistake(
		        &command, "nothing to record: give a command, -p PID, or -a for all");
	}
	if (o->period != 0 && o->frequency != 0) {
		return options_mistake(&command, "either -F or -c: both were given");
	}
	if (o->pids != NULL && o->all_cpus) {
		o->all_cpus = false;
		on_message(c, SONDE_RECORD_WARNING, "-p was given: recording it alone, not -a");
	}
	if (o->output != NULL && strcmp(o->output, "-") == 0) {
		return options_mistake(&command, "-o -: writing to a pipe is not there yet");
	}
	o->workload = rest.argc > 0 ? rest.argv : NULL;
	o->no_inherit |= !c->inherit;
	o->no_bpf_events = !c->bpf_events;
	o->events = c->events;
	o->debug = c->verbose > 1;
	raise_file_limit();
	return run(c);
}

int cmd_record(int argc, char **argv)
{
	struct command c = {.inherit = true, .bpf_events = true};
	char **line = calloc((size_t)argc + 1, sizeof(*line));
	int rc = 255;

	c.events = calloc((size_t)argc + 1, sizeof(*c.events));
	if (c.events != NULL && line != NULL) {
		memcpy(line, argv, (size_t)argc * sizeof(*line));
		c.options.size = sizeof(c.options);
		c.options.command_line = line;
		c.options.message = on_message;
		c.options.message_arg = &c;
		rc = parse_and_run(&c, argc, argv);
	}
	free(line);
	free(c.events);
	return rc;
}
