/* SPDX-License-Identifier: MIT */
/*
 * The time, from these packets:
 *
 *	TSC   the time stamp counter itself
 *	TMA   directly after TSC: the crystal clock (CTC) at that moment, and the TSC ticks since
 *	      its last step
 *	MTC   8 bits of the crystal clock from bit MTCFreq on, every 2^MTCFreq of its ticks
 *	CYC   core cycles since the CYC before
 *	CBR   the core's frequency in multiples of the bus clock: TSC ticks a cycle = nominal / CBR
 *
 * TSC ticks per crystal tick = CPUID 15H EBX / EAX. Cycles are converted to ticks by the speed of
 * the core, which comes from CBR or, more exactly, from the cycles between two MTCs (calibration) or,
 * without MTCs, between a TSC and the next one in a PSB+. An MTC is exact, so it replaces the time estimated from cycles, which can be a step back.
 */
#include "pt/errata.h"

#include <string.h>

#define SPEED_ONE 65536u
/* With fewer cycles the speed would be too inexact: then an interval spans several MTCs. */
#define CALIBRATION_CYCLES 64

void sonde_pt_time_init(struct sonde_pt_time *time, const struct sonde_pt_clock *clock)
{
	memset(time, 0, sizeof(*time));
	if (clock != NULL) {
		time->clock = *clock;
	}
}

/* Converts crystal ticks to TSC ticks; the counts of one trace stay far below 2^32 * 2^32. */
static uint64_t ticks(const struct sonde_pt_clock *clock, uint64_t ctc)
{
	uint64_t n = clock->tsc_ratio_numerator;
	uint64_t d = clock->tsc_ratio_denominator;

	return ctc / d * n + ctc % d * n / d;
}

static bool has_ratio(const struct sonde_pt_clock *clock)
{
	return clock->tsc_ratio_numerator != 0 && clock->tsc_ratio_denominator != 0;
}

/* From here on cycles are added to the current tsc. */
static void restart_cycles(struct sonde_pt_time *t)
{
	t->own.cycle_base = t->tsc;
	t->own.fast = 0;
}

/*
 * A TSC outside of a PSB+ comes where time may have been lost, as when tracing was off: it only
 * begins an interval.
 */
static void calibrate_by_tsc(struct sonde_pt_time *t, uint64_t tsc)
{
	uint64_t passed = tsc - t->own.tsc_before;
	bool usable = t->own.has_before && t->own.in_psb && tsc > t->own.tsc_before &&
	              passed < UINT64_MAX / SPEED_ONE && t->own.tsc_cycles != 0;

	if (usable && !t->clock.no_calibration && t->own.mtc_tsc == 0) {
		t->speed = passed * SPEED_ONE / t->own.tsc_cycles;
	}
	t->own.has_before = true;
	t->own.tsc_before = tsc;
	t->own.tsc_cycles = 0;
}

static void on_tsc(struct sonde_pt_time *t, uint64_t tsc)
{
	calibrate_by_tsc(t, tsc);
	t->tsc = tsc;
	t->exact = tsc;
	t->has_tsc = true;
	t->own.has_ctc = false;
	t->own.cycled = true;
	restart_cycles(t);
}

static void on_tma(struct sonde_pt_time *t, const struct sonde_pt_packet *p)
{
	uint32_t window = 0xffffffffu >> (24 - (t->clock.mtc_shift & 15));

	if (p->flags & SONDE_PT_F_BAD) {
		return;
	}
	t->own.ctc = (uint32_t)p->value;
	t->own.ctc_mask = window & 0xffff;
	t->own.ctc_base = t->tsc - p->extra;
	t->own.ctc_ticks = 0;
	t->own.has_ctc = true;
}

/* How often the 8 bits of MTCs wrapped in that many TSC ticks, rounded. */
static uint64_t wraps(const struct sonde_pt_time *t, uint64_t ticks_passed)
{
	uint64_t wrap = ticks(&t->clock, 256ull << (t->clock.mtc_shift & 15));

	return wrap == 0 ? 0 : (ticks_passed + wrap / 2) / wrap;
}

/*
 * If 256 MTCs or more were lost, as with lost packets, only the cycles since then show how often
 * they wrapped. That estimate is right if it is off by less than half a wrap.
 */
static uint64_t lost_wraps(const struct sonde_pt_time *t, uint64_t tsc)
{
	return t->speed == 0 || t->tsc <= tsc ? 0 : wraps(t, t->tsc - tsc);
}

/*
 * Computes the speed of the core between the previous MTC and this one, at `tsc`. A TSC packet may
 * have come between them, so the time shows how many MTCs that was.
 */
static void calibrate(struct sonde_pt_time *t, uint8_t mtc, uint64_t tsc)
{
	unsigned shift = t->clock.mtc_shift & 15;
	uint64_t passed = ticks(&t->clock, (uint64_t)(uint8_t)(mtc - t->own.mtc) << shift);

	if (!t->own.has_mtc) {
		t->own.interval_ticks = 0;
		t->own.interval_cycles = 0;
		return;
	}
	if (tsc > t->own.mtc_tsc + passed) {
		uint64_t more = wraps(t, tsc - t->own.mtc_tsc - passed);

		passed = ticks(&t->clock, (more * 256 + (uint8_t)(mtc - t->own.mtc)) << shift);
	}
	t->own.interval_ticks += passed;
	if (t->own.interval_cycles >= CALIBRATION_CYCLES) {
		t->speed = t->own.interval_ticks * SPEED_ONE / t->own.interval_cycles;
		t->own.interval_ticks = 0;
		t->own.interval_cycles = 0;
	}
}

