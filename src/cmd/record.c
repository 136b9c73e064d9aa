/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "cmd/record.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int cmd_record(int argc, char **argv);

/* Accessed by signal handlers. */
static struct sonde_recorder *volatile running;
static volatile sig_atomic_t stopped_by; /* the signal; 0: none */
static volatile sig_atomic_t switching, snapshots; /* actions of SIGUSR2 */
static volatile pid_t self;

/* In a child before its exec, restores the signal's default action and raises it again. */
static bool in_child(int sig)
{
	if (getpid() == self) {
		return false;
	}
	(void)signal(sig, SIG_DFL);
	(void)raise(sig);
	return true;
}

static void on_signal(int sig)
{
	if (in_child(sig)) {
		return;
	}
	stopped_by = sig;
	if (running != NULL) {
		sonde_recorder_stop(running);
	}
}

/* Switches the output file, takes a snapshot, or does nothing. Workloads inherit no handler. */
static void on_user_signal(int sig)
{
	if (in_child(sig)) {
		return;
	}
	if (running != NULL && switching) {
		sonde_recorder_switch(running);
	}
	if (running != NULL && snapshots) {
		sonde_recorder_snapshot(running);
	}
}

/* An empty handler, so that write fails; unlike SIG_IGN, workloads do not inherit it. */
static void on_pipe(int sig)
{
	(void)sig;
}

static void on_message(void *arg, enum sonde_recorder_message kind, const char *text)
{
	const struct record_command *c = arg;

	if (kind == SONDE_RECORDER_DEBUG || kind == SONDE_RECORDER_LINE) {
		if (c->verbose > 0) {
			(void)fprintf(stderr, "%s\n", text);
		}
	} else if (kind == SONDE_RECORDER_NOTICE || kind == SONDE_RECORDER_STATE) {
		if (!c->quiet) {
			(void)fprintf(stderr,
			        kind == SONDE_RECORDER_NOTICE ? "[ sonde record: %s ]\n" : "%s\n",
			        text);
		}
	} else if (!c->quiet && (kind == SONDE_RECORDER_WARNING || c->verbose > 0)) {
		(void)fprintf(stderr, "sonde record: %s\n", text);
	}
}

static void print_result(struct record_command *c, struct sonde_recorder *r)
{
	const struct sonde_recorder_result *res = sonde_recorder_get_result(r);
	const struct sonde_recorder_options *o = &c->options;
	bool stamped = o->output.timestamps || o->switching.on_request;
	const double mib = 1024 * 1024;

	if (c->quiet || o->dry_run) {
		return;
	}
	if (res->lost > 0) {
		(void)fprintf(stderr,
		        "[ sonde record: lost %llu events: try larger rings (-m) or a lower "
		        "frequency "
		        "(-F) ]\n",
		        (unsigned long long)res->lost);
	}
	if (res->trace_lost + res->trace_gaps > 0) {
		(void)fprintf(stderr,
		        "[ sonde record: trace was lost %llu times and had %llu other gaps, in "
		        "%llu pieces: try larger AUX areas (-m,N) ]\n",
		        (unsigned long long)res->trace_lost, (unsigned long long)res->trace_gaps,
		        (unsigned long long)res->trace_pieces);
	}
	if (res->copies > 0) {
		(void)fprintf(stderr,
		        "[ sonde record: %llu of %llu samples keep copies of their stacks, which "
		        "reports unwind: unwinding did not keep up, or they are of 32-bit code ]\n",
		        (unsigned long long)res->copies,
		        (unsigned long long)res->copies + (unsigned long long)res->unwound);
	}
	(void)fprintf(stderr, "[ sonde record: Captured and wrote %.3f MB %s%s",
	        (double)res->bytes / mib, o->output.path != NULL ? o->output.path : "perf.data",
	        stamped ? ".<timestamp>" : "");
	if (res->packed > 0) {
		(void)fprintf(stderr, ", compressed (original %.3f MB, ratio is %.3f)",
		        (double)res->unpacked / mib, (double)res->unpacked / (double)res->packed);
	}
	if (res->samples > 0) {
		(void)fprintf(stderr, " (%llu samples)", (unsigned long long)res->samples);
	}
	(void)fprintf(stderr, " ]\n");
}

