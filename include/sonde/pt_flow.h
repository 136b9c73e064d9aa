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

/* image must live as long as the graph. NULL: no memory. */
SONDE_API struct sonde_pt_graph *sonde_pt_graph_new(const struct sonde_pt_image *image);
SONDE_API void sonde_pt_graph_free(
        struct sonde_pt_graph *graph); /* after its flows; NULL is fine */

/* Events between instructions, with the fields of struct sonde_pt_event that each kind uses. */
enum sonde_pt_event_kind {
	SONDE_PT_EVENT_ENABLED, /* tracing starts at ip; value: 1 when this is where it stopped */
	/* Tracing stops at ip; value: 1 when no branch led there, extra: where control went then,
	   if known. */
	SONDE_PT_EVENT_DISABLED,
	SONDE_PT_EVENT_ASYNC, /* an interrupt or the like: from ip to value */
	SONDE_PT_EVENT_EXEC_MODE, /* value: 16, 32 or 64 */
	SONDE_PT_EVENT_IFLAG, /* value: interrupts are enabled */
	SONDE_PT_EVENT_PAGING, /* value: CR3, extra: in non-root operation */
	SONDE_PT_EVENT_VMCS, /* value: base */
	SONDE_PT_EVENT_OVERFLOW, /* packets were lost; the trace continues at ip, if known */
	SONDE_PT_EVENT_TSX_BEGIN,
	SONDE_PT_EVENT_TSX_COMMIT,
	SONDE_PT_EVENT_TSX_ABORT,
	SONDE_PT_EVENT_EXSTOP,
	SONDE_PT_EVENT_MWAIT, /* value: hints, extra: extensions */
	SONDE_PT_EVENT_PWRE, /* value, extra: C-state, sub C-state; count: asked for by hardware */
	SONDE_PT_EVENT_PWRX, /* value, extra: last, deepest C-state; count: SONDE_PT_WAKE_* */
	SONDE_PT_EVENT_PTWRITE, /* value: payload */
	SONDE_PT_EVENT_MNT, /* value: payload */
	SONDE_PT_EVENT_CBR, /* value: ratio */
	SONDE_PT_EVENT_TICK, /* the time advanced */
	SONDE_PT_EVENT_TRIG, /* value: trigger bits; count: others were merged */
	SONDE_PT_EVENT_CFE, /* count: type, value: vector, extra: bit n set: data[n] is EVD n */
	SONDE_PT_EVENT_STOP, /* TraceStop */
	/* What PEBS stores into the trace, one event for each packet: blocks with items, and an end.
	   Blocks: count: type, value: bytes of each item. Items: count: id, value: payload, extra:
	   the block's type. The end: ip, if the trace has it. */
	SONDE_PT_EVENT_PEBS_BLOCK,
	SONDE_PT_EVENT_PEBS_ITEM,
	SONDE_PT_EVENT_PEBS_END,
	SONDE_PT_EVENTS
};

struct sonde_pt_event {
	uint64_t ip, value, extra;
	uint64_t data[3];
	uint64_t tsc; /* in ticks, an estimate; 0: not known */
	uint8_t kind; /* enum sonde_pt_event_kind */
	uint8_t count;
	bool has_ip;
};

enum sonde_pt_step_kind {
	SONDE_PT_STEP_INSN = 1, /* an instruction was executed */
	SONDE_PT_STEP_EVENT,
	SONDE_PT_STEP_ERROR, /* error, offset, psb, ip */
	SONDE_PT_STEP_END, /* the trace ends while tracing is on */
	/* The packets from offset to end were passed over, up to a PSB or the end of the trace, or,
	   with keep_position, to a packet with an IP; the flow continues at ip (0: tracing is off).
	   Comes after the errors that caused it. */
	SONDE_PT_STEP_GAP,
	SONDE_PT_STEP_BLOCK /* a block was executed: code from ip on without a branch inside */
};

