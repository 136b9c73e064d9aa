/* SPDX-License-Identifier: MIT */
/* Waits for rings, tasks, commands and time, and moves records from rings to the output. */
#define _GNU_SOURCE
#include "abi/abi.h"
#include "capture/capture.h"
#include "core/span.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What the loop listens to before the rings. */
enum {
	WATCH_STOP,
	WATCH_WORKLOAD,
	WATCH_SNAPSHOT,
	WATCH_SWITCH,
	WATCH_CONTROL,
	WATCH_STREAMS,
	WATCHES
};

#define LOST_MS  500 /* how long a workload without events may take to end */
#define BLIND_MS 50 /* how often a workload is asked for that cannot be listened to */

/* ---- rings to the output ---- */

static bool has_enough(const struct sonde_record *r, const struct capture_ring *ring, bool all)
{
	uint64_t least = r->options.flush_bytes;

	least = least < ring->size / 4 ? least : ring->size / 4;
	return all || ring->head - ring->tail >= least;
}

static int put_round(struct sonde_record *r)
{
	uint8_t round[RECORD_HEADER_SIZE] = {0};
	struct iovec iov = {.iov_base = round, .iov_len = sizeof(round)};

	store_u32(round, RECORD_FINISHED_ROUND, false);
	store_u16(round + 6, RECORD_HEADER_SIZE, false);
	TRY(capture_output_put(r, &iov, 1));
	/* should this process be killed, perf too reads all that is written */
	return capture_lane_mark(&r->output.lane, &r->error);
}

/* What stays in rings that are overwritten is older than what any round had. */
static bool keeps_old(const struct sonde_record *r)
{
	size_t e;

	for (e = 0; e < r->events.n; e++) {
		if (sonde_attr_has(&r->events.v[e].attr, SONDE_FLAG_WRITE_BACKWARD)) {
			return true;
		}
	}
	return false;
}

/*
 * All heads are looked at before anything is read. So what a pass leaves in a ring was written
 * after the pass began, and a FINISHED_ROUND holds: later rounds have nothing older than what was
 * seen one round before. Rings that have too little to be read are no exception: with flush_bytes
 * there are no such marks, nor beside rings that are overwritten.
 */
int capture_pass(struct sonde_record *r, bool all)
{
	struct iovec iov[2];
	bool any = false;
	size_t i;
	int n;

	for (i = 0; r->streams == NULL && i < r->nrings; i++) {
		if (r->rings[i].page != NULL && !r->rings[i].backward) {
			any |= capture_ring_look(&r->rings[i]);
		}
	}
	any |= capture_aux_look(r);
	if (!any) {
		return 0;
	}
	for (i = 0; i < r->nrings; i++) {
		if (r->streams == NULL && r->rings[i].page != NULL && !r->rings[i].backward &&
		        has_enough(r, &r->rings[i], all)) {
			host_affinity_go(&r->affinity, r->kernel, i % (r->nrings / 2));
			n = capture_ring_pieces(&r->rings[i], iov);
			TRY(n == 0 ? 0 : capture_lane_kernel(&r->output.lane, iov, n, &r->error));
			capture_ring_release(&r->rings[i]);
		}
		TRY(capture_aux_pass(r, i));
	}
	if (r->options.flush_bytes > 1 || keeps_old(r)) {
		return capture_lane_mark(&r->output.lane, &r->error);
	}
	return put_round(r);
}

int capture_dump_backward(struct sonde_record *r)
{
	struct iovec *list;
	size_t i, at, n;
	int rc;

	for (i = 0; i < r->nrings; i++) {
		struct capture_ring *ring = &r->rings[i];

		if (ring->page == NULL || !ring->backward) {
			continue;
		}
		host_affinity_go(&r->affinity, r->kernel, i % (r->nrings / 2));
		(void)r->kernel->pause(ring->fd, true);
		rc = capture_ring_backward(ring, &list, &n);
		for (at = 0; rc >= 0 && at < n; at += 512) {
			rc = capture_lane_kernel(&r->output.lane, list + at,
			        (int)(n - at < 512 ? n - at : 512), &r->error);
		}
		free(list);
		(void)r->kernel->pause(ring->fd, false);
		TRY(rc);
	}
	return 0;
}

