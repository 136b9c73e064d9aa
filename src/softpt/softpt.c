/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "softpt/softpt.h"
#include "capture/plan/aux.h"
#include "core/fd.h"
#include "core/options.h"
#include "host/wait.h"
#include "host/workload.h"
#include "proc/proc.h"
#include "softpt/probe.h"
#include "softpt/tracer.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sonde/preview/softpt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AREA         (4u << 20) /* bytes, as perf's for privileged users */
#define EXEC_WAIT_MS 5

struct sonde_softpt {
	struct sonde_softpt_options options;
	struct sonde_softpt_result result;
	struct error error;
	bool misused; /* the options are wrong */
	int root, stop_fd, snapshot_fd;
	struct host_workload workload;
	struct filter filter;
	struct tape tape;
	struct tracer tracer;
};

struct sonde_softpt *sonde_softpt_new(const struct sonde_softpt_options *options)
{
	struct sonde_softpt *s = calloc(1, sizeof(*s));

	if (s == NULL) {
		return NULL;
	}
	s->misused = options_copy(&s->options, sizeof(s->options), options, &s->error) < 0;
	s->result = (struct sonde_softpt_result){.size = sizeof(s->result), .workload_status = -1};
	s->workload = HOST_NO_WORKLOAD;
	s->tape.fd = -1;
	s->root = proc_root_open("/");
	s->stop_fd = host_wake_open();
	s->snapshot_fd = host_wake_open();
	if (s->root < 0 || s->stop_fd < 0 || s->snapshot_fd < 0) {
		sonde_softpt_free(s);
		return NULL;
	}
	return s;
}

void sonde_softpt_free(struct sonde_softpt *s)
{
	if (s == NULL) {
		return;
	}
	host_workload_fini(&s->workload);
	tracer_release(&s->tracer);
	tracer_fini(&s->tracer);
	tape_fini(&s->tape);
	filter_fini(&s->filter);
	fd_close(&s->root);
	fd_close(&s->stop_fd);
	fd_close(&s->snapshot_fd);
	free(s);
}

void sonde_softpt_stop(struct sonde_softpt *s)
{
	host_wake(s->stop_fd);
}

void sonde_softpt_snapshot(struct sonde_softpt *s)
{
	host_wake(s->snapshot_fd);
}

const struct sonde_softpt_result *sonde_softpt_get_result(const struct sonde_softpt *s)
{
	return &s->result;
}

const struct sonde_error *sonde_softpt_error(const struct sonde_softpt *s)
{
	return error_show(&s->error);
}

/* ---- start ---- */

static int plan_filter(struct sonde_softpt *s)
{
	struct text kernel = {0};
	int rc;

	if (s->options.filter == NULL) {
		return 0;
	}
	rc = capture_aux_filter(s->root, s->options.filter, &kernel, &s->error);
	rc = rc < 0 ? rc : filter_parse(&s->filter, kernel.p, &s->error);
	text_fini(&kernel);
	return rc;
}

static int plan_area(const struct sonde_softpt *s, struct tape_options *o, struct error *err)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t area = s->options.area_pages != 0 ? s->options.area_pages * page : AREA;

	if (s->options.area_pages == 0 && s->options.snapshot_size > area) {
		area = s->options.snapshot_size;
	}
	o->keep = s->options.snapshot_size != 0 ? s->options.snapshot_size : area;
	o->round = area / 4;
	return o->keep > area ? error_set(err, SONDE_EARG, NO_OFFSET,
	                                "Snapshot size %llu must not be greater than AUX area "
	                                "tracing mmap size %llu",
	                                (unsigned long long)o->keep, (unsigned long long)area)
	                      : 0;
}

static int plan(struct sonde_softpt *s, struct tape_options *o)
{
	const char *event = s->options.event != NULL ? s->options.event : "intel_pt//u";

	if (s->options.workload == NULL && s->options.pids == NULL) {
		return error_set(&s->error, SONDE_EARG, NO_OFFSET,
		        "nothing to trace: --soft-pt wants a command, or -p PID");
	}
	if (s->options.workload != NULL && s->options.pids != NULL) {
		return error_set(&s->error, SONDE_EARG, NO_OFFSET,
		        "--soft-pt traces a command or -p PID, not both");
	}
	*o = (struct tape_options){.root = s->root,
	        .path = s->options.output != NULL ? s->options.output : "perf.data",
	        .command_line = s->options.command_line,
	        .event_name = event,
	        .snapshot = s->options.snapshot,
	        .max_bytes = s->options.max_bytes,
	        .no_build_ids = s->options.no_build_ids,
	        .cache = s->options.build_id_cache};
	TRY(softpt_parse_event(event, &o->config, &o->terms, &s->error));
	if (o->snapshot && !o->terms.tsc) {
		return error_set(&s->error, SONDE_EARG, NO_OFFSET,
		        "-S needs times: --soft-pt has no snapshots with tsc=0");
	}
	TRY(plan_filter(s));
	o->filter = s->filter.text;
	return plan_area(s, o, &s->error);
}

/* A workload that could not be executed: it ends while it is traced. */
static void reap_workload(struct sonde_softpt *s)
{
	pid_t pid = s->workload.pid;
	int status;

	if (pid <= 0) {
		return;
	}
	(void)kill(pid, SIGKILL);
	while (waitpid(pid, &status, __WALL) == pid && WIFSTOPPED(status)) {
		(void)ptrace(PTRACE_CONT, pid, NULL, NULL);
	}
	s->workload.pid = 0;
	tracer_fini(&s->tracer);
}

