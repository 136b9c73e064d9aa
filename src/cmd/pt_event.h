/* SPDX-License-Identifier: MIT */
/* Events of Intel PT as text. */
#ifndef SONDE_CMD_PT_EVENT_H
#define SONDE_CMD_PT_EVENT_H

#include <sonde/pt.h>

#define PT_EVENT_TEXT 256

/* Types of CFE with words of their own. The vector of a SIPI is a page number. */
enum { PT_CFE_INTR = 1, PT_CFE_SIPI = 5, PT_CFE_VMEXIT_INTR = 9 };

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
