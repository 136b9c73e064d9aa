/* SPDX-License-Identifier: MIT */
/*
 * Many tasks: `crowd forks N` starts N processes one after the other, each of which ends at once;
 * `crowd threads N SECONDS` runs N threads that wake up every 50 ms.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int forks(long n)
{
	long i;
	pid_t pid;

	for (i = 0; i < n; i++) {
		pid = fork();
		if (pid == 0) {
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, NULL, 0) != pid) {
			return 1;
		}
	}
	return 0;
}

static void *wake(void *arg)
{
	const struct timespec pause = {.tv_nsec = 50000000};
	volatile unsigned long work = 0;
	const time_t *end = arg;

	while (time(NULL) < *end) {
		(void)nanosleep(&pause, NULL);
		while (++work % 1000 != 0) {
		}
	}
	return NULL;
}

static int threads(long n, long seconds)
{
	time_t end = time(NULL) + seconds;
	pthread_attr_t attr;
	pthread_t last;
	long i;

	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, 65536);
	for (i = 0; i < n; i++) {
		if (pthread_create(&last, &attr, wake, &end) != 0) {
			return 1;
		}
	}
	(void)printf("ready\n");
	(void)fflush(stdout);
	if (n > 0) {
		(void)pthread_join(last, NULL);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "forks") == 0) {
		return forks(strtol(argv[2], NULL, 10));
	}
	if (argc == 4 && strcmp(argv[1], "threads") == 0) {
		return threads(strtol(argv[2], NULL, 10), strtol(argv[3], NULL, 10));
	}
	return 2;
}
