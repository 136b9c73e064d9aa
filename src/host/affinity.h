/* SPDX-License-Identifier: MIT */
/* Where a thread runs while it reads the ring of a cpu (--affinity): near the ring's memory. */
#ifndef SONDE_HOST_AFFINITY_H
#define SONDE_HOST_AFFINITY_H

#include "core/status.h"
#include "host/kernel.h"

struct host_affinity_cpus {
	pid_t *v;
	size_t n; /* 0: anywhere */
};

/* Zero-initialised: the thread is never moved. */
struct host_affinity {
	struct host_affinity_cpus *near; /* by cpu; NULL: the thread is never moved */
	size_t n;
	size_t at; /* the last entry that it moved to; n: none yet */
};

/* mode: "cpu", "node", or NULL and "sys", which never move. SONDE_EARG, SONDE_ENOMEM. */
int host_affinity_plan(struct host_affinity *a, const char *mode, int root, const pid_t *cpus,
        size_t ncpus, struct error *err);
void host_affinity_fini(struct host_affinity *a);

/* Moves the calling thread to the cpus near entry `cpu` of the planned list. */
void host_affinity_go(struct host_affinity *a, const struct host_kernel *kernel, size_t cpu);

#endif