/* A signal stops the traced child until it is resumed; the stop at the exec is kept for the tracer. */
static void pass_signal(pid_t pid)
{
	siginfo_t info = {0};
	int status, sig;

	if (waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG | WNOWAIT | __WALL) != 0 ||
	        info.si_pid != pid || info.si_status >> 8 == PTRACE_EVENT_EXEC ||
	        waitpid(pid, &status, WNOHANG | __WALL) != pid || !WIFSTOPPED(status)) {
		return;
	}
	sig = WSTOPSIG(status);
	if (status >> 16 == PTRACE_EVENT_STOP && sig != SIGTRAP) {
		(void)ptrace(PTRACE_LISTEN, pid, NULL, NULL); /* until SIGCONT */
	} else {
		(void)ptrace(PTRACE_CONT, pid, NULL, status >> 16 == 0 ? (long)sig : 0L);
	}
}

/* Lets the workload run up to its exec, or until that fails. */
static int run_workload(struct sonde_softpt *s)
{
	struct pollfd exec = {.fd = s->workload.exec_fd, .events = POLLIN};

	host_workload_release(&s->workload);
	while (poll(&exec, 1, EXEC_WAIT_MS) <= 0) {
		pass_signal(s->workload.pid);
	}
	return host_workload_go(&s->workload, s->options.workload[0], &s->error);
}

static int start_workload(struct sonde_softpt *s)
{
	const struct host_workload_options o = {
	        .argv = s->options.workload, .no_stdout = s->tape.writer.stream};

	int rc;

	TRY(host_workload_fork(&s->workload, &o, &s->error));
	rc = tracer_seize_workload(&s->tracer, s->workload.pid);
	rc = rc < 0 ? rc : run_workload(s);
	if (rc < 0) {
		reap_workload(s);
	}
	return rc;
}

static int attach(struct sonde_softpt *s)
{
	const char *list = s->options.pids;
	pid_t pid;

	while (*list != '\0') {
		if (!proc_take_id(&list, &pid)) {
			return error_set(&s->error, SONDE_EARG, NO_OFFSET,
			        "-p wants numbers of processes, not '%s'", s->options.pids);
		}
		TRY(tracer_attach(&s->tracer, pid));
	}
	return 0;
}

static int start(struct sonde_softpt *s)
{
	struct tape_options o;

	TRY(plan(s, &o));
	s->result.block_steps = softpt_probe_block_steps();
	TRY(tape_start(&s->tape, &o, &s->error));
	s->tracer = (struct tracer){.root = s->root,
	        .err = &s->error,
	        .tape = &s->tape,
	        .filter = &s->filter,
	        .step_all = s->options.single_steps,
	        .stop_fd = s->stop_fd,
	        .snapshot_fd = s->options.snapshot ? s->snapshot_fd : -1,
	        .workload_status = -1};
	if (s->tape.per_cpu) {
		TRY(tape_track_init(&s->tape, &s->tracer.track, 0, -1));
	}
	return s->options.workload != NULL ? start_workload(s) : attach(s);
}

int sonde_softpt_start(struct sonde_softpt *s)
{
	return s->misused ? error_status(&s->error) : start(s);
}

/* ---- run ---- */

/* As the end of any recording: a workload that still runs is ended. */
static void end_workload(struct sonde_softpt *s)
{
	if (s->workload.pid <= 0) {
		return;
	}
	s->result.workload_status = s->tracer.workload_status;
	if (s->result.workload_status == -1 &&
	        waitpid(s->workload.pid, &s->result.workload_status, WNOHANG) == 0) {
		(void)kill(s->workload.pid, SIGTERM);
		(void)kill(s->workload.pid, SIGCONT);
		(void)waitpid(s->workload.pid, &s->result.workload_status, 0);
	}
	s->workload.pid = 0;
}

static int finish(struct sonde_softpt *s)
{
	if (s->tape.per_cpu && s->options.snapshot) {
		if (s->options.snapshot_on_exit) {
			TRY(tape_snapshot(&s->tape, &s->tracer.track));
		}
	}
	TRY(s->tape.per_cpu ? tape_pass(&s->tape, &s->tracer.track, true) : 0);
	return tape_finish(&s->tape);
}

static void count(struct sonde_softpt *s)
{
	const struct tracer_counts *c = &s->tracer.counts;
	struct sonde_softpt_result *r = &s->result;

	r->insns = c->insns;
	r->stops = c->stops;
	r->steps = c->steps;
	r->syscalls = c->syscalls;
	r->signals = c->signals;
	r->tasks = c->tasks;
	r->switches = c->switches;
	r->gaps = c->gaps;
	r->branch_bits = s->tracer.track.flow.branches;
	r->target_packets = s->tracer.track.flow.targets;
	r->psbs = s->tracer.track.flow.syncs;
	r->trace_bytes = s->tape.trace_bytes;
	r->bytes = s->tape.writer.data_size;
}

int sonde_softpt_run(struct sonde_softpt *s)
{
	uint64_t begun = host_now_ns(CLOCK_MONOTONIC);
	int rc = tracer_run(&s->tracer);

	s->result.run_ns = host_now_ns(CLOCK_MONOTONIC) - begun;
	end_workload(s);
	rc = rc < 0 ? rc : finish(s);
	count(s);
	return rc;
}