/*
 * CYC packets come late: if none came since the previous MTC, the next CYC counts from there, not
 * from this MTC.
 */
static void on_mtc(struct sonde_pt_time *t, uint8_t mtc)
{
	unsigned shift = t->clock.mtc_shift & 15;
	uint32_t ctc = (uint32_t)mtc << shift;
	bool late = t->own.has_mtc && !t->own.cycled && t->speed != 0;
	uint64_t base = t->tsc;
	uint64_t passed = 0;

	if (!has_ratio(&t->clock)) {
		t->lost_mtc++;
		return;
	}
	if (t->own.has_ctc) {
		base = t->own.ctc_base;
		passed = t->own.ctc_ticks + ((ctc - t->own.ctc) & t->own.ctc_mask);
	}
	passed += lost_wraps(t, base + ticks(&t->clock, passed)) * 256 << shift;
	t->tsc = base + ticks(&t->clock, passed);
	t->exact = t->tsc;
	if (!t->clock.no_calibration) {
		calibrate(t, mtc, t->tsc);
	}
	t->own.ctc_base = base;
	t->own.ctc_ticks = passed;
	t->own.mtc_tsc = t->tsc;
	t->own.ctc = ctc;
	t->own.ctc_mask = 0xffffffffu >> (24 - shift);
	t->own.mtc = mtc;
	t->own.has_ctc = true;
	t->own.has_mtc = true;
	t->own.cycled = false;
	if (!late) {
		restart_cycles(t);
	}
}

/* Estimates cycles, in a trace without CYC packets, at a packet with exact time. */
static void estimate_cycles(struct sonde_pt_time *t, uint64_t before)
{
	if (!t->has_cyc && t->speed != 0 && before != 0 && t->exact > before) {
		uint64_t passed = t->exact - before; /* up to 2^56 */

		t->cycles +=
		        passed / t->speed * SPEED_ONE + passed % t->speed * SPEED_ONE / t->speed;
	}
}

static int on_cyc(struct sonde_pt_time *t, uint64_t cycles)
{
	t->has_cyc = true;
	t->cycles += cycles;
	t->own.interval_cycles += cycles;
	t->own.tsc_cycles += cycles;
	t->own.cycled = true;
	if (t->speed == 0) {
		t->lost_cyc++;
		return SONDE_PT_ERROR_NO_CALIBRATION;
	}
	t->own.fast += cycles * t->speed;
	t->tsc = t->own.cycle_base + t->own.fast / SPEED_ONE;
	return SONDE_PT_ERROR_NONE;
}

/*
 * An interval in which the speed changed calibrates nothing: the next one starts at the next MTC.
 */
static void on_cbr(struct sonde_pt_time *t, uint32_t ratio)
{
	uint32_t before = t->cbr;

	t->cbr = ratio;
	if (ratio == before && t->speed != 0) {
		return;
	}
	t->own.has_mtc = false;
	if (ratio != before && (before != 0 || !t->own.in_psb)) {
		t->own.has_before = false;
	}
	if (ratio != 0 && t->clock.nominal_ratio != 0) {
		t->speed = (uint64_t)t->clock.nominal_ratio * SPEED_ONE / ratio;
	} else {
		t->speed = ratio != 0 ? t->speed * before / ratio : 0;
	}
}

static void forget_calibration(struct sonde_pt_time *t)
{
	t->speed = 0;
	t->own.has_mtc = false;
	t->own.has_before = false;
}

int sonde_pt_time_packet(struct sonde_pt_time *time, const struct sonde_pt_packet *packet)
{
	uint64_t before = time->exact;

	switch (packet->kind) {
	case SONDE_PT_TSC: on_tsc(time, packet->value); break;
	case SONDE_PT_TMA: on_tma(time, packet); break;
	case SONDE_PT_MTC: on_mtc(time, (uint8_t)packet->value); break;
	case SONDE_PT_CBR: on_cbr(time, (uint32_t)packet->value); break;
	case SONDE_PT_CYC: return on_cyc(time, packet->value);
	case SONDE_PT_OVF:
		time->own.in_psb = false;
		if (!time->clock.keep_calibration) {
			forget_calibration(time);
		}
		break;
	case SONDE_PT_PSBEND: time->own.in_psb = false; break;
	case SONDE_PT_PSB:
		time->own.in_psb = true;
		/* The first CYC after a PSB is wrong: no interval may contain it. */
		if (pt_errata(&time->clock.cpu) & PT_ERRATUM_SKL168) {
			time->own.has_mtc = false;
		}
		break;
	default: break;
	}
	estimate_cycles(time, before);
	return SONDE_PT_ERROR_NONE;
}
