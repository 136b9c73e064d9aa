/* SPDX-License-Identifier: MIT */
/*
 * The flow of instructions, from an Intel PT trace and the traced code.
 *
 * An image contains the code. A graph keeps the decoded code, so that each piece is decoded once. A
 * flow follows one trace: the caller pulls step after step, or lets it run to the end and gets only
 * counts.
 *
 * Threads: flows of one graph may run at the same time, one thread a flow.
 */
#ifndef SONDE_INCLUDE_PT_FLOW_H
#define SONDE_INCLUDE_PT_FLOW_H

#include <sonde/pt_image.h>
#include <sonde/pt_packet.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Decoded code, shared by flows. */
struct sonde_pt_graph;

/* Returns a new graph; image must live as long as the graph. NULL: out of memory. */
SONDE_API struct sonde_pt_graph *sonde_pt_graph_new(const struct sonde_pt_image *image);
SONDE_API void sonde_pt_graph_free(
        struct sonde_pt_graph *graph); /* after its flows; NULL is fine */

/* Events between instructions, with the fields of struct sonde_pt_event that each kind uses. */
enum sonde_pt_event_kind {
	SONDE_PT_EVENT_ENABLED, /* tracing starts at ip; value: 1 if it had stopped there */
	/* Tracing stops at ip; value: 1 if no branch led there, extra: where control went then, if
	   known. */
	SONDE_PT_EVENT_DISABLED,
	SONDE_PT_EVENT_ASYNC, /* an interrupt or exception: from ip to value */
	SONDE_PT_EVENT_EXEC_MODE, /* value: 16, 32 or 64 */
	SONDE_PT_EVENT_IFLAG, /* value: interrupts are enabled */
	SONDE_PT_EVENT_PAGING, /* value: CR3, extra: in non-root operation */
	SONDE_PT_EVENT_VMCS, /* value: base */
	/* Packets were lost; the trace continues at ip, if known. extra: address after the last
	   branch before, or that at which tracing ended, or 0; data[0]: the time there. */
	SONDE_PT_EVENT_OVERFLOW,
	SONDE_PT_EVENT_TSX_BEGIN,
	SONDE_PT_EVENT_TSX_COMMIT,
	SONDE_PT_EVENT_TSX_ABORT,
	SONDE_PT_EVENT_EXSTOP,
	SONDE_PT_EVENT_MWAIT, /* value: hints, extra: extensions */
	SONDE_PT_EVENT_PWRE, /* value, extra: C-state, sub C-state; count: requested by hardware */
	SONDE_PT_EVENT_PWRX, /* value, extra: last, deepest C-state; count: SONDE_PT_WAKE_* */
	SONDE_PT_EVENT_PTWRITE, /* value: payload; count: its address is from a packet */
	SONDE_PT_EVENT_MNT, /* value: payload */
	SONDE_PT_EVENT_CBR, /* value: ratio */
	SONDE_PT_EVENT_TICK, /* the time advanced */
	SONDE_PT_EVENT_TRIG, /* value: trigger bits; count: others were merged */
	SONDE_PT_EVENT_CFE, /* count: type, value: vector, extra: bit n set: data[n] is EVD n */
	SONDE_PT_EVENT_STOP, /* TraceStop */
	/* A PEBS record in the trace, one event for each packet: blocks with items, and an end.
	   Blocks: count: type, value: bytes of each item. Items: count: id, value: payload, extra:
	   the block's type. The end: ip, if the trace has it. */
	SONDE_PT_EVENT_PEBS_BLOCK,
	SONDE_PT_EVENT_PEBS_ITEM,
	SONDE_PT_EVENT_PEBS_END,
	/* The end of a PSB+; ip, if it has one; value: offset of the PSB, extra: the ratio of the
	   last CBR, or 0. Only with the option psbs. */
	SONDE_PT_EVENT_PSB,
	SONDE_PT_EVENTS
};

struct sonde_pt_event {
	uint64_t ip, value, extra;
	uint64_t data[3];
	uint64_t tsc; /* in ticks, estimated; 0: unknown */
	uint8_t kind; /* enum sonde_pt_event_kind */
	uint8_t count;
	bool has_ip;
};

enum sonde_pt_step_kind {
	SONDE_PT_STEP_INSN = 1, /* an instruction was executed */
	SONDE_PT_STEP_EVENT,
	SONDE_PT_STEP_ERROR, /* error, offset, psb, ip */
	SONDE_PT_STEP_END, /* the trace ends while tracing is on */
	/* The packets from offset to end were skipped, up to a PSB or the end of the trace, or, with
	   keep_position, to a packet with an IP; the flow continues at ip (0: tracing is off). It
	   follows the errors that caused it. */
	SONDE_PT_STEP_GAP,
	SONDE_PT_STEP_BLOCK /* a block was executed: code from ip on without a branch inside */
};