/* ---- events on and off ---- */

static int switch_event(struct sonde_record *r, size_t e, bool on)
{
	size_t i;

	for (i = 0; i < r->ncpus * r->tasks.nthreads; i++) {
		if (r->opened[e].fds[i] >= 0 &&
		        r->kernel->enable(r->opened[e].fds[i], on, false) < 0) {
			return error_set(&r->error, SONDE_EIO, NO_OFFSET, "cannot %s '%s': %s",
			        on ? "enable" : "disable", r->events.v[e].name, strerror(errno));
		}
	}
	return 0;
}

int capture_enable(struct sonde_record *r, size_t event, bool on)
{
	size_t e;

	r->aux.running = event == SIZE_MAX || event == 0 ? on : r->aux.running;
	for (e = 0; e < r->events.n; e++) {
		/* side-band goes on: it is needed to understand what comes later */
		if (event == SIZE_MAX ? !r->events.v[e].tracking : e == event) {
			TRY(switch_event(r, e, on));
		}
	}
	return 0;
}

/* ---- waiting ---- */

struct loop {
	struct sonde_record *r;
	struct pollfd *fds; /* WATCHES, rings, rings that tell of BPF programs, triggers */
	size_t n;
	bool blind; /* the end of the workload cannot be listened to: kernels before 5.3 */
	uint64_t lost_ns; /* since when all events of a workload that runs on have ended; 0: not */
};

static uint64_t take_count(int fd)
{
	uint64_t n = 0;

	return read(fd, &n, sizeof(n)) == sizeof(n) ? n : 0;
}

bool capture_stopped_twice(struct sonde_record *r)
{
	r->stops += take_count(r->stop_fd);
	return r->stops > 1;
}

static int earlier(int a, int b)
{
	return a < 0 ? b : b < 0 || a < b ? a : b;
}

/* A ring whose tasks all ended only ever says POLLHUP: another task of the ring is listened to.
 * True when none is left. */
static bool all_hung_up(struct loop *l)
{
	struct pollfd *fds = l->fds + WATCHES;
	bool left = false;
	size_t i;

	for (i = 0; i < l->r->nrings; i++) {
		if (fds[i].fd >= 0 && (fds[i].revents & (POLLHUP | POLLERR)) != 0 &&
		        (fds[i].revents & POLLIN) == 0) {
			fds[i].fd = capture_next_poll(l->r, i, fds[i].fd);
		}
		left |= fds[i].fd >= 0;
	}
	return !left;
}

static int take_snapshot(struct loop *l)
{
	struct pollfd *p = &l->fds[WATCH_SNAPSHOT];

	return (p->revents & POLLIN) != 0 && take_count(p->fd) > 0 ? capture_aux_snapshot(l->r) : 0;
}

