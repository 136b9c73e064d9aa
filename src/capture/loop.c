/* SPDX-License-Identifier: MIT */
/* Waits for rings, tasks, commands and time. */
#define _GNU_SOURCE
#include "abi/abi.h"
#include "capture/recorder.h"
#include "core/span.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Descriptors that the loop polls before the rings. */
enum {
	WATCH_STOP,
	WATCH_WORKLOAD,
	WATCH_SNAPSHOT,
	WATCH_SWITCH,
	WATCH_CONTROL,
	WATCH_STREAMS,
	WATCHES
};

#define LOST_MS  500 /* time for a workload to end after its events have ended */
#define BLIND_MS 50 /* interval for checking a workload whose end cannot be polled */

struct loop {
	struct sonde_recorder *r;
	struct pollfd *fds; /* WATCHES, rings, rings of BPF events, triggers */
	size_t n;
	bool blind; /* the end of the workload cannot be polled: kernels before 5.3 */
	uint64_t lost_ns; /* when all events of a workload that still runs had ended; 0: not yet */
};

static int earlier(int a, int b)
{
	return a < 0 ? b : b < 0 || a < b ? a : b;
}

/*
 * A ring whose tasks have all ended only returns POLLHUP: poll another task of the ring. True if
 * none is left.
 */
static bool all_hung_up(struct loop *l)
{
	struct pollfd *fds = l->fds + WATCHES;
	bool left = false;
	size_t i;

	for (i = 0; i < l->r->rings.n; i++) {
		if (fds[i].fd >= 0 && (fds[i].revents & (POLLHUP | POLLERR)) != 0 &&
		        (fds[i].revents & POLLIN) == 0) {
			fds[i].fd = capture_next_poll(&l->r->rings, i, fds[i].fd);
		}
		left |= fds[i].fd >= 0;
	}
	return !left;
}

static int take_snapshot(struct loop *l)
{
	struct pollfd *p = &l->fds[WATCH_SNAPSHOT];

	return (p->revents & POLLIN) != 0 && host_wake_take(p->fd) > 0 ? capture_snapshot(l->r) : 0;
}

static int switch_file(struct loop *l)
{
	struct pollfd *p = &l->fds[WATCH_SWITCH];
	bool asked = (p->revents & POLLIN) != 0 && host_wake_take(p->fd) > 0;
	int due = capture_output_due(l->r);

	if (due == 2) {
		l->r->stop.n++;
		return HOST_CONTROL_STOP;
	}
	if (!asked && due == 0) {
		return 0;
	}
	TRY(capture_pass(l->r, true));
	TRY(capture_dump_backward(l->r));
	return capture_output_switch(l->r);
}

static int obey(struct loop *l)
{
	struct pollfd *p = &l->fds[WATCH_CONTROL];
	int rc = capture_control_turn(l->r);

	if (rc == HOST_CONTROL_GO_ON && p->revents != 0) {
		rc = capture_control_read(l->r);
		if (l->r->control.commands.closed || (p->revents & (POLLERR | POLLNVAL)) != 0) {
			p->fd = -1;
		}
	}
	return rc;
}

/*
 * ms until it is certain that a workload without events still runs, and is not just ending; -1:
 * never.
 */
static int lost_for(const struct loop *l)
{
	uint64_t now = host_now_ns(CLOCK_MONOTONIC);

	if (l->lost_ns == 0 || l->lost_ns == UINT64_MAX || l->r->workload.pid == 0) {
		return -1;
	}
	return now - l->lost_ns >= LOST_MS * 1000000ull
	               ? 0
	               : (int)(LOST_MS - (now - l->lost_ns) / 1000000);
}