/* A comment that begins with kinds of steps: the member is 0 in steps of other kinds. */
struct sonde_pt_step {
	uint64_t ip; /* INSN, BLOCK: start; EVENT: its address; ERROR: end of the code that was
	                followed */
	uint64_t to; /* INSN, BLOCK that end with a branch: where control went; 0: unknown, such as
	                where tracing ends */
	uint64_t last; /* INSN, BLOCK: address of the last instruction */
	uint64_t insns; /* instructions executed so far, including this step */
	uint64_t tsc; /* if time is followed: TSC ticks, estimated; before the first TSC packet:
	                 ticks since the beginning of the trace */
	uint64_t exact_tsc; /* the last time from a packet (TSC, MTC); equal to `tsc` where nothing
	                       was estimated */
	/* If time is followed: core cycles so far (see struct sonde_pt_time), and instructions
	   executed when the cycles were last known. The differences between two steps give the
	   instructions per cycle; if cycle_insns is equal to insns, cycles are known here. */
	uint64_t cycles, cycle_insns;
	uint64_t offset; /* ERROR: offset of the packet that has it; GAP: its start */
	uint64_t end; /* GAP: offset of the packet at which the flow continues */
	uint64_t psb; /* ERROR: offset of the last PSB with a valid state; UINT64_MAX: none */
	int error; /* enum sonde_pt_error */
	uint32_t space; /* address space of the code */
	uint32_t count; /* INSN, BLOCK: number of instructions in this step */
	uint8_t kind; /* enum sonde_pt_step_kind */
	uint8_t size; /* INSN, BLOCK: bytes of the last instruction */
	bool speculative; /* INSN, BLOCK: inside a transaction */
	bool resync; /* ERROR: another error, during the search for a packet to continue at */
	bool first; /* INSN, if all are wanted: follows an event, or a branch that packets
	               decided */
	bool sampled; /* INSN: selected by `every` or `every_ticks` */
	/* The last instruction is: */
	bool branch; /* a branch of any kind */
	bool call, jump; /* a direct call, a direct jump */
	bool calls, returns; /* a near call, direct or indirect; a near return */
	bool conditional;
	bool taken;
	struct sonde_pt_event event; /* EVENT */
};

/* Registers that identify an address space, from packets. */
struct sonde_pt_asid {
	uint64_t cr3, vmcs; /* base addresses, as in PIP and VMCS packets */
	bool has_cr3, has_vmcs;
	bool non_root; /* in a virtual machine */
};

/* Returns the image's space whose code runs now. Called for PIP and VMCS packets that change it. */
typedef uint32_t (*sonde_pt_space_fn)(void *arg, const struct sonde_pt_asid *asid);

/*
 * The steps that a flow returns; bits. Errors, gaps and the end are always returned. Instructions
 * between two requested steps are only counted: they cost no more than the branches among them.
 */
#define SONDE_PT_WANT_INSNS     1u /* instructions: all, or those that `every..` select */
#define SONDE_PT_WANT_TAKEN     2u /* taken branches */
#define SONDE_PT_WANT_NOT_TAKEN 4u /* conditional branches that were not taken */
#define SONDE_PT_WANT_CALLS     8u /* near calls */
#define SONDE_PT_WANT_RETURNS   16u /* near returns */
#define SONDE_PT_WANT_BLOCKS    32u /* blocks, in place of instructions */
#define SONDE_PT_WANT_EVENTS    64u
#define SONDE_PT_WANT_NOTHING   128u /* without other bits: only errors, gaps and the end */

struct sonde_pt_flow_options {
	size_t size; /* sizeof(struct sonde_pt_flow_options) of the caller */
	struct sonde_pt_clock clock; /* the clock, and the processor */
	bool keep_position; /* after an error, continue at the next packet with an IP, not at the
	                       next PSB */
	unsigned jobs; /* threads; 0 and 1: only the caller's */
	size_t part; /* minimum bytes of trace for a thread; 0: depends on the size of the trace */
	bool time; /* follow time; else no time is computed */
	bool ticks; /* return TICK events; needs time */
	unsigned filters; /* number of traced ranges of code; 0: all code was traced */
	struct {
		uint64_t first, last; /* both inclusive */
	} filter[4];
	unsigned want; /* SONDE_PT_WANT_*; 0: INSNS and EVENTS */
	uint64_t every; /* return only instructions whose number is a multiple of this; 0: all */
	/* Also return each instruction that reaches a multiple of this number of TSC ticks, if each
	   takes one cycle until the next packet with a time; follows time. 0: none. */
	uint64_t every_ticks;
	uint32_t space, generation; /* of the code at the beginning of the trace */
	sonde_pt_space_fn choose_space; /* NULL: PIP and VMCS packets are ignored */
	void *choose_arg;
	bool psbs; /* return PSB events */
	/* Code that runs in non-root operation, by PIP packets, is that of the space with the number
	   SONDE_PT_GUEST + that of the code outside. Not with choose_space. */
	bool guests;
};

