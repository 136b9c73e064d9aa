/* SPDX-License-Identifier: MIT */
/*
 * The events of a plan on a machine: opened for every pair of a cpu and a thread (a cell, number
 * cpu * threads + thread), and a ring for each cpu, or for each thread.
 */
#ifndef SONDE_CAPTURE_RINGS_RINGS_H
#define SONDE_CAPTURE_RINGS_RINGS_H

#include "capture/plan/plan.h"
#include "capture/rings/aux.h"
#include "capture/rings/ring.h"
#include "host/tasks.h"

/* One opened event: fds by cell; -1 where the thread had ended, or nobody asks. */
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
	struct capture_plan *plan; /* opening leaves out of its attrs what the kernel refuses */

	pid_t *cpus;
	size_t ncpus;
	pid_t *picked; /* the cpus of all events but those for side-band; NULL: all */
	size_t npicked;
	struct host_tasks tasks;
	int *cgroup_fds; /* by event, -1: none; NULL: nobody asked */
	struct capture_fds *opened; /* one for each event */
	bool kernel_excluded; /* fell back to user space */
	struct capture_ring *v; /* one for each cpu or thread, and as many that are overwritten */
	size_t n;
	size_t pages; /* of data */
	struct pollfd *polls; /* by ring; fd -1: nothing comes from it any more */
	struct capture_aux aux;
};

/* Options to cpus and threads; the workload's, when nothing else was asked for. */
int capture_find_targets(struct capture_rings *r, pid_t workload);

/* Opens events, maps rings. */
int capture_open(struct capture_rings *r);
void capture_close(struct capture_rings *r);

size_t capture_cells(const struct capture_rings *r);
size_t capture_ring_of(const struct capture_rings *r, size_t cell);

/* Starts or stops one event everywhere; false with errno: not everywhere. */
bool capture_switch(const struct capture_rings *r, size_t e, bool on);
/* The same, SIZE_MAX: all that are not for side-band. */
int capture_enable(struct capture_rings *r, size_t event, bool on);
void capture_disable_all(struct capture_rings *r);

/* The descriptor to listen to after the task of `from` has ended; -1: all of the ring have. */
int capture_next_poll(const struct capture_rings *r, size_t ring, int from);

/* ---- parts in files of their own ---- */

/*
 * The kernel refused event e with this errno: leaves out what it does not know; true: try again.
 * All events keep the same shape.
 */
bool capture_use_older(struct capture_rings *r, size_t e, int why);
/* Opens when it need not sample. */
bool capture_only_counts(const struct capture_rings *r, size_t e);
/* In files all attrs are of one size, without addresses of ours. */
void capture_attr_sizes(struct capture_rings *r, bool in_file);
int capture_set_filters(struct capture_rings *r); /* to the kernel */
int capture_cgroups_open(struct capture_rings *r);
void capture_cgroups_close(struct capture_rings *r);

#endif
