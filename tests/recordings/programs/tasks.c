/* SPDX-License-Identifier: MIT */
/* A task that names itself, forks two children, of which one executes spin, and has a thread. */
#include "start.h"

#define PR_SET_NAME 15
#define SIGCHLD     17
#define STACK       4096
#define RW          3 /* PROT_READ | PROT_WRITE */
#define ANONYMOUS   0x22 /* MAP_PRIVATE | MAP_ANONYMOUS */

static volatile unsigned long sum;
static volatile int done;

__attribute__((noinline)) void work(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		sum += i;
	}
}

__attribute__((noinline)) void thread_work(void)
{
	CALL(__NR_prctl, PR_SET_NAME, "helper", 0);
	work(4000000);
	done = 1;
	CALL(__NR_exit, 0, 0, 0);
}

/* clone with VM, FS, FILES, SIGHAND and THREAD: the child begins with an empty stack. */
long thread_start(void *top);
__asm__(".globl thread_start\n"
        ".type thread_start, @function\n"
        "thread_start:\n"
        "\tmov %rdi, %rsi\n"
        "\tmov $0x10f00, %edi\n"
        "\txor %edx, %edx\n"
        "\txor %r10d, %r10d\n"
        "\txor %r8d, %r8d\n"
        "\tmov $56, %eax\n"
        "\tsyscall\n"
        "\ttest %rax, %rax\n"
        "\tjnz 1f\n"
        "\txor %ebp, %ebp\n"
        "\tcall thread_work\n"
        "1:\tret\n"
        ".size thread_start, . - thread_start\n");

static void wait_for(long pid)
{
	call6(__NR_wait4, pid, 0, 0, 0, 0, 0);
}

int program(long argc, char **argv)
{
	char *words[] = {"/mnt/spin", "2500", 0};
	char *none[] = {0};
	long pid;

	(void)argc;
	(void)argv;
	work(4000000);
	CALL(__NR_prctl, PR_SET_NAME, "renamed", 0);
	work(4000000);
	pid = call6(__NR_clone, SIGCHLD, 0, 0, 0, 0, 0);
	if (pid == 0) {
		CALL(__NR_prctl, PR_SET_NAME, "child", 0);
		work(4000000);
		return 3;
	}
	wait_for(pid);
	pid = call6(__NR_clone, SIGCHLD, 0, 0, 0, 0, 0);
	if (pid == 0) {
		work(2000000);
		CALL(__NR_execve, words[0], words, none);
		return 4;
	}
	wait_for(pid);
	thread_start((void *)(call6(__NR_mmap, 0, STACK, RW, ANONYMOUS, -1, 0) + STACK));
	while (!done) {
		CALL(__NR_sched_yield, 0, 0, 0);
	}
	work(4000000);
	return 0;
}
