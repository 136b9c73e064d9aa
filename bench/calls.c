/* SPDX-License-Identifier: MIT */
/*
 * calls N: makes N system calls that do nothing. Prints in one line the wall time of a call in ns
 * and the CPU time of this process in s; the other CPU time of a recording is the recorder's.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timespec t)
{
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu_seconds(void)
{
	struct rusage u;

	(void)getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1500000;
	struct timespec from, to;
	long i;

	(void)clock_gettime(CLOCK_MONOTONIC, &from);
	for (i = 0; i < n; i++) {
		(void)syscall(SYS_getppid);
	}
	(void)clock_gettime(CLOCK_MONOTONIC, &to);
	(void)printf("%.1f %.4f\n", (seconds(to) - seconds(from)) * 1e9 / (double)n, cpu_seconds());
	return 0;
}
