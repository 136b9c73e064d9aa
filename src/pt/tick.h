/* SPDX-License-Identifier: MIT */
/* Which instructions `every_ticks` chooses. */
#ifndef SONDE_PT_TICK_H
#define SONDE_PT_TICK_H

#include <sonde/pt_packet.h>

/* Which instruction `every_ticks` chooses next. */
struct pt_ticks {
	uint64_t every; /* TSC ticks; 0: none is chosen */
	uint64_t at; /* the time to reach, a multiple of `every`; 0: no time is known yet */
	uint64_t tsc, insns; /* the last known time, and the instructions executed until then */
	uint64_t each; /* estimated ticks of one instruction, times 2^16 */
	uint64_t number; /* number of the instruction that reaches `at`; UINT64_MAX: none */
};

/* The time was known when this many instructions had run. jumps: see tick.c. */
void pt_ticks_told(
        struct pt_ticks *t, const struct sonde_pt_time *time, uint64_t insns, bool jumps);
/* All instructions up to this number have run. */
void pt_ticks_pass(struct pt_ticks *t, uint64_t number);

#endif
