/* SPDX-License-Identifier: MIT */
/* `sonde record --soft-pt`: the options that it shares with other recordings, signals, messages. */
#define _GNU_SOURCE
#include "cmd/record.h"

#include <signal.h>
#include <sonde/preview/softpt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PMU_FOLDER "/sys/bus/event_source/devices/intel_pt"

/* Accessed by signal handlers. */
static struct sonde_softpt *volatile running;
static volatile sig_atomic_t stopped_by, snapshots;
static volatile pid_t self;

static void on_signal(int sig)
{
	if (getpid() != self) { /* a child before its exec */
		(void)signal(sig, SIG_DFL);
		(void)raise(sig);
		return;
	}
	if (sig == SIGUSR2 && snapshots && running != NULL) {
		sonde_softpt_snapshot(running);
	} else if (sig != SIGUSR2 && running != NULL) {
		stopped_by = sig;
		sonde_softpt_stop(running);
	}
}

static void on_pipe(int sig)
{
	(void)sig;
}

static void catch_signals(void)
{
	static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR2};
	const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	const struct sigaction pipe = {.sa_handler = on_pipe};
	struct sigaction old;
	size_t i;

	for (i = 0; i < sizeof(caught) / sizeof(caught[0]); i++) {
		if (caught[i] != SIGHUP || sigaction(SIGHUP, NULL, &old) != 0 ||
		        old.sa_handler != SIG_IGN) {
			(void)sigaction(caught[i], &action, NULL);
		}
	}
	(void)sigaction(SIGPIPE, &pipe, NULL);
	(void)signal(SIGCHLD, SIG_DFL);
}

static void restore_signals(void)
{
	(void)signal(SIGINT, SIG_DFL);
	(void)signal(SIGTERM, SIG_DFL);
	(void)signal(SIGHUP, SIG_DFL);
	(void)signal(SIGUSR2, SIG_IGN); /* a late signal must not end this process */
}

void record_soft_hint(const struct record_command *c)
{
	size_t i;

	for (i = 0; i < c->options.events.n; i++) {
		if (strstr(c->events[i], "intel_pt/") != NULL && access(PMU_FOLDER, F_OK) != 0) {
			(void)fprintf(stderr,
			        "sonde record: this machine has no Intel PT (%s is missing); "
			        "--soft-pt traces user code without the hardware\n",
			        PMU_FOLDER);
			return;
		}
	}
}

static bool given(const void *p, size_t n)
{
	const unsigned char *bytes = p;
	size_t i;

	for (i = 0; i < n; i++) {
		if (bytes[i] != 0) {
			return true;
		}
	}
	return false;
}

#define GIVEN(member) given(&(member), sizeof(member))

/* Why an option cannot be combined with --soft-pt; NULL: all can. */
static const char *find_conflict(const struct record_command *c)
{
	const struct sonde_recorder_options *o = &c->options;
	const struct {
		bool given;
		const char *text;
	} conflicts[] = {
	        {o->targets.all_cpus || o->targets.cpus != NULL,
	                "-a and -C: it traces a command or the processes of -p"},
	        {o->targets.tids != NULL, "-t: -p traces a process with all its threads"},
	        {o->targets.user != NULL, "-u: -p traces processes by number"},
	        {o->targets.per_thread, "--per-thread: it models one processor, and records which "
	                                "thread runs on it"},
	        {o->targets.ncgroups != 0, "-G: -p traces processes by number"},
	        {c->inherit_given, "-i: children share the code that is traced"},
	        {o->events.all_kernel, "--all-kernel: it traces user code only"},
	        {o->events.n > 1, "several events: it records intel_pt//u alone"},
	        {o->events.nfilters > 1, "several --filter: one can hold several ranges"},
	        {o->events.frequency != 0 || o->events.period != 0,
	                "-F and -c: it records every branch"},
	        {o->events.use_clock, "-k: its times are of CLOCK_MONOTONIC"},
	        {GIVEN(o->chains), "-g: a trace has all calls"},
	        {GIVEN(o->samples), "options of samples: it records none"},
	        {o->switching.on_request || o->switching.bytes != 0 || o->switching.ns != 0 ||
	                        o->switching.files != 0,
	                "--switch-output: -S or --max-size limit the file"},
	        {o->control.delay != NULL, "-D: --filter 'start ...' delays the trace"},
	        {o->control.commands, "--control: SIGINT ends it, SIGUSR2 takes snapshots with -S"},
	        {o->aux.sample, "--aux-sample: there are no other events"},
	        {o->output.kcore, "--kcore: it traces user code only"},
	        {o->output.threads != NULL || o->output.compress != 0 || c->aio != NULL,
	                "--threads, -z and --aio: the program is slower than the file"},
	        {GIVEN(o->side_band), "options of side-band: it records what the trace needs"},
	        {o->build_ids.in_mappings, "--buildid-mmap: build ids are in the header"},
	        {o->buffers.overwrite, "--overwrite: -S keeps the newest trace"},
	        {o->output.timestamps, "--timestamp-filename: -o names the file"},
	        {c->realtime != 0, "-r: its time is modelled"},
	        {o->dry_run, "--dry-run: its options are checked when it starts"},
	};
	size_t i;

	for (i = 0; i < sizeof(conflicts) / sizeof(conflicts[0]); i++) {
		if (conflicts[i].given) {
			return conflicts[i].text;
		}
	}
	return NULL;
}