/* Fields that are named for some kinds are 0 for the others. */
struct sonde_pt_step {
	uint64_t ip; /* INSN, BLOCK: where it begins; EVENT: of it; ERROR: how far code was followed
	              */
	uint64_t to; /* INSN, BLOCK that end with a branch: where control went; 0: not known, as
	                where tracing ends */
	uint64_t last; /* INSN, BLOCK: address of the last instruction */
	uint64_t insns; /* instructions that were executed so far, with this step's */
	uint64_t tsc; /* the time, if it is followed, in TSC ticks, an estimate; as long as no TSC
	                 packet was there, ticks since the beginning */
	uint64_t exact_tsc; /* the last time that was in a packet (TSC, MTC); as `tsc` where
	                       nothing was estimated */
	/* Core cycles so far, if the time is followed (see struct sonde_pt_time), and the
	   instructions that were executed when they were known. Of two steps the differences are
	   the instructions per cycle between; where cycle_insns is insns they are known here. */
	uint64_t cycles, cycle_insns;
	uint64_t offset; /* ERROR: of the packet at which it was found; GAP: where it begins */
	uint64_t end; /* GAP: offset of the packet with which the flow continues */
	uint64_t psb; /* ERROR: of the last PSB whose state was good; UINT64_MAX: there is none */
	int error; /* enum sonde_pt_error */
	uint32_t space; /* of the code */
	uint32_t count; /* INSN, BLOCK: instructions of this step */
	uint8_t kind; /* enum sonde_pt_step_kind */
	uint8_t size; /* INSN, BLOCK: bytes of the last instruction */
	bool speculative; /* INSN, BLOCK: inside a transaction */
	bool resync; /* ERROR: a second one, while a place to go on was sought */
	bool first; /* INSN: the one before it was a branch that packets decided, or an event */
	bool sampled; /* INSN: chosen by `every` or `every_ticks` */
	/* Of the last instruction: */
	bool branch; /* it is one, of any kind */
	bool call, jump; /* a direct one */
	bool calls, returns; /* a near call, direct or not; a near return */
	bool conditional;
	bool taken;
	struct sonde_pt_event event; /* EVENT */
};

/* The address space, from packets. */
struct sonde_pt_asid {
	uint64_t cr3, vmcs; /* bases, as in PIP and VMCS packets */
	bool has_cr3, has_vmcs;
	bool non_root; /* in a virtual machine */
};

/* Returns the space (of the image) whose code runs. Called when PIP or VMCS packets change it. */
typedef uint32_t (*sonde_pt_space_fn)(void *arg, const struct sonde_pt_asid *asid);

/*
 * The steps that a flow returns; bits. Errors, gaps and the end are always returned. Other steps
 * cost only the following of branches: instructions between two requested ones are counted, not
 * read.
 */
#define SONDE_PT_WANT_INSNS     1u /* instructions: all, or those that `every..` choose */
#define SONDE_PT_WANT_TAKEN     2u /* instructions that are branches and were taken */
#define SONDE_PT_WANT_NOT_TAKEN 4u /* conditional branches that were not */
#define SONDE_PT_WANT_CALLS     8u /* near calls */
#define SONDE_PT_WANT_RETURNS   16u /* near returns */
#define SONDE_PT_WANT_BLOCKS    32u /* blocks, and no INSN at all */
#define SONDE_PT_WANT_EVENTS    64u
#define SONDE_PT_WANT_NOTHING   128u /* if nothing else is: errors, gaps and the end alone */

struct sonde_pt_flow_options {
	size_t size; /* sizeof(struct sonde_pt_flow_options) of the caller */
	struct sonde_pt_clock clock; /* and the processor */
	bool keep_position; /* after an error continue at the next packet with an IP, not at the next
	                       PSB */
	unsigned jobs; /* threads that count; 0 and 1: the caller's alone */
	size_t part; /* bytes that a thread takes at least; 0: chosen by the size of the trace */
	bool time; /* follow the time; without it no time is computed */
	bool ticks; /* give TICK events; needs time */
	unsigned filters; /* ranges of code that alone were traced; 0: all was */
	struct {
		uint64_t first, last; /* both inclusive */
	} filter[4];
	unsigned want; /* SONDE_PT_WANT_*; 0: INSNS and EVENTS */
	uint64_t every; /* of the instructions give only each whose number is a multiple of this */
	uint64_t
	        every_ticks; /* and each that reaches a multiple of so many TSC ticks, if all last a cycle
	                         until the next packet of time; follows the time */
	uint32_t space, generation; /* of the code, where the trace begins */
	sonde_pt_space_fn choose_space; /* NULL: PIP and VMCS change nothing */
	void *choose_arg;
};

