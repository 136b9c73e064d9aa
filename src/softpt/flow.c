/* SPDX-License-Identifier: MIT */
#include "softpt/flow.h"

#include "core/status.h"
#include "pt/encode.h"

#define TNT_BITS     6u
#define PSB_SMALLEST 2048u
#define MTC_MISSED   4u /* so many MTC periods are written as MTCs, more as a new TSC */
#define TSC_STALE    1000u /* ns without MTC after which tracing starts with a new TSC */

int flow_init(struct flow *flow, const struct flow_terms *terms, uint64_t tsc)
{
	*flow = (struct flow){.terms = *terms, .tsc = tsc, .late = true};
	flow->encoder = sonde_pt_encoder_new(false);
	return flow->encoder != NULL ? 0 : SONDE_ENOMEM;
}

void flow_fini(struct flow *flow)
{
	sonde_pt_encoder_free(flow->encoder);
	flow->encoder = NULL;
}

static int put(struct flow *flow, const struct sonde_pt_packet *packet)
{
	return sonde_pt_encoder_packet(flow->encoder, packet);
}

static int put_value(struct flow *flow, int kind, uint64_t value)
{
	const struct sonde_pt_packet packet = {.kind = (uint8_t)kind, .value = value};

	return put(flow, &packet);
}

/* A CYC comes before the packet that it times. */
static int put_cyc(struct flow *flow)
{
	uint64_t cycles = flow->cycles - flow->cyc_at;
	uint64_t least =
	        flow->terms.cyc_threshold > 0 ? 1ULL << (flow->terms.cyc_threshold - 1) : 1;

	if (!flow->terms.cyc || cycles < least) {
		return 0;
	}
	flow->cyc_at = flow->cycles;
	return put_value(flow, SONDE_PT_CYC, cycles);
}

static int put_tnt(struct flow *flow)
{
	const struct sonde_pt_packet packet = {
	        .kind = SONDE_PT_TNT8, .count = (uint8_t)flow->nbits, .value = flow->bits};

	if (flow->nbits == 0) {
		return 0;
	}
	flow->bits = flow->nbits = 0;
	TRY(put_cyc(flow));
	return put(flow, &packet);
}

static uint64_t periods(const struct flow *flow)
{
	return flow->tsc / FLOW_CTC_NUMERATOR >> flow->terms.mtc_period;
}

static int put_tsc(struct flow *flow)
{
	const struct sonde_pt_packet tma = {.kind = SONDE_PT_TMA,
	        .value = flow->tsc / FLOW_CTC_NUMERATOR & 0xffff,
	        .extra = flow->tsc % FLOW_CTC_NUMERATOR};

	flow->late = false;
	flow->timed = flow->tsc;
	flow->mtc_at = periods(flow);
	if (!flow->terms.tsc) {
		return 0;
	}
	TRY(put_value(flow, SONDE_PT_TSC, flow->tsc & 0xffffffffffffffULL));
	return flow->terms.mtc ? put(flow, &tma) : 0;
}

/* Packets of time that are due while tracing. */
static int tick(struct flow *flow)
{
	uint64_t now = flow->terms.mtc ? periods(flow) : flow->mtc_at;

	if (!flow->late && now == flow->mtc_at) {
		return 0;
	}
	TRY(put_tnt(flow));
	TRY(put_cyc(flow));
	if (flow->late || now - flow->mtc_at > MTC_MISSED) {
		return put_tsc(flow);
	}
	while (flow->mtc_at < now) {
		flow->mtc_at++;
		TRY(put_value(flow, SONDE_PT_MTC, flow->mtc_at & 0xff));
	}
	flow->timed = flow->tsc;
	return 0;
}

void flow_anchor(struct flow *flow, uint64_t tsc)
{
	flow->late |= tsc > flow->tsc + TSC_STALE;
	flow->tsc = tsc > flow->tsc ? tsc : flow->tsc;
}

uint64_t flow_stamp(struct flow *flow)
{
	flow->late = true;
	flow->tsc += 2;
	return flow->tsc++;
}

void flow_call(struct flow *flow, uint64_t ret)
{
	if (!flow->on) {
		return;
	}
	flow->last_call = (flow->last_call + 1) % FLOW_CALLS;
	flow->calls[flow->last_call] = ret;
	flow->ncalls += flow->ncalls < FLOW_CALLS;
}

static int add_bit(struct flow *flow, bool taken)
{
	flow->branches++;
	TRY(tick(flow));
	flow->bits = flow->bits << 1 | (taken ? 1 : 0);
	return ++flow->nbits == TNT_BITS ? put_tnt(flow) : 0;
}

