/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cmd/commands.h"
#include "cmd/options.h"

#include <sonde/preview/stat.h>

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct command {
	struct sonde_stat_options options;
	const char **events, **filters;
	const char *output;
	uint64_t output_fd; /* 0: not given */
	bool append, big_numbers, inherit, scale, quiet, csv_summary;
	bool by_core, by_socket, by_die, by_node, by_thread, by_cpu, json;
	int verbose;
	uint64_t repeat;
	char thousands[8];
	FILE *out;
};

/* What a signal handler can reach. */
static struct sonde_stat *volatile running;
static volatile sig_atomic_t stopped_by; /* 0: nothing did */

static void on_signal(int sig)
{
	stopped_by = sig;
	if (running != NULL) {
		sonde_stat_stop(running);
	}
}

static void on_message(void *arg, enum sonde_stat_message kind, const char *text)
{
	const struct command *c = arg;

	if (!c->quiet && (kind != SONDE_STAT_VERBOSE || c->verbose > 0)) {
		(void)fprintf(stderr, "%s\n", text);
	}
}

static int on_text(void *arg, const char *text, size_t n)
{
	struct command *c = arg;

	if (c->quiet) {
		return 0;
	}
	return fwrite(text, 1, n, c->out) == n && fflush(c->out) == 0 ? 0 : -1;
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

static int on_filter(const struct option_def *def, const char *arg, bool unset)
{
	struct command *c = def->target;

	if (c->options.nevents == 0) {
		(void)fprintf(
		        stderr, "sonde stat: --filter belongs behind the -e that it is for\n");
		return -1;
	}
	c->filters[c->options.nevents - 1] = unset ? NULL : arg;
	return 0;
}

static int on_delay(const struct option_def *def, const char *arg, bool unset)
{
	struct command *c = def->target;
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

static int on_separator(const struct option_def *def, const char *arg, bool unset)
{
	struct command *c = def->target;

	c->options.format = unset ? SONDE_STAT_TEXT : SONDE_STAT_CSV;
	c->options.separator = unset ? NULL : strcmp(arg, "\\t") == 0 ? "\t" : arg;
	return 0;
}

/* The separator of thousands that the user's locale has, which programs do not get by themselves.
 */
static void find_thousands(struct command *c)
{
	locale_t locale = newlocale(LC_NUMERIC_MASK, "", (locale_t)0);
	const char *sep = locale != (locale_t)0 ? nl_langinfo_l(THOUSEP, locale) : "";

	if (c->big_numbers && strlen(sep) < sizeof(c->thousands)) {
		(void)snprintf(c->thousands, sizeof(c->thousands), "%s", sep);
		c->options.thousands = c->thousands;
	}
	if (locale != (locale_t)0) {
		freelocale(locale);
	}
}

static bool open_output(struct command *c)
{
	time_t now = time(NULL);
	char when[64];

	c->out = stderr;
	if (c->output == NULL && c->output_fd == 0) {
		return true;
	}
	c->out = c->output != NULL ? fopen(c->output, c->append ? "a" : "w")
	                           : fdopen((int)c->output_fd, c->append ? "a" : "w");
	if (c->out == NULL) {
		(void)fprintf(stderr, "sonde stat: cannot write '%s': %s\n",
		        c->output != NULL ? c->output : "--log-fd", strerror(errno));
		return false;
	}
	if (c->output != NULL &&
	        strftime(when, sizeof(when), "%a %b %d %T %Y", localtime(&now)) > 0) {
		(void)fprintf(c->out, "# started on %s\n\n", when);
	}
	return true;
}

/* As perf: the status of the workload, and the signal that stopped the counting. */
static int exit_status(const struct sonde_stat *s)
{
	int status = sonde_stat_workload_status(s);

	if (stopped_by != 0) {
		(void)signal((int)stopped_by, SIG_DFL);
		(void)raise((int)stopped_by);
	}
	return status != -1 && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

static int run(struct command *c)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct sonde_stat *s = sonde_stat_new(&c->options);
	int rc, status = 255;

	if (s == NULL) {
		(void)fprintf(stderr, "sonde stat: out of memory\n");
		return 255;
	}
	running = s;
	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	(void)sigaction(SIGHUP, &action, NULL);
	if (open_output(c)) {
		rc = sonde_stat_run(s, on_text, c);
		status = rc == SONDE_EARG ? OPTIONS_USAGE : 255;
		if (rc < 0) {
			(void)fprintf(stderr, "sonde stat: %s\n", sonde_stat_error(s)->text);
		} else {
			status = exit_status(s);
		}
		if (c->out != stderr && fclose(c->out) != 0) {
			(void)fprintf(stderr, "sonde stat: cannot write: %s\n", strerror(errno));
			status = 255;
		}
	}
	running = NULL;
	sonde_stat_free(s);
	return status;
}

static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static enum sonde_stat_by pick_by(const struct command *c, enum sonde_stat_by none)
{
	return c->by_core     ? SONDE_STAT_BY_CORE
	       : c->by_die    ? SONDE_STAT_BY_DIE
	       : c->by_socket ? SONDE_STAT_BY_SOCKET
	       : c->by_node   ? SONDE_STAT_BY_NODE
	       : c->by_thread ? SONDE_STAT_BY_THREAD
	       : c->by_cpu    ? SONDE_STAT_BY_CPU
	                      : none;
}

static int check_and_run(struct command *c, const struct option_command *command)
{
	struct sonde_stat_options *o = &c->options;

	if (c->json && o->format == SONDE_STAT_CSV) {
		return options_mistake(command, "either -x or -j: both were given");
	}
	if (c->output != NULL && c->output_fd != 0) {
		return options_mistake(command, "either --output or --log-fd: both were given");
	}
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
	if (o->timeout_ms != 0 && o->timeout_ms < 100) {
		on_message(c, SONDE_STAT_WARNING,
		        "timeout < 100ms. The overhead percentage could be high in some cases. "
		        "Please proceed with caution.");
	}
	o->format = c->json ? SONDE_STAT_JSON : o->format;
	o->no_inherit |= !c->inherit;
	o->no_scale = !c->scale;
	o->no_csv_summary = !c->csv_summary;
	o->repeat = (unsigned)c->repeat;
	o->events = c->events;
	o->filters = c->filters;
	o->by = pick_by(c, SONDE_STAT_BY_ALL);
	find_thousands(c);
	raise_file_limit();
	return run(c);
}

static int parse_and_run(struct command *c, int argc, char **argv, bool record)
{
	struct sonde_stat_options *o = &c->options;
	const char *data = NULL;
	const struct option_def defs[] = {
	        OPTION_HEADING("What to count"),
	        OPTION_CALL('e', "event", OPTION_REQUIRED, on_event, c, "EVENT[,EVENT]",
	                "events, such as task-clock, page-faults:u, {cycles,instructions}"),
	        OPTION_CALL(0, "filter", OPTION_REQUIRED, on_filter, c, "EXPRESSION",
	                "of the tracepoints before it, only these"),
	        OPTION_COUNT('d', "detailed", &o->detail,
	                "events of caches too; more with -d -d and -d -d -d"),
	        OPTION_SWITCH('n', "null", &o->no_events, "no events: only the time"),
	        OPTION_SWITCH('a', "all-cpus", &o->all_cpus, "all processes on all cpus"),
	        OPTION_TEXT('C', "cpu", &o->cpus, "CPUS", "only these cpus: 0-3,7"),
	        OPTION_TEXT('p', "pid", &o->pids, "PID[,PID]", "running processes"),
	        OPTION_TEXT('t', "tid", &o->tids, "TID[,TID]", "running threads"),
	        OPTION_TEXT('G', "cgroup", &o->cgroups, "NAME[,NAME]",
	                "cgroups, one for each event; the last for the rest"),
	        OPTION_SWITCH('i', "no-inherit", &o->no_inherit, "no child processes"),
	        OPTION_SWITCH(0, "all-user", &o->all_user, "user space only"),
	        OPTION_SWITCH(0, "all-kernel", &o->all_kernel, "the kernel only"),
	        OPTION_HEADING("When"),
	        OPTION_UINT('r', "repeat", &c->repeat, "N", "run N times: mean and its error"),
	        OPTION_UINT(
	                'I', "interval-print", &o->interval_ms, "MS", "counts of each interval"),
	        OPTION_UINT(0, "interval-count", &o->interval_count, "N", "only so many"),
	        OPTION_SWITCH(0, "summary", &o->summary, "the sums behind the intervals"),
	        OPTION_UINT(0, "timeout", &o->timeout_ms, "MS", "stop after this time"),
	        OPTION_CALL('D', "delay", OPTION_REQUIRED, on_delay, c, "MS",
	                "wait before counting; -1: never start"),
	        OPTION_HEADING("Sums of"),
	        OPTION_SWITCH('A', "no-aggr", &c->by_cpu, "each cpu"),
	        OPTION_SWITCH(0, "per-core", &c->by_core, "cores"),
	        OPTION_SWITCH(0, "per-die", &c->by_die, "dies"),
	        OPTION_SWITCH(0, "per-socket", &c->by_socket, "sockets"),
	        OPTION_SWITCH(0, "per-node", &c->by_node, "NUMA nodes"),
	        OPTION_SWITCH(0, "per-thread", &c->by_thread, "each thread of -p or -t"),
	        OPTION_SWITCH('c', "scale", &c->scale,
	                "scale counts that shared their counter (the default)"),
	        OPTION_HEADING("Output"),
	        OPTION_CALL('x', "field-separator", OPTION_REQUIRED, on_separator, c, "TEXT",
	                "lines of fields"),
	        OPTION_SWITCH('j', "json-output", &c->json, "lines of JSON"),
	        OPTION_SWITCH('B', "big-num", &c->big_numbers,
	                "separate thousands as the locale does (the default)"),
	        OPTION_SWITCH(0, "csv-summary", &c->csv_summary,
	                "begin lines of --summary with that word (the default)"),
	        OPTION_TEXT('o', "output", record ? &data : &c->output, "FILE",
	                record ? "the recording (default: perf.data)" : "write there"),
	        OPTION_SWITCH(0, "append", &c->append, "add to what is in that file"),
	        OPTION_UINT(0, "log-fd", &c->output_fd, "FD", "write to an open file"),
	        OPTION_SWITCH(0, "quiet", &c->quiet, "no output"),
	        OPTION_COUNT('v', "verbose", &c->verbose, "say more"),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = record ? "stat record" : "stat",
	        .usage = record ? "[options] [--] [command]"
	                        : "[options] [--] [command] | record ... | report ...",
	        .about = "Counts events of a command, of threads, or of the whole machine.",
	        .defs = defs,
	};
	struct option_rest rest;
	int rc = options_parse(&command, argc, argv, &rest);

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (!record && rest.argc > 0 && strcmp(rest.argv[0], "record") == 0 &&
	        c->options.record == NULL) {
		o->record = "perf.data"; /* options may stand on either side of the word */
		return parse_and_run(c, rest.argc, rest.argv, true);
	}
	if (record) {
		o->record = data != NULL ? data : "perf.data";
	}
	o->workload = rest.argc > 0 ? rest.argv : NULL;
	return check_and_run(c, &command);
}

static int report(int argc, char **argv)
{
	struct command c = {.out = stdout, .big_numbers = true};
	const char *input = "perf.data";
	const struct option_def defs[] = {
	        OPTION_TEXT('i', "input", &input, "FILE", "input file; perf.data when not given"),
	        OPTION_SWITCH('A', "no-aggr", &c.by_cpu, "sums of each cpu"),
	        OPTION_SWITCH(0, "per-core", &c.by_core, "of cores"),
	        OPTION_SWITCH(0, "per-die", &c.by_die, "of dies"),
	        OPTION_SWITCH(0, "per-socket", &c.by_socket, "of sockets"),
	        OPTION_SWITCH(0, "per-node", &c.by_node, "of NUMA nodes"),
	        OPTION_CALL('x', "field-separator", OPTION_REQUIRED, on_separator, &c, "TEXT",
	                "lines of fields"),
	        OPTION_SWITCH('j', "json-output", &c.json, "lines of JSON"),
	        OPTION_SWITCH('B', "big-num", &c.big_numbers,
	                "separate thousands as the locale does (the default)"),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "stat report",
	        .usage = "[options]",
	        .about = "Prints the counts of a recording.",
	        .defs = defs,
	};
	struct option_rest rest;
	char message[1024] = "";
	int rc = options_parse(&command, argc, argv, &rest);

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (rest.argc != 0) {
		return options_mistake(&command, "unexpected word '%s'", rest.argv[0]);
	}
	c.out = stderr; /* where perf prints it too */
	c.options.by = pick_by(&c, SONDE_STAT_BY_RECORDED);
	c.options.format = c.json ? SONDE_STAT_JSON : c.options.format;
	find_thousands(&c);
	rc = sonde_stat_report(input, &c.options, on_text, &c, message, sizeof(message));
	if (rc < 0) {
		(void)fprintf(stderr, "sonde stat: %s\n", message);
		return 255;
	}
	return 0;
}

int cmd_stat(int argc, char **argv)
{
	struct command c = {
	        .inherit = true, .scale = true, .big_numbers = true, .csv_summary = true};
	char **line = calloc((size_t)argc + 2, sizeof(*line));
	int rc = 255;

	if (argc > 1 && strcmp(argv[1], "report") == 0) {
		free(line);
		return report(argc - 1, argv + 1);
	}
	c.events = calloc((size_t)argc + 1, sizeof(*c.events));
	c.filters = calloc((size_t)argc + 1, sizeof(*c.filters));
	if (c.events != NULL && c.filters != NULL && line != NULL) {
		memcpy(line, argv, (size_t)argc * sizeof(*line));
		c.options.size = sizeof(c.options);
		c.options.command_line = line;
		c.options.message = on_message;
		c.options.message_arg = &c;
		rc = parse_and_run(&c, argc, argv, false);
	}
	free(line);
	free(c.events);
	free(c.filters);
	return rc;
}
