/* SPDX-License-Identifier: MIT */
/* The time of a flow, and packets before which only time passes. */
#ifndef SONDE_PT_CLOCK_H
#define SONDE_PT_CLOCK_H

#include "pt/state.h"

/* Updates the time from a packet, if time is wanted. */
void pt_clock_packet(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);

/* The time is known at this instruction. */
void pt_clock_known(struct sonde_pt_flow *f, bool enabled);

/* Reads the TIP at the cursor, after packets of time; false: another packet comes first. */
bool pt_clock_tip(struct sonde_pt_flow *f, uint64_t *ip);

/* Consumes the next packet if it is padding or a packet of time. */
bool pt_clock_pass(struct sonde_pt_flow *f);

#endif
