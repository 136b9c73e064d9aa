/* SPDX-License-Identifier: MIT */
/* The time of a flow. */
#ifndef SONDE_PT_MOMENT_H
#define SONDE_PT_MOMENT_H

#include <sonde/pt_packet.h>

struct pt_moment {
	struct sonde_pt_time time;
	/* The time has changed and no branch was decided since; the time before the change: */
	bool moved;
	uint64_t before_tsc, before_exact;
	bool cycled; /* a CYC came, and no branch since */
	uint64_t cycles, cycle_insns; /* as in a step */
	uint64_t shown_tsc; /* time of the last TICK */
};

#endif
