/* SPDX-License-Identifier: MIT */
/* Follows a trace packet by packet. */
#ifndef SONDE_PT_FLOW_H
#define SONDE_PT_FLOW_H

#include "pt/state.h"

/* Handles one packet, or the end of the trace. */
void pt_flow_packet(struct sonde_pt_flow *f);

/* Follows the trace to the end of the flow; false: out of memory. */
bool pt_flow_run(struct sonde_pt_flow *f);

#endif