static void print_result(const struct record_command *c, const struct sonde_softpt *s)
{
	const struct sonde_softpt_result *r = sonde_softpt_get_result(s);
	const char *path = c->options.output.path;
	double seconds = (double)r->run_ns / 1e9;

	if (c->quiet) {
		return;
	}
	if (r->gaps > 0) {
		(void)fprintf(stderr,
		        "[ sonde record: the flow was lost %llu times; the trace stops and starts "
		        "again there ]\n",
		        (unsigned long long)r->gaps);
	}
	(void)fprintf(stderr,
	        "[ sonde record: Software PT: %llu instructions, %llu stops (%.2f instructions a "
	        "stop), %.0f instructions a second ]\n",
	        (unsigned long long)r->insns, (unsigned long long)r->stops,
	        r->stops > 0 ? (double)r->insns / (double)r->stops : 0.0,
	        seconds > 0 ? (double)r->insns / seconds : 0.0);
	if (c->verbose > 0) {
		(void)fprintf(stderr,
		        "[ sonde record: Software PT: %llu single steps, %llu branch bits, %llu "
		        "targets, %llu PSBs, %llu bytes of trace, %llu system calls, %llu signals, "
		        "%llu threads, %llu switches; block steps: %s ]\n",
		        (unsigned long long)r->steps, (unsigned long long)r->branch_bits,
		        (unsigned long long)r->target_packets, (unsigned long long)r->psbs,
		        (unsigned long long)r->trace_bytes, (unsigned long long)r->syscalls,
		        (unsigned long long)r->signals, (unsigned long long)r->tasks,
		        (unsigned long long)r->switches,
		        r->block_steps ? "available" : "not available");
	}
	(void)fprintf(stderr, "[ sonde record: Captured and wrote %.3f MB %s ]\n",
	        (double)r->bytes / (1024 * 1024), path != NULL ? path : "perf.data");
}

static int run(struct record_command *c, const struct sonde_softpt_options *options)
{
	struct sonde_softpt *s = sonde_softpt_new(options);
	int rc, status;

	if (s == NULL) {
		(void)fprintf(stderr, "sonde record: out of memory or file descriptors\n");
		return 255;
	}
	running = s;
	self = getpid();
	snapshots = options->snapshot;
	catch_signals();
	rc = sonde_softpt_start(s);
	rc = rc < 0 ? rc : sonde_softpt_run(s);
	running = NULL;
	restore_signals();
	if (rc < 0) {
		(void)fprintf(stderr, "sonde record: %s\n", sonde_softpt_error(s)->text);
	} else {
		print_result(c, s);
	}
	status = sonde_softpt_get_result(s)->workload_status;
	sonde_softpt_free(s);
	if (rc < 0) {
		return rc == SONDE_EARG ? 129 : 255;
	}
	return record_workload_exit(status, (int)stopped_by);
}

int record_soft_run(struct record_command *c, const struct option_command *command)
{
	const struct sonde_recorder_options *o = &c->options;
	const char *conflict = find_conflict(c);
	const struct sonde_softpt_options options = {.size = sizeof(options),
	        .event = c->events[0],
	        .workload = o->targets.workload,
	        .pids = o->targets.pids,
	        .filter = o->events.nfilters > 0 ? c->filters[0].text : NULL,
	        .output = o->output.path,
	        .command_line = o->output.command_line,
	        .area_pages = o->aux.pages,
	        .snapshot_size = o->aux.snapshot_size,
	        .max_bytes = o->output.max_bytes,
	        .snapshot = o->aux.snapshot,
	        .snapshot_on_exit = o->aux.snapshot_on_exit,
	        .no_build_ids = o->build_ids.none,
	        .build_id_cache = o->build_ids.cache,
	        .single_steps = c->single_steps};

	if (conflict != NULL) {
		return options_mistake(command, "--soft-pt does not work with %s", conflict);
	}
	return run(c, &options);
}