static int switch_file(struct loop *l)
{
	struct pollfd *p = &l->fds[WATCH_SWITCH];
	bool asked = (p->revents & POLLIN) != 0 && take_count(p->fd) > 0;
	int due = capture_output_due(l->r);

	if (due == 2) {
		l->r->stops++;
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

/* ms until it is sure that a workload without events runs on, and does not just end; -1: never. */
static int lost_for(const struct loop *l)
{
	uint64_t now = capture_now_ns(CLOCK_MONOTONIC);

	if (l->lost_ns == 0 || l->lost_ns == UINT64_MAX || l->r->workload.pid == 0) {
		return -1;
	}
	return now - l->lost_ns >= LOST_MS * 1000000ull
	               ? 0
	               : (int)(LOST_MS - (now - l->lost_ns) / 1000000);
}

/* HOST_CONTROL_STOP when the recording is over. */
static int ended(struct loop *l)
{
	struct sonde_record *r = l->r;
	bool over;

	if (l->fds[WATCH_STOP].revents != 0) {
		r->stops += take_count(r->stop_fd);
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
		(void)take_count(r->streams_news_fd);
	}
	over = r->streams != NULL
	               ? __atomic_load_n(&r->streams_over, __ATOMIC_RELAXED) >= r->nstreams
	               : all_hung_up(l);
	if (over && r->workload.pid == 0) {
		return HOST_CONTROL_STOP;
	}
	if (over && l->lost_ns == 0 && r->targets == CAPTURE_WORKLOAD) {
		l->lost_ns = capture_now_ns(CLOCK_MONOTONIC);
	}
	if (lost_for(l) == 0) {
		l->lost_ns = UINT64_MAX;
		capture_say(&r->log, SONDE_RECORD_WARNING,
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
	struct sonde_record *r = l->r;
	int (*const steps[])(struct loop *) = {take_snapshot, obey, switch_file, ended};
	int timeout, rc;
	size_t i;

	for (;;) {
		timeout = earlier(capture_output_timeout(r), capture_control_timeout(r));
		timeout = earlier(timeout, lost_for(l));
		rc = r->kernel->poll(l->fds, l->n, earlier(timeout, l->blind ? BLIND_MS : -1));
		if (rc < 0 && errno != EINTR) {
			return error_set(&r->error, SONDE_EIO, NO_OFFSET, "poll failed: %s",
			        strerror(errno));
		}
		if (rc < 0) {
			continue;
		}
		r->result.wakeups += rings_woke(l);
		capture_bpf_look(r);
		capture_triggers_look(r);
		TRY(capture_pass(r, false));
		for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
			rc = steps[i](l);
			if (rc != HOST_CONTROL_GO_ON) {
				return rc < 0 ? rc : 0;
			}
		}
	}
}

int capture_loop(struct sonde_record *r)
{
	size_t nbpf = r->bpf != NULL ? r->bpf->nrings : 0;
	struct loop l = {.r = r, .n = WATCHES + r->nrings + nbpf + r->triggers.n};
	const int watched[WATCHES] = {
	        [WATCH_STOP] = r->stop_fd,
	        [WATCH_WORKLOAD] = r->workload.pid > 0
	                                   ? (int)syscall(SYS_pidfd_open, r->workload.pid, 0u)
	                                   : -1,
	        [WATCH_SNAPSHOT] = r->snapshot_fd,
	        [WATCH_SWITCH] = r->switch_fd,
	        [WATCH_CONTROL] = r->options.has_control ? r->options.control_fd : -1,
	        [WATCH_STREAMS] = r->streams_news_fd,
	};
	size_t i;
	int rc;

	l.blind = watched[WATCH_WORKLOAD] < 0 && r->workload.pid > 0;
	l.fds = calloc(l.n, sizeof(*l.fds));
	for (i = 0; l.fds != NULL && i < l.n; i++) {
		l.fds[i].events = POLLIN;
		l.fds[i].fd = i < WATCHES ? watched[i] : -1;
	}
	for (i = 0; l.fds != NULL && r->streams == NULL && i < r->nrings; i++) {
		l.fds[WATCHES + i] = r->polls[i];
	}
	for (i = 0; l.fds != NULL && i < nbpf; i++) {
		l.fds[WATCHES + r->nrings + i].fd = r->bpf->fds[i];
	}
	for (i = 0; l.fds != NULL && i < r->triggers.n; i++) {
		l.fds[WATCHES + r->nrings + nbpf + i].fd = r->triggers.fds[i];
	}
	rc = l.fds != NULL ? run(&l) : error_nomem(&r->error);
	if (watched[WATCH_WORKLOAD] >= 0) {
		(void)close(watched[WATCH_WORKLOAD]);
	}
	free(l.fds);
	return rc;
}
