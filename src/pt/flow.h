/* SPDX-License-Identifier: MIT */
/*
 * The state of a flow, private to pt. Files: flow.c packets in general, event.c packets of events,
 * sync.c PSB and OVF, gap.c skipped bytes, walk.c code instruction by instruction, fast.c branches
 * node by node, more.c TNT packets, step.c and give.c steps for the caller, edge.c and parallel.c
 * counts.
 *
 * The instruction at `ip` is not executed yet, except inside fast.c, where a node is the position.
 * What a flow can wait for (bound, attached, deferred) is defined at the head of flow.c.
 */
#ifndef SONDE_PT_FLOW_H
#define SONDE_PT_FLOW_H

#include "pt/errata.h"
#include "pt/graph.h"
#include "pt/packet.h"

#define PT_STACK_SIZE 1024 /* processors keep 64 calls */
#define PT_HOT_ROOM                                                                                \
	64 /* what the fast loop adds to a stack or log between checks: bits in a word */
#define PT_WAITING_MAX  32 /* events between two packets that place them */
#define PT_RECENT_LINKS 4096
#define PT_EDGE_LOG     256
#define PT_TIPS         1024 /* a power of two */

/* Which instruction `every_ticks` chooses next. */
struct pt_ticks {
	uint64_t every; /* TSC ticks; 0: none is chosen */
	uint64_t at; /* the time to reach, a multiple of `every`; 0: no time is known yet */
	uint64_t tsc, insns; /* the last known time, and the instructions executed until then */
	uint64_t each; /* estimated ticks of one instruction, times 2^16 */
	uint64_t number; /* number of the instruction that reaches `at`; UINT64_MAX: none */
};

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

/* from and to are nodes in one table, addresses in the other; count 0: empty. */
struct pt_edge {
	uint64_t from, to, count;
	uint32_t space; /* address space, in the table of addresses */
};

struct pt_edge_table {
	struct pt_edge *slots;
	size_t size, used; /* size: a power of two, or 0 */
};

/* An edge between nodes: from << 32 | to; count 0: the slot is empty. */
struct pt_link {
	uint64_t key, count;
};

struct pt_links {
	struct pt_link *slots;
	uint32_t size, used; /* size: a power of two, or 0 */
};

/* Edges that are not counted yet: from << 32 | to. */
struct pt_edge_log {
	uint64_t edges[PT_EDGE_LOG + 1];
	unsigned count;
};

/* Cache entry: the node of an IP from a TIP. */
struct pt_tip {
	uint64_t ip;
	uint32_t context, node; /* node PT_NODE_NONE: empty */
};

/* Counts of a flow that makes no steps. */
struct pt_counts {
	uint32_t nodes_max; /* of the graph */
	uint64_t *nodes; /* two for each node: TNT bit 0, and everything else */
	/* For each hop, not yet added to `nodes`; 32 bits, as the hot loop touches all of them. */
	uint32_t *hops, *tip_hops;
	uint64_t since; /* hops since they were added to `nodes`, at most */
	struct pt_links links; /* edges of nodes whose successor is not fixed */
	struct pt_link recent[PT_RECENT_LINKS]; /* cache in front of `links` */
	struct pt_edge_log log; /* cache in front of `recent` */
	struct pt_edge_table plain; /* by address: edges that walk.c met */
	uint64_t insns, branches, taken; /* counted by walk.c */
	/* The caller's result. */
	struct pt_edge_table all;
	size_t given;
	bool gathered;
	struct sonde_pt_edge edge;
};

