/* SPDX-License-Identifier: MIT */
/* Every event that a machine has a name for. */
#ifndef SONDE_EVENT_CATALOGUE_H
#define SONDE_EVENT_CATALOGUE_H

#include "event/event.h"

enum catalogue_kind {
	CATALOGUE_HARDWARE,
	CATALOGUE_SOFTWARE,
	CATALOGUE_TOOL, /* what a tool that counts knows by itself */
	CATALOGUE_CACHE,
	CATALOGUE_PMU,
	CATALOGUE_RAW, /* forms rather than names: rNNN, PMU/TERMS/ */
	CATALOGUE_BREAKPOINT,
	CATALOGUE_TRACEPOINT,
	CATALOGUE_SDT, /* tracepoints made of a program's static probes */
	CATALOGUE_KINDS
};

struct catalogue_entry {
	enum catalogue_kind kind;
	const char *name; /* as -e takes it */
	const char *alias; /* another name of it; NULL: none */
	const char *pmu; /* NULL: none */
	const char
	        *terms; /* what it stands for, "event=0x3c,umask=0x1"; of a form: its terms; NULL */
	const char *cpus; /* where it is counted; NULL: everywhere */
	const char *unit; /* NULL: events */
	double scale;
	bool available; /* false: this machine has no counters for it */
};

/* Zero-initialised is a valid empty catalogue. */
struct catalogue {
	struct event_list list; /* its memory, and what was read of sysfs */
	struct catalogue_entry *v;
	size_t n, cap;
	bool no_tracefs; /* tracepoints were asked for, but tracefs is not there or not ours to read */
};

void catalogue_fini(struct catalogue *c);

/* kinds: a bit for each that is wanted. root: as for event_parse. False: no memory. */
bool catalogue_read(struct catalogue *c, int root, unsigned kinds);

#endif
