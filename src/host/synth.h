/* SPDX-License-Identifier: MIT */
/* The state of the running system as records, in the form in which perf writes them. */
#ifndef SONDE_HOST_SYNTH_H
#define SONDE_HOST_SYNTH_H

#include "core/status.h"
#include "core/text.h"

#include <sonde/attr.h>

#include <sys/types.h>

/* Which records are wanted, and what they hold. */
struct host_synth {
	int root; /* where proc and sys are */
	const struct sonde_attr *attr; /* the trailer of records is that of this event */
	bool tasks, maps, cgroups;
	bool namespaces; /* of tasks */
	bool data_maps; /* mappings that are only read, too */
	bool build_ids; /* in mappings */
	size_t threads; /* that host_synth_tasks reads with */
	uint64_t maps_limit_ms; /* that reading the mappings of a process may take */
};

/* A record: its header; its end, with the trailer of an event, or attr NULL for kinds without one. */
size_t host_record_begin(struct text *t, uint32_t type, uint16_t misc);
void host_record_end(struct text *t, size_t at, const struct sonde_attr *attr, uint64_t id);

/* Reads "task,mmap,cgroup", "all" (NULL is that, too) or "no". SONDE_EARG. */
int host_synth_choose(struct host_synth *s, const char *list, struct error *err);

void host_synth_kernel(const struct host_synth *s, struct text *out);
void host_synth_modules(const struct host_synth *s, struct text *out);
void host_synth_cgroups(const struct host_synth *s, struct text *out);

/*
 * A process with all its threads. forks: as in system-wide recording, with who started whom. 1 when
 * its mappings took too long to read, and some are missing; SONDE_ENOMEM. For several threads.
 */
int host_synth_task(const struct host_synth *s, pid_t pid, bool forks, struct text *out);

/* Many processes, read by the threads; *cut: grows by those with missing mappings. */
int host_synth_tasks(const struct host_synth *s, const pid_t *pids, size_t n, struct text *out,
        size_t *cut, struct error *err);

/* A workload, and what it started; returns how many have missing mappings. */
size_t host_synth_workload(const struct host_synth *s, pid_t pid, struct text *out);

/* One that waits for its exec: it has nothing of its own yet. */
void host_synth_waiting(const struct host_synth *s, pid_t pid, struct text *out);

/* A build id as MMAP2 has it. */
void host_put_build_id(struct text *t, const uint8_t *id, int n);

#endif
