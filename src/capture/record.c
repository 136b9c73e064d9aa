/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "abi/abi.h"
#include "capture/recorder.h"
#include "core/fd.h"
#include "core/options.h"
#include "core/span.h"
#include "proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct sonde_recorder *sonde_recorder_new(const struct sonde_recorder_options *options)
{
	struct sonde_recorder *r = calloc(1, sizeof(*r));

	if (r == NULL) {
		return NULL;
	}
	r->misused = options_copy(&r->options, sizeof(r->options), options, &r->error) < 0;
	r->kernel = host_kernel_linux();
	r->log = (struct capture_log){r->options.message, r->options.message_arg, r->options.debug};
	r->result =
	        (struct sonde_recorder_result){.size = sizeof(r->result), .workload_status = -1};
	r->root_fd = proc_root_open("/");
	r->rings.log = &r->log;
	r->rings.err = &r->error;
	r->rings.plan = &r->plan;
	r->workload = HOST_NO_WORKLOAD;
	r->output.fd = -1;
	r->streams = CAPTURE_NO_STREAMS;
	r->options.switching.on_request |= r->options.switching.ntriggers != 0;
	r->tail_synthesis = r->options.side_band.tail_synthesis || r->options.buffers.overwrite;
	r->options.output.timestamps |= r->options.switching.on_request ||
	                                r->options.switching.bytes != 0 ||
	                                r->options.switching.ns != 0;
	r->switch_fd = r->options.switching.on_request ? host_wake_open() : -1;
	r->stop.fd = host_wake_open();
	r->snapshot_fd = host_wake_open();
	r->output.nkept = (size_t)r->options.switching.files;
	r->output.name =
	        strdup(r->options.output.path != NULL ? r->options.output.path : "perf.data");
	if (r->output.name == NULL || r->stop.fd < 0 || r->snapshot_fd < 0 || r->root_fd < 0) {
		sonde_recorder_free(r);
		return NULL;
	}
	return r;
}

void sonde_recorder_free(struct sonde_recorder *r)
{
	if (r == NULL) {
		return;
	}
	host_workload_fini(&r->workload);
	capture_streams_free(&r->streams);
	capture_output_close(&r->output);
	capture_control_free(r);
	capture_triggers_close(&r->triggers, r->kernel);
	capture_bpf_close(&r->bpf, r->kernel);
	capture_close(&r->rings);
	fd_close(&r->switch_fd);
	fd_close(&r->stop.fd);
	fd_close(&r->snapshot_fd);
	fd_close(&r->root_fd);
	host_affinity_fini(&r->affinity);
	capture_plan_fini(&r->plan);
	free(r);
}

void sonde_recorder_stop(struct sonde_recorder *r)
{
	host_wake(r->stop.fd);
}

void sonde_recorder_switch(struct sonde_recorder *r)
{
	host_wake(r->switch_fd);
}

void sonde_recorder_snapshot(struct sonde_recorder *r)
{
	host_wake(r->snapshot_fd);
}

const struct sonde_error *sonde_recorder_error(const struct sonde_recorder *r)
{
	return error_show(&r->error);
}

const struct sonde_recorder_result *sonde_recorder_get_result(const struct sonde_recorder *r)
{
	return &r->result;
}

/* Enables events that nothing else enables later: neither a delay nor the exec of the workload. */
static int enable_first(struct sonde_recorder *r)
{
	size_t e;

	r->rings.aux.running = !r->plan.delayed;
	for (e = 0; e < r->plan.events.n; e++) {
		const struct event *event = &r->plan.events.v[e];

		if (!sonde_attr_has(&event->attr, SONDE_FLAG_ENABLE_ON_EXEC) &&
		        (event->tracking || !r->plan.delayed)) {
			TRY(capture_enable(&r->rings, e, true));
		}
	}
	return 0;
}

static int fork_workload(struct sonde_recorder *r)
{
	const struct host_workload_options options = {.argv = r->options.targets.workload,
	        .no_stdout =
	                r->options.output.path != NULL && strcmp(r->options.output.path, "-") == 0};

	return host_workload_fork(&r->workload, &options, &r->error);
}

