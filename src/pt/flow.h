/* SPDX-License-Identifier: MIT */
/*
 * A flow inside the layer. Its files: flow.c packets that are no branches, event.c those of events,
 * sync.c PSB and OVF, gap.c what is passed over, walk.c code between them instruction by
 * instruction, fast.c branches node by node, more.c TNT packets, step.c and give.c what the caller
 * gets, edge.c and parallel.c counts.
 *
 * Where a flow stands: nothing of the code at `ip` was executed yet, except inside fast.c, where a
 * node tells. Names of what a flow waits for are those at the head of flow.c.
 */
#ifndef SONDE_PT_FLOW_H
#define SONDE_PT_FLOW_H

#include "pt/errata.h"
#include "pt/graph.h"
#include "pt/packet.h"

#define PT_STACK_SIZE 1024 /* processors keep 64 calls */
#define PT_HOT_ROOM                                                                                \
	64 /* what the fast loop adds to a stack or log before it looks: bits in a word */
#define PT_WAITING_MAX  32 /* events between two packets that place them */
#define PT_RECENT_LINKS 4096
#define PT_EDGE_LOG     256
#define PT_TIPS         1024 /* a power of two */

/* Which instruction `every_ticks` chooses next. */
struct pt_ticks {
	uint64_t every; /* TSC ticks; 0: none is chosen */
	uint64_t at; /* the time that is to be reached, a multiple of it; 0: no time was told yet */
	uint64_t tsc, insns; /* the last time that was told, and instructions until then */
	uint64_t each; /* ticks that one is taken to last, times 2^16 */
	uint64_t number; /* of the one that reaches it; UINT64_MAX: none */
};

/* One part of the output. Of a run the event is not set. */
struct pt_item {
	uint8_t kind; /* enum sonde_pt_step_kind; INSN stands for a run of instructions */
	bool speculative, resync;
	bool taken; /* a run: its last instruction is a branch that was taken */
	uint16_t error;
	uint32_t context, insns, space;
	uint32_t node; /* a run: the node that it is; PT_NODE_NONE: it was walked */
	uint64_t ip, offset, psb;
	uint64_t to; /* a run: where its last instruction led, if it is a branch; 0: not known;
	                a gap: the offset of its end */
	uint64_t before; /* instructions that were executed before it */
	uint64_t tsc, exact, cycles, cycle_insns; /* as in a step */
	uint64_t before_tsc, before_exact; /* a run: of all its instructions but the last */
	struct pt_ticks ticks; /* a run: which instructions of it `every_ticks` chooses */
	struct sonde_pt_event event;
};

/* Events that wait for the packet or the instruction that places them. */
struct pt_waiting {
	struct sonde_pt_event events[PT_WAITING_MAX];
	unsigned count;
};

/* From and to are nodes in one table, addresses in the other; count 0: empty. */
struct pt_edge {
	uint64_t from, to, count;
	uint32_t space; /* of addresses */
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

/* Edges that wait to be counted: from << 32 | to. */
struct pt_edge_log {
	uint64_t edges[PT_EDGE_LOG + 1];
	unsigned count;
};

/* The node of an IP that a TIP told. */
struct pt_tip {
	uint64_t ip;
	uint32_t context, node; /* node PT_NODE_NONE: empty */
};

/* What a flow that gives no steps counts. */
struct pt_counts {
	uint32_t nodes_max; /* of the graph */
	uint64_t *nodes; /* two for each node: a bit that is 0, and all else */
	/* For each hop, not yet added to `nodes`: small, as the loop is all over them. */
	uint32_t *hops, *tip_hops;
	uint64_t since; /* hops since they were added, at most */
	struct pt_links links; /* where a node does not say to which */
	struct pt_link recent[PT_RECENT_LINKS]; /* in front of `links` */
	struct pt_edge_log log; /* in front of `recent` */
	struct pt_edge_table plain; /* from address to address, met by walk.c */
	uint64_t insns, branches, taken; /* met by walk.c */
	/* What the caller gets. */
	struct pt_edge_table all;
	size_t given;
	bool gathered;
	struct sonde_pt_edge edge;
};

/* What there is to know of a flow directly behind a PSB+ where nothing is open. */
struct pt_place {
	uint64_t at; /* offset of the packet behind it; 0: the trace begins */
	uint64_t psb; /* its offset */
	uint64_t ip; /* the last one, where tracing is off */
	uint64_t last_ip, disabled_at;
	struct sonde_pt_time time;
	enum pt_mode mode;
	bool done, enabled, fresh, by_psb, speculative, interrupts, mode_stale, has_disabled_at;
	bool cycled;
	uint64_t cycles, cycle_insns, insns; /* what was summed up */
};

struct sonde_pt_flow {
	struct sonde_pt_graph *graph;
	struct sonde_pt_flow_options options;
	uint32_t errata;
	struct pt_cursor cursor;
	struct sonde_pt_time time;
	uint64_t last_ip;
	uint64_t last_psb, good_psb; /* offsets; of the last one whose PSB+ was read to its end */

