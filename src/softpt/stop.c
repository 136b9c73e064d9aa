/* SPDX-License-Identifier: MIT */
/* What a stop of a task means. */
#define _GNU_SOURCE
#include "core/span.h"
#include "host/wait.h"
#include "proc/proc.h"
#include "softpt/tracer.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define EVENT_OF(status)  ((unsigned)(status) >> 16)
#define SYSCALL_STOP      (SIGTRAP | 0x80)
#define RESTART_FIRST     (-516) /* errors with which a system call is repeated */
#define RESTART_LAST      (-512)
#define SYSCALL_INSN_SIZE 2u
#define CLONE_32          120u /* numbers of system calls in 32-bit programs */
#define VFORK_32          190u

static bool get_regs(struct task *t)
{
	t->dirty = false;
	return ptrace(PTRACE_GETREGS, t->tid, NULL, &t->regs) == 0;
}

static unsigned long event_message(const struct task *t)
{
	unsigned long message = 0;

	return ptrace(PTRACE_GETEVENTMSG, t->tid, NULL, &message) == 0 ? message : 0;
}

static void in_kernel(struct task *t)
{
	t->state = TASK_KERNEL;
	tracer_resume(t, PTRACE_SYSCALL);
}

/* ---- system calls ---- */

/* CLONE_UNTRACED would let a child run into breakpoints. */
static void keep_traced(struct task *t)
{
	uint64_t flags, nr = t->regs.orig_rax;

	if (!t->space->wide) {
		if (nr == CLONE_32) {
			t->regs.rbx &= ~(unsigned long long)CLONE_UNTRACED;
			t->dirty = true;
		}
		return;
	}
	if (nr == SYS_clone && (t->regs.rdi & CLONE_UNTRACED) != 0) {
		t->regs.rdi &= ~(unsigned long long)CLONE_UNTRACED;
		t->dirty = true;
	} else if (nr == SYS_clone3 && space_load(t->space, t->regs.rdi, &flags, 8) &&
	           (flags & CLONE_UNTRACED) != 0) {
		t->patch_at = t->regs.rdi;
		t->patch = flags;
		flags &= ~(uint64_t)CLONE_UNTRACED;
		(void)space_store(t->space, t->patch_at, &flags, 8);
	}
}

/* Code that becomes writable, or moves, must not have breakpoints. */
static void before_mapping(struct task *t)
{
	uint64_t nr = t->regs.orig_rax;

	if ((nr == SYS_mprotect || nr == SYS_pkey_mprotect || nr == SYS_mremap) &&
	        space_overlaps(t->space, t->regs.rdi, t->regs.rsi)) {
		space_clean(t->space, 0, UINT64_MAX);
	}
}

static bool changes_code(const struct task *t)
{
	const struct user_regs_struct *r = &t->regs;
	bool exec = (r->rdx & PROT_EXEC) != 0;

	if (!t->space->wide) {
		return true; /* their numbers differ, and no breakpoint depends on it */
	}
	switch (r->orig_rax) {
	case SYS_mmap:
		return exec ||
		       ((r->r10 & MAP_FIXED) != 0 && space_overlaps(t->space, r->rdi, r->rsi));
	case SYS_mprotect:
	case SYS_pkey_mprotect: return exec || space_overlaps(t->space, r->rdi, r->rsi);
	case SYS_munmap: return space_overlaps(t->space, r->rdi, r->rsi);
	case SYS_mremap:
	case SYS_shmat:
	case SYS_remap_file_pages: return true;
	default: return false;
	}
}

static int enter(struct tracer *tr, struct task *t)
{
	t->in_syscall = true;
	tr->counts.syscalls++;
	if (t->restarts) {
		/* the kernel went back to the instruction, which it repeats */
		t->restarts = false;
		if (t->outside && tr->on_cpu == t) {
			t->entering = true;
			TRY(tracer_enter(tr, t, t->regs.rip - SYSCALL_INSN_SIZE));
		}
	} else if (t->block != NULL) {
		t->regs.rip -= SYSCALL_INSN_SIZE;
		if (t->regs.rip == t->block->start) {
			TRY(tracer_enter(tr, t, t->regs.rip));
		}
		TRY(tracer_arrived(tr, t));
		t->regs.rip += SYSCALL_INSN_SIZE;
	} else {
		TRY(tracer_enter(tr, t, t->regs.rip - SYSCALL_INSN_SIZE));
	}
	t->block = NULL;
	t->lifted = t->stepping = false;
	TRY(tracer_left(tr, t, true));
	keep_traced(t);
	before_mapping(t);
	in_kernel(t);
	return 0;
}

