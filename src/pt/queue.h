/* SPDX-License-Identifier: MIT */
/* What the caller wants, and what waits for the caller. */
#ifndef SONDE_PT_QUEUE_H
#define SONDE_PT_QUEUE_H

#include "pt/tick.h"

#include <sonde/pt_flow.h>

/* One item of the output queue. For a run of instructions, `event` is not set. */
struct pt_item {
	uint8_t kind; /* enum sonde_pt_step_kind; INSN means a run of instructions */
	bool speculative, resync;
	bool taken; /* a run: its last instruction is a branch that was taken */
	uint16_t error;
	uint32_t context, insns, space;
	uint32_t node; /* a run: its node; PT_NODE_NONE: it was walked instruction by instruction */
	uint64_t bias; /* of the node's addresses */
	uint64_t ip, offset, psb;
	uint64_t to; /* a run: target of its last instruction, if that is a branch; 0: unknown; a
	                gap: its end offset */
	uint64_t before; /* instructions executed before this item */
	uint64_t tsc, exact, cycles, cycle_insns; /* as in a step */
	/* A run: times and cycles of all its instructions but the last. */
	uint64_t before_tsc, before_exact, before_cycles, before_cycle_insns;
	struct pt_ticks ticks; /* a run: which of its instructions `every_ticks` chooses */
	struct sonde_pt_event event;
};

struct pt_queue {
	struct pt_item *items;
	size_t head, tail, cap;
	bool run_open; /* the last run that was met is in the queue */
};

/* The run that steps are made of. */
struct pt_given {
	struct pt_item run; /* insns are left, the next one is at ip */
	unsigned direct; /* direct branches left in it, if it is a node */
	bool first; /* no step was made of it yet, and it follows an event or a packet's branch */
	bool goes_on; /* no packet decides where the run ends */
	uint8_t class; /* of the step's last instruction, as in struct pt_branch */
	struct sonde_pt_step step; /* the caller's, valid until the next one */
};

struct pt_wanted {
	unsigned kinds; /* SONDE_PT_WANT_* */
	bool unnumbered; /* steps need no numbers of instructions, and none is chosen by number */
	uint64_t
	        sample_at; /* number of the next instruction that `every` chooses; UINT64_MAX: none */
	struct pt_ticks ticks;
};

#endif