	/* Where it is. */
	uint64_t ip;
	uint32_t space, generation;
	uint32_t view; /* of the image: what both of them are */
	enum pt_mode mode;
	bool synced; /* a PSB was found */
	bool syncing; /* it is being read */
	bool enabled; /* tracing is on */
	bool lost; /* tracing is on, and ip is not known */
	bool fresh; /* nothing was followed since the last sync */
	bool by_psb; /* a PSB told that tracing is on, and nothing was followed since */
	bool speculative, interrupts;
	bool mode_stale; /* the next MODE.EXEC counts as a change */
	bool in_async; /* a FUP began an asynchronous branch at async_at */
	bool in_psb; /* between PSB and PSBEND */
	bool in_psbend; /* the PSB's IP is being walked to */
	bool overflowed; /* an OVF's FUP is still to come */
	bool may_enable; /* behind an OVF a FUP or TIP alone may put tracing on */
	bool fup_is_void; /* the next FUP says nothing */
	bool block_ends; /* the next FUP is that of a BEP */
	uint8_t block; /* the type of the last BBP */
	bool fup_is_branch; /* the next FUP only names the branch that events are attached to */
	bool psb_ip; /* the PSB told an IP, which is psb_at */
	bool has_disabled_at;
	bool done;

	/* What is passed over, from an error (or the beginning) to where the flow goes on. */
	bool in_gap;
	bool gap_told; /* even if it has no bytes */
	uint64_t gap_at; /* offset */
	size_t gap_item; /* its place in the output */
	uint64_t packet_at; /* offset of the packet that is handled: gaps begin and end there */
	uint64_t found_ip; /* the last one that told the place */

	/* Which code it runs. */
	struct sonde_pt_asid asid;
	struct sonde_pt_move *moves; /* the next is moves[moved] */
	size_t moved, nmoves, moves_cap;
	bool move_due; /* branches that are not told yet wait for it */
	const uint8_t *fast_end; /* fast.c reads no further */

	/* A flow along a part of the trace: it ends behind the PSB+ at stop_at, or at a later PSB.
	 */
	bool is_part; /* not the first one */
	bool ending; /* the PSB+ is being read */
	bool diverged; /* the part is not what it would be inside the whole */
	bool saw_exec; /* the PSB+ told the mode */
	uint64_t stop_at, ended_at;

	/* The flow pauses behind a PSB+ there or later, until it is given another place. */
	uint64_t pause_at; /* offset; UINT64_MAX: nowhere */
	bool paused;

	uint64_t psb_at, async_at, disabled_at, error_at;
	int pending_exec; /* a MODE.EXEC's value that waits for its packet; -1: none */

	/* Branches that were read ahead: the next one is the highest bit. */
	uint64_t bits;
	unsigned nbits, gathered;
	const uint8_t *gather; /* the first packet of them */

	struct pt_tip tips[PT_TIPS]; /* by hash of the IP */
	/* Nodes behind calls. The first slot stays empty: what is returned to when there is none.
	 */
	uint32_t stack[PT_STACK_SIZE];
	unsigned sp; /* the slot above the top */

	struct pt_waiting bound; /* for a FUP */
	struct pt_waiting deferred; /* behind those */
	struct pt_waiting attached; /* for the branch that the next TIP names */
	struct sonde_pt_event evd; /* EVDs for the next CFE: extra and data */

