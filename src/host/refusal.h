/* SPDX-License-Identifier: MIT */
/* Why the kernel refused to open an event: a text with the reason and advice. */
#ifndef SONDE_HOST_REFUSAL_H
#define SONDE_HOST_REFUSAL_H

#include "core/status.h"

#include <sonde/attr.h>

#include <stdbool.h>

struct host_tasks;

struct host_refusal {
	int root; /* descriptor of the directory that contains proc */
	const char *name; /* of the event */
	const struct sonde_attr *attr;
	const char *pmu; /* its folder in sysfs; NULL: none */
	bool all; /* for all tasks on the cpus */
	bool counting; /* the program counts, under any name; else it records */
	const struct host_tasks *tasks; /* the running tasks to measure; NULL: none */
};

/* Sets the text for an errno of open, and returns the status. */
int host_refusal(struct error *err, const struct host_refusal *r, int why);

#endif
