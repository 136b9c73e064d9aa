/* SPDX-License-Identifier: MIT */
/* Every event with a name on a machine. */
#ifndef SONDE_EVENT_CATALOGUE_H
#define SONDE_EVENT_CATALOGUE_H

#include "event/event.h"

enum catalogue_kind {
	CATALOGUE_HARDWARE,
	CATALOGUE_SOFTWARE,
	CATALOGUE_TOOL, /* counted by the tool itself, not by the kernel */
	CATALOGUE_CACHE,
	CATALOGUE_PMU,
	CATALOGUE_RAW, /* patterns, not names: rNNN, PMU/TERMS/ */
	CATALOGUE_BREAKPOINT,
	CATALOGUE_TRACEPOINT,
	CATALOGUE_SDT, /* tracepoints made from static probes of programs */
	CATALOGUE_KINDS
};

struct catalogue_entry {
	enum catalogue_kind kind;
	const char *name; /* in the form for -e */
	const char *alias; /* another name of the same event; NULL: none */
	const char *pmu; /* NULL: none */
	const char *terms; /* its terms, "event=0x3c,umask=0x1"; of a pattern: the possible terms;
	                   NULL */
	const char *cpus; /* where it is counted; NULL: everywhere */
	const char *unit; /* NULL: events */
	double scale;
	bool available; /* false: this machine has no counters for it */
};

/* Empty when zero-initialised. */
struct catalogue {
	struct event_list list; /* owns its memory, and what was read from sysfs */
	struct catalogue_entry *v;
	size_t n, cap;
	bool no_tracefs; /* tracepoints were wanted, but tracefs is not mounted or not readable */
};

void catalogue_fini(struct catalogue *c);

/* kinds: a bit for each wanted one. root: as for event_parse. False: out of memory. */
bool catalogue_read(struct catalogue *c, int root, unsigned kinds);

#endif
