/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cmd/stat.h"
#include "cmd/caches.h"
#include "cmd/commands.h"
#include "cmd/terminal.h"

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

/* The events of -T. */
#define TRANSACTIONS "task-clock,{instructions,cycles,cpu/cycles-t/,cpu/tx-start/}"

/* Accessed by signal handlers. */
static struct sonde_stat *volatile running;
static volatile sig_atomic_t stopped_by; /* the signal; 0: none */

static void on_signal(int sig)
{
	stopped_by = sig;
	if (running != NULL) {
		sonde_stat_stop(running);
	}
}

static void on_message(void *arg, enum sonde_stat_message kind, const char *text)
{
	const struct stat_command *c = arg;

	if (!c->quiet && (kind != SONDE_STAT_VERBOSE || c->verbose > 0)) {
		(void)fprintf(stderr, "%s\n", text);
	}
}

static int on_text(void *arg, const char *text, size_t n)
{
	struct stat_command *c = arg;

	if (c->quiet || c->streams) {
		return 0;
	}
	if (fwrite(text, 1, n, c->out) == n && fflush(c->out) == 0) {
		return 0;
	}
	c->write_errno = errno;
	return -1;
}

/* Finds the separator of thousands in the user's locale, which programs do not use by default. */
static void find_thousands(struct stat_command *c)
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

/* Prints why the counts cannot be written, and returns the exit status. */
static int write_failed(const struct stat_command *c, const char *why)
{
	if (c->write_errno == 0) { /* the recording goes to standard output */
		(void)fprintf(stderr, "Error: %s\n", why);
		return 1;
	}
	if (c->out != stderr && fileno(c->out) == STDOUT_FILENO) {
		return terminal_stdout_failed(c->write_errno);
	}
	(void)fprintf(stderr, "sonde stat: cannot write %s: %s\n",
	        c->output != NULL  ? c->output
	        : c->out == stderr ? "standard error"
	                           : "to --log-fd",
	        strerror(c->write_errno));
	return 255;
}

static bool open_output(struct stat_command *c)
{
	time_t now = time(NULL);
	char when[64];

	c->out = stderr;
	if (c->output != NULL && strcmp(c->output, "-") == 0) {
		c->output = NULL; /* as in perf: stderr is the default output */
	}
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

/* As in perf: the status of the workload, or the signal that stopped counting. */
static int exit_status(const struct sonde_stat *s)
{
	int status = sonde_stat_workload_status(s);

	if (stopped_by != 0) {
		(void)signal((int)stopped_by, SIG_DFL);
		(void)raise((int)stopped_by);
	}
	return status != -1 && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
}

/* Runs a line with the shell. Returns its wait status; -1: it could not be run. */
static int run_hook(const char *line)
{
	int status = system(line);

	return status != -1 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int on_moment(void *arg, enum sonde_stat_moment moment)
{
	struct stat_command *c = arg;
	const char *line = moment == SONDE_STAT_RUN_BEGINS  ? c->before
	                   : moment == SONDE_STAT_RUN_ENDED ? c->after
	                                                    : NULL;
	int status = line != NULL ? run_hook(line) : 0;

	if (status != 0) {
		(void)fprintf(stderr, "sonde stat: the command '%s' ended with status %d\n", line,
		        status);
		c->hook_failed = moment == SONDE_STAT_RUN_BEGINS;
		return c->hook_failed ? SONDE_EARG : 0;
	}
	if (moment == SONDE_STAT_RUN_BEGINS && c->sync) {
		sync();
	}
	if (moment == SONDE_STAT_INTERVAL && c->interval_clear) {
		(void)fputs("\033[H\033[2J\n", stdout);
		(void)fflush(stdout);
	}
	return 0;
}

static int run(struct stat_command *c)
{
	static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = on_signal}, old;
	size_t i;
	struct sonde_stat *s = sonde_stat_new(&c->options);
	int rc, status = 255;

	if (s == NULL) {
		(void)fprintf(stderr, "sonde stat: out of memory\n");
		return 255;
	}
	running = s;
	for (i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		/* signals that nohup or a shell's background job ignores remain ignored */
		if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) {
			(void)sigaction(ends[i], &action, NULL);
		}
	}
	if (open_output(c)) {
		rc = sonde_stat_run(s, on_text, c);
		status = rc == SONDE_EARG && !c->hook_failed ? OPTIONS_USAGE : 255;
		if (rc == SONDE_EOUTPUT) {
			status = write_failed(c, sonde_stat_error(s)->text);
		} else if (rc < 0 && !c->hook_failed) {
			(void)fprintf(stderr, "sonde stat: %s\n", sonde_stat_error(s)->text);
		} else if (rc >= 0) {
			status = exit_status(s);
		}
		if (c->out != stderr && fclose(c->out) != 0 && c->write_errno == 0) {
			(void)fprintf(stderr, "sonde stat: cannot write: %s\n", strerror(errno));
			status = 255;
		}
	}
	running = NULL;
	sonde_stat_free(s);
	return status;
}

