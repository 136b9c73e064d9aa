/* SPDX-License-Identifier: MIT */
/* The command that is counted: it waits until all is open, and is waited for. */
#define _GNU_SOURCE
#include "stat/stat.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* mask: the signals that the workload has blocked; all are until it starts. */
static void run_child(const struct sonde_stat *s, int go, int failed, const sigset_t *mask)
{
	char *const *argv = s->options.workload;
	struct rlimit limit;
	char byte;
	int why;

	if (s->soft_limit != 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = s->soft_limit;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (read(go, &byte, 1) != 1) {
		_exit(1); /* nobody waits for it any more */
	}
	if (s->options.record != NULL && strcmp(s->options.record, "-") == 0) {
		(void)dup2(STDERR_FILENO, STDOUT_FILENO); /* the stream is ours alone */
	}
	(void)pthread_sigmask(SIG_SETMASK, mask, NULL);
	(void)execvp(argv[0], argv);
	why = errno;
	if (write(failed, &why, sizeof(why)) < 0) {
		_exit(126);
	}
	_exit(127);
}

/*
 * The workload waits for a byte. A Ctrl-C goes to all processes of a terminal: the child keeps it
 * until then, so that its events can be opened whenever it happens.
 */
int stat_fork(struct sonde_stat *s)
{
	int go[2], failed[2];
	sigset_t all, mask;

	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(failed, O_CLOEXEC) < 0) {
		return error_set(&s->error, errno == EMFILE ? SONDE_ELIMIT : SONDE_EIO, NO_OFFSET,
		        "cannot make a pipe: %s", strerror(errno));
	}
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &mask);
	s->child = fork();
	if (s->child != 0) {
		int why = errno;

		(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
		errno = why;
	}
	if (s->child < 0) {
		s->child = 0;
		return error_set(
		        &s->error, SONDE_EIO, NO_OFFSET, "cannot fork: %s", strerror(errno));
	}
	if (s->child == 0) {
		(void)close(go[1]);
		run_child(s, go[0], failed[1], &mask);
	}
	(void)close(go[0]);
	(void)close(failed[1]);
	s->go_fd = go[1];
	s->exec_fd = failed[0];
	return 0;
}

int stat_go(struct sonde_stat *s)
{
	int why = 0;
	ssize_t got;

	if (write(s->go_fd, "", 1) != 1) {
		return error_set(&s->error, SONDE_EIO, NO_OFFSET, "the workload went away");
	}
	stat_close_fd(&s->go_fd);
	do {
		got = read(s->exec_fd, &why, sizeof(why));
	} while (got < 0 && errno == EINTR);
	stat_close_fd(&s->exec_fd);
	if (got > 0 && s->options.workload != NULL) {
		return error_set(&s->error, SONDE_ENOENT, NO_OFFSET, "cannot run '%s': %s",
		        s->options.workload[0], strerror(why));
	}
	return 0;
}

void stat_raise_file_limit(struct sonde_stat *s)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		s->soft_limit = limit.rlim_cur;
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

void stat_reap(struct sonde_stat *s)
{
	struct rusage usage = {0};

	if (s->child > 0 && wait4(s->child, &s->workload_status, 0, &usage) == s->child) {
		s->usage[0] = (uint64_t)usage.ru_utime.tv_sec * 1000000000ull +
		              (uint64_t)usage.ru_utime.tv_usec * 1000ull;
		s->usage[1] = (uint64_t)usage.ru_stime.tv_sec * 1000000000ull +
		              (uint64_t)usage.ru_stime.tv_usec * 1000ull;
	}
	s->child = 0;
}
