/* SPDX-License-Identifier: MIT */
/* The state of the running system as records, in the form that perf writes. */
#ifndef SONDE_HOST_SYNTH_H
#define SONDE_HOST_SYNTH_H

#include "core/status.h"
#include "core/text.h"

#include <sonde/attr.h>

#include <sys/types.h>

/* Which records to write, and their contents. */
struct host_synth {
	int root; /* descriptor of the directory that contains proc and sys */
	const struct sonde_attr *attr; /* records have the trailer of this event */
	bool tasks, maps, cgroups;
	bool namespaces; /* write namespaces of tasks */
	bool data_maps; /* write read-only mappings of data too */
	bool build_ids; /* write build ids into mappings */
	size_t threads; /* number of threads of host_synth_tasks */
	uint64_t maps_limit_ms; /* time limit for reading the mappings of a process */
};

/* Begin a record with its header; end it, with the trailer of an event, or attr NULL for none. */
size_t host_record_begin(struct text *t, uint32_t type, uint16_t misc);
void host_record_end(struct text *t, size_t at, const struct sonde_attr *attr, uint64_t id);

/* Parses "task,mmap,cgroup", "all" (NULL means the same) or "no". SONDE_EARG. */
int host_synth_choose(struct host_synth *s, const char *list, struct error *err);

void host_synth_kernel(const struct host_synth *s, struct text *out);
void host_synth_modules(const struct host_synth *s, struct text *out);
void host_synth_cgroups(const struct host_synth *s, struct text *out);

/*
 * A process with all its threads. forks: with FORK records, as in system-wide recording. Returns 1
 * if reading its mappings took too long and some are missing; SONDE_ENOMEM. May be called from
 * several threads.
 */
int host_synth_task(const struct host_synth *s, pid_t pid, bool forks, struct text *out);

/* Many processes, read by several threads; adds the number with missing mappings to *cut. */
int host_synth_tasks(const struct host_synth *s, const pid_t *pids, size_t n, struct text *out,
        size_t *cut, struct error *err);

/* A workload and its children; returns the number of processes with missing mappings. */
size_t host_synth_workload(const struct host_synth *s, pid_t pid, struct text *out);

/* A workload that waits for its exec: it has no mappings of its own yet. */
void host_synth_waiting(const struct host_synth *s, pid_t pid, struct text *out);

/* Appends a build id in the form of MMAP2. */
void host_put_build_id(struct text *t, const uint8_t *id, int n);

#endif