/* State of a flow directly after a PSB+ when nothing is pending. */
struct pt_place {
	uint64_t at; /* offset of the packet after the PSB+; 0: beginning of the trace */
	uint64_t psb; /* offset of the PSB */
	uint64_t ip; /* the last IP; where tracing is off, the last one known */
	uint64_t last_ip, disabled_at;
	struct sonde_pt_time time;
	enum pt_mode mode;
	bool done, enabled, fresh, by_psb, speculative, interrupts, mode_stale, has_disabled_at;
	bool cycled;
	uint64_t cycles, cycle_insns, insns; /* totals so far */
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

/* fast.c: follows branches until something else than TNT and TIP must be handled. */
void pt_fast_run(struct sonde_pt_flow *f);

/* Where a walk ends. */
enum pt_goal {
	PT_GOAL_DECISION, /* at an instruction that a packet decides */
	PT_GOAL_IP, /* before the instruction at an address */
	PT_GOAL_TARGET, /* at a branch to an address, or one that a TIP would decide */
	PT_GOAL_COUNT, /* after a number of instructions */
	PT_GOAL_SPECIAL, /* after an instruction to which packets are bound, or a far branch */
	/* After a MOV CR3, at a branch that a TIP would decide, or one that leaves the filters. */
	PT_GOAL_LEAVE
};

/*
 * Walks from f->ip to the goal, with argument `arg`; passed instructions are emitted and counted.
 * Returns true with *insn, the last instruction if the goal is one (a branch's effect on ip is
 * still to come). Returns false after an error, which was reported.
 */
bool pt_walk(struct sonde_pt_flow *f, enum pt_goal goal, uint64_t arg, struct pt_insn *insn);

/* Where code from f->ip leads without a decision. */
enum pt_lead {
	PT_LEAD_SPECIAL, /* to an instruction of the wanted kind */
	PT_LEAD_BRANCH, /* to a branch that a packet decides, or in a circle */
	PT_LEAD_NOWHERE /* to code that is missing or no code */
};

enum pt_lead pt_lead_of(const struct sonde_pt_flow *f, enum pt_special special);

/* Moves the flow from the branch at f->ip to `to`; pushes and pops according to its class. */
void pt_walk_go(struct sonde_pt_flow *f, const struct pt_insn *insn, uint64_t to, bool taken);

/* Emits a TICK if they are wanted and the time has changed. */
void pt_walk_tick(struct sonde_pt_flow *f);

/* Decides one branch, by a TNT bit or a TIP, by walking. */
void pt_walk_branch(struct sonde_pt_flow *f);

/* event.c: events wait for their address, or are dropped. */
void pt_waiting_add(
        struct sonde_pt_flow *f, struct pt_waiting *w, const struct sonde_pt_event *event);
void pt_waiting_emit(struct sonde_pt_flow *f, struct pt_waiting *w);
bool pt_waiting_has(const struct pt_waiting *w, unsigned kind);
void pt_waiting_give_up(struct sonde_pt_flow *f); /* drops events whose address never came */
void pt_on_ptw(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_exstop(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_mwait(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_pwre(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_pwrx(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_mnt(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_cbr(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_evd(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_cfe(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_trig(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_stop(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_bbp(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_bip(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_on_bep(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
/* Handles the FUP after a BEP, if there was a BEP. */
void pt_end_block(struct sonde_pt_flow *f, uint64_t ip);

/* space.c: code is now that of a space in a generation. */
void pt_space_set(struct sonde_pt_flow *f, uint32_t space, uint32_t generation);
/* Code is decoded in another mode from here on. */
void pt_space_set_mode(struct sonde_pt_flow *f, enum pt_mode mode);
/* Applies a PAGING or VMCS event. */
void pt_space_event(struct sonde_pt_flow *f, const struct sonde_pt_event *event);
/* Whether a move is due at the current time. */
void pt_space_time(struct sonde_pt_flow *f);
/* Makes the moves that are due, and sets how far fast.c may read. */
void pt_space_move(struct sonde_pt_flow *f);

/* flow.c: updates the time from a packet, if time is wanted. */
void pt_flow_time(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);

/* Handles one packet, or the end of the trace. */
void pt_flow_packet(struct sonde_pt_flow *f);
/*
 * Brings the flow to ip. false: an error was reported and the packet must be ignored; if the
 * position is kept after errors, the flow is at ip then too.
 */
bool pt_flow_place(struct sonde_pt_flow *f, uint64_t ip);

/* sync.c: skips to the next PSB. */
void pt_sync_find(struct sonde_pt_flow *f);
void pt_sync_psb(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_sync_psbend(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_sync_ovf(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
/* A MODE.EXEC in a PSB+, which repeats the current state. */
void pt_sync_exec(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
/* Whether a PSB+ may contain a packet of this kind. */
bool pt_sync_may_have(unsigned kind);
/* Restarts at an offset, for a part of the trace; counts are kept. */
void pt_flow_restart(struct sonde_pt_flow *f, uint64_t offset, uint64_t stop_at);
/* Reports an error at f->error_at and skips to where the flow can continue. */
void pt_flow_error(struct sonde_pt_flow *f, int error);
/* Reads the TIP at the cursor, after packets of time; false: another packet comes first. */
bool pt_flow_tip(struct sonde_pt_flow *f, uint64_t *ip);

/* Consumes the next packet if it is padding or a packet of time. */
bool pt_flow_pass_time(struct sonde_pt_flow *f);

/* more.c: reads more branches after f->bits; false: no TNT comes next, or there is no room. */
bool pt_refill(struct sonde_pt_flow *f);
/*
 * At an indirect branch: whether the next TIP may belong to it although bits come before the TIP.
 */
bool pt_deferred(struct sonde_pt_flow *f);
/* Returns the offset where the packet of the next branch bit ends; *begin: where it begins. */
uint64_t pt_bits_offset(const struct sonde_pt_flow *f, uint64_t *begin);

/* tick.c: the time was known when this many instructions had run. */
void pt_ticks_told(struct pt_ticks *t, const struct sonde_pt_time *time, uint64_t insns);
/* All instructions up to this number have run. */
void pt_ticks_pass(struct pt_ticks *t, uint64_t number);

/* step.c: emits walked instructions; pt_emit_branch adds where they lead. */
void pt_emit_run(struct sonde_pt_flow *f, uint64_t ip, uint32_t insns);
void pt_emit_branch(struct sonde_pt_flow *f, uint64_t to, bool taken);
/*
 * A packet decided the end of the last emitted run: it gets the time and the cycles of the packets
 * before that one.
 */
void pt_emit_told(struct sonde_pt_flow *f);
/* Emits a whole node and its successor. */
void pt_emit_node(struct sonde_pt_flow *f, uint32_t node, uint32_t next, bool taken);
void pt_emit_event(struct sonde_pt_flow *f, const struct sonde_pt_event *event);
void pt_emit_error(struct sonde_pt_flow *f, int error, bool resync);
void pt_emit_end(struct sonde_pt_flow *f);
/* Completes the gap from f->gap_at, at its index in the queue. */
void pt_emit_gap(struct sonde_pt_flow *f, uint64_t end, uint64_t ip);

/* gap.c: opens a gap at an error, or at the beginning of a trace or a part. */
void pt_gap_open(struct sonde_pt_flow *f, uint64_t offset, bool told);
/* The position of the flow is known (again). */
void pt_gap_found(struct sonde_pt_flow *f, uint64_t ip);
/* Called before and after handling a packet; *syncing is the caller's. */
void pt_gap_before(struct sonde_pt_flow *f, bool *syncing);
void pt_gap_behind(struct sonde_pt_flow *f, bool syncing);

/* edge.c: counts. */
/* Adds an edge's count; a count is never 0. false: out of memory. */
bool pt_edge_add(struct pt_edge_table *t, const struct pt_edge *edge);
void pt_counts_flush_log(struct sonde_pt_flow *f);
/* Turns counts of hops into counts of nodes; false: out of memory. */
bool pt_counts_flush_hops(struct sonde_pt_flow *f);
bool pt_counts_new(struct sonde_pt_flow *f);
void pt_counts_free(struct pt_counts *c); /* NULL is fine */
/* Counts up to the end of the part; false: out of memory. */
bool pt_counts_run(struct sonde_pt_flow *f);
/* Merges the counts by node, hop and address into `all`; false: out of memory. */
bool pt_counts_finish(struct sonde_pt_flow *f);
/* Adds the counts of another flow over the same graph. */
bool pt_counts_merge(struct sonde_pt_flow *f, struct sonde_pt_flow *other);

/* place.c: whether the flow is at a place (a state without anything pending), and which. */
bool pt_place_is_one(const struct sonde_pt_flow *f);
struct pt_place pt_place_of(const struct sonde_pt_flow *f);
/* Whether a flow continues in the same way from both. */
bool pt_place_same(const struct pt_place *a, const struct pt_place *b);
/* Restarts at the PSB at an offset, with the time before it. */
void pt_place_begin(
        struct sonde_pt_flow *f, uint64_t offset, const struct sonde_pt_time *time, bool cycled);
void pt_place_goto(struct sonde_pt_flow *f, const struct pt_place *place);

/* parallel.c: counts the whole trace. Returns 1, 0 (one thread must do it), or SONDE_ENOMEM. */
int pt_parallel_count(struct sonde_pt_flow *f);
void pt_counts_plain(struct sonde_pt_flow *f, uint64_t from, uint64_t to);

/* walk.c: drops the older half of the return stack. */
void pt_stack_shrink(struct sonde_pt_flow *f);

static inline void pt_stack_push(struct sonde_pt_flow *f, uint32_t node)
{
	if (f->sp > PT_STACK_SIZE - PT_HOT_ROOM) {
		pt_stack_shrink(f);
	}
	f->stack[f->sp++] = node;
}

/* The node after the last call; PT_NODE_NONE: the stack is empty. */
static inline uint32_t pt_stack_top(const struct sonde_pt_flow *f)
{
	return f->stack[f->sp - 1];
}

static inline void pt_stack_pop(struct sonde_pt_flow *f)
{
	f->sp -= f->sp > 1;
}

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
