/* SPDX-License-Identifier: MIT */
/* The time of a flow, and packets before which only time passes. */
#include "pt/clock.h"

#include "pt/space.h"
#include "pt/tick.h"

/* Whether instructions by time have to know of a packet; those of a PSB+ are known at its end. */
static bool is_known(const struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	return !f->psb.open &&
	       (p->kind == SONDE_PT_TSC || p->kind == SONDE_PT_MTC || p->kind == SONDE_PT_CYC);
}

/* Instructions that PTWRITEs led to are after the time of a packet, as in perf. */
void pt_clock_known(struct sonde_pt_flow *f, bool enabled)
{
	uint64_t insns = f->insns - (f->insns == f->wait.led_at ? f->wait.ahead : 0);

	pt_ticks_told(&f->wanted.ticks, f->clock.time.tsc, insns, enabled);
	if (f->wanted.ticks.number <= f->insns) {
		f->wanted.ticks.number = f->wanted.ticks.limit = f->insns + 1;
	}
}

void pt_clock_packet(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	uint64_t cycles = f->clock.time.cycles;

	if (f->options.time) {
		if (!f->clock.moved) {
			f->clock.before_tsc = f->clock.time.tsc;
			f->clock.before_exact = f->clock.time.exact;
			f->clock.moved = true;
		}
		(void)sonde_pt_time_packet(&f->clock.time, p);
		f->clock.cycled = f->clock.cycled || f->clock.time.cycles != cycles ||
		                  p->kind == SONDE_PT_CYC;
		pt_space_time(f);
		if (is_known(f, p)) {
			pt_clock_known(f, f->now.enabled || f->wait.overflowed);
		}
	}
}

static bool only_time(const struct sonde_pt_packet *p)
{
	return p->kind == SONDE_PT_PAD || p->kind == SONDE_PT_TSC || p->kind == SONDE_PT_TMA ||
	       p->kind == SONDE_PT_MTC || p->kind == SONDE_PT_CYC;
}

bool pt_clock_pass(struct sonde_pt_flow *f)
{
	struct pt_cursor c = f->cursor;
	struct sonde_pt_packet p;

	if (pt_cursor_next(&c, &p) <= 0 || !only_time(&p)) {
		return false;
	}
	pt_clock_packet(f, &p);
	f->cursor = c;
	return true;
}

/* PADs and packets of time may come in between. */
bool pt_clock_tip(struct sonde_pt_flow *f, uint64_t *ip)
{
	struct pt_cursor c = f->cursor;
	struct sonde_pt_packet p;

	while ((!f->code.move_due || f->tnt.nbits != 0) && pt_cursor_next(&c, &p) > 0) {
		if (p.kind == SONDE_PT_TIP && sonde_pt_packet_ip(&p, &f->last_ip)) {
			*ip = f->last_ip;
			f->cursor = c;
			return true;
		}
		if (!only_time(&p)) {
			return false;
		}
		pt_clock_packet(f, &p);
		f->cursor = c;
	}
	return false;
}
