/* SPDX-License-Identifier: MIT */
/* Where a flow is, and the state of the processor there. */
#ifndef SONDE_PT_POSITION_H
#define SONDE_PT_POSITION_H

#include <sonde/base.h>

struct pt_position {
	uint64_t ip;
	bool enabled; /* tracing is on */
	bool lost; /* tracing is on, and ip is unknown */
	bool fresh; /* nothing was followed since the last sync */
	bool by_psb; /* a PSB+ reported that tracing is on, and nothing was followed since */
	bool speculative, interrupts;
	bool mode_stale; /* the next MODE.EXEC counts as a change of all that it contains */
	bool has_disabled_at;
	uint64_t disabled_at; /* tracing that goes on at this address is resumed */
};

#endif
