/* SPDX-License-Identifier: MIT */
/*
 * Follows threads with ptrace. One of them at a time runs user code, as on a machine with one
 * processor, so that no thread can run over a place whose breakpoint is lifted for another one.
 * Others may be in system calls.
 */
#ifndef SONDE_SOFTPT_TRACER_H
#define SONDE_SOFTPT_TRACER_H

#include "softpt/tape.h"

#include <sys/user.h>

enum task_state {
	TASK_BORN, /* its first stop has not been reported yet */
	TASK_ORPHAN, /* stopped before its parent reported it */
	TASK_READY, /* stopped, can run user code */
	TASK_RUNNING, /* runs user code */
	TASK_KERNEL, /* in a system call, or ending */
	TASK_PARKED /* stopped by a signal such as SIGSTOP */
};

struct task {
	pid_t tid, pid, ppid;
	enum task_state state;
	struct space *space;
	struct tape_track *track; /* the processor's, or its own */
	struct user_regs_struct regs;
	bool dirty; /* regs have to be written */
	bool in_syscall; /* between the two stops of a system call */
	bool outside; /* its flow is in the kernel: it continues with TIP.PGE */
	bool entering; /* outside, but it was resumed: it continues unless a signal is delivered */
	bool restarts; /* the kernel may repeat its last system call */
	bool attaching; /* it runs freely until its first stop */
	bool foreign; /* a child that has not started the command yet */
	bool begun, halted; /* filters: after `start`, in `tracestop` */
	int signal; /* to be delivered */
	const struct block *block; /* that it runs; NULL: a single step */
	struct pt_insn insn; /* of the step */
	bool known; /* insn could be decoded */
	bool stepping; /* a single step has not been reported yet */
	bool swallow; /* the signal of a breakpoint or step that is dealt with is pending */
	bool trap_first; /* `swallow` when it was resumed: that signal comes before any instruction */
	bool lifted; /* a breakpoint was removed for the step */
	uint64_t from; /* its address */
	uint64_t patch_at, patch; /* memory to be restored after the system call; 0: none */
};

struct tracer_counts {
	uint64_t insns, stops, steps, syscalls, signals, gaps;
	uint64_t tasks, switches;
};

struct tracer {
	int root;
	struct error *err;
	struct tape *tape;
	const struct filter *filter;
	struct task **tasks;
	size_t n, cap;
	struct task *last; /* found last */
	struct task *on_cpu; /* whose user code ran last; NULL: none, or it has ended */
	uint64_t slice; /* cycles when others may run */
	struct tape_track track; /* of the processor */
	uint32_t ntracks; /* of tasks */
	bool step_all; /* no breakpoints */
	bool detaching; /* tasks that stop stay stopped */
	struct tracer_counts counts;
	int stop_fd, snapshot_fd; /* borrowed: raised by the user */
	pid_t workload; /* 0: none */
	int workload_status;
};

/* ---- tasks ---- */

struct task *tracer_find(struct tracer *tr, pid_t tid);
struct task *tracer_add(struct tracer *tr, pid_t tid, pid_t pid); /* NULL: out of memory */
void tracer_remove(struct tracer *tr, struct task *t);
struct tape_task tracer_id(const struct task *t);

/* Records code that was mapped since the last call. SONDE_ENOMEM. */
int tracer_look(struct tracer *tr, struct task *t);

/* Resumes a stopped task with its pending signal. */
void tracer_resume(struct task *t, int request);

/* ---- running user code ---- */

/* Makes the flow that of this task. */
int tracer_switch(struct tracer *tr, struct task *t);
/* Runs a TASK_READY up to the next place where it has to stop, or until its slice ends. */
int tracer_run_task(struct tracer *tr, struct task *t);
/* A trap of a TASK_RUNNING; *own: it was not one of ours, a signal. */
int tracer_trapped(struct tracer *tr, struct task *t, bool *own);
/* Any other stop at t->regs.rip of a TASK_RUNNING: accounts for the code it ran. */
int tracer_arrived(struct tracer *tr, struct task *t);
/* A task that was resumed in user code has executed code there, from this address on. */
int tracer_enter(struct tracer *tr, struct task *t, uint64_t from);
/* It has left user code: by its instruction (a system call), or before it (a signal). */
int tracer_left(struct tracer *tr, struct task *t, bool by_insn);

/* ---- stops ---- */

int tracer_stopped(struct tracer *tr, pid_t tid, int status);

/* ---- the run ---- */

int tracer_attach(struct tracer *tr, pid_t pid);
int tracer_seize_workload(struct tracer *tr, pid_t pid);
/* Until all tasks have ended or a stop is requested. */
int tracer_run(struct tracer *tr);
/* Lets all tasks go that still run, as after a failure. */
void tracer_release(struct tracer *tr);
void tracer_fini(struct tracer *tr);

#endif
