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
	uint64_t number; /* number of the instruction that reaches `at`; UINT64_MAX: none */
	uint64_t limit; /* up to here no instruction is chosen and no branch has to be looked at */
	bool early; /* tracing began: time is a tick ahead, see tick.c */
	bool passed; /* a multiple has passed and chose no instruction */
	bool timeless; /* the trace has no times: an instruction takes a tick */
};

/* No instruction is chosen. */
void pt_ticks_init(struct pt_ticks *t, uint64_t every);
/* The time was known when this many instructions had run. enabled: tracing is on. */
void pt_ticks_told(struct pt_ticks *t, uint64_t tsc, uint64_t insns, bool enabled);
/* Tracing begins (again) after this many instructions. */
void pt_ticks_begin(struct pt_ticks *t, uint64_t insns);
/* Packets were lost after this many instructions: the time is as before them. */
void pt_ticks_lose(struct pt_ticks *t, uint64_t insns);
/* A branch is next or has run. */
void pt_ticks_branch(struct pt_ticks *t);
/* All instructions up to this number have run. */
void pt_ticks_pass(struct pt_ticks *t, uint64_t number);

/* Whether the time is no longer ahead after the next branch. */
static inline bool pt_ticks_is_ending(const struct pt_ticks *t)
{
	return t->early && t->passed;
}

#endif
