/* SPDX-License-Identifier: MIT */
/*
 * A program that logs its own calls, for tests of traces: "+NAME" at the entry of a function, "-" when
 * it returns, "~" when longjmp ends it. The log of the main thread is printed at the end.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static char text[65536];
static size_t used;
static jmp_buf env;
static volatile int sink;

#define ENTER()                                                                                    \
	do {                                                                                       \
		text[used++] = '+';                                                                \
		for (const char *p = __func__; *p != '\0'; p++) {                                  \
			text[used++] = *p;                                                         \
		}                                                                                  \
		text[used++] = '\n';                                                               \
	} while (0)

#define LEAVE(how)                                                                                 \
	do {                                                                                       \
		text[used++] = (how);                                                              \
		text[used++] = '\n';                                                               \
	} while (0)

#define KEPT __attribute__((noinline, optimize("no-optimize-sibling-calls")))

KEPT static void leaf(int n)
{
	ENTER();
	for (int i = 0; i < n; i++) {
		sink += i;
	}
	LEAVE('-');
}

KEPT static void pair(int n)
{
	ENTER();
	leaf(n);
	leaf(2 * n);
	LEAVE('-');
}

KEPT static int recurse(int n)
{
	int result = 0;

	ENTER();
	if (n != 0) {
		result = recurse(n - 1) + 1;
		leaf(n);
	}
	LEAVE('-');
	return result;
}

KEPT static void thrower(int n)
{
	ENTER();
	leaf(n);
	LEAVE('~');
	longjmp(env, 1);
}

KEPT static void middle(int n)
{
	ENTER();
	LEAVE('~');
	thrower(n);
}

KEPT static void catcher(int n)
{
	ENTER();
	if (setjmp(env) == 0) {
		middle(n);
	}
	leaf(n);
	LEAVE('-');
}

KEPT static void handler(int sig)
{
	ENTER();
	leaf(sig);
	LEAVE('-');
}

KEPT static void signaller(int sig)
{
	ENTER();
	(void)raise(sig);
	leaf(3);
	LEAVE('-');
}

static void *thread(void *arg)
{
	for (int i = 0; i < 100; i++) {
		sink += i;
	}
	return arg;
}

int main(void)
{
	pthread_t id;

	(void)signal(SIGUSR1, handler);
	for (int i = 1; i <= 20; i++) {
		pair(i);
	}
	(void)recurse(6);
	catcher(4);
	catcher(5);
	signaller(SIGUSR1);
	signaller(SIGUSR1);
	if (pthread_create(&id, NULL, thread, NULL) == 0) {
		(void)pthread_join(id, NULL);
	}
	leaf(1000);
	return fwrite(text, 1, used, stdout) != used;
}
