/* SPDX-License-Identifier: MIT */
/* Programs that are hard to trace: subject CASE. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

volatile unsigned n;
static volatile int count;

__attribute__((noinline)) void leaf(unsigned i)
{
	n += i * 3 + 1;
}

__attribute__((noinline)) void work(void)
{
	unsigned i;

	for (i = 0; i < 100; i++) {
		leaf(i);
	}
}

__attribute__((noinline)) void last(void)
{
	work();
}

static void *loop(void *arg)
{
	for (;;) {
		work();
		if (arg != NULL) {
			(void)usleep(1000);
		}
	}
	return NULL;
}

static void *execute(void *arg)
{
	char *const argv[] = {(char *)"/bin/true", NULL};

	(void)arg;
	(void)usleep(20000);
	(void)execv(argv[0], argv);
	return NULL;
}

static void on_signal(int sig)
{
	(void)sig;
	count++;
}

static pid_t busy_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		(void)loop(NULL);
	}
	(void)usleep(50000);
	return child;
}

static int run_spin(void)
{
	for (;;) {
		__asm__ volatile("1: jmp 1b");
	}
	return 1;
}

static int run_threads(void)
{
	pthread_t thread;
	long i;

	for (i = 0; i < 3; i++) {
		(void)pthread_create(&thread, NULL, loop, i == 1 ? &thread : NULL);
	}
	(void)loop(NULL);
	return 1;
}

/* A thread that is not the first one executes another program. */
static int run_exec(void)
{
	pthread_t thread;

	(void)pthread_create(&thread, NULL, execute, NULL);
	(void)loop(NULL);
	return 1;
}

static int run_kill(void)
{
	pid_t child = busy_child();
	int status = 0;

	(void)kill(child, SIGKILL);
	(void)waitpid(child, &status, 0);
	return WTERMSIG(status) == SIGKILL ? 0 : 1;
}

static int run_stop(void)
{
	pid_t child = busy_child();
	int status = 0, stopped;

	(void)kill(child, SIGSTOP);
	(void)waitpid(child, &status, WUNTRACED);
	stopped = WIFSTOPPED(status);
	(void)kill(child, SIGCONT);
	(void)waitpid(child, &status, WCONTINUED);
	(void)usleep(20000);
	(void)kill(child, SIGTERM);
	(void)waitpid(child, &status, 0);
	return stopped && WTERMSIG(status) == SIGTERM ? 0 : 1;
}

/* A child made with CLONE_UNTRACED: the kernel does not attach the tracer to it. */
static int run_untraced(void)
{
	pid_t child = (pid_t)syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, NULL, NULL, NULL, NULL);
	int status = 0;

	if (child == 0) {
		work();
		_exit(3);
	}
	(void)waitpid(child, &status, 0);
	return WEXITSTATUS(status) == 3 ? 0 : 1;
}

/* Signals interrupt code, and system calls that start again. */
static int run_interrupts(void)
{
	const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	pid_t self = getpid(), child;
	int status, i;

	(void)sigaction(SIGUSR1, &action, NULL);
	child = fork();
	for (i = 0; child == 0 && i < 20; i++) {
		(void)usleep(3000);
		(void)kill(self, SIGUSR1);
	}
	if (child == 0) {
		_exit(0);
	}
	for (i = 0; i < 100; i++) {
		work();
	}
	return waitpid(child, &status, 0) == child && count > 0 ? 0 : 1;
}

/* A breakpoint instruction of its own. */
static int run_trap(void)
{
	(void)signal(SIGTRAP, on_signal);
	__asm__ volatile("int3");
	return count == 1 ? 0 : 1;
}

static int run_work(void)
{
	work();
	last();
	return 0;
}

static int run_busy(void)
{
	(void)loop(NULL);
	return 1;
}

static int run_sleep(void)
{
	(void)loop((void *)&count);
	return 1;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} cases[] = {{"spin", run_spin}, {"busy", run_busy}, {"sleep", run_sleep},
	        {"threads", run_threads}, {"exec", run_exec}, {"kill", run_kill},
	        {"stop", run_stop}, {"untraced", run_untraced}, {"interrupts", run_interrupts},
	        {"trap", run_trap}, {"work", run_work}};
	size_t i;

	for (i = 0; argc > 1 && i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(argv[1], cases[i].name) == 0) {
			return cases[i].run();
		}
	}
	return 2;
}
