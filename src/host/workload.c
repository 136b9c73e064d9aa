/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "host/workload.h"

#include "core/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* mask: the signals that the workload blocks; until it starts all are blocked. */
static void run_child(
        const struct host_workload_options *o, int go, int failed, const sigset_t *mask)
{
	struct rlimit limit;
	char byte;
	int why;

	(void)prctl(PR_SET_NAME, "sonde-exec");
	if (o->files != 0 && getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = o->files;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
	if (o->no_stdout) {
		(void)dup2(STDERR_FILENO, STDOUT_FILENO);
	}
	if (read(go, &byte, 1) != 1) {
		_exit(1); /* the parent gave up */
	}
	(void)pthread_sigmask(SIG_SETMASK, mask, NULL); /* delivers signals that came meanwhile */
	(void)execvp(o->argv[0], o->argv);
	why = errno;
	if (write(failed, &why, sizeof(why)) < 0) {
		_exit(126);
	}
	_exit(127);
}

static int cannot(struct error *err, const char *what)
{
	const char *hint = errno == EMFILE ? "; raise the limit with 'ulimit -n'" : "";

	(void)error_errno(
	        err, errno == EMFILE ? SONDE_ELIMIT : SONDE_EIO, errno, "cannot %s", what);
	return error_append(err, "%s", hint);
}

static void close_both(const int fds[2])
{
	int kept = errno;

	(void)close(fds[0]);
	(void)close(fds[1]);
	errno = kept;
}

/*
 * The workload waits for a byte. Ctrl-C goes to all processes of a terminal: the child blocks it
 * until the byte arrives, so that a Ctrl-C at any time does not prevent opening its events. Pending
 * signals then run the measuring program's handlers in the child, until the exec.
 */
int host_workload_fork(
        struct host_workload *w, const struct host_workload_options *o, struct error *err)
{
	sigset_t all, mask;
	int go[2], failed[2];

	/* a socket: sending to a killed child raises no SIGPIPE */
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go) < 0) {
		return cannot(err, "make a socket");
	}
	if (pipe2(failed, O_CLOEXEC) < 0) {
		close_both(go);
		return cannot(err, "make a pipe");
	}
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &mask);
	w->pid = fork();
	if (w->pid == 0) {
		(void)close(go[1]);
		run_child(o, go[0], failed[1], &mask);
	}
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (w->pid < 0) {
		w->pid = 0;
		close_both(go);
		close_both(failed);
		return cannot(err, "fork");
	}
	(void)close(go[0]);
	(void)close(failed[1]);
	w->go_fd = go[1];
	w->exec_fd = failed[0];
	return 0;
}

void host_workload_release(struct host_workload *w)
{
	(void)send(w->go_fd, "", 1, MSG_NOSIGNAL);
	fd_close(&w->go_fd);
}

int host_workload_go(struct host_workload *w, const char *command, struct error *err)
{
	int why = 0;
	ssize_t got;

	if (w->go_fd >= 0) {
		host_workload_release(w);
	}
	do {
		got = read(w->exec_fd, &why, sizeof(why));
	} while (got < 0 && errno == EINTR);
	fd_close(&w->exec_fd);
	if (got > 0) {
		return error_errno(err, SONDE_ENOENT, why, "cannot run '%s'", command);
	}
	return 0;
}

void host_workload_fini(struct host_workload *w)
{
	fd_close(&w->go_fd); /* a waiting child exits when this is closed */
	if (w->pid > 0) {
		(void)waitpid(w->pid, NULL, 0);
	}
	w->pid = 0;
	fd_close(&w->exec_fd);
}

uint64_t host_raise_file_limit(void)
{
	struct rlimit limit;
	uint64_t before;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max) {
		return 0;
	}
	before = limit.rlim_cur;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? before : 0;
}
