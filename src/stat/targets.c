/* SPDX-License-Identifier: MIT */
/* Cpus and threads from options: the two dimensions of the matrix of counts. */
#include "stat/stat.h"

#include "core/array.h"
#include "host/tasks.h"
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

/* Sets the threads of the matrix, with their names if rows are threads. */
static int set_threads(struct sonde_stat *s, const struct host_tasks *tasks)
{
	char path[64];
	struct stat_thread *to;
	size_t i;

	if (!array_reserve(&s->set.threads, &s->set.threads_cap, tasks->nthreads,
	            sizeof(*s->set.threads))) {
		return error_nomem(&s->error);
	}
	for (i = 0; i < tasks->nthreads; i++) {
		to = &s->set.threads[i];
		*to = (struct stat_thread){.tid = tasks->threads[i]};
		(void)snprintf(path, sizeof(path), "proc/%d/comm", (int)to->tid);
		if (s->set.by == SONDE_STAT_BY_THREAD &&
		        !proc_read_line(s->root_fd, path, to->comm, sizeof(to->comm))) {
			to->comm[0] = '\0'; /* the thread has ended */
		}
	}
	s->set.nthreads = tasks->nthreads;
	return 0;
}

static int find_tasks(struct sonde_stat *s, struct host_tasks *t)
{
	const struct sonde_stat_options *o = &s->options;

	if (s->by_cpu) {
		return host_tasks_add(t, -1, &s->error);
	}
	if (s->all_threads) {
		return host_tasks_add_all(t, s->root_fd, &s->error);
	}
	if (o->pids == NULL && o->tids == NULL) {
		return host_tasks_add(t, s->workload.pid, &s->error);
	}
	TRY(o->pids != NULL ? host_tasks_add_pids(t, s->root_fd, o->pids, &s->error) : 0);
	return o->tids != NULL ? host_tasks_add_tids(t, s->root_fd, o->tids, false, &s->error) : 0;
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

/* The cpus that are on-line; with -C those of its list. */
static int list_cpus(struct sonde_stat *s, struct host_cpus *cpus)
{
	struct host_cpus online = {0};
	int rc = 0;

	if (proc_read_cpus(s->root_fd, "sys/devices/system/cpu/online", &online.v, &online.n) < 0) {
		rc = error_errno(&s->error, SONDE_EIO, errno, "cannot read which cpus are on-line");
		free(online.v);
		return rc;
	}
	if (s->options.cpus == NULL) {
		*cpus = online;
		return 0;
	}
	rc = host_pick_cpus(s->options.cpus, &online, cpus, NULL, NULL);
	free(online.v);
	if (rc == SONDE_EARG) {
		return error_set(&s->error, rc, NO_OFFSET,
		        "-C wants a list of cpus such as 0-3,7, not '%s'", s->options.cpus);
	}
	return rc < 0 ? error_nomem(&s->error) : 0;
}

static int add_cpus(struct sonde_stat *s)
{
	struct host_cpus list = {0};
	pid_t any = -1;

	if (s->by_cpu) {
		TRY(list_cpus(s, &list));
	} else {
		list = (struct host_cpus){&any, 1};
	}
	s->set.cpus = calloc(list.n + 1, sizeof(*s->set.cpus));
	for (size_t i = 0; s->set.cpus != NULL && i < list.n; i++) {
		s->set.cpus[s->set.ncpus++].cpu = (int)list.v[i];
	}
	if (s->by_cpu) {
		free(list.v);
	}
	if (s->set.cpus == NULL) {
		return error_nomem(&s->error);
	}
	if (s->set.ncpus == 0) {
		return error_set(&s->error, SONDE_EARG, NO_OFFSET,
		        "none of the cpus '%s' is on-line", s->options.cpus);
	}
	if (s->by_cpu) {
		stat_set_places(&s->set, s->root_fd);
	}
	return 0;
}

int stat_targets(struct sonde_stat *s)
{
	struct host_tasks tasks = {0};
	int rc;

	if (s->set.cpus == NULL) {
		TRY(add_cpus(s));
	}
	if (s->set.nthreads != 0 && !stat_owns_workload(s)) {
		return 0; /* fixed after the first run, as the matrices have their size */
	}
	rc = find_tasks(s, &tasks);
	rc = rc < 0 ? rc : set_threads(s, &tasks);
	host_tasks_fini(&tasks);
	return rc;
}