/* HOST_CONTROL_STOP if the recording has ended. */
static int ended(struct loop *l)
{
	struct sonde_recorder *r = l->r;
	bool over;

	if (l->fds[WATCH_STOP].revents != 0) {
		r->stop.n += host_wake_take(r->stop.fd);
		return HOST_CONTROL_STOP;
	}
	if (l->fds[WATCH_WORKLOAD].revents != 0) {
		return HOST_CONTROL_STOP;
	}
	if (l->blind && waitpid(r->workload.pid, &r->result.workload_status, WNOHANG) != 0) {
		r->workload.pid = 0;
		return HOST_CONTROL_STOP;
	}
	if ((l->fds[WATCH_STREAMS].revents & POLLIN) != 0) {
		(void)host_wake_take(r->streams.news_fd);
	}
	over = r->streams.v != NULL
	               ? __atomic_load_n(&r->streams.over, __ATOMIC_RELAXED) >= r->streams.n
	               : all_hung_up(l);
	if (over && r->workload.pid == 0) {
		return HOST_CONTROL_STOP;
	}
	if (over && l->lost_ns == 0 && r->plan.targets == CAPTURE_WORKLOAD) {
		l->lost_ns = host_now_ns(CLOCK_MONOTONIC);
	}
	if (lost_for(l) == 0) {
		l->lost_ns = UINT64_MAX;
		capture_say(&r->log, SONDE_RECORDER_WARNING,
		        "the command runs on, but the kernel does not let it be recorded any more: "
		        "it has become another user's (a set-user-id program)");
	}
	return HOST_CONTROL_GO_ON;
}

static bool rings_woke(const struct loop *l)
{
	size_t i;

	for (i = WATCHES; i < l->n; i++) {
		if (l->fds[i].revents != 0) {
			return true;
		}
	}
	return false;
}

static int run(struct loop *l)
{
	struct sonde_recorder *r = l->r;
	int (*const steps[])(struct loop *) = {take_snapshot, obey, switch_file, ended};
	int timeout, rc;
	size_t i;

	for (;;) {
		timeout = earlier(capture_output_timeout(r), capture_control_timeout(r));
		timeout = earlier(timeout, lost_for(l));
		rc = r->kernel->poll(l->fds, l->n, earlier(timeout, l->blind ? BLIND_MS : -1));
		if (rc < 0 && errno != EINTR) {
			return error_errno(&r->error, SONDE_EIO, errno, "poll failed");
		}
		if (rc < 0) {
			continue;
		}
		r->result.wakeups += rings_woke(l);
		capture_bpf_look(&r->bpf);
		if (capture_triggers_look(&r->triggers)) {
			host_wake(r->switch_fd);
		}
		TRY(capture_pass(r, false));
		for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
			rc = steps[i](l);
			if (rc != HOST_CONTROL_GO_ON) {
				return rc < 0 ? rc : 0;
			}
		}
	}
}

int capture_loop(struct sonde_recorder *r)
{
	size_t nbpf = r->bpf.watch.n, ntriggers = r->triggers.watch.n;
	struct loop l = {.r = r, .n = WATCHES + r->rings.n + nbpf + ntriggers};
	const int watched[WATCHES] = {
	        [WATCH_STOP] = r->stop.fd,
	        [WATCH_WORKLOAD] = r->workload.pid > 0
	                                   ? (int)syscall(SYS_pidfd_open, r->workload.pid, 0u)
	                                   : -1,
	        [WATCH_SNAPSHOT] = r->snapshot_fd,
	        [WATCH_SWITCH] = r->switch_fd,
	        [WATCH_CONTROL] = r->options.control.commands ? r->options.control.fd : -1,
	        [WATCH_STREAMS] = r->streams.news_fd,
	};
	size_t i;
	int rc;

	l.blind = watched[WATCH_WORKLOAD] < 0 && r->workload.pid > 0;
	l.fds = calloc(l.n, sizeof(*l.fds));
	for (i = 0; l.fds != NULL && i < l.n; i++) {
		l.fds[i].events = POLLIN;
		l.fds[i].fd = i < WATCHES ? watched[i] : -1;
	}
	for (i = 0; l.fds != NULL && r->streams.v == NULL && i < r->rings.n; i++) {
		l.fds[WATCHES + i] = r->rings.polls[i];
	}
	for (i = 0; l.fds != NULL && i < nbpf; i++) {
		l.fds[WATCHES + r->rings.n + i].fd = r->bpf.watch.fds[i];
	}
	for (i = 0; l.fds != NULL && i < ntriggers; i++) {
		l.fds[WATCHES + r->rings.n + nbpf + i].fd = r->triggers.watch.fds[i];
	}
	rc = l.fds != NULL ? run(&l) : error_nomem(&r->error);
	if (watched[WATCH_WORKLOAD] >= 0) {
		(void)close(watched[WATCH_WORKLOAD]);
	}
	free(l.fds);
	return rc;
}