int flow_cond(struct flow *flow, bool taken)
{
	return flow->on ? add_bit(flow, taken) : 0;
}

static int put_ip(struct flow *flow, int kind, uint64_t ip)
{
	TRY(tick(flow));
	TRY(put_tnt(flow));
	TRY(put_cyc(flow));
	return sonde_pt_encoder_ip(flow->encoder, kind, ip);
}

int flow_target(struct flow *flow, uint64_t to)
{
	if (!flow->on) {
		return 0;
	}
	flow->targets++;
	return put_ip(flow, SONDE_PT_TIP, to);
}

int flow_ret(struct flow *flow, uint64_t to)
{
	bool known = flow->ncalls > 0 && flow->calls[flow->last_call] == to;

	if (!flow->on) {
		return 0;
	}
	if (flow->ncalls > 0) {
		flow->ncalls--;
		flow->last_call = (flow->last_call + FLOW_CALLS - 1) % FLOW_CALLS;
	}
	return known && !flow->terms.noretcomp ? add_bit(flow, true) : flow_target(flow, to);
}

/*
 * The whole address: after a PSB the last IP is 0, but perf keeps the upper half of the one before, which
 * is wrong for programs in the lowest 4 GiB.
 */
static int put_whole_fup(struct flow *flow, uint64_t ip)
{
	bool extended = (uint64_t)((int64_t)(ip << 16) >> 16) == ip;
	const struct sonde_pt_packet fup = {.kind = SONDE_PT_FUP,
	        .count = extended ? 3 : 6,
	        .value = extended ? ip & 0xffffffffffffULL : ip};

	return put(flow, &fup);
}

/* PSB and the state after it; the call stack of a decoder is empty then. */
static int put_psb(struct flow *flow, uint64_t ip)
{
	TRY(put_tnt(flow));
	TRY(put_value(flow, SONDE_PT_PSB, 0));
	TRY(put_tsc(flow));
	TRY(put_value(flow, SONDE_PT_MODE_EXEC, flow->mode));
	TRY(put_value(flow, SONDE_PT_CBR, FLOW_CBR));
	if (flow->on) {
		TRY(put_whole_fup(flow, ip));
	}
	flow->ncalls = 0;
	flow->started = true;
	flow->syncs++;
	flow->psb_at = flow->total + flow_pending(flow);
	return put_value(flow, SONDE_PT_PSBEND, 0);
}

int flow_sync(struct flow *flow, uint64_t ip)
{
	uint64_t bytes = flow->total + flow_pending(flow) - flow->psb_at;

	return flow->on && bytes >= (uint64_t)PSB_SMALLEST << flow->terms.psb_period
	               ? put_psb(flow, ip)
	               : 0;
}

int flow_start(struct flow *flow, uint64_t ip, unsigned mode)
{
	bool same = mode == flow->mode;

	if (flow->on) {
		return 0;
	}
	flow->mode = (uint8_t)mode;
	flow->ncalls = 0;
	if (!flow->started) {
		TRY(put_psb(flow, ip));
		same = true;
	}
	flow->late |= flow->tsc - flow->timed > TSC_STALE;
	TRY(tick(flow));
	if (!same) {
		TRY(put_value(flow, SONDE_PT_MODE_EXEC, mode));
	}
	TRY(put_ip(flow, SONDE_PT_TIP_PGE, ip));
	flow->on = true;
	return 0;
}

int flow_far(struct flow *flow)
{
	if (!flow->on) {
		return 0;
	}
	TRY(tick(flow));
	TRY(put_tnt(flow));
	TRY(put_cyc(flow));
	flow->on = false;
	return put_value(flow, SONDE_PT_TIP_PGD, 0); /* the kernel's address is not recorded */
}

int flow_leave(struct flow *flow, uint64_t ip)
{
	if (!flow->on) {
		return 0;
	}
	TRY(put_ip(flow, SONDE_PT_FUP, ip));
	return flow_far(flow);
}

int flow_halt(struct flow *flow, uint64_t ip)
{
	if (!flow->on) {
		return 0;
	}
	TRY(flow_leave(flow, ip));
	return put_value(flow, SONDE_PT_STOP, 0);
}

size_t flow_pending(struct flow *flow)
{
	const uint8_t *bytes;
	size_t n = 0;

	return sonde_pt_encoder_bytes(flow->encoder, &bytes, &n) == 0 ? n : 0;
}

int flow_take(struct flow *flow, const uint8_t **bytes, size_t *n)
{
	TRY(put_tnt(flow));
	TRY(sonde_pt_encoder_bytes(flow->encoder, bytes, n));
	flow->total += *n;
	pt_encoder_clear(flow->encoder);
	return 0;
}
