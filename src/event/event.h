/* SPDX-License-Identifier: MIT */
/* Event strings such as "cpu-clock:u,page-faults" to attrs. */
#ifndef SONDE_EVENT_EVENT_H
#define SONDE_EVENT_EVENT_H

#include "core/status.h"

#include <sonde/attr.h>

#include <stdbool.h>

#define EVENT_NAME_MAX 64

struct event {
	struct sonde_attr attr; /* type, config, exclude bits and precise_ip are set */
	char name[EVENT_NAME_MAX]; /* as the file names it: with its modifiers */
	bool clock; /* counts nanoseconds, shown as msec */
	bool hardware; /* needs a hardware PMU; cycles may fall back to cpu-clock */
	bool tracking; /* the added dummy event of system-wide recording */
};

/* Zero-initialised is a valid empty list. */
struct event_list {
	struct event *v;
	size_t n;
	size_t cap;
};

void event_list_fini(struct event_list *list);

/* Adds an empty event; NULL: no memory. Valid until the next one is added. */
struct event *event_list_add(struct event_list *list);

/*
 * Adds the events of one string, separated by commas. SONDE_EARG names the word that is no event
 * and lists what is valid; SONDE_ENOMEM.
 */
int event_parse(struct event_list *list, const char *text, struct error *err);

/* Adds what is recorded when nothing is asked for: cycles as precise as the hardware can. */
int event_add_default(struct event_list *list, struct error *err);

/* Turns a cycles event into the cpu-clock that stands in for it; keeps modifiers. */
void event_use_cpu_clock(struct event *event);

#endif