struct sonde_pt_flow;

/*
 * A flow along the n bytes at data, which stay the caller's and must live as long as the flow. The
 * options may be NULL. NULL: no memory, or options that this version does not know.
 */
SONDE_API struct sonde_pt_flow *sonde_pt_flow_new(struct sonde_pt_graph *graph, const void *data,
        size_t n, const struct sonde_pt_flow_options *options);
SONDE_API void sonde_pt_flow_free(struct sonde_pt_flow *flow); /* NULL is fine */

/*
 * The next step: 1 and *step is set, it lives until the next call; 0 at the end, SONDE_ENOMEM,
 * SONDE_ELIMIT.
 */
SONDE_API int sonde_pt_flow_next(struct sonde_pt_flow *flow, const struct sonde_pt_step **step);

/* A place in the trace after which the code is another one. */
struct sonde_pt_move {
	uint64_t at; /* an offset in bytes, or a TSC */
	uint32_t space, generation;
	bool by_tsc;
	bool keep_space; /* only the generation changes */
};

/*
 * From the first branch at or after a place on, code is that of another space or generation. Moves
 * are done in the order of the calls; places that were passed count at once. A flow reads some packets
 * ahead of the steps that it returns, so call this early. 0, SONDE_EARG (by_tsc, but time
 * is not followed), SONDE_ENOMEM.
 */
SONDE_API int sonde_pt_flow_move(struct sonde_pt_flow *flow, const struct sonde_pt_move *move);

/* Does something with a part of a flow; worker is below options.jobs. Negative: an error. */
typedef int (*sonde_pt_part_fn)(void *arg, unsigned worker, struct sonde_pt_flow *part);

/*
 * The steps of a trace from options.jobs threads. The trace is cut into parts at PSBs (each of
 * options.part bytes at least; 0: 16 KiB). For each, `work` is called on one of the threads, and
 * takes the part's steps by sonde_pt_flow_next(part, ..) until there are none; then, on the same
 * thread, `emit` (may be NULL) for one part after the other, in the order of the trace. All steps in
 * this order are those that sonde_pt_flow_next(flow, ..) gives, for any number of threads. A part
 * lives until its `emit` is over; what a worker keeps for one may be used again for its next.
 *
 * To be called before any step of the flow was taken. One thread does it all where jobs is below 2,
 * and with ticks, every_ticks, choose_space or moves. 0, SONDE_ENOMEM, or what `work` or `emit`
 * returned that was negative.
 */
SONDE_API int sonde_pt_flow_parts(
        struct sonde_pt_flow *flow, sonde_pt_part_fn work, sonde_pt_part_fn emit, void *arg);

/* The library's. */
struct sonde_pt_totals {
	uint64_t insns; /* that were executed */
	uint64_t branches; /* taken or not */
	uint64_t taken; /* branches that were taken, of any kind but asynchronous */
	uint64_t events, errors;
	uint64_t gaps, gap_bytes; /* parts of the trace that were passed over */
	uint64_t nodes; /* pieces of code that the graph holds */
};

/*
 * Follows the rest of the trace for its counts only; much faster than by steps, and to be called
 * instead of them. With jobs, parts between PSBs are counted at the same time; the counts are the
 * same for any number. 0: *totals is set, it lives as long as the flow; SONDE_ENOMEM, SONDE_ELIMIT.
 */
SONDE_API int sonde_pt_flow_count(
        struct sonde_pt_flow *flow, const struct sonde_pt_totals **totals);

/* Control went `count` times from the branch at `from` to `to`, in code of a space. */
struct sonde_pt_edge {
	uint64_t from, to, count;
	uint32_t space;
};

/*
 * The next of the edges that sonde_pt_flow_count met, each once and in no order; not-taken
 * conditional branches have the next instruction as `to`. 1 and *edge is set, it lives until the
 * next call; 0 at the end, SONDE_ENOMEM.
 */
SONDE_API int sonde_pt_flow_next_edge(
        struct sonde_pt_flow *flow, const struct sonde_pt_edge **edge);

#ifdef __cplusplus
}
#endif

#endif
