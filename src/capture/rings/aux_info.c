/* SPDX-License-Identifier: MIT */
/*
 * Records about a trace, next to its bytes.
 *
 * TIME_CONV, from the control page of a ring:
 *
 *	8   u64 time_shift, time_mult, time_zero   ns = zero + (ticks * mult >> shift)
 *	32  u64 time_cycles, time_mask             for a counter of fewer bits
 *	48  u8  cap_user_time_zero, cap_user_time_short, 6 of padding
 *
 * AUXTRACE_INFO of Intel PT:
 *
 *	8   u32 1 (Intel PT), padding
 *	16  u64 PMU's type, time_shift, time_mult, time_zero, cap_user_time_zero
 *	56  u64 bits of attr.config: tsc, noretcomp
 *	72  u64 source of switches (enum capture_aux_switch), snapshot mode, areas by cpu
 *	96  u64 bits of attr.config: mtc, mtc_period
 *	112 u64 ticks of TSC for one of CTC: numerator, denominator
 *	128 u64 bits of attr.config: cyc
 *	136 u64 max_nonturbo_ratio
 *	144 u64 length of the address filter; its text, with a NUL, padded to 8; none when it is 0
 *	    u64 whether there is Event Trace
 *
 * Observed in files and dumps of perf 6.1.
 */
#include "abi/abi.h"
#include "capture/rings/rings.h"
#include "core/span.h"
#include "host/synth.h"
#include "proc/proc.h"
#include "record/feature_write.h"

#include <stdio.h>
#include <stdlib.h>

#define INDEX_ENTRY 16u /* {u64 file offset, u64 size of the record} */

/* offsets in the control page: perf_event_open(2) */
#define AT_LOCK     8
#define AT_CAPS     40
#define AT_SHIFT    50
#define AT_MULT     52
#define AT_ZERO     64
#define AT_CYCLES   80
#define AT_MASK     88
#define CAP_ZERO    (1u << 4)
#define CAP_SHORT   (1u << 5)
#define TRIES       1000 /* attempts to read a page that is being written */
#define CLOCKS_LEAF 0x15u /* leaf of CPUID: ratio of TSC and CTC */

struct clock {
	uint64_t shift, mult, zero, cycles, mask;
	bool cap_zero, cap_short;
};

static uint64_t page_u64(const uint8_t *page, size_t at)
{
	return __atomic_load_n((const uint64_t *)(const void *)(page + at), __ATOMIC_RELAXED);
}

/* The kernel increments the lock before and after it writes; odd: it is writing. */
static struct clock read_clock(const uint8_t *page)
{
	const uint32_t *lock = (const uint32_t *)(const void *)(page + AT_LOCK);
	struct clock c = {0};
	uint32_t seq;
	uint64_t caps;
	int i;

	for (i = 0; i < TRIES; i++) {
		seq = __atomic_load_n(lock, __ATOMIC_ACQUIRE);
		caps = page_u64(page, AT_CAPS);
		c = (struct clock){
		        .shift = __atomic_load_n((const uint16_t *)(const void *)(page + AT_SHIFT),
		                __ATOMIC_RELAXED),
		        .mult = __atomic_load_n(
		                (const uint32_t *)(const void *)(page + AT_MULT), __ATOMIC_RELAXED),
		        .zero = page_u64(page, AT_ZERO),
		        .cap_zero = (caps & CAP_ZERO) != 0,
		        .cap_short = (caps & CAP_SHORT) != 0};
		if (c.cap_short) {
			c.cycles = page_u64(page, AT_CYCLES);
			c.mask = page_u64(page, AT_MASK);
		}
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (seq % 2 == 0 && __atomic_load_n(lock, __ATOMIC_RELAXED) == seq) {
			break;
		}
	}
	if (!c.cap_zero) {
		return (struct clock){0};
	}
	return c;
}

static struct clock ring_clock(const struct capture_rings *r)
{
	size_t i;

	for (i = 0; i < r->aux.nrings; i++) {
		if (r->v[i].page != NULL) {
			return read_clock(r->v[i].page);
		}
	}
	return (struct clock){0};
}

