/* SPDX-License-Identifier: MIT */
/*
 * The state of a flow, which the files of pt share.
 *
 * The instruction at `ip` is not executed yet, except inside fast.c, where a node is the position.
 * What a flow can wait for (bound, attached, deferred) is defined at the head of branch.c.
 */
#ifndef SONDE_PT_STATE_H
#define SONDE_PT_STATE_H

#include "pt/calls.h"
#include "pt/errata.h"
#include "pt/graph.h"
#include "pt/moment.h"
#include "pt/packet.h"
#include "pt/part.h"
#include "pt/passed.h"
#include "pt/position.h"
#include "pt/psb.h"
#include "pt/queue.h"
#include "pt/running.h"
#include "pt/skipped.h"
#include "pt/tally.h"
#include "pt/tnt.h"
#include "pt/units.h"
#include "pt/waiting.h"

#define PT_TIPS 1024 /* a power of two */

/* Cache entry: the node of an IP from a TIP. */
struct pt_tip {
	uint64_t ip;
	uint32_t node;
	uint16_t bias; /* as in pt_at, if it is so small */
	uint16_t turn; /* as in struct pt_near */
};

/* What is used for each branch comes first. */
struct sonde_pt_flow {
	struct sonde_pt_graph *graph;
	struct pt_cursor cursor;
	uint64_t last_ip;
	struct pt_tnt tnt;
	struct pt_queue queue;
	struct pt_batch batch;
	struct pt_passed passed;
	uint64_t insns; /* executed instructions, when steps are wanted */
	struct pt_wanted wanted;
	struct pt_position now;
	struct pt_running code;
	struct pt_units units;
	uint32_t errata;
	uint32_t walked; /* instructions of the last walk */
	bool done;
	bool failed; /* out of memory, or too many nodes */
	struct pt_psb psb;
	struct pt_skipped gap;
	struct pt_part part;
	uint64_t error_at; /* offset of the next error */
	struct pt_moment clock;
	struct sonde_pt_flow_options options;
	struct pt_tally tally;
	struct pt_tip tips[PT_TIPS]; /* by hash of the IP */
	struct pt_calls calls;
	struct pt_given given;
	struct pt_pending wait;
};

static inline enum pt_mode pt_mode_of(unsigned exec)
{
	if (exec & SONDE_PT_EXEC_CS_L) {
		return PT_MODE_64;
	}
	return exec & SONDE_PT_EXEC_CS_D ? PT_MODE_32 : PT_MODE_16;
}

/* The offset of the next packet. */
static inline uint64_t pt_flow_offset(const struct sonde_pt_flow *f)
{
	return (uint64_t)(f->cursor.p - f->cursor.begin);
}

static inline uint32_t pt_flow_context(const struct sonde_pt_flow *f)
{
	return pt_context(
	        f->code.view, f->code.mode != PT_MODE_UNKNOWN ? f->code.mode : PT_MODE_64);
}

#endif
