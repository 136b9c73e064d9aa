/* SPDX-License-Identifier: MIT */
/*
 * A program for tests of comparing traces: ./forked I K. In the loop of the main thread, turn I calls
 * another function than the others; in that of the second thread, turn K.
 */
#include <pthread.h>
#include <stdlib.h>

static volatile int sink;

__attribute__((noinline)) static void common(int i)
{
	sink += i;
}

__attribute__((noinline)) static void special(int i)
{
	sink -= i;
	sink ^= 1;
}

__attribute__((noinline)) static void decide(int i, int at)
{
	if (i == at) {
		special(i);
	} else {
		common(i);
	}
}

__attribute__((noinline)) static void loop(int turns, int at)
{
	for (int i = 0; i < turns; i++) {
		decide(i, at);
	}
}

static void *thread(void *arg)
{
	loop(3000, *(const int *)arg);
	return NULL;
}

int main(int argc, char **argv)
{
	int at = argc > 2 ? atoi(argv[2]) : -1;
	pthread_t id;

	loop(5000, argc > 1 ? atoi(argv[1]) : -1);
	if (pthread_create(&id, NULL, thread, &at) == 0) {
		(void)pthread_join(id, NULL);
	}
	return 0;
}
