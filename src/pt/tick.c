/* SPDX-License-Identifier: MIT */
/*
 * Instructions by time, as perf chooses them. Between two packets of time each instruction is assumed
 * to last one tick. So the number of the instruction at which the time reaches the next multiple of
 * a period is known:
 *
 *	known time     T                        T'            (T' can be before T)
 *	instructions   n   n+1  n+2 ..  number ..
 *	time           T   T+1  T+2  .. at
 *
 * A multiple that a packet passes while tracing is on chooses the next instruction; while tracing is
 * off, none. Where tracing begins, the time is a tick ahead, until a multiple passes, which chooses no
 * instruction, and a branch runs.
 */
#include "pt/tick.h"

static uint64_t next_multiple(const struct pt_ticks *t, uint64_t tsc)
{
	return (tsc / t->every + 1) * t->every;
}

static void set_number(struct pt_ticks *t)
{
	uint64_t now = t->tsc + t->early;

	t->number = t->insns + (t->at > now ? t->at - now : 1);
	t->limit = pt_ticks_is_ending(t) ? 0 : t->number;
}

/* Lets the multiples up to a time pass. */
static void pass_to(struct pt_ticks *t, uint64_t tsc)
{
	t->at = next_multiple(t, tsc);
	t->passed = true;
}

void pt_ticks_init(struct pt_ticks *t, uint64_t every)
{
	t->every = every;
	t->number = t->limit = UINT64_MAX;
}

void pt_ticks_told(struct pt_ticks *t, uint64_t tsc, uint64_t insns, bool enabled)
{
	if (t->every == 0 || tsc == 0) {
		return;
	}
	if (t->at <= tsc && (t->at == 0 || t->early || !enabled)) {
		pass_to(t, tsc + t->early);
	}
	t->tsc = tsc;
	t->insns = insns;
	set_number(t);
}

void pt_ticks_begin(struct pt_ticks *t, uint64_t insns)
{
	uint64_t now = t->tsc + (insns - t->insns) + 1;

	if (t->at == 0 || t->timeless) {
		return;
	}
	if (t->at <= now) {
		pass_to(t, now);
	}
	t->early = true;
	set_number(t);
}

void pt_ticks_lose(struct pt_ticks *t, uint64_t insns)
{
	if (t->at != 0 && !t->timeless) {
		t->insns = insns;
		set_number(t);
	}
}

void pt_ticks_branch(struct pt_ticks *t)
{
	if (t->passed) {
		t->early = t->passed = false;
		set_number(t);
	}
}

void pt_ticks_pass(struct pt_ticks *t, uint64_t number)
{
	if (number >= t->number) {
		t->at = next_multiple(t, t->tsc + t->early + (number - t->insns));
		set_number(t);
	}
}
