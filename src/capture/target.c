/* SPDX-License-Identifier: MIT */
/* Who is recorded: cpus, threads, and the workload that waits behind a pipe until all is open. */
#define _GNU_SOURCE
#include "capture/capture.h"
#include "core/array.h"
#include "proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int add_number(pid_t **list, size_t *n, pid_t v)
{
	pid_t *grown = realloc(*list, (*n + 1) * sizeof(**list));

	if (grown == NULL) {
		return SONDE_ENOMEM;
	}
	*list = grown;
	grown[(*n)++] = v;
	return 0;
}

static int read_cpus(struct sonde_record *r)
{
	long i, n = sysconf(_SC_NPROCESSORS_ONLN);

	if (proc_read_cpus(r->root_fd, "sys/devices/system/cpu/online", &r->cpus, &r->ncpus) == 0) {
		return 0;
	}
	free(r->cpus); /* no sysfs: they are the first ones, most likely */
	r->cpus = NULL;
	r->ncpus = 0;
	for (i = 0; i < n; i++) {
		if (add_number(&r->cpus, &r->ncpus, (pid_t)i) < 0) {
			return error_nomem(&r->error);
		}
	}
	return r->ncpus > 0 ? 0 : error_set(&r->error, SONDE_EIO, NO_OFFSET, "no cpu is on-line");
}

static int add_process(struct sonde_record *r, pid_t pid)
{
	char path[64];
	pid_t *list;
	size_t i, n;
	int rc = 0;

	(void)snprintf(path, sizeof(path), "proc/%d/task", (int)pid);
	if (proc_list_numbers(r->root_fd, path, &list, &n) < 0) {
		return error_set(&r->error, SONDE_ENOENT, NO_OFFSET, "there is no process %d: %s",
		        (int)pid, strerror(errno));
	}
	for (i = 0; rc == 0 && i < n; i++) {
		rc = add_number(&r->threads, &r->nthreads, list[i]);
	}
	free(list);
	rc = rc == 0 ? add_number(&r->pids, &r->npids, pid) : rc;
	return rc == 0 ? 0 : error_nomem(&r->error);
}

static int parse_pids(struct sonde_record *r)
{
	const char *p = r->options.pids;
	char *end;
	long v;

	for (;;) {
		v = strtol(p, &end, 10);
		if (end == p || v <= 0 || v > INT32_MAX || (*end != ',' && *end != '\0')) {
			return error_set(&r->error, SONDE_EARG, NO_OFFSET,
			        "-p wants process numbers separated by commas, not '%s'",
			        r->options.pids);
		}
		TRY(add_process(r, (pid_t)v));
		if (*end == '\0') {
			return 0;
		}
		p = end + 1;
	}
}

int capture_targets(struct sonde_record *r)
{
	pid_t one = r->options.all_cpus ? -1 : r->child;

	TRY(read_cpus(r));
	if (!r->options.all_cpus && r->options.pids != NULL) {
		return parse_pids(r);
	}
	if (add_number(&r->threads, &r->nthreads, one) < 0) {
		return error_nomem(&r->error);
	}
	return 0;
}

static void run_child(struct sonde_record *r, int go, int failed)
{
	char byte;
	int why;

	(void)prctl(PR_SET_NAME, "sonde-exec");
	if (read(go, &byte, 1) != 1) {
		_exit(1); /* the recorder gave up */
	}
	(void)execvp(r->options.workload[0], r->options.workload);
	why = errno;
	if (write(failed, &why, sizeof(why)) < 0) {
		_exit(126);
	}
	_exit(127);
}

int capture_fork(struct sonde_record *r)
{
	int go[2], failed[2];

	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(failed, O_CLOEXEC) < 0) {
		return error_set(&r->error, errno == EMFILE ? SONDE_ELIMIT : SONDE_EIO, NO_OFFSET,
		        "cannot make a pipe: %s%s", strerror(errno),
		        errno == EMFILE ? "; raise the limit with 'ulimit -n'" : "");
	}
	r->child = fork();
	if (r->child < 0) {
		r->child = 0;
		return error_set(
		        &r->error, SONDE_EIO, NO_OFFSET, "cannot fork: %s", strerror(errno));
	}
	if (r->child == 0) {
		(void)close(go[1]);
		run_child(r, go[0], failed[1]);
	}
	(void)close(go[0]);
	(void)close(failed[1]);
	r->go_fd = go[1];
	r->exec_fd = failed[0];
	return 0;
}

int capture_go(struct sonde_record *r)
{
	int why = 0;
	ssize_t got;

	if (write(r->go_fd, "", 1) != 1) {
		return error_set(&r->error, SONDE_EIO, NO_OFFSET, "the workload went away");
	}
	(void)close(r->go_fd);
	r->go_fd = -1;
	do {
		got = read(r->exec_fd, &why, sizeof(why));
	} while (got < 0 && errno == EINTR);
	(void)close(r->exec_fd);
	r->exec_fd = -1;
	if (got > 0) {
		return error_set(&r->error, SONDE_ENOENT, NO_OFFSET, "cannot run '%s': %s",
		        r->options.workload[0], strerror(why));
	}
	return 0;
}
