/* SPDX-License-Identifier: MIT */
/* The tasks, which of them runs, and the beginning and end of tracing. */
#define _GNU_SOURCE
#include "softpt/tracer.h"

#include "core/array.h"
#include "host/wait.h"
#include "proc/proc.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OPTIONS                                                                                    \
	(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |  \
	        PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT)
#define SPINS     200 /* attempts to see a stop without sleeping */
#define GRACE     100 /* the same, for the system call of the thread that ran last */
#define WAIT_NS   20000000 /* of sleep until a thread that does not stop is interrupted */
#define CHECKS    16 /* stops after which requests and full rounds are looked for */
#define DETACH_MS 2000 /* time for all tasks to stop at the end */

/* ---- tasks ---- */

struct task *tracer_find(struct tracer *tr, pid_t tid)
{
	size_t i;

	if (tr->last != NULL && tr->last->tid == tid) {
		return tr->last;
	}
	for (i = 0; i < tr->n; i++) {
		if (tr->tasks[i]->tid == tid) {
			tr->last = tr->tasks[i];
			return tr->last;
		}
	}
	return NULL;
}

static void free_task(struct tracer *tr, struct task *t)
{
	if (t->space != NULL && --t->space->users == 0) {
		space_free(t->space);
	}
	if (t->track != NULL && t->track != &tr->track) {
		tape_track_fini(t->track);
		free(t->track);
	}
	free(t);
}

struct task *tracer_add(struct tracer *tr, pid_t tid, pid_t pid)
{
	struct task *t = calloc(1, sizeof(*t));
	bool good =
	        t != NULL && array_reserve(&tr->tasks, &tr->cap, tr->n + 1, sizeof(struct task *));

	if (good && !tr->tape->per_cpu) {
		t->track = calloc(1, sizeof(*t->track));
		good = t->track != NULL &&
		       tape_track_init(tr->tape, t->track, tr->ntracks++, tid) == 0;
	} else if (good) {
		t->track = &tr->track;
	}
	if (!good) {
		free(t != NULL && t->track != &tr->track ? t->track : NULL);
		free(t);
		return NULL;
	}
	t->tid = tid;
	t->pid = pid;
	t->begun = (tr->filter->bits & FILTER_START) == 0;
	tr->tasks[tr->n++] = t;
	tr->counts.tasks++;
	return t;
}

void tracer_remove(struct tracer *tr, struct task *t)
{
	size_t i;

	for (i = 0; i < tr->n && tr->tasks[i] != t; i++) {
	}
	tr->tasks[i] = tr->tasks[--tr->n];
	tr->last = NULL;
	tr->on_cpu = tr->on_cpu == t ? NULL : tr->on_cpu;
	free_task(tr, t);
}

struct tape_task tracer_id(const struct task *t)
{
	return (struct tape_task){t->track, t->pid, t->tid};
}

int tracer_look(struct tracer *tr, struct task *t)
{
	struct tape_task id = tracer_id(t);
	size_t i;

	if (space_look(t->space, tr->root, t->pid) < 0) {
		return error_nomem(tr->err);
	}
	for (i = 0; i < t->space->nmaps; i++) {
		if (t->space->maps[i].fresh) {
			t->space->maps[i].fresh = false;
			tape_map(tr->tape, &id, &t->space->maps[i]);
		}
	}
	return 0;
}

void tracer_resume(struct task *t, int request)
{
	long sig = t->signal;

	if (t->dirty) {
		(void)ptrace(PTRACE_SETREGS, t->tid, NULL, &t->regs);
	}
	t->dirty = false;
	t->signal = 0;
	/* a failure: it was killed, which is reported */
	(void)ptrace(request, t->tid, NULL, sig);
}

/* ---- beginning ---- */

static int seize(struct tracer *tr, pid_t tid, int options)
{
	if (ptrace(PTRACE_SEIZE, tid, NULL, (long)options) == 0) {
		return 0;
	}
	(void)error_errno(tr->err, errno == ESRCH ? SONDE_ENOENT : SONDE_EPERM, errno,
	        "cannot trace process %d", (int)tid);
	return errno == EPERM ? error_append(tr->err,
	                                "; another program traces it, or it belongs to another "
	                                "user; see also "
	                                "/proc/sys/kernel/yama/ptrace_scope")
	                      : error_status(tr->err);
}

int tracer_seize_workload(struct tracer *tr, pid_t pid)
{
	struct task *t;

	TRY(seize(tr, pid, OPTIONS | PTRACE_O_EXITKILL));
	t = tracer_add(tr, pid, pid);
	if (t == NULL) {
		return error_nomem(tr->err);
	}
	t->foreign = t->outside = true;
	t->state = TASK_KERNEL;
	t->ppid = getpid();
	tr->workload = pid;
	return 0;
}