static bool may_restart(const struct task *t)
{
	int64_t result = (int64_t)t->regs.rax;

	return (int64_t)t->regs.orig_rax >= 0 && result >= RESTART_FIRST && result <= RESTART_LAST;
}

static void rename_task(struct tracer *tr, struct task *t)
{
	struct tape_task id = tracer_id(t);
	struct proc_status status;

	if (t->regs.orig_rax == SYS_prctl && t->regs.rdi == 15 && /* PR_SET_NAME */
	        proc_status_read(tr->root, t->pid, t->tid, &status)) {
		tape_comm(tr->tape, &id, status.comm, false);
	}
}

static int leave(struct tracer *tr, struct task *t)
{
	t->in_syscall = false;
	if (t->patch_at != 0) {
		(void)space_store(t->space, t->patch_at, &t->patch, 8);
		t->patch_at = 0;
	}
	if (t->foreign) {
		in_kernel(t);
		return 0;
	}
	flow_anchor(&t->track->flow, host_now_ns(CLOCK_MONOTONIC));
	if ((int64_t)t->regs.rax >= 0 || t->regs.orig_rax == SYS_mmap) {
		rename_task(tr, t);
		if (changes_code(t)) {
			TRY(tracer_look(tr, t));
		}
	}
	t->restarts = may_restart(t);
	t->state = TASK_READY;
	return 0;
}

/* ---- signals ---- */

/* Whether a signal is in a set of /proc/PID/status; name: of its line, as "\nSigCgt:". */
static bool has_signal(const struct tracer *tr, const struct task *t, const char *name, int sig)
{
	char path[96];
	struct text text = {0};
	unsigned long long mask = 0;
	const char *line;

	(void)snprintf(path, sizeof(path), "proc/%d/task/%d/status", (int)t->pid, (int)t->tid);
	if (proc_read_file(tr->root, path, &text)) {
		text_char(&text, '\0');
		line = text.failed ? NULL : strstr(text.p, name);
		mask = line != NULL ? strtoull(line + strlen(name), NULL, 16) : 0;
	}
	text_fini(&text);
	return (mask >> (sig - 1) & 1) != 0;
}

static int got_signal(struct tracer *tr, struct task *t, int sig)
{
	tr->counts.signals++;
	TRY(tracer_arrived(tr, t));
	if (t->lifted) { /* the instruction was not executed */
		(void)space_break(t->space, t->from);
		t->lifted = false;
	}
	t->entering = t->stepping = false;
	t->signal = sig;
	if (t->foreign) {
		tracer_resume(t, PTRACE_CONT);
		return 0;
	}
	if (!has_signal(tr, t, "\nSigCgt:", sig)) {
		/* ignored, or it ends or stops the task, which is reported */
		t->state = TASK_READY;
		return 0;
	}
	TRY(tracer_left(tr, t, false));
	t->restarts = false;
	t->state = TASK_RUNNING;
	tracer_resume(t, PTRACE_SINGLESTEP); /* stops at the handler's first instruction */
	return 0;
}

static int trap(struct tracer *tr, struct task *t)
{
	bool own;

	TRY(tracer_trapped(tr, t, &own));
	if (own) {
		return got_signal(tr, t, SIGTRAP);
	}
	t->state = TASK_READY;
	return 0;
}

/* ---- processes ---- */

static uint64_t clone_flags(const struct task *t)
{
	uint64_t flags = 0;

	if (!t->space->wide) {
		return t->regs.orig_rax == CLONE_32   ? t->regs.rbx
		       : t->regs.orig_rax == VFORK_32 ? CLONE_VM | CLONE_VFORK
		                                      : 0;
	}
	if (t->regs.orig_rax == SYS_clone) {
		return t->regs.rdi;
	}
	if (t->regs.orig_rax == SYS_clone3) {
		(void)space_load(t->space, t->regs.rdi, &flags, 8);
		return flags;
	}
	return t->regs.orig_rax == SYS_vfork ? CLONE_VM | CLONE_VFORK : 0;
}