	/* Output. */
	bool counting;
	struct pt_counts *counts;
	struct pt_item *items;
	size_t head, tail, cap;
	bool run_open; /* the run that was met last is in the queue */
	unsigned want; /* SONDE_PT_WANT_* */
	uint64_t insns; /* that were executed, where steps are given */
	uint64_t
	        sample_at; /* the number of an instruction that `every` chooses; UINT64_MAX: none */
	struct pt_ticks ticks;
	/* The time has changed, and no branch was decided since; before that it was: */
	bool time_moved;
	uint64_t before_tsc, before_exact;
	bool cycled; /* a CYC was there, and no branch since */
	uint64_t cycles, cycle_insns; /* as in a step */
	struct pt_item run; /* the run that is being given away: insns are left, the next at ip */
	unsigned direct; /* direct branches that are left in it, if it is a node */
	bool first; /* nothing of it was given yet */
	struct sonde_pt_step step; /* the caller's, until the next one */
	bool failed; /* no memory, or too many nodes */
	uint64_t events, errors, gaps, gap_bytes;
	uint64_t shown_tsc; /* of the last TICK */
};

/* fast.c: follows branches as long as nothing else is in the way. */
void pt_fast_run(struct sonde_pt_flow *f);

/* What a walk looks for. */
enum pt_goal {
	PT_GOAL_DECISION, /* an instruction that a packet decides */
	PT_GOAL_IP, /* before the instruction at an address */
	PT_GOAL_TARGET, /* a branch to an address, or one that a TIP would decide */
	PT_GOAL_COUNT, /* behind so many instructions */
	PT_GOAL_SPECIAL, /* behind an instruction to which packets are bound, or a far branch */
	PT_GOAL_LEAVE /* a branch that a TIP would decide, or one that leaves the filters */
};

/*
 * Walks from f->ip; what is passed is emitted and counted, `arg` is the goal's. Returns true, and
 * *insn is the last instruction where the goal is one (a branch's effect on ip is still to come);
 * false when there was an error, which was reported.
 */
bool pt_walk(struct sonde_pt_flow *f, enum pt_goal goal, uint64_t arg, struct pt_insn *insn);

/* Whether code leads from f->ip over an instruction of that kind before anything is decided. */
bool pt_leads_to_special(const struct sonde_pt_flow *f, enum pt_special special);

/* The branch at f->ip goes to `to`; pushes and pops as its class wants. */
void pt_walk_go(struct sonde_pt_flow *f, const struct pt_insn *insn, uint64_t to, bool taken);

/* A TICK, if they are wanted and time went on. */
void pt_walk_tick(struct sonde_pt_flow *f);

/* One branch that a TNT bit or a TIP decides, by walking. */
void pt_walk_branch(struct sonde_pt_flow *f);

/* event.c: events wait for their place, or are given away. */
void pt_waiting_add(
        struct sonde_pt_flow *f, struct pt_waiting *w, const struct sonde_pt_event *event);
void pt_waiting_emit(struct sonde_pt_flow *f, struct pt_waiting *w);
void pt_waiting_give_up(struct sonde_pt_flow *f); /* events whose place never came */
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
/* The FUP behind a BEP, if there was one. */
void pt_end_block(struct sonde_pt_flow *f, uint64_t ip);

/* space.c: code is that of a space in a generation from now on. */
void pt_space_set(struct sonde_pt_flow *f, uint32_t space, uint32_t generation);
/* Code is read in another mode from here on. */
void pt_space_set_mode(struct sonde_pt_flow *f, enum pt_mode mode);
/* What a PAGING or VMCS event changes. */
void pt_space_event(struct sonde_pt_flow *f, const struct sonde_pt_event *event);
/* Whether a move has become due by the time. */
void pt_space_time(struct sonde_pt_flow *f);
/* Does moves that are due, and says how far fast.c may go. */
void pt_space_move(struct sonde_pt_flow *f);

/* flow.c: what a packet says of the time, if somebody asks for time. */
void pt_flow_time(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);

/* Handles one packet, or the end of the trace. */
void pt_flow_packet(struct sonde_pt_flow *f);
/*
 * Brings the flow to ip. false: there was an error, and what the packet tells must be left; where
 * the position is kept the flow is at ip then too.
 */
bool pt_flow_place(struct sonde_pt_flow *f, uint64_t ip);

/* sync.c: goes to the next PSB. */
void pt_sync_find(struct sonde_pt_flow *f);
void pt_sync_psb(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_sync_psbend(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
void pt_sync_ovf(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
/* A MODE.EXEC in a PSB+: the state as it should be already. */
void pt_sync_exec(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);
/* What may stand in a PSB+. */
bool pt_sync_may_have(unsigned kind);
/* Begins anew at an offset, for a part of the trace; counts stay. */
void pt_flow_restart(struct sonde_pt_flow *f, uint64_t offset, uint64_t stop_at);
/* Reports an error at f->error_at and goes to where it can go on. */
void pt_flow_error(struct sonde_pt_flow *f, int error);
/* The TIP at the cursor, behind packets of time: reads it; false: something else stands there. */
bool pt_flow_tip(struct sonde_pt_flow *f, uint64_t *ip);

/* Takes the next packet if it is one of time or padding. */
bool pt_flow_pass_time(struct sonde_pt_flow *f);

/* more.c: more branches behind f->bits; false: no TNT comes next, or there is no room. */
bool pt_refill(struct sonde_pt_flow *f);
/* Before an indirect branch: whether the next TIP may be its, in spite of bits that stand before. */
bool pt_deferred(struct sonde_pt_flow *f);
/* Where the packet of the next branch bit ends, and where it begins, in bytes. */
uint64_t pt_bits_offset(const struct sonde_pt_flow *f, uint64_t *begin);

/* tick.c: a time was told when so many instructions had run. */
void pt_ticks_told(struct pt_ticks *t, const struct sonde_pt_time *time, uint64_t insns);
/* Instructions up to a number have run. */
void pt_ticks_pass(struct pt_ticks *t, uint64_t number);

/* step.c: output. Instructions that were walked; pt_emit_branch behind it: where they lead. */
void pt_emit_run(struct sonde_pt_flow *f, uint64_t ip, uint32_t insns);
void pt_emit_branch(struct sonde_pt_flow *f, uint64_t to, bool taken);
/* The run that was emitted last ends with what a packet tells of: there the time and the cycles of
   the packets before it hold. */
void pt_emit_told(struct sonde_pt_flow *f);
/* A whole node, and what follows it. */
void pt_emit_node(struct sonde_pt_flow *f, uint32_t node, uint32_t next, bool taken);
void pt_emit_event(struct sonde_pt_flow *f, const struct sonde_pt_event *event);
void pt_emit_error(struct sonde_pt_flow *f, int error, bool resync);
void pt_emit_end(struct sonde_pt_flow *f);
/* The gap from f->gap_at, at its place in the queue. */
void pt_emit_gap(struct sonde_pt_flow *f, uint64_t end, uint64_t ip);

/* gap.c: what is passed over. At an error, or at the beginning of a trace or a part. */
void pt_gap_open(struct sonde_pt_flow *f, uint64_t offset, bool told);
/* The place of the flow is known (again). */
void pt_gap_found(struct sonde_pt_flow *f, uint64_t ip);
/* Around the handling of a packet; *syncing is the caller's. */
void pt_gap_before(struct sonde_pt_flow *f, bool *syncing);
void pt_gap_behind(struct sonde_pt_flow *f, bool syncing);

/* edge.c: counts. */
/* Adds an edge's count; no count is 0. false: no memory. */
bool pt_edge_add(struct pt_edge_table *t, const struct pt_edge *edge);
void pt_counts_flush_log(struct sonde_pt_flow *f);
/* Counts of hops become counts of nodes; false: no memory. */
bool pt_counts_flush_hops(struct sonde_pt_flow *f);
bool pt_counts_new(struct sonde_pt_flow *f);
void pt_counts_free(struct pt_counts *c); /* NULL is fine */
/* Counts to the end of the part; false: no memory. */
bool pt_counts_run(struct sonde_pt_flow *f);
/* Adds up what was counted in many places; false: no memory. */
bool pt_counts_finish(struct sonde_pt_flow *f);
/* Adds what another flow of the same graph counted. */
bool pt_counts_merge(struct sonde_pt_flow *f, struct sonde_pt_flow *other);

/* place.c: whether the flow is at one, and which. */
bool pt_place_is_one(const struct sonde_pt_flow *f);
struct pt_place pt_place_of(const struct sonde_pt_flow *f);
/* Whether the flow goes on in the same way from both. */
bool pt_place_same(const struct pt_place *a, const struct pt_place *b);
/* Begins anew with the PSB at an offset, before which the time was that. */
void pt_place_begin(
        struct sonde_pt_flow *f, uint64_t offset, const struct sonde_pt_time *time, bool cycled);
void pt_place_goto(struct sonde_pt_flow *f, const struct pt_place *place);

/* parallel.c: counts the whole trace; 1, 0 (it must be done by one thread), or SONDE_ENOMEM. */
int pt_parallel_count(struct sonde_pt_flow *f);
void pt_counts_plain(struct sonde_pt_flow *f, uint64_t from, uint64_t to);

/* walk.c: forgets the older half of the return stack. */
void pt_stack_shrink(struct sonde_pt_flow *f);

static inline void pt_stack_push(struct sonde_pt_flow *f, uint32_t node)
{
	if (f->sp > PT_STACK_SIZE - PT_HOT_ROOM) {
		pt_stack_shrink(f);
	}
	f->stack[f->sp++] = node;
}

/* What the last call pushed: PT_NODE_NONE when there is none. */
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

static inline uint32_t pt_flow_context(const struct sonde_pt_flow *f)
{
	return pt_context(f->view, f->mode != PT_MODE_UNKNOWN ? f->mode : PT_MODE_64);
}

#endif
