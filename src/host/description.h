/* SPDX-License-Identifier: MIT */
/* Header features: what a machine is, and what was measured on it. */
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
	int root; /* where proc and sys are */
	const pid_t *cpus; /* of the topology */
	size_t ncpus;
	const struct event_list *events;
	const struct host_ids *ids; /* by event */
	char *const *command_line; /* NULL-terminated, or NULL */
	const struct host_bpf *bpf; /* programs; NULL: nobody asked */
	uint64_t first, last; /* ns, of the samples; 0: not known */
};

/*
 * Appends the payload of one feature. False: it has none; what was appended is of no use then. What
 * only a recorder or a file knows is left to them: build ids, clocks, compression, trace.
 */
bool host_feature_put(const struct host_description *d, unsigned bit, struct text *out);

/* ---- parts in files of their own ---- */

bool host_put_tracing(const struct host_description *d, struct text *out);
bool host_put_cpu_caps(const struct host_description *d, struct text *out);
bool host_put_pmu_caps(const struct host_description *d, struct text *out);
bool host_put_hybrid(const struct host_description *d, struct text *out);

#endif
