/* SPDX-License-Identifier: MIT */
/*
 * The events of a plan on a machine: opened for every pair of a cpu and a thread (a cell, number
 * cpu * threads + thread), with a ring for each cpu, or for each thread.
 */
#ifndef SONDE_CAPTURE_RINGS_RINGS_H
#define SONDE_CAPTURE_RINGS_RINGS_H

#include "capture/plan/plan.h"
#include "capture/rings/aux.h"
#include "capture/rings/ring.h"
#include "host/tasks.h"

/* One opened event: fds by cell; -1: the thread had ended, or the cell is not recorded. */
struct capture_fds {
	int *fds;
	uint64_t *ids;
	size_t nids;
};

struct capture_rings {
	/* borrowed */
	const struct host_kernel *kernel;
	const struct capture_log *log;
	struct error *err;
	int root;
	struct capture_plan *plan; /* only functions of the plan change it */

	pid_t *cpus;
	size_t ncpus;
	pid_t *picked; /* cpus of all events except for side-band; NULL: all */
	size_t npicked;
	struct host_tasks tasks;
	int *cgroup_fds; /* by event, -1: none; NULL: no control groups */
	struct capture_fds *opened; /* one for each event */
	struct capture_ring *v; /* one for each cpu or thread, then as many overwritten ones */
	size_t n;
	size_t pages; /* of data */
	struct pollfd *polls; /* by ring; fd -1: no more data will come */
	struct capture_aux aux;
};

/* Finds cpus and threads from options; only the workload's, if nothing else is selected. */
int capture_find_targets(struct capture_rings *r, pid_t workload);

/* Opens events, maps rings. */
int capture_open(struct capture_rings *r);
void capture_close(struct capture_rings *r);

size_t capture_cells(const struct capture_rings *r);
size_t capture_ring_of(const struct capture_rings *r, size_t cell);

/* Enables or disables one event everywhere; false with errno: not everywhere. */
bool capture_switch(const struct capture_rings *r, size_t e, bool on);
/* capture_switch for an event, or SIZE_MAX: for all except side-band. */
int capture_enable(struct capture_rings *r, size_t event, bool on);
void capture_disable_all(struct capture_rings *r);

/* The descriptor to poll after the task of `from` has ended; -1: all tasks of the ring have. */
int capture_next_poll(const struct capture_rings *r, size_t ring, int from);

/* ---- parts in files of their own ---- */

int capture_set_filters(struct capture_rings *r); /* in the kernel */
int capture_cgroups_open(struct capture_rings *r);
void capture_cgroups_close(struct capture_rings *r);

#endif
