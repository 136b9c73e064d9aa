/* SPDX-License-Identifier: MIT */
/* Forks a child that executes this program again, and another one by vfork. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int sum(int n)
{
	return n <= 1 ? 1 : n + sum(n - 1);
}

int main(int argc, char **argv)
{
	char *const again[] = {argv[0], "leaf", NULL};
	int status = 0, all = 0;
	pid_t child;

	if (argc > 1 && strcmp(argv[1], "leaf") == 0) {
		return sum(50) == 1275 ? 7 : 1;
	}
	child = fork();
	if (child == 0) {
		(void)execv(argv[0], again);
		_exit(1);
	}
	(void)waitpid(child, &status, 0);
	all += WEXITSTATUS(status);
	child = vfork();
	if (child == 0) {
		(void)execv(argv[0], again);
		_exit(1);
	}
	(void)waitpid(child, &status, 0);
	all += WEXITSTATUS(status);
	return all == 14 && sum(20) == 210 ? 0 : 1;
}
