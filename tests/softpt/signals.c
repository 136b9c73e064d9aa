/* SPDX-License-Identifier: MIT */
/* Signals of its own, from instructions, nested, on another stack, left by longjmp. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int count;
static sigjmp_buf place;

static void on_user(int sig)
{
	count++;
	if (sig == SIGUSR1 && count < 4) {
		(void)raise(SIGUSR2);
	}
}

static void on_fault(int sig)
{
	(void)sig;
	siglongjmp(place, 1);
}

static int deep(int n, jmp_buf env)
{
	if (n == 0) {
		longjmp(env, 5);
	}
	return deep(n - 1, env) + 1;
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_user, .sa_flags = SA_ONSTACK};
	stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
	volatile int *volatile nowhere = NULL;
	volatile int i;
	jmp_buf env;

	(void)sigaltstack(&stack, NULL);
	(void)sigaction(SIGUSR1, &action, NULL);
	(void)sigaction(SIGUSR2, &action, NULL);
	action.sa_handler = on_fault;
	(void)sigaction(SIGSEGV, &action, NULL);
	(void)sigaction(SIGILL, &action, NULL);
	for (i = 0; i < 5; i++) {
		(void)raise(SIGUSR1);
	}
	(void)raise(SIGCHLD); /* ignored */
	for (i = 0; i < 3; i++) {
		if (sigsetjmp(place, 1) == 0) {
			*nowhere = 1;
		}
	}
	if (sigsetjmp(place, 1) == 0) {
		__asm__ volatile("ud2");
	}
	if (setjmp(env) == 0) {
		(void)deep(10, env);
	}
	return count > 0 ? 0 : 1;
}