static int attach_thread(struct tracer *tr, pid_t tid, pid_t pid, struct space **space)
{
	struct task *t;

	if (tracer_find(tr, tid) != NULL) {
		return 0;
	}
	TRY(seize(tr, tid, OPTIONS));
	t = tracer_add(tr, tid, pid);
	if (t == NULL) {
		return error_nomem(tr->err);
	}
	if (*space == NULL) {
		*space = space_new(tr->root, pid, tr->filter, NULL);
		if (*space == NULL || space_look(*space, tr->root, pid) < 0) {
			return error_nomem(tr->err);
		}
	} else {
		(*space)->users++;
	}
	t->space = *space;
	t->outside = true;
	t->state = TASK_KERNEL;
	t->attaching = true;
	(void)ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	return 1;
}

int tracer_attach(struct tracer *tr, pid_t pid)
{
	struct space *space = NULL;
	struct proc_status status;
	size_t i, n, fresh = 1;
	char path[64];
	pid_t *tids;
	int rc = 0;

	if (!proc_status_read(tr->root, pid, pid, &status)) {
		return error_set(
		        tr->err, SONDE_ENOENT, NO_OFFSET, "there is no process %d", (int)pid);
	}
	TRY(tape_running(tr->tape, pid));
	(void)snprintf(path, sizeof(path), "proc/%d/task", (int)pid);
	while (fresh > 0 && rc >= 0) { /* threads may be started meanwhile */
		fresh = 0;
		if (proc_list_numbers(tr->root, path, &tids, &n) < 0) {
			break;
		}
		for (i = 0; i < n && rc >= 0; i++) {
			rc = attach_thread(tr, tids[i], pid, &space);
			fresh += rc > 0;
		}
		free(tids);
	}
	for (i = 0; space != NULL && i < space->nmaps; i++) {
		space->maps[i].fresh = false; /* recorded by tape_running */
	}
	for (i = 0; i < tr->n; i++) {
		tr->tasks[i]->ppid = tr->tasks[i]->pid == pid ? status.ppid : tr->tasks[i]->ppid;
	}
	return rc < 0 ? rc : 0;
}

/* ---- the run ---- */

static struct task *running(const struct tracer *tr)
{
	size_t i;

	for (i = 0; i < tr->n; i++) {
		if (tr->tasks[i]->state == TASK_RUNNING) {
			return tr->tasks[i];
		}
	}
	return NULL;
}

/* The next task that can run user code: the last one until its slice ends. */
static struct task *pick(const struct tracer *tr)
{
	struct task *on = tr->on_cpu, *t;
	size_t i, at = 0;

	if (on != NULL && on->state == TASK_READY && on->track->flow.cycles <= tr->slice) {
		return on;
	}
	for (i = 0; on != NULL && i < tr->n; i++) {
		at = tr->tasks[i] == on ? i + 1 : at;
	}
	for (i = 0; i < tr->n; i++) {
		t = tr->tasks[(at + i) % tr->n];
		if (t->state == TASK_READY) {
			return t;
		}
	}
	return NULL;
}

/*
 * Waits for the next stop, 20 ms at most. 1: *tid stopped; 0: none yet; -1: no tasks are left. SIGCHLD is
 * blocked, so that it stays pending until this function waits for it.
 */
static int wait_stop(pid_t *tid, int *status, const sigset_t *child, int spins)
{
	const struct timespec most = {.tv_nsec = WAIT_NS};
	int i;

	for (i = 0; i < spins; i++) {
		*tid = waitpid(-1, status, __WALL | WNOHANG);
		if (*tid != 0) {
			return *tid > 0 ? 1 : -1;
		}
	}
	if (spins < SPINS) {
		return 0;
	}
	(void)sigtimedwait(child, NULL, &most);
	*tid = waitpid(-1, status, __WALL | WNOHANG);
	return *tid > 0 ? 1 : *tid == 0 ? 0 : -1;
}

/* Handles one stop. 1: one was handled; 0: none came; SONDE_... */
static int wait_once(struct tracer *tr, const sigset_t *child, int spins)
{
	pid_t tid;
	int status, rc = wait_stop(&tid, &status, child, spins);

	if (rc < 0) {
		while (tr->n > 0) { /* none of them is ours any more */
			tracer_remove(tr, tr->tasks[0]);
		}
		return 1;
	}
	if (rc == 0) {
		return 0;
	}
	TRY(tracer_stopped(tr, tid, status));
	return 1;
}

static bool any_attaching(const struct tracer *tr)
{
	size_t i;

	for (i = 0; i < tr->n; i++) {
		if (tr->tasks[i]->attaching) {
			return true;
		}
	}
	return false;
}

static bool any_ready(const struct tracer *tr)
{
	size_t i;

	for (i = 0; i < tr->n; i++) {
		if (tr->tasks[i]->state == TASK_READY) {
			return true;
		}
	}
	return false;
}

/* Resumes a task if none runs, and handles a stop. */
static int turn(struct tracer *tr, const sigset_t *child)
{
	struct task *t = running(tr);
	int rc;

	if (any_attaching(tr)) {
		return wait_once(tr, child, SPINS); /* before there are breakpoints */
	}
	if (t != NULL) {
		rc = wait_once(tr, child, SPINS);
		if (rc == 0 && running(tr) == t) { /* an endless loop, perhaps */
			(void)ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
		}
		return rc;
	}
	if (tr->on_cpu != NULL && tr->on_cpu->state == TASK_KERNEL && any_ready(tr)) {
		rc = wait_once(tr, child, GRACE);
		if (rc != 0) {
			return rc;
		}
	}
	t = pick(tr);
	if (t == NULL) {
		return wait_once(tr, child, SPINS);
	}
	TRY(tracer_switch(tr, t));
	if (t->track->flow.cycles > tr->slice) {
		tr->slice = t->track->flow.cycles;
	}
	return tracer_run_task(tr, t);
}

