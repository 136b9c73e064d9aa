/* SPDX-License-Identifier: MIT */
/*
 * The reference for software PT: stepper PREFIX COMMAND... runs a command one instruction at a time, and
 * writes the branches of its N-th thread to PREFIX.N, a line "FROM TO" in hexadecimal for each. FROM 0:
 * it comes from the kernel; TO 0: it goes there. It follows threads and processes, each of which takes
 * turns of its own, and shares no code with the tracer but the table of instructions.
 */
#define _GNU_SOURCE
#include "pt/insn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 64

struct thread {
	pid_t tid;
	FILE *out;
	uint64_t ip; /* of the instruction that it executes */
	bool outside; /* in the kernel */
	bool delivered; /* the step only enters a signal handler */
	bool started;
};

static struct thread threads[THREADS];
static size_t nthreads;
static const char *prefix;

static struct thread *find(pid_t tid)
{
	char path[512];
	size_t i;

	for (i = 0; i < nthreads; i++) {
		if (threads[i].tid == tid) {
			return &threads[i];
		}
	}
	if (nthreads == THREADS) {
		exit(3);
	}
	(void)snprintf(path, sizeof(path), "%s.%zu", prefix, nthreads);
	threads[nthreads] = (struct thread){.tid = tid, .out = fopen(path, "w"), .outside = true};
	if (threads[nthreads].out == NULL) {
		exit(3);
	}
	return &threads[nthreads++];
}

static void put(struct thread *t, uint64_t from, uint64_t to)
{
	(void)fprintf(t->out, "%llx %llx\n", (unsigned long long)from, (unsigned long long)to);
}

static bool decode(pid_t tid, uint64_t ip, struct pt_insn *insn)
{
	uint8_t bytes[16];
	uint64_t word;
	size_t i;

	int rc = PT_INSN_TRUNCATED;

	for (i = 0; i < 2 && rc == PT_INSN_TRUNCATED; i++) {
		errno = 0;
		word = (uint64_t)ptrace(PTRACE_PEEKTEXT, tid, ip + 8 * i, NULL);
		if (errno != 0) {
			return false;
		}
		memcpy(bytes + 8 * i, &word, 8);
		rc = pt_insn_decode(bytes, 8 * i + 8, PT_MODE_64, insn);
	}
	return rc == PT_INSN_OK;
}

/* The instruction at t->ip was executed, and `to` is the next one. */
static void executed(struct thread *t, const struct pt_insn *insn, uint64_t to)
{
	if (t->outside) {
		put(t, 0, t->ip);
		t->outside = false;
	}
	if (insn->class >= PT_CLASS_FAR_CALL) {
		put(t, t->ip, 0);
		t->outside = true;
	} else if (insn->class != PT_CLASS_OTHER &&
	           (insn->class != PT_CLASS_COND || to != t->ip + insn->size)) {
		put(t, t->ip, to);
	}
}

static struct pt_insn insns[THREADS];

/* Executes the instruction at the thread's ip, or delivers a signal. */
static void step(struct thread *t, int sig)
{
	t->started = true;
	insns[t - threads] = (struct pt_insn){.size = 0};
	(void)decode(t->tid, t->ip, &insns[t - threads]);
	(void)ptrace(PTRACE_SINGLESTEP, t->tid, NULL, (long)sig);
}

static bool caught(pid_t tid, int sig)
{
	unsigned long long mask = 0;
	char path[64], line[256];
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	f = fopen(path, "r");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		(void)sscanf(line, "SigCgt: %llx", &mask);
	}
	if (f != NULL) {
		(void)fclose(f);
	}
	return (mask >> (sig - 1) & 1) != 0;
}

/* What was executed up to this stop. */
static void account(struct thread *t)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, t->tid, NULL, &regs) != 0) {
		return;
	}
	if (t->started && !t->delivered && regs.rip != t->ip) {
		executed(t, &insns[t - threads], regs.rip);
	}
	t->delivered = false;
	t->ip = regs.rip;
	t->started = false;
}

static void stopped(struct thread *t, int status)
{
	int sig = WSTOPSIG(status), event = status >> 16;

	if (event == PTRACE_EVENT_EXEC) {
		if (t->started && !t->outside) {
			executed(t, &insns[t - threads], 0);
		}
		t->outside = true;
		t->started = false;
	}
	if (event != 0 && event != PTRACE_EVENT_EXEC) {
		/* the system call is not over: the stop after it accounts for it */
		(void)ptrace(PTRACE_SINGLESTEP, t->tid, NULL, NULL);
		return;
	}
	if (event == PTRACE_EVENT_EXEC) {
		(void)ptrace(PTRACE_SINGLESTEP, t->tid, NULL, NULL);
		return;
	}
	account(t);
	if (sig == SIGTRAP || sig == SIGSTOP) {
		step(t, 0);
		return;
	}
	if (caught(t->tid, sig)) {
		if (!t->outside) {
			put(t, t->ip, 0);
		}
		t->outside = true;
		step(t, sig);
		t->delivered = true;
		return;
	}
	step(t, sig);
}

int main(int argc, char **argv)
{
	const long options = PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
	                     PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
	int status, result = 0;
	pid_t child, tid;
	size_t i;

	if (argc < 3) {
		return 2;
	}
	prefix = argv[1];
	child = fork();
	if (child == 0) {
		(void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		(void)raise(SIGSTOP);
		(void)execvp(argv[2], argv + 2);
		_exit(127);
	}
	(void)waitpid(child, &status, 0);
	(void)ptrace(PTRACE_SETOPTIONS, child, NULL, options);
	(void)ptrace(PTRACE_CONT, child, NULL, NULL); /* up to its exec */
	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		if (WIFSTOPPED(status)) {
			stopped(find(tid), status);
		} else {
			struct thread *t = find(tid);

			if (t->started && !t->outside) { /* exit: its last instruction */
				executed(t, &insns[t - threads], 0);
			}
			t->started = false;
			result = tid == child ? status : result;
		}
	}
	for (i = 0; i < nthreads; i++) {
		(void)fclose(threads[i].out);
	}
	return WIFEXITED(result) ? WEXITSTATUS(result) : 1;
}
