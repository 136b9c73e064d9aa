/* SPDX-License-Identifier: MIT */
/* Header features about a machine and a measurement. */
#ifndef SONDE_HOST_DESCRIPTION_H
#define SONDE_HOST_DESCRIPTION_H

#include "core/text.h"
#include "event/event.h"
#include "host/bpf.h"

#include <sys/types.h>

struct host_ids {
	const uint64_t *v;
	size_t n;
};

struct host_description {
	int root; /* descriptor of the directory that contains proc and sys */
	const pid_t *cpus; /* for the topology */
	size_t ncpus;
	const struct event_list *events;
	const struct host_ids *ids; /* by event */
	char *const *command_line; /* NULL-terminated, or NULL */
	const struct host_bpf *bpf; /* programs; NULL: not wanted */
	uint64_t first, last; /* times of the first and last sample in ns; 0: unknown */
};

/*
 * Appends the payload of one feature. False: the machine has no such feature; ignore the bytes
 * appended. Features that only a recorder or a file knows are left to them: build ids, clocks,
 * compression, traces.
 */
bool host_feature_put(const struct host_description *d, unsigned bit, struct text *out);

/* ---- parts in files of their own ---- */

bool host_put_tracing(const struct host_description *d, struct text *out);
bool host_put_cpu_caps(const struct host_description *d, struct text *out);
bool host_put_pmu_caps(const struct host_description *d, struct text *out);
bool host_put_hybrid(const struct host_description *d, struct text *out);

#endif