void capture_aux_put_time(const struct capture_rings *r, struct text *t)
{
	struct clock c;
	char caps[2];
	size_t at;

	if (r->plan->aux.pmu == NULL) {
		return;
	}
	c = ring_clock(r);
	if (!c.cap_zero) {
		return;
	}
	caps[0] = 1;
	caps[1] = c.cap_short ? 1 : 0;
	at = host_record_begin(t, RECORD_TIME_CONV, 0);
	feature_put_u64(t, c.shift);
	feature_put_u64(t, c.mult);
	feature_put_u64(t, c.zero);
	feature_put_u64(t, c.cycles);
	feature_put_u64(t, c.mask);
	text_bytes(t, caps, sizeof(caps));
	host_record_end(t, at, NULL, 0);
}

static void put_intel_pt(struct capture_rings *r, struct text *t)
{
	struct clock c = ring_clock(r);
	size_t filter = r->plan->aux.filter.n > 0 ? r->plan->aux.filter.n - 1 : 0;
	uint32_t ratio[4];

	if (!c.cap_zero) {
		capture_say(
		        r->log, SONDE_RECORDER_WARNING, "Intel Processor Trace: TSC not available");
	}
	r->kernel->cpuid(CLOCKS_LEAF, 0, ratio);
	feature_put_u64(t, r->plan->events.v[0].attr.type);
	feature_put_u64(t, c.shift);
	feature_put_u64(t, c.mult);
	feature_put_u64(t, c.zero);
	feature_put_u64(t, c.cap_zero);
	feature_put_u64(t, capture_aux_mask(&r->plan->aux, r->root, "tsc"));
	feature_put_u64(t, capture_aux_mask(&r->plan->aux, r->root, "noretcomp"));
	feature_put_u64(t, r->plan->aux.switches);
	feature_put_u64(t, r->plan->aux.mode == CAPTURE_AUX_SNAPSHOT);
	feature_put_u64(t, r->aux.rings[0].cpu >= 0);
	feature_put_u64(t, capture_aux_mask(&r->plan->aux, r->root, "mtc"));
	feature_put_u64(t, capture_aux_mask(&r->plan->aux, r->root, "mtc_period"));
	feature_put_u64(t, ratio[1]);
	feature_put_u64(t, ratio[0]);
	feature_put_u64(t, capture_aux_mask(&r->plan->aux, r->root, "cyc"));
	feature_put_u64(t, capture_aux_number(&r->plan->aux, r->root, "max_nonturbo_ratio"));
	feature_put_u64(t, filter);
	if (filter > 0) {
		text_bytes(t, r->plan->aux.filter.p, filter + 1);
		text_fill(t, '\0', (8 - (filter + 1) % 8) % 8);
	}
	feature_put_u64(t, capture_aux_number(&r->plan->aux, r->root, "caps/event_trace"));
}

void capture_aux_put_info(struct capture_rings *r, struct text *t)
{
	size_t at;

	if (r->plan->aux.pmu == NULL) {
		return;
	}
	capture_say(r->log, SONDE_RECORDER_LINE, "Synthesizing auxtrace information");
	at = host_record_begin(t, RECORD_AUXTRACE_INFO, 0);
	feature_put_u32(t, r->plan->aux.pmu->type);
	feature_put_u32(t, 0);
	if (r->plan->aux.pmu->type == AUXTRACE_INTEL_PT) {
		put_intel_pt(r, t);
	} else {
		feature_put_u64(t, r->plan->events.v[0].attr.type);
		feature_put_u64(t, r->aux.rings[0].cpu >= 0);
	}
	host_record_end(t, at, NULL, 0);
}

/* Records written when the disk was full may have been cut off again. */
bool capture_aux_put_index(const struct capture_aux *aux, uint64_t end, struct text *t)
{
	size_t n = aux->index.n / INDEX_ENTRY * INDEX_ENTRY;

	while (n > 0 && load_u64((const uint8_t *)aux->index.p + n - INDEX_ENTRY, false) >= end) {
		n -= INDEX_ENTRY;
	}
	if (n == 0) {
		return false;
	}
	feature_put_u64(t, n / INDEX_ENTRY);
	text_bytes(t, aux->index.p, n);
	return true;
}
