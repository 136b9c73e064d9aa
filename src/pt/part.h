/* SPDX-License-Identifier: MIT */
/* A flow over a part of the trace. */
#ifndef SONDE_PT_PART_H
#define SONDE_PT_PART_H

#include <sonde/base.h>

struct pt_part {
	/* It ends after the PSB+ at stop_at, or at a later PSB. */
	bool later; /* not the first part */
	bool ending; /* reading the PSB+ that ends the part */
	bool diverged; /* a flow over the whole trace would have other state than this part */
	bool paused;
	uint64_t stop_at, ended_at;
	/* It pauses after a PSB+ at or after pause_at, until the caller moves it. */
	uint64_t pause_at; /* offset; UINT64_MAX: nowhere */
};

#endif
