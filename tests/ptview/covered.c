/* SPDX-License-Identifier: MIT */
/* A program whose lines and functions run a known number of times, for tests of coverage by traces. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int sink;
static jmp_buf env;

static int factorial(int n)
{
	if (n <= 1) {
		return 1;
	}
	return n * factorial(n - 1);
}

static int never(int x)
{
	for (int i = 0; i < x; i++) {
		sink += i;
	}
	return x * 2;
}

static inline int odd(int x)
{
	return x % 2 != 0 && x > 2;
}

static int twice(int x)
{
	return 2 * x;
}

static int apply(int (*f)(int), int x)
{
	return f(x);
}

static const char *name(int x)
{
	switch (x) {
	case 0: return "none";
	case 1: return "one";
	case 2: return "two";
	case 7: return "seven";
	default: break;
	}
	return x > 100 ? "large" : "more";
}

static int compare(const void *a, const void *b)
{
	const int *x = a, *y = b;

	if (*x < *y) {
		return -1;
	}
	return *x > *y;
}

static void handler(int sig)
{
	sink += sig;
}

static void jumps(int n)
{
	if (n == 3) {
		longjmp(env, n);
	}
	sink += n;
}

static void *thread(void *arg)
{
	const int *n = arg;

	for (int i = 0; i < *n; i++) {
		sink += odd(i);
	}
	return NULL;
}

int main(void)
{
	int numbers[] = {5, 3, 9, 1, 7, 2, 8};
	int n = 17, left = 5;
	pthread_t id;

	for (int i = 0; i < 12; i++) {
		if (odd(i)) {
			sink += factorial(i % 5);
		} else if (i == 40) {
			sink += never(i);
		} else {
			sink += apply(twice, i);
		}
		sink += name(i)[0];
	}
	qsort(numbers, 7, sizeof(numbers[0]), compare);
	(void)signal(SIGUSR1, handler);
	for (int i = 0; i < 3; i++) {
		(void)raise(SIGUSR1);
	}
	if (setjmp(env) == 0) {
		for (int i = 0; i < 5; i++) {
			jumps(i);
		}
	}
again:
	sink++;
	if (--left > 0) {
		goto again;
	}
	while (n != 1) {
		n = n % 2 == 0 ? n / 2 : 3 * n + 1;
	}
	if (pthread_create(&id, NULL, thread, &numbers[6]) == 0) {
		(void)pthread_join(id, NULL);
	}
	return n - 1;
}
