/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "softpt/probe.h"

#include <signal.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define SINGLEBLOCK 33 /* PTRACE_SINGLEBLOCK of x86 */

/* The child executes eight instructions without a branch after its trap. */
static void run_child(void)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) {
		_exit(1);
	}
	__asm__ volatile("int3\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\tnop\n\t"
	                 "jmp 1f\n\tnop\n1:");
	_exit(0);
}

static bool wait_trap(pid_t child, struct user_regs_struct *regs)
{
	int status;

	return waitpid(child, &status, 0) == child && WIFSTOPPED(status) &&
	       WSTOPSIG(status) == SIGTRAP && ptrace(PTRACE_GETREGS, child, NULL, regs) == 0;
}

bool softpt_probe_block_steps(void)
{
	struct user_regs_struct before, after;
	pid_t child = fork();
	bool skips;

	if (child == 0) {
		run_child();
	}
	if (child < 0) {
		return false;
	}
	skips = wait_trap(child, &before) && ptrace(SINGLEBLOCK, child, NULL, NULL) == 0 &&
	        wait_trap(child, &after) && after.rip > before.rip + 8;
	(void)kill(child, SIGKILL);
	(void)waitpid(child, NULL, 0);
	return skips;
}
