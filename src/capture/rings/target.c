/* SPDX-License-Identifier: MIT */
/* Finds cpus and threads to record. */
#define _GNU_SOURCE
#include "capture/rings/rings.h"
#include "proc/proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Without sysfs, assumes the first cpus. */
static int first_cpus(struct capture_rings *r)
{
	long i, n = sysconf(_SC_NPROCESSORS_ONLN);

	free(r->cpus);
	r->cpus = NULL;
	r->ncpus = 0;
	for (i = 0; i < n; i++) {
		TRY(host_add_id(&r->cpus, &r->ncpus, (pid_t)i, r->err));
	}
	if (r->ncpus == 0) {
		(void)error_set(r->err, SONDE_EIO, NO_OFFSET, "no cpu is on-line");
		return SONDE_EIO;
	}
	return 0;
}

/* Called for cpus that are named one by one: "0-999" may well mean all of them. */
static void report_missing(void *rings, long cpu)
{
	const struct capture_rings *r = rings;

	capture_say(r->log, SONDE_RECORDER_WARNING, "-C: cpu %ld is not on-line: left out", cpu);
}

/*
 * Selects the on-line cpus of a list such as "0,2-3". With a trace all stay, for its side-band:
 * programs on these cpus may have been mapped on others.
 */
static int pick_cpus(struct capture_rings *r, const char *list)
{
	const struct host_cpus all = {r->cpus, r->ncpus};
	struct host_cpus picked;
	int rc = host_pick_cpus(list, &all, &picked, report_missing, r);

	if (rc == SONDE_EARG) {
		return error_set(r->err, rc, NO_OFFSET,
		        "-C wants a list of cpus such as 0,2-3, not '%s'", list);
	}
	if (rc < 0) {
		return error_nomem(r->err);
	}
	if (picked.n == 0) {
		free(picked.v);
		return error_set(r->err, SONDE_ENOENT, NO_OFFSET,
		        "-C %s: none of these cpus is on-line; those that are: %d to %d", list,
		        (int)r->cpus[0], (int)r->cpus[r->ncpus - 1]);
	}
	if (r->plan->aux.pmu != NULL) {
		r->picked = picked.v;
		r->npicked = picked.n;
		return 0;
	}
	free(r->cpus);
	r->cpus = picked.v;
	r->ncpus = picked.n;
	return 0;
}

static int find_cpus(struct capture_rings *r)
{
	if (r->plan->per_thread) {
		return host_add_id(&r->cpus, &r->ncpus, -1, r->err);
	}
	if (proc_read_cpus(r->root, "sys/devices/system/cpu/online", &r->cpus, &r->ncpus) != 0) {
		TRY(first_cpus(r));
	}
	return r->plan->options->targets.cpus != NULL ? pick_cpus(r, r->plan->options->targets.cpus)
	                                              : 0;
}

size_t capture_cells(const struct capture_rings *r)
{
	return r->ncpus * r->tasks.nthreads;
}

size_t capture_ring_of(const struct capture_rings *r, size_t cell)
{
	return r->plan->per_thread ? cell : cell / r->tasks.nthreads;
}

int capture_find_targets(struct capture_rings *r, pid_t workload)
{
	const struct sonde_recorder_options *o = r->plan->options;
	struct host_tasks *t = &r->tasks;

	TRY(find_cpus(r));
	if (o->targets.pids != NULL) {
		TRY(host_tasks_add_pids(t, r->root, o->targets.pids, r->err));
	}
	if (o->targets.tids != NULL) {
		TRY(host_tasks_add_tids(t, r->root, o->targets.tids, true, r->err));
	}
	if (t->nthreads == 0 && o->targets.user != NULL) {
		TRY(host_tasks_add_user(t, r->root, o->targets.user, r->err));
	}
	return t->nthreads != 0
	               ? 0
	               : host_tasks_add(t, r->plan->targets == CAPTURE_ALL ? -1 : workload, r->err);
}
