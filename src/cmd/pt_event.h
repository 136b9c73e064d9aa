/* SPDX-License-Identifier: MIT */
/* Events of Intel PT as text. */
#ifndef SONDE_CMD_PT_EVENT_H
#define SONDE_CMD_PT_EVENT_H

#include <sonde/pt.h>

#define PT_EVENT_TEXT 256

/* The contents of texts. */
struct pt_event_words {
	bool ip; /* print the IP of events */
	bool iflags; /* print changes of the interrupt flag */
	bool ticks; /* print events of time */
};

/* Writes the text of an event; "" if it is not printed. */
void pt_event_text(const struct pt_event_words *words, const struct sonde_pt_event *e,
        char text[PT_EVENT_TEXT]);

#endif