int record_workload_exit(int status, int stopping_signal)
{
	int sig = status != -1 && WIFSIGNALED(status) ? WTERMSIG(status) : stopping_signal;

	if (sig != 0) {
		(void)signal(sig, SIG_DFL);
		(void)raise(sig);
		return 128 + sig; /* the signal is blocked, or does not end a process */
	}
	return status == -1 ? 0 : WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static const int stopping[] = {SIGINT, SIGTERM, SIGHUP};

static bool is_ignored(int sig)
{
	struct sigaction old;

	return sigaction(sig, NULL, &old) == 0 && old.sa_handler == SIG_IGN;
}

/*
 * A non-interactive shell ignores SIGINT in background processes, but scripts end recordings by
 * SIGINT, so it is always caught, as in perf. Other ignored signals remain ignored, also in the
 * workload, if no handler is needed.
 */
static void catch_signals(const struct sonde_recorder_options *o)
{
	struct sigaction stop = {.sa_handler = on_signal};
	struct sigaction user = {.sa_handler = on_user_signal, .sa_flags = SA_RESTART};
	struct sigaction pipe = {.sa_handler = on_pipe};
	size_t i;

	switching = o->switching.on_request;
	snapshots = o->aux.snapshot;
	for (i = 0; i < sizeof(stopping) / sizeof(stopping[0]); i++) {
		/* under nohup, the recording continues */
		if (stopping[i] != SIGHUP || !is_ignored(SIGHUP)) {
			(void)sigaction(stopping[i], &stop, NULL);
		}
	}
	if (switching || snapshots || !is_ignored(SIGUSR2)) {
		(void)sigaction(SIGUSR2, &user, NULL);
	}
	if (!is_ignored(SIGPIPE)) {
		(void)sigaction(SIGPIPE, &pipe, NULL);
	}
	(void)signal(SIGCHLD, SIG_DFL); /* if ignored, waitpid returns no status of the workload */
}

static int run(struct record_command *c)
{
	struct sonde_recorder *r = sonde_recorder_new(&c->options);
	int rc, status;
	size_t i;

	if (r == NULL) {
		(void)fprintf(stderr, "sonde record: out of memory or file descriptors\n");
		return 255;
	}
	running = r;
	self = getpid();
	catch_signals(&c->options);
	rc = sonde_recorder_start(r);
	rc = rc < 0 ? rc : sonde_recorder_run(r);
	if (rc < 0) {
		(void)fprintf(stderr, "sonde record: %s\n", sonde_recorder_error(r)->text);
		record_soft_hint(c);
	} else {
		print_result(c, r);
	}
	status = sonde_recorder_get_result(r)->workload_status;
	running = NULL;
	for (i = 0; i < sizeof(stopping) / sizeof(stopping[0]); i++) {
		(void)signal(stopping[i], SIG_DFL);
	}
	(void)signal(SIGUSR2, SIG_IGN); /* a late signal must not end this process */
	sonde_recorder_free(r);
	if (rc < 0) {
		return rc == SONDE_EARG ? 129 : 255; /* 129: as for an unknown option */
	}
	return record_workload_exit(status, (int)stopped_by);
}

/* Sets the real-time priority of this process, but not of the workload. */
static bool set_priority(struct record_command *c)
{
	struct sched_param param = {.sched_priority = (int)c->realtime};

	if (c->realtime == 0 ||
	        sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param) == 0) {
		return true;
	}
	(void)fprintf(stderr, "sonde record: -r %llu: %s\n", (unsigned long long)c->realtime,
	        errno == EPERM
	                ? "this priority is not allowed; CAP_SYS_NICE or 'ulimit -r' allow it"
	                : "there is no such priority: valid are 1 to 99");
	return false;
}