/* ---- the end ---- */

static size_t count_held(const struct tracer *tr)
{
	size_t i, n = 0;

	for (i = 0; i < tr->n; i++) {
		n += (tr->tasks[i]->state == TASK_READY && !tr->tasks[i]->swallow) ||
		     tr->tasks[i]->state == TASK_ORPHAN;
	}
	return n;
}

/* Lets the pending signals of our breakpoints arrive: they would end the program. */
static void drain_traps(struct tracer *tr)
{
	size_t i;

	for (i = 0; i < tr->n; i++) {
		if (tr->tasks[i]->state == TASK_READY && tr->tasks[i]->swallow) {
			tr->tasks[i]->state = TASK_RUNNING;
			tracer_resume(tr->tasks[i], PTRACE_SYSCALL);
		}
	}
}

static void let_go(struct task *t)
{
	if (t->patch_at != 0) {
		(void)space_store(t->space, t->patch_at, &t->patch, sizeof(t->patch));
	}
	tracer_resume(t, PTRACE_DETACH);
}

/* Stops all tasks, removes the breakpoints, and lets the tasks run without a tracer. */
static int detach(struct tracer *tr, const sigset_t *child)
{
	uint64_t until = host_now_ns(CLOCK_MONOTONIC) + DETACH_MS * 1000000ull;
	size_t i;
	int rc = 0;

	tr->detaching = true;
	for (i = 0; i < tr->n; i++) {
		if (tr->tasks[i]->state != TASK_READY) {
			(void)ptrace(PTRACE_INTERRUPT, tr->tasks[i]->tid, NULL, NULL);
		}
	}
	while (rc >= 0 && count_held(tr) < tr->n && host_now_ns(CLOCK_MONOTONIC) < until) {
		drain_traps(tr);
		rc = wait_once(tr, child, SPINS);
	}
	if (tr->on_cpu != NULL && !tr->on_cpu->outside) {
		rc = rc < 0 ? rc : tracer_left(tr, tr->on_cpu, false);
	}
	for (i = 0; i < tr->n; i++) {
		if (tr->tasks[i]->space != NULL) {
			space_clean(tr->tasks[i]->space, 0, UINT64_MAX);
		}
	}
	for (i = 0; i < tr->n; i++) {
		let_go(tr->tasks[i]);
	}
	return rc;
}

/* Writes rounds and snapshots. 1: the run ends. */
static int write_out(struct tracer *tr)
{
	size_t i;
	int rc = 0;

	if (tr->snapshot_fd >= 0 && host_wake_take(tr->snapshot_fd) > 0) {
		TRY(tape_snapshot(tr->tape, &tr->track));
	}
	if (tr->tape->per_cpu) {
		rc = tape_pass(tr->tape, &tr->track, false);
	}
	for (i = 0; !tr->tape->per_cpu && i < tr->n && rc == 0; i++) {
		rc = tape_pass(tr->tape, tr->tasks[i]->track, false);
	}
	return rc;
}

static int run(struct tracer *tr, const sigset_t *child)
{
	unsigned turns = 0;
	int rc = 0;

	while (rc >= 0 && tr->n > 0) {
		rc = turn(tr, child);
		if (rc < 0 || (rc == 1 && ++turns % CHECKS != 0)) {
			continue;
		}
		rc = write_out(tr);
		if (rc > 0 || (rc == 0 && host_wake_take(tr->stop_fd) > 0)) {
			return detach(tr, child);
		}
	}
	return rc;
}

static void block_child(sigset_t *child, sigset_t *old)
{
	(void)sigemptyset(child);
	(void)sigaddset(child, SIGCHLD);
	(void)pthread_sigmask(SIG_BLOCK, child, old);
}

void tracer_release(struct tracer *tr)
{
	sigset_t child, old;

	if (tr->n > 0 && !tr->detaching) {
		block_child(&child, &old);
		(void)detach(tr, &child);
		(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	}
}

int tracer_run(struct tracer *tr)
{
	sigset_t child, old;
	size_t i;
	int rc;

	block_child(&child, &old);
	rc = run(tr, &child);
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc < 0) {
		tracer_release(tr);
	}
	for (i = 0; rc >= 0 && !tr->tape->per_cpu && i < tr->n; i++) {
		rc = tape_pass(tr->tape, tr->tasks[i]->track, true);
	}
	return rc < 0 ? rc : 0;
}

void tracer_fini(struct tracer *tr)
{
	size_t i;

	for (i = 0; i < tr->n; i++) {
		free_task(tr, tr->tasks[i]);
	}
	free(tr->tasks);
	tape_track_fini(&tr->track);
	tr->tasks = NULL;
	tr->n = 0;
}
