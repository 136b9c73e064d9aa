/* SPDX-License-Identifier: MIT */
/* Private to timeline: the thread that ran on a processor, by time. */
#ifndef SONDE_TIMELINE_SWITCHES_H
#define SONDE_TIMELINE_SWITCHES_H

#include "core/index.h"
#include "timeline/timeline.h"

struct switches_change {
	uint64_t time; /* ns */
	struct timeline_thread to;
	uint32_t from; /* tid; TIMELINE_NO_THREAD: unknown */
};

struct switches_cpu {
	uint32_t cpu;
	struct switches_change *changes; /* sorted by time after switches_seal */
	size_t n, cap;
	bool disorder; /* changes were not added in time order */
	uint64_t first_time; /* of the earliest change, ns */
	struct timeline_thread first; /* thread that ran before first_time */
};

/* Empty when zero-initialised. */
struct switches {
	struct switches_cpu *cpus;
	size_t ncpus, cpus_cap;
	struct index index; /* of cpus, by number */
};

void switches_fini(struct switches *s);

/* Adds a switch of a processor at `time`; either thread may be unknown. 0 or SONDE_ENOMEM. */
int switches_add(struct switches *s, uint32_t cpu, uint64_t time, struct timeline_thread from,
        struct timeline_thread to);
int switches_seal(struct switches *s);
/* Unknown too if the next change ends another thread: a change in between was not recorded. */
struct timeline_thread switches_at(const struct switches *s, uint32_t cpu, uint64_t time);
/* Time of the first change of a processor after `time`; UINT64_MAX: none. */
uint64_t switches_after(const struct switches *s, uint32_t cpu, uint64_t time);

#endif