/* Parses the argument of --aio: "" is 1; as in perf, numbers above 4 are 4. */
static bool parse_blocks(const char *arg, unsigned *out)
{
	uint64_t n = 1;

	if (*arg != '\0' && (!options_number(arg, &n) || n == 0)) {
		return false;
	}
	*out = n < 4 ? (unsigned)n : 4;
	return true;
}

static int check_output(struct record_command *c, const struct option_command *command)
{
	struct sonde_recorder_options *o = &c->options;
	const char *affinity = o->buffers.affinity;
	bool stream = o->output.path != NULL && strcmp(o->output.path, "-") == 0;

	if (stream && (o->output.threads != NULL || o->switching.on_request)) {
		return options_mistake(command, "-o - is one stream: neither --threads nor "
		                                "--switch-output can write to it");
	}
	if (stream && isatty(STDOUT_FILENO)) {
		return options_mistake(command,
		        "-o -: standard output is a terminal; send it to a pipe or a file");
	}
	if (c->aio != NULL && o->output.threads != NULL) {
		return options_mistake(command, "either --aio or --threads");
	}
	if (affinity != NULL && strcmp(affinity, "sys") != 0 && strcmp(affinity, "node") != 0 &&
	        strcmp(affinity, "cpu") != 0) {
		return options_mistake(
		        command, "--affinity wants sys, node or cpu, not '%s'", affinity);
	}
	if (affinity != NULL && strcmp(affinity, "sys") != 0 && o->output.threads != NULL) {
		return options_mistake(command, "either --affinity or --threads");
	}
	if (o->output.threads != NULL && o->switching.on_request) {
		on_message(c, SONDE_RECORDER_WARNING,
		        "--switch-output is not available with --threads: one folder is written");
		o->switching.on_request = false;
		o->switching.ntriggers = 0;
		o->switching.bytes = o->switching.ns = 0;
	}
	/* files are switched while events arrive: the slow search for build ids needs -B */
	o->build_ids.none |= o->switching.on_request && !c->buildid_given;
	o->build_ids.none |= o->build_ids.in_mappings;
	o->output.async = c->aio != NULL;
	if (c->aio != NULL && !parse_blocks(c->aio, &o->output.async_blocks)) {
		return options_mistake(
		        command, "--aio wants a number of blocks, 1 to 4, not '%s'", c->aio);
	}
	return OPTIONS_RUN;
}

/* Warns about options of perf that are accepted but have no effect. */
static void warn_of_missing(struct record_command *c)
{
	const struct {
		const char *name, *why;
		bool given;
	} missing[] = {
	        {"--off-cpu",
	                "it needs a BPF program that sonde does not have; -e sched:sched_switch or "
	                "--switch-events show when tasks wait",
	                c->off_cpu},
	        {"--debuginfod",
	                "sonde record fetches no files; export DEBUGINFOD_URLS for 'perf report', "
	                "or "
	                "fetch them with debuginfod-find",
	                c->debuginfod != NULL},
	        {"--clang-path", "sonde compiles no BPF programs", c->clang_path != NULL},
	        {"--clang-opt", "sonde compiles no BPF programs", c->clang_opt != NULL},
	        {"--vmlinux", "sonde compiles no BPF programs, which it is for",
	                c->vmlinux != NULL},
	};
	char text[256];

	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
		if (missing[i].given) {
			(void)snprintf(text, sizeof(text), "%s is ignored: %s", missing[i].name,
			        missing[i].why);
			on_message(c, SONDE_RECORDER_WARNING, text);
		}
	}
}

/* Chooses the build-id cache, as in perf. */
static void choose_cache(struct record_command *c)
{
	if (!c->no_cache && caches_build_ids(c->cache)) {
		c->options.build_ids.cache = c->cache;
	}
}

/* Returns OPTIONS_USAGE after printing that options contradict each other, else OPTIONS_RUN. */
static int check_options(
        struct record_command *c, const struct option_command *command, bool workload)
{
	struct sonde_recorder_targets *t = &c->options.targets;
	const struct sonde_recorder_events *e = &c->options.events;
	bool tasks = t->pids != NULL || t->tids != NULL || t->user != NULL;

