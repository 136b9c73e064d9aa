/* SPDX-License-Identifier: MIT */
/*
 * Instructions by time. Between two packets of time each instruction is assumed to last one core
 * cycle. So the number of the instruction at which the time reaches the next multiple of a period
 * is known:
 *
 *	known time     T                        T'            (T' can be before T)
 *	instructions   n   n+1  n+2 ..  number ..
 *	time           T   T+c  T+2c .. >= at
 *
 * As in perf, a multiple that an MTC or CYC passes chooses no instruction, nor one that a TSC passes
 * while tracing is off. Where a TSC passes it while tracing is on (`jumps`), as after an overflow, the
 * next instruction is chosen.
 */
#include "pt/tick.h"

#define ONE 65536u

static void set_number(struct pt_ticks *t)
{
	uint64_t left = t->at > t->tsc ? t->at - t->tsc : 0;
	uint64_t insns = (left * ONE + t->each - 1) / t->each;

	t->number = t->insns + (insns != 0 ? insns : 1);
}

void pt_ticks_told(struct pt_ticks *t, const struct sonde_pt_time *time, uint64_t insns, bool jumps)
{
	uint64_t nominal = time->clock.nominal_ratio;

	if (t->every == 0 || time->tsc == 0) {
		return;
	}
	if (t->at == 0 || (t->at <= time->tsc && !jumps)) {
		t->at = (time->tsc / t->every + 1) * t->every;
	}
	t->tsc = time->tsc;
	t->insns = insns;
	t->each = nominal != 0 && time->cbr != 0 ? nominal * ONE / time->cbr : ONE;
	t->each = t->each != 0 ? t->each : 1;
	set_number(t);
}

void pt_ticks_pass(struct pt_ticks *t, uint64_t number)
{
	uint64_t tsc = t->tsc + ((number - t->insns) * t->each) / ONE;

	if (number >= t->number) {
		t->at = (tsc / t->every + 1) * t->every;
		set_number(t);
	}
}