/* Rings of threads belong to no cpu, and writing threads have their own cpus. */
static int plan_affinity(struct sonde_recorder *r)
{
	size_t n = r->plan.per_thread || r->streams.v != NULL ? 0 : r->rings.ncpus;

	return host_affinity_plan(
	        &r->affinity, r->options.buffers.affinity, r->root_fd, r->rings.cpus, n, &r->error);
}

static int start(struct sonde_recorder *r)
{
	const struct capture_machine machine = {r->kernel, r->root_fd, &r->log, &r->error};

	TRY(capture_control_plan(r));
	TRY(capture_plan_make(&r->plan, &r->options, &machine));
	TRY(capture_synth_plan(r));
	TRY(capture_triggers_plan(&r->triggers, &r->options, r->root_fd, &r->error));
	if (r->options.dry_run) {
		capture_plan_log(&r->plan, &r->log);
		return 0;
	}
	if (r->options.targets.workload != NULL) {
		TRY(fork_workload(r));
	}
	if (r->options.buffers.raise_file_limit) {
		(void)host_raise_file_limit(); /* after the fork: the workload keeps its own */
	}
	r->rings.kernel = r->kernel;
	r->rings.root = r->root_fd;
	TRY(capture_find_targets(&r->rings, r->workload.pid));
	TRY(capture_open(&r->rings));
	r->watches_bpf = !r->options.side_band.no_bpf && r->kernel == host_kernel_linux();
	if (r->watches_bpf) {
		capture_bpf_open(&r->bpf, &r->rings);
	}
	TRY(capture_triggers_open(&r->triggers, &r->rings));
	TRY(capture_streams_plan(&r->streams, &r->rings));
	TRY(plan_affinity(r));
	r->clock_wall_ns = host_now_ns(CLOCK_REALTIME);
	r->clock_ns = r->options.events.use_clock ? host_now_ns(r->options.events.clockid) : 0;
	TRY(capture_output_start(r));
	if (!r->tail_synthesis) {
		TRY(capture_synth(r));
	}
	TRY(capture_output_describe(r));
	TRY(capture_streams_start(
	        &r->streams, r->output.name, capture_lane_written(&r->output.lane), r->stop.fd));
	TRY(enable_first(r));
	if (r->workload.pid > 0) {
		TRY(host_workload_go(&r->workload, r->options.targets.workload[0], &r->error));
	}
	capture_control_begin(r);
	return 0;
}

int sonde_recorder_start(struct sonde_recorder *r)
{
	int rc = r->misused ? error_status(&r->error) : start(r);

	if (rc < 0) {
		capture_output_salvage(r);
	}
	return rc;
}

/* Reads the remaining data of rings, adds the records for the end, and completes the file. */
static int finish(struct sonde_recorder *r)
{
	TRY(capture_streams_stop(&r->streams, &r->result.wakeups));
	if (r->options.aux.snapshot_on_exit) {
		TRY(capture_snapshot(r));
	}
	TRY(capture_pass(r, true));
	TRY(capture_dump_backward(r));
	capture_bpf_look(&r->bpf);
	TRY(capture_lost(r));
	if (r->tail_synthesis) {
		TRY(capture_synth(r));
	}
	capture_say(&r->log, SONDE_RECORDER_NOTICE, "Woken up %llu times to write data",
	        (unsigned long long)r->result.wakeups);
	return capture_output_finish(r, host_stopped_twice(&r->stop));
}

static void end_workload(struct sonde_recorder *r, bool failed)
{
	if (r->workload.pid <= 0) {
		return;
	}
	if (failed || waitpid(r->workload.pid, &r->result.workload_status, WNOHANG) == 0) {
		/* stopped by the user: like perf, end the workload too */
		(void)kill(r->workload.pid, SIGTERM);
		(void)waitpid(r->workload.pid, &r->result.workload_status, 0);
	}
	r->workload.pid = 0;
}

int sonde_recorder_run(struct sonde_recorder *r)
{
	int rc;

	if (r->options.dry_run) {
		return 0;
	}
	rc = capture_loop(r);
	end_workload(r, rc < 0);
	capture_disable_all(&r->rings);
	rc = rc < 0 ? rc : finish(r);
	if (rc < 0) {
		(void)capture_streams_stop(&r->streams, &r->result.wakeups);
		capture_output_salvage(r);
	}
	return rc;
}