	if (!workload && !tasks && !t->all_cpus && t->cpus == NULL && t->ncgroups == 0) {
		return options_mistake(
		        command, "nothing to record: give a command, -p PID, or -a for all");
	}
	if (e->period != 0 && e->frequency != 0) {
		return options_mistake(command, "either -F or -c: both were given");
	}
	if (e->all_user && e->all_kernel) {
		return options_mistake(command, "either --all-user or --all-kernel");
	}
	if (t->ncgroups != 0 && (tasks || (!t->all_cpus && t->cpus == NULL))) {
		return options_mistake(command, "-G needs -a or -C: a control group is watched on "
		                                "cpus, whatever runs there");
	}
	if (tasks && t->all_cpus) {
		t->all_cpus = false;
		on_message(c, SONDE_RECORDER_WARNING,
		        t->pids != NULL   ? "-p was given: recording it alone, not -a"
		        : t->tids != NULL ? "-t was given: recording it alone, not -a"
		                          : "-u was given: recording it alone, not -a");
	}
	return check_output(c, command);
}

/* -g records the kind of call chains that the configuration files name. */
static void choose_chains(struct record_command *c)
{
	struct sonde_recorder_chains *chains = &c->options.chains;

	if (!chains->frame_pointers || chains->mode != NULL || c->chain_mode == NULL) {
		return;
	}
	chains->mode = c->chain_mode;
	if (c->dump_size != 0 && strcmp(c->chain_mode, "dwarf") == 0) {
		(void)snprintf(
		        c->dwarf, sizeof(c->dwarf), "dwarf,%llu", (unsigned long long)c->dump_size);
		chains->mode = c->dwarf;
	}
}

static int parse_and_run(struct record_command *c, int argc, char **argv)
{
	struct sonde_recorder_options *o = &c->options;
	struct option_def defs[RECORD_OPTIONS];
	const struct option_command command = {
	        .name = "record",
	        .usage = "[options] [--] [command]",
	        .about = "Samples a command, processes or the whole machine into perf.data.",
	        .defs = defs,
	};
	struct option_rest rest;
	int rc;

	record_option_table(defs, c);
	rc = options_parse(&command, argc, argv, &rest);
	rc = rc == OPTIONS_RUN ? check_options(c, &command, rest.argc > 0) : rc;
	if (rc != OPTIONS_RUN) {
		return rc;
	}
	c->verbose = c->quiet ? 0 : c->verbose;
	o->targets.workload = rest.argc > 0 ? rest.argv : NULL;
	o->targets.inherit = c->inherit_given && !o->targets.no_inherit;
	o->events.strings = c->events;
	o->switching.triggers = c->triggers;
	o->debug = c->verbose > 1;
	o->targets.cgroups = c->cgroups;
	o->events.filters = c->filters;
	o->buffers.raise_file_limit = true;
	o->side_band.no_switches = c->switches_given && !o->side_band.switches;
	warn_of_missing(c);
	choose_cache(c);
	if (c->soft_pt) {
		return record_soft_run(c, &command);
	}
	choose_chains(c);
	return set_priority(c) ? run(c) : 255;
}

int cmd_record(int argc, char **argv)
{
	struct record_command c = {.options.size = sizeof(c.options)};
	char **line = calloc((size_t)argc + 1, sizeof(*line));
	int rc = 255;

	c.events = calloc((size_t)argc + 1, sizeof(*c.events));
	c.triggers = calloc((size_t)argc + 1, sizeof(*c.triggers));
	c.cgroups = calloc((size_t)argc + 1, sizeof(*c.cgroups));
	c.filters = calloc((size_t)argc + 1, sizeof(*c.filters));
	if (c.events != NULL && c.triggers != NULL && c.cgroups != NULL && c.filters != NULL &&
	        line != NULL) {
		memcpy(line, argv, (size_t)argc * sizeof(*line));
		c.options.output.command_line = line;
		c.options.message = on_message;
		c.options.message_arg = &c;
		rc = parse_and_run(&c, argc, argv);
	}
	free(line);
	free(c.events);
	free(c.triggers);
	free(c.cgroups);
	free(c.filters);
	return rc;
}
