/* SPDX-License-Identifier: MIT */
/* Events of Intel PT as words. */
#ifndef SONDE_CMD_PT_EVENT_H
#define SONDE_CMD_PT_EVENT_H

#include <sonde/pt.h>

#define PT_EVENT_TEXT 256

/* What is told of events. */
struct pt_event_words {
	bool ip; /* where they happened */
	bool iflags; /* those that turn interrupts on and off */
	bool ticks; /* those of time */
};

/* The text of an event; empty where it is not told. */
void pt_event_text(const struct pt_event_words *words, const struct sonde_pt_event *e,
        char text[PT_EVENT_TEXT]);

#endif
