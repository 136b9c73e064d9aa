/* SPDX-License-Identifier: MIT */
/* The code that is executed. */
#ifndef SONDE_PT_RUNNING_H
#define SONDE_PT_RUNNING_H

#include "pt/image.h"

#include <sonde/pt_flow.h>

struct pt_running {
	struct sonde_pt_asid asid;
	uint32_t space, generation;
	uint32_t now; /* the space of the code that runs: `space`, or that of its guest */
	uint32_t view; /* view of the image for `now` and `generation` */
	enum pt_mode mode;
	struct sonde_pt_move *moves; /* the next one is moves[moved] */
	size_t moved, nmoves, cap;
	bool move_due; /* a move waits for branches that are not decided yet */
	const uint8_t *fast_end; /* fast.c does not read past it */
};

#endif
