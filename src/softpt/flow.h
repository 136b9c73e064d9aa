/* SPDX-License-Identifier: MIT */
/*
 * The flow of one modelled processor as Intel PT packets. Its time stamp counter counts ns of
 * CLOCK_MONOTONIC, its crystal clock has 25 MHz, and an instruction takes a cycle of 1 ns.
 *
 * Functions of packets do nothing while tracing is off. All return 0 or SONDE_ENOMEM.
 */
#ifndef SONDE_SOFTPT_FLOW_H
#define SONDE_SOFTPT_FLOW_H

#include <sonde/pt_packet.h>

#define FLOW_CTC_NUMERATOR   40u /* ticks of the TSC in a tick of the crystal clock */
#define FLOW_CTC_DENOMINATOR 1u
#define FLOW_CBR             10u
#define FLOW_CALLS           64u

struct flow_terms {
	bool tsc, mtc, cyc, noretcomp;
	unsigned mtc_period, cyc_threshold, psb_period; /* exponents, as in attr.config */
};

struct flow {
	struct flow_terms terms;
	struct sonde_pt_encoder *encoder;
	bool on; /* tracing: between TIP.PGE and TIP.PGD */
	bool started; /* the first PSB is written */
	bool late; /* the next packet with an IP needs a TSC before it */
	uint8_t mode; /* of MODE.Exec */
	uint64_t tsc, cycles; /* now */
	uint64_t timed; /* TSC of the last packet of time */
	uint64_t cyc_at; /* cycles at the last CYC */
	uint64_t mtc_at; /* number of MTC periods at the last MTC or TMA */
	uint64_t bits; /* branches that are not written yet */
	unsigned nbits;
	uint64_t calls[FLOW_CALLS]; /* return addresses, a ring */
	unsigned ncalls, last_call;
	uint64_t total; /* bytes taken */
	uint64_t psb_at; /* bytes at the last PSB */
	uint64_t branches, targets, syncs; /* TNT bits, TIPs, PSBs */
};

int flow_init(struct flow *flow, const struct flow_terms *terms, uint64_t tsc);
void flow_fini(struct flow *flow);

/* Instructions were executed. */
static inline void flow_run(struct flow *flow, uint64_t insns)
{
	flow->tsc += insns;
	flow->cycles += insns;
}

/* Time passed up to this time; earlier times are ignored. */
void flow_anchor(struct flow *flow, uint64_t tsc);

/* A time for a record next to the trace: later than all packets so far, earlier than all others. */
uint64_t flow_stamp(struct flow *flow);

void flow_call(struct flow *flow, uint64_t ret); /* a call pushed this address */
int flow_cond(struct flow *flow, bool taken);
int flow_target(struct flow *flow, uint64_t to); /* of an indirect branch */
int flow_ret(struct flow *flow, uint64_t to);

/* Tracing begins at ip; mode: of MODE.Exec. */
int flow_start(struct flow *flow, uint64_t ip, unsigned mode);
/* Tracing ends: with a far branch; at ip, before its instruction; and by a TraceStop region. */
int flow_far(struct flow *flow);
int flow_leave(struct flow *flow, uint64_t ip);
int flow_halt(struct flow *flow, uint64_t ip);

/* Writes a PSB if one is due; ip: of the next instruction. */
int flow_sync(struct flow *flow, uint64_t ip);

/* Whether as many bytes wait. */
size_t flow_pending(struct flow *flow);

/* Returns the bytes since the last call; valid until the next packet. */
int flow_take(struct flow *flow, const uint8_t **bytes, size_t *n);

#endif
