/* SPDX-License-Identifier: MIT */
/* Why the kernel refused to open an event, in words: what happened and what to do. */
#ifndef SONDE_HOST_REFUSAL_H
#define SONDE_HOST_REFUSAL_H

#include "core/status.h"

#include <sonde/attr.h>

#include <stdbool.h>

struct host_tasks;

struct host_refusal {
	int root; /* where proc is */
	const char *name; /* of the event */
	const struct sonde_attr *attr;
	const char *pmu; /* its folder in sysfs; NULL: none */
	bool all; /* of all tasks on the cpus */
	bool counting; /* by a program of whatever name; else recording */
	const struct host_tasks *tasks; /* running ones that were asked for; NULL: none */
};

/* Sets the words for an errno of open, and returns the status. */
int host_refusal(struct error *err, const struct host_refusal *r, int why);

#endif
