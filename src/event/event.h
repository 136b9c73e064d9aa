/* SPDX-License-Identifier: MIT */
/*
 * Event strings to attrs:
 *
 *	STRING    = ITEM {"," ITEM}
 *	ITEM      = EVENT | [NAME] "{" EVENT {"," EVENT} "}" [":" MODIFIERS]
 *	EVENT     = WORD [":" MODIFIERS]
 *	MODIFIERS = u k h (where it counts) G H (guest, host) I (not when idle) p pp ppp P (precise)
 *	            D (pinned) e (exclusive) S (a group's leader samples for all)
 */
#ifndef SONDE_EVENT_EVENT_H
#define SONDE_EVENT_EVENT_H

#include "core/status.h"

#include <sonde/attr.h>

#include <stdbool.h>

#define EVENT_NAME_MAX 64

struct event {
	struct sonde_attr attr; /* type, config, exclude bits and precise_ip are set */
	char name[EVENT_NAME_MAX]; /* as the file names it: with its modifiers */
	char group_name[EVENT_NAME_MAX]; /* of the group that it leads; "" when that has none */
	size_t leader; /* index of the event that leads its group: its own when it is alone */
	size_t members; /* of the group that it leads, with itself; 0 for the others */
	bool clock; /* counts nanoseconds, shown as msec */
	bool hardware; /* needs a hardware PMU; cycles may fall back to cpu-clock */
	bool tracking; /* the added dummy event of system-wide recording */
	bool most_precise; /* P: as precise as the hardware can */
	bool stand_in; /* cpu-clock for cycles: its name follows from its attr */
	bool by_default; /* nobody asked for it by name */
	bool leader_samples; /* S: samples of its leader hold its count */
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
 * Adds the events of one string. SONDE_EARG names the word that is no event and lists what is
 * valid; SONDE_ENOMEM.
 */
int event_parse(struct event_list *list, const char *text, struct error *err);

/* Adds what is recorded when nothing is asked for: cycles as precise as the hardware can. */
int event_add_default(struct event_list *list, struct error *err);

/* Turns a cycles event into the cpu-clock that stands in for it, with perf's name for that. */
void event_use_cpu_clock(struct event *event);

/* Leaves the kernel out, as when only user space is allowed; the name says so in perf's way. */
void event_exclude_kernel(struct event *event);

#endif