static enum sonde_stat_by pick_by(const struct stat_command *c, enum sonde_stat_by none)
{
	return c->by_core     ? SONDE_STAT_BY_CORE
	       : c->by_die    ? SONDE_STAT_BY_DIE
	       : c->by_socket ? SONDE_STAT_BY_SOCKET
	       : c->by_node   ? SONDE_STAT_BY_NODE
	       : c->by_thread ? SONDE_STAT_BY_THREAD
	       : c->by_cpu    ? SONDE_STAT_BY_CPU
	                      : none;
}

static int check_and_run(struct stat_command *c, const struct option_command *command)
{
	struct sonde_stat_options *o = &c->options;
	int rc = stat_check_options(c, command);

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	if (c->metrics != NULL) {
		(void)fprintf(stderr,
		        "sonde stat: cannot find the metric or group '%s': nothing is known of "
		        "this "
		        "processor's model\n",
		        c->metrics);
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
	o->forever = c->repeat_given && c->repeat == 0 && o->workload != NULL;
	o->interval_headers = c->interval_clear;
	o->moment = on_moment;
	o->moment_arg = c;
	if (c->transactions) {
		c->events[o->nevents++] = TRANSACTIONS;
	}
	o->events = c->events;
	o->filters = c->filters;
	o->by = pick_by(c, SONDE_STAT_BY_ALL);
	find_thousands(c);
	o->raise_file_limit = true;
	return run(c);
}

/* before: the options before the word "report" */
static int report(const struct stat_command *before, int argc, char **argv)
{
	struct stat_command c = *before;
	const char *input = options_input();
	const struct option_def defs[] = {
	        OPTION_TEXT('i', "input", &input, "FILE",
	                "input file; perf.data, or standard input if a pipe"),
	        OPTION_SWITCH('A', "no-aggr", &c.by_cpu, "sums of each cpu"),
	        OPTION_SWITCH(0, "per-core", &c.by_core, "of cores"),
	        OPTION_SWITCH(0, "per-die", &c.by_die, "of dies"),
	        OPTION_SWITCH(0, "per-socket", &c.by_socket, "of sockets"),
	        OPTION_SWITCH(0, "per-node", &c.by_node, "of NUMA nodes"),
	        OPTION_CALL('x', "field-separator", OPTION_REQUIRED, stat_on_separator, &c, "TEXT",
	                "lines of fields"),
	        OPTION_SWITCH('j', "json-output", &c.json, "lines of JSON"),
	        OPTION_SWITCH(0, "metric-only", &c.options.metrics_only,
	                "metrics without the counts that they are made of"),
	        OPTION_SWITCH('B', "big-num", &c.big_numbers,
	                "separate thousands as the locale does (the default)"),
	        OPTION_END,
	};
	const struct option_command command = {
	        .name = "stat report",
	        .usage = "[options]",
	        .about = "Prints the counts of a recording.",
	        .defs = defs,
	        .words = OPTION_NO_WORDS,
	};
	struct option_rest rest;
	struct sonde_stat *s;
	int rc = options_parse(&command, argc, argv, &rest);

	if (rc != OPTIONS_RUN) {
		return rc;
	}
	c.out = stderr; /* as in perf */
	c.options.by = pick_by(&c, SONDE_STAT_BY_RECORDED);
	c.options.message = on_message;
	c.options.message_arg = &c;
	c.options.format = c.json ? SONDE_STAT_JSON : c.options.format;
	find_thousands(&c);
	c.options.temp_dir = temp_dir();
	s = sonde_stat_new(&c.options);
	rc = s != NULL ? sonde_stat_report(s, input, on_text, &c) : SONDE_ENOMEM;
	if (rc < 0) {
		(void)fprintf(stderr, "sonde stat: %s\n",
		        s != NULL ? sonde_stat_error(s)->text : sonde_status_text(rc));
	}
	sonde_stat_free(s);
	return rc < 0 ? 255 : 0;
}

static int parse_and_run(struct stat_command *c, int argc, char **argv, bool record)
{
	struct sonde_stat_options *o = &c->options;
	const char *data = NULL;
	const struct option_def defs[] = {
	        STAT_COUNT_OPTIONS(c, o),
	        STAT_MODEL_OPTIONS(c),
	        STAT_TIME_OPTIONS(c, o),
	        STAT_SUM_OPTIONS(c),
	        STAT_OUTPUT_OPTIONS(c),
	        OPTION_TEXT('o', "output", record ? &data : &c->output, "FILE",
	                record ? "the recording (default: perf.data)" : "output file"),
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
		o->record = "perf.data"; /* options may precede or follow the word "record" */
		return parse_and_run(c, rest.argc, rest.argv, true);
	}
	if (!record && rest.argc > 0 && strcmp(rest.argv[0], "report") == 0 &&
	        c->options.record == NULL) {
		return report(c, rest.argc, rest.argv);
	}
	if (record) {
		o->record = data != NULL ? data : "perf.data";
		c->streams = strcmp(o->record, "-") == 0;
	}
	o->workload = rest.argc > 0 ? rest.argv : NULL;
	return check_and_run(c, &command);
}

int cmd_stat(int argc, char **argv)
{
	struct stat_command c = {
	        .inherit = true, .scale = true, .big_numbers = true, .csv_summary = true};
	char **line = calloc((size_t)argc + 2, sizeof(*line));
	int rc = 255;

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