/* A child is stopped, and its parent is known. */
static int begin_child(struct task *child)
{
	if (!get_regs(child)) {
		return 0;
	}
	child->outside = true;
	child->state = TASK_READY;
	return 0;
}

static int forked(struct tracer *tr, struct task *t)
{
	pid_t tid = (pid_t)event_message(t);
	uint64_t flags;
	struct task *child = tracer_find(tr, tid);
	struct tape_task id;

	if (!get_regs(t) || tid == 0) {
		return 0;
	}
	flags = clone_flags(t);
	child = child != NULL ? child : tracer_add(tr, tid, tid);
	if (child == NULL) {
		return error_nomem(tr->err);
	}
	child->pid = (flags & CLONE_THREAD) != 0 ? t->pid : tid;
	child->ppid = (flags & CLONE_THREAD) != 0 ? t->ppid : t->pid;
	if ((flags & CLONE_VM) != 0) {
		child->space = t->space;
		child->space->users++;
	} else {
		child->space = space_new(tr->root, tid, tr->filter, t->space);
		if (child->space == NULL || space_look(child->space, tr->root, tid) < 0) {
			return error_nomem(tr->err);
		}
	}
	child->begun = t->begun;
	id = tracer_id(child);
	tape_fork(tr->tape, &id, t->pid, t->tid);
	if (child->state == TASK_ORPHAN) {
		TRY(begin_child(child));
	}
	return 0;
}

/* A task is gone. Its last registers are unknown: the flow ends where its last block began. */
static int end_flow(struct tracer *tr, struct task *t)
{
	if (t->outside || tr->on_cpu != t) {
		return 0;
	}
	t->regs.rip = t->block != NULL ? t->block->start : t->regs.rip;
	return tracer_left(tr, t, false);
}

static int remove_task(struct tracer *tr, struct task *t)
{
	if (!tr->tape->per_cpu) {
		TRY(tape_pass(tr->tape, t->track, true));
	}
	tracer_remove(tr, t);
	return 0;
}

/*
 * The other threads are gone, and a thread that was not the leader becomes the leader. The end of the
 * former leader is not reported if it was killed in a stop. Sets *out, to NULL if the thread is unknown.
 */
static int take_leader(struct tracer *tr, pid_t tid, pid_t former, struct task **out)
{
	struct task *leader = tracer_find(tr, tid);
	struct task *t = former != 0 && former != tid ? tracer_find(tr, former) : leader;

	*out = t != NULL ? t : leader;
	if (t == NULL || t == leader) {
		return 0;
	}
	if (leader != NULL) {
		TRY(end_flow(tr, leader));
		TRY(remove_task(tr, leader));
	}
	t->tid = tid;
	tr->last = NULL;
	return 0;
}

static int executed(struct tracer *tr, pid_t tid)
{
	unsigned long former = 0;
	struct proc_status status;
	struct tape_task id;
	struct task *t;

	(void)ptrace(PTRACE_GETEVENTMSG, tid, NULL, &former);
	TRY(take_leader(tr, tid, (pid_t)former, &t));
	if (t == NULL) {
		return 0;
	}
	if (t->space != NULL && --t->space->users == 0) {
		space_free(t->space);
	}
	t->space = space_new(tr->root, t->pid, tr->filter, NULL);
	t->block = NULL;
	t->lifted = t->foreign = false;
	t->in_syscall = t->outside = true;
	t->patch_at = 0;
	t->begun = (tr->filter->bits & FILTER_START) == 0;
	if (t->space == NULL) {
		return error_nomem(tr->err);
	}
	flow_anchor(&t->track->flow, host_now_ns(CLOCK_MONOTONIC));
	id = tracer_id(t);
	if (proc_status_read(tr->root, t->pid, t->tid, &status)) {
		tape_comm(tr->tape, &id, status.comm, true);
	}
	TRY(tracer_look(tr, t));
	in_kernel(t);
	return 0;
}

/*
 * It ends. If it was killed before it ran on, its registers are those of its last stop, and it is where
 * its block begins: tracer_arrived ends the flow there, which is no gap.
 */
