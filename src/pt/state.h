/* SPDX-License-Identifier: MIT */
/*
 * The state of a flow, which the files of pt share.
 *
 * The instruction at `ip` is not executed yet, except inside fast.c, where a node is the position.
 * What a flow can wait for (bound, attached, deferred) is defined at the head of branch.c.
 */
#ifndef SONDE_PT_STATE_H
#define SONDE_PT_STATE_H

#include "pt/errata.h"
#include "pt/graph.h"
#include "pt/packet.h"
#include "pt/tick.h"

#define PT_STACK_SIZE 1024 /* processors keep 64 calls */
#define PT_HOT_ROOM                                                                                \
	64 /* what the fast loop adds to a stack or log between checks: bits in a word */
#define PT_WAITING_MAX 32 /* events between two packets that place them */
#define PT_TIPS        1024 /* a power of two */

/* One item of the output queue. For a run of instructions, `event` is not set. */
struct pt_item {
	uint8_t kind; /* enum sonde_pt_step_kind; INSN means a run of instructions */
	bool speculative, resync;
	bool taken; /* a run: its last instruction is a branch that was taken */
	uint16_t error;
	uint32_t context, insns, space;
	uint32_t node; /* a run: its node; PT_NODE_NONE: it was walked instruction by instruction */
	uint64_t ip, offset, psb;
	uint64_t to; /* a run: target of its last instruction, if that is a branch; 0: unknown; a
	                gap: its end offset */
	uint64_t before; /* instructions executed before this item */
	uint64_t tsc, exact, cycles, cycle_insns; /* as in a step */
	uint64_t before_tsc, before_exact; /* a run: times of all its instructions but the last */
	struct pt_ticks ticks; /* a run: which of its instructions `every_ticks` chooses */
	struct sonde_pt_event event;
};

/* Events that wait for the packet or the instruction that gives them an address. */
struct pt_waiting {
	struct sonde_pt_event events[PT_WAITING_MAX];
	unsigned count;
};

/* Cache entry: the node of an IP from a TIP. */
struct pt_tip {
	uint64_t ip;
	uint32_t context, node; /* node PT_NODE_NONE: empty */
};

struct sonde_pt_flow {
	struct sonde_pt_graph *graph;
	struct sonde_pt_flow_options options;
	uint32_t errata;
	struct pt_cursor cursor;
	struct sonde_pt_time time;
	uint64_t last_ip;
	uint64_t last_psb, good_psb; /* offsets: of the last PSB, and of the last one whose PSB+
	                                was read to its end */

	/* Current position. */
	uint64_t ip;
	uint32_t space, generation;
	uint32_t view; /* view of the image for the two above */
	enum pt_mode mode;
	bool synced; /* a PSB was found */
	bool syncing; /* reading that PSB's PSB+ */
	bool enabled; /* tracing is on */
	bool lost; /* tracing is on, and ip is unknown */
	bool fresh; /* nothing was followed since the last sync */
	bool by_psb; /* a PSB+ reported that tracing is on, and nothing was followed since */
	bool speculative, interrupts;
	bool mode_stale; /* the next MODE.EXEC counts as a change of all that it contains */
	bool in_async; /* a FUP began an asynchronous branch at async_at */
	bool in_psb; /* between PSB and PSBEND */
	bool in_psbend; /* walking to the IP of the PSB */
	bool overflowed; /* waiting for the FUP of an OVF */
	bool may_enable; /* after an OVF, when a FUP or TIP alone may turn tracing on */
	bool fup_is_void; /* ignore the next FUP */
	bool block_ends; /* the next FUP is that of a BEP */
	uint8_t block; /* the type of the last BBP */
	bool fup_is_branch; /* the next FUP only names the branch that events are attached to */
	bool psb_ip; /* the PSB+ had an IP, psb_at */
	bool has_disabled_at;
	bool done;

	/* Skipped bytes, from an error (or the beginning) to where the flow continues. */
	bool in_gap;
	bool gap_told; /* report the gap even if it has no bytes */
	uint64_t gap_at; /* offset */
	size_t gap_item; /* its index in the output queue */
	uint64_t packet_at; /* offset of the current packet: gaps begin and end there */
	uint64_t found_ip; /* the last IP that made the position known */

	/* The code that is executed. */
	struct sonde_pt_asid asid;
	struct sonde_pt_move *moves; /* the next one is moves[moved] */
	size_t moved, nmoves, moves_cap;
	bool move_due; /* a move waits for branches that are not decided yet */
	const uint8_t *fast_end; /* fast.c does not read past it */

	/* A flow over one part of the trace ends after the PSB+ at stop_at, or at a later PSB. */
	bool is_part; /* not the first one */
	bool ending; /* reading the PSB+ that ends the part */
	bool diverged; /* a flow over the whole trace would have other state than this part */
	bool saw_exec; /* the PSB+ contained the mode */
	uint64_t stop_at, ended_at;

	/* The flow pauses after a PSB+ at or after pause_at, until the caller moves it. */
	uint64_t pause_at; /* offset; UINT64_MAX: nowhere */
	bool paused;

	uint64_t psb_at, async_at, disabled_at, error_at;
	int pending_exec; /* value of a MODE.EXEC that waits for its packet; -1: none */
	uint32_t walked; /* instructions of the last walk */
	uint32_t ahead; /* instructions that PTWRITEs led to since the last branch, FUP or TRIG */

	/* Branch bits that were read ahead: the highest bit is next. */
	uint64_t bits;
	unsigned nbits, gathered;
	const uint8_t *gather; /* their first packet */

	struct pt_tip tips[PT_TIPS]; /* by hash of the IP */
	/*
	 * Return stack of nodes. Slot 0 is always PT_NODE_NONE: the result when the stack is empty.
	 */
	uint32_t stack[PT_STACK_SIZE];
	unsigned sp; /* index of the slot above the top */

	struct pt_waiting bound; /* wait for a FUP */
	struct pt_waiting deferred; /* wait until `bound` is placed */
	struct pt_waiting attached; /* wait for the branch that the next TIP names */
	struct sonde_pt_event evd; /* EVDs for the next CFE: extra and data */

	/* Output. */
	bool counting;
	struct pt_counts *counts;
	struct pt_item *items;
	size_t head, tail, cap;
	bool run_open; /* the last run that was met is in the queue */
	unsigned want; /* SONDE_PT_WANT_* */
	uint64_t insns; /* executed instructions, when steps are wanted */
	uint64_t sample_at; /* number of the next instruction that `every` chooses; UINT64_MAX:
	                      none */
	struct pt_ticks ticks;
	/* The time has changed and no branch was decided since; the time before the change: */
	bool time_moved;
	uint64_t before_tsc, before_exact;
	bool cycled; /* a CYC came, and no branch since */
	uint64_t cycles, cycle_insns; /* as in a step */
	struct pt_item run; /* the run that steps are made of: insns are left, the next one is at
	                       ip */
	unsigned direct; /* direct branches left in it, if it is a node */
	bool first; /* no step was made of it yet */
	struct sonde_pt_step step; /* the caller's, valid until the next one */
	bool failed; /* out of memory, or too many nodes */
	uint64_t events, errors, gaps, gap_bytes;
	struct sonde_pt_totals totals; /* of sonde_pt_flow_count */
	uint64_t shown_tsc; /* time of the last TICK */
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
	return pt_context(f->view, f->mode != PT_MODE_UNKNOWN ? f->mode : PT_MODE_64);
}

#endif
