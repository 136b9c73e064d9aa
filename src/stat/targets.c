/* SPDX-License-Identifier: MIT */
/* Options to cpus and threads: the two sides of the matrix of counts. */
#include "stat/stat.h"

#include "core/array.h"
#include "proc/proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

bool stat_owns_workload(const struct sonde_stat *s)
{
	const struct sonde_stat_options *o = &s->options;

	return o->workload != NULL && !s->by_cpu && !s->all_threads && o->pids == NULL &&
	       o->tids == NULL;
}

static int add_thread(struct sonde_stat *s, pid_t tid)
{
	char path[64];
	struct stat_thread *to;

	if (!array_reserve(&s->set.threads, &s->set.threads_cap, s->set.nthreads + 1,
	            sizeof(*s->set.threads))) {
		return error_nomem(&s->error);
	}
	to = &s->set.threads[s->set.nthreads];
	*to = (struct stat_thread){.tid = tid};
	if (s->set.by == SONDE_STAT_BY_THREAD) {
		(void)snprintf(path, sizeof(path), "proc/%d/comm", (int)tid);
		if (!proc_read_line(s->root_fd, path, to->comm, sizeof(to->comm))) {
			to->comm[0] = '\0'; /* it has ended */
		}
	}
	s->set.nthreads++;
	return 0;
}

static int add_process(struct sonde_stat *s, pid_t pid)
{
	char path[64];
	pid_t *list;
	size_t i, n;
	int rc = 0;

	(void)snprintf(path, sizeof(path), "proc/%d/task", (int)pid);
	if (proc_list_numbers(s->root_fd, path, &list, &n) < 0) {
		bool gone = errno == ENOENT || errno == ESRCH;

		return error_set(&s->error, SONDE_ENOENT, NO_OFFSET, "there is no process %d%s%s",
		        (int)pid, gone ? "" : ": ", gone ? "" : strerror(errno));
	}
	for (i = 0; rc == 0 && i < n; i++) {
		rc = add_thread(s, list[i]);
	}
	free(list);
	return rc;
}

static int add_targets(struct sonde_stat *s, const char *list, bool processes)
{
	const char *p = list;
	pid_t id;

	do {
		if (!proc_take_id(&p, &id)) {
			return error_set(&s->error, SONDE_EARG, NO_OFFSET,
			        "%s numbers separated by commas, not '%s'",
			        processes ? "-p wants process" : "-t wants thread", list);
		}
		TRY(processes ? add_process(s, id) : add_thread(s, id));
	} while (*p != '\0');
	return 0;
}

/* Every thread of every process; those that end meanwhile are left out. */
static int add_all(struct sonde_stat *s)
{
	char path[64];
	pid_t *list, *threads;
	size_t i, k, n, nthreads;
	int rc = 0;

	if (proc_list_numbers(s->root_fd, "proc", &list, &n) < 0) {
		return error_set(&s->error, SONDE_EIO, NO_OFFSET, "cannot list processes: %s",
		        strerror(errno));
	}
	for (i = 0; rc == 0 && i < n; i++) {
		(void)snprintf(path, sizeof(path), "proc/%d/task", (int)list[i]);
		if (proc_list_numbers(s->root_fd, path, &threads, &nthreads) < 0) {
			continue;
		}
		for (k = 0; rc == 0 && k < nthreads; k++) {
			rc = add_thread(s, threads[k]);
		}
		free(threads);
	}
	free(list);
	return rc;
}

bool stat_cpu_wanted(const char *list, int cpu)
{
	long from, to;

	for (const char *p = list; p != NULL && proc_take_range(&p, &from, &to);) {
		if (cpu >= from && cpu <= to) {
			return true;
		}
	}
	return list == NULL;
}

static bool is_list(const char *p)
{
	long from, to;

	do {
		if (!proc_take_range(&p, &from, &to)) {
			return false;
		}
	} while (*p != '\0');
	return true;
}

static int add_cpus(struct sonde_stat *s)
{
	pid_t *list = NULL;
	size_t i, n;

	if (!s->by_cpu) {
		s->set.cpus = calloc(1, sizeof(*s->set.cpus));
		if (s->set.cpus == NULL) {
			return error_nomem(&s->error);
		}
		s->set.cpus[0].cpu = -1;
		s->set.ncpus = 1;
		return 0;
	}
	if (s->options.cpus != NULL && !is_list(s->options.cpus)) {
		return error_set(&s->error, SONDE_EARG, NO_OFFSET,
		        "-C wants a list of cpus such as 0-3,7, not '%s'", s->options.cpus);
	}
	if (proc_read_cpus(s->root_fd, "sys/devices/system/cpu/online", &list, &n) < 0) {
		free(list);
		return error_set(&s->error, SONDE_EIO, NO_OFFSET,
		        "cannot read which cpus are on-line: %s", strerror(errno));
	}
	s->set.cpus = calloc(n + 1, sizeof(*s->set.cpus));
	for (i = 0; s->set.cpus != NULL && i < n; i++) {
		if (stat_cpu_wanted(s->options.cpus, (int)list[i])) {
			s->set.cpus[s->set.ncpus++].cpu = (int)list[i];
		}
	}
	free(list);
	if (s->set.cpus == NULL) {
		return error_nomem(&s->error);
	}
	if (s->set.ncpus == 0) {
		return error_set(&s->error, SONDE_EARG, NO_OFFSET,
		        "none of the cpus '%s' is on-line", s->options.cpus);
	}
	stat_set_places(&s->set, s->root_fd);
	return 0;
}

int stat_targets(struct sonde_stat *s)
{
	const struct sonde_stat_options *o = &s->options;

	if (s->set.cpus == NULL) {
		TRY(add_cpus(s));
	}
	if (s->set.nthreads != 0 && !stat_owns_workload(s)) {
		return 0; /* the same in every run: the matrices have their size */
	}
	s->set.nthreads = 0;
	if (s->by_cpu) {
		return add_thread(s, -1);
	}
	if (s->all_threads) {
		return add_all(s);
	}
	if (o->pids != NULL || o->tids != NULL) {
		TRY(o->pids != NULL ? add_targets(s, o->pids, true) : 0);
		return o->tids != NULL ? add_targets(s, o->tids, false) : 0;
	}
	return add_thread(s, s->workload.pid);
}
