/* SPDX-License-Identifier: MIT */
/* Places: states of a flow without anything pending. */
#ifndef SONDE_PT_PLACE_H
#define SONDE_PT_PLACE_H

#include "pt/state.h"

/* State of a flow directly after a PSB+ when nothing is pending. */
struct pt_place {
	uint64_t at; /* offset of the packet after the PSB+; 0: beginning of the trace */
	uint64_t psb; /* offset of the PSB */
	uint64_t ip; /* the last IP; where tracing is off, the last one known */
	uint64_t last_ip, disabled_at;
	struct sonde_pt_asid asid;
	struct sonde_pt_time time;
	enum pt_mode mode;
	bool done, enabled, fresh, by_psb, speculative, interrupts, mode_stale, has_disabled_at;
	bool cycled;
	uint64_t cycles, cycle_insns, insns; /* totals so far */
};

/* Whether the flow is at a place (a state without anything pending), and which. */
bool pt_place_is_one(const struct sonde_pt_flow *f);
struct pt_place pt_place_of(const struct sonde_pt_flow *f);
/* Whether a flow continues in the same way from both. */
bool pt_place_same(const struct pt_place *a, const struct pt_place *b);
/* Restarts at the PSB at an offset, with the time before it. */
void pt_place_begin(
        struct sonde_pt_flow *f, uint64_t offset, const struct sonde_pt_time *time, bool cycled);
void pt_place_goto(struct sonde_pt_flow *f, const struct pt_place *place);

#endif