#define SONDE_PT_GUEST 0x80000000u

struct sonde_pt_flow;

/*
 * Returns a new flow for a trace of n bytes; they belong to the caller and must live as long as the
 * flow. options may be NULL. NULL: out of memory, or options that this version does not know.
 */
SONDE_API struct sonde_pt_flow *sonde_pt_flow_new(struct sonde_pt_graph *graph, const void *data,
        size_t n, const struct sonde_pt_flow_options *options);
SONDE_API void sonde_pt_flow_free(struct sonde_pt_flow *flow); /* NULL is fine */

/* The next step. 1: *step is valid until the next call; 0: end; SONDE_ENOMEM; SONDE_ELIMIT. */
SONDE_API int sonde_pt_flow_next(struct sonde_pt_flow *flow, const struct sonde_pt_step **step);

/* A position in the trace at which the code changes. */
struct sonde_pt_move {
	uint64_t at; /* offset in bytes, or a TSC */
	uint32_t space, generation;
	bool by_tsc;
	bool keep_space; /* only the generation changes */
};

/*
 * Moves the flow to another space or generation at the first branch at or after a position. Moves
 * take effect in the order of the calls; if the flow is past a position, at once. A flow reads some
 * packets ahead of the steps that it returns, so call this early. 0; SONDE_EARG: by_tsc is set, but
 * time is not followed; SONDE_ENOMEM.
 */
SONDE_API int sonde_pt_flow_move(struct sonde_pt_flow *flow, const struct sonde_pt_move *move);

/* Handles a part of a flow; worker is 0 .. options.jobs - 1. A negative result stops. */
typedef int (*sonde_pt_part_fn)(void *arg, unsigned worker, struct sonde_pt_flow *part);

/*
 * Returns the steps of a trace on options.jobs threads. The trace is divided at PSBs into parts of at
 * least options.part bytes (0: 16 KiB). For each part, `work` is called on one of the threads, and
 * calls sonde_pt_flow_next(part, ..) until its result is 0; then `emit` (may be NULL) is called on
 * the same thread, for one part after the other, in the order of the trace. In this order the steps
 * of all parts are those of sonde_pt_flow_next(flow, ..), for any number of threads. A part is valid
 * until its `emit` returns; memory of a worker may be reused for its next part.
 *
 * Call it before sonde_pt_flow_next. If jobs is 0 or 1, and with ticks, every_ticks, choose_space or
 * moves, one thread does all work. 0; SONDE_ENOMEM; or the negative result of `work` or `emit`.
 */
SONDE_API int sonde_pt_flow_parts(
        struct sonde_pt_flow *flow, sonde_pt_part_fn work, sonde_pt_part_fn emit, void *arg);

/* Counts of a trace; the library owns it. */
struct sonde_pt_totals {
	uint64_t insns; /* executed instructions */
	uint64_t branches; /* taken or not */
	uint64_t taken; /* taken branches, except for asynchronous ones */
	uint64_t events, errors;
	uint64_t gaps, gap_bytes; /* skipped parts of the trace */
	uint64_t nodes; /* pieces of code in the graph */
};

/*
 * Counts the rest of the trace, without steps, which is much faster: call it in place of
 * sonde_pt_flow_next. With options.jobs, threads count parts between PSBs; the counts do not depend
 * on their number. 0: *totals is valid as long as the flow; SONDE_ENOMEM; SONDE_ELIMIT.
 */
SONDE_API int sonde_pt_flow_count(
        struct sonde_pt_flow *flow, const struct sonde_pt_totals **totals);

/* Control went `count` times from the branch at `from` to `to`, in the code of a space. */
struct sonde_pt_edge {
	uint64_t from, to, count;
	uint32_t space;
};

/*
 * The next edge that sonde_pt_flow_count counted: each is returned once, in no order. For
 * conditional branches that were not taken, `to` is the next instruction. 1: *edge is valid until
 * the next call; 0: end; SONDE_ENOMEM.
 */
SONDE_API int sonde_pt_flow_next_edge(
        struct sonde_pt_flow *flow, const struct sonde_pt_edge **edge);

#ifdef __cplusplus
}
#endif

#endif