static int ending(struct tracer *tr, struct task *t)
{
	uint64_t gaps = tr->counts.gaps;

	if (t->state == TASK_RUNNING && (!t->outside || t->entering) && get_regs(t)) {
		/* killed after a breakpoint, perhaps */
		t->swallow |= t->block != NULL && t->regs.rip == t->block->end + 1;
		TRY(tracer_arrived(tr, t));
		tr->counts.gaps = gaps;
	}
	if (t->state == TASK_RUNNING || t->state == TASK_READY) {
		TRY(tracer_left(tr, t, false));
	}
	t->state = TASK_KERNEL;
	(void)ptrace(PTRACE_CONT, t->tid, NULL, NULL);
	return 0;
}

static int ended(struct tracer *tr, struct task *t, int status)
{
	struct tape_task id = tracer_id(t);

	if (t->tid == tr->workload) {
		tr->workload_status = status;
	}
	TRY(end_flow(tr, t));
	if (!t->foreign && t->space != NULL) {
		tape_exit(tr->tape, &id, t->tid == t->pid ? t->ppid : t->pid,
		        t->tid == t->pid ? t->ppid : t->pid);
	}
	return remove_task(tr, t);
}

/* ---- all stops ---- */

/* A stop by PTRACE_INTERRUPT, the first one of a child, or of all threads by a signal. */
static int event_stop(struct tracer *tr, struct task *t, int sig)
{
	t->attaching = false;
	if (!tr->detaching &&
	        (sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU)) {
		if (t->state == TASK_RUNNING && get_regs(t)) {
			t->swallow |= has_signal(tr, t, "\nSigPnd:", SIGTRAP);
			TRY(tracer_arrived(tr, t));
		}
		t->state = TASK_PARKED;
		(void)ptrace(PTRACE_LISTEN, t->tid, NULL, NULL);
		return 0;
	}
	if (!get_regs(t)) {
		return 0;
	}
	if (t->state == TASK_BORN && t->space == NULL) {
		t->state = TASK_ORPHAN; /* its parent's report comes next */
		return 0;
	}
	if (t->state == TASK_BORN) {
		return begin_child(t);
	}
	if (t->in_syscall && !tr->detaching) { /* an attached task keeps sleeping */
		in_kernel(t);
		return 0;
	}
	if (t->state == TASK_RUNNING) {
		t->swallow |= has_signal(tr, t, "\nSigPnd:", SIGTRAP);
		TRY(tracer_arrived(tr, t));
	}
	t->entering = false;
	t->restarts |= may_restart(t);
	t->state = TASK_READY;
	return 0;
}

static int event(struct tracer *tr, struct task *t, unsigned kind, int sig)
{
	switch (kind) {
	case PTRACE_EVENT_FORK:
	case PTRACE_EVENT_VFORK:
	case PTRACE_EVENT_CLONE: TRY(forked(tr, t)); break;
	case PTRACE_EVENT_EXIT: return ending(tr, t);
	case PTRACE_EVENT_STOP: return event_stop(tr, t, sig);
	default: break;
	}
	in_kernel(t);
	return 0;
}

int tracer_stopped(struct tracer *tr, pid_t tid, int status)
{
	struct task *t = tracer_find(tr, tid);
	int sig = WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
	unsigned kind = WIFSTOPPED(status) ? EVENT_OF(status) : 0;

	if (kind == PTRACE_EVENT_EXEC) {
		return executed(tr, tid);
	}
	if (t == NULL) {
		if (!WIFSTOPPED(status)) {
			return 0; /* it ended before its parent's report */
		}
		t = tracer_add(tr, tid, tid);
		if (t == NULL) {
			return error_nomem(tr->err);
		}
	}
	if (!WIFSTOPPED(status)) {
		return ended(tr, t, status);
	}
	if (kind != 0) {
		return event(tr, t, kind, sig);
	}
	if (!get_regs(t)) {
		return 0; /* it was killed */
	}
	if (sig == SYSCALL_STOP) {
		return t->in_syscall ? leave(tr, t) : enter(tr, t);
	}
	return sig == SIGTRAP && t->state == TASK_RUNNING ? trap(tr, t) : got_signal(tr, t, sig);
}
