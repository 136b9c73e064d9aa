/* SPDX-License-Identifier: MIT */
/*
 * The graph of code. A node is a run of instructions up to the next one that the trace decides;
 * direct jumps inside it, and one direct call, are followed. Nodes are identified by index, never
 * move, and are built when a flow first reaches them.
 *
 *	hot, 16 bytes:   next[not taken] next[taken] push info
 *	cold:            first address, and details of the last instruction
 *
 * Code of a unit (image.h) has nodes that all spaces share. Their addresses are those in the unit,
 * and code that leads out of it ends with a node LEAVE.
 */
#ifndef SONDE_PT_GRAPH_H
#define SONDE_PT_GRAPH_H

#include "pt/image.h"

#include <stdatomic.h>

enum pt_node_kind {
	PT_NODE_UNBUILT = 15, /* only its address is known */
	PT_NODE_COND = 0, /* a TNT bit chooses next[0] or next[1] */
	PT_NODE_GOTO, /* no decision: next[0] and next[1] are equal */
	PT_NODE_RET, /* decided by the return stack, or a TIP */
	PT_NODE_TIP, /* indirect and far branches: decided by a TIP */
	PT_NODE_DEAD, /* leads to missing code, or loops for ever */
	PT_NODE_LEAVE /* no code: what is at its address belongs to another unit, or to none */
};

struct pt_node {
	uint32_t next[2];
	uint32_t push; /* node after the call inside, or after an indirect call; 0: none */
	uint32_t info; /* enum pt_node_kind in 4 bits; above them the number of instructions */
};

#define PT_NODE_KIND(info)  ((info)&15u)
#define PT_NODE_INSNS(info) ((info) >> 4)
#define PT_NODE_INSNS_MAX   0xffffu

/* A branch that was taken. */
struct pt_branch {
	uint64_t from, to;
	uint16_t insns; /* a direct branch inside a node: instructions from the node's start on */
	uint8_t size; /* of the instruction */
	uint8_t class; /* PT_BRANCH_CLASS and PT_BRANCH_SPECIAL */
};

#define PT_BRANCH_CLASS(c)   ((enum pt_class)((c)&15u))
#define PT_BRANCH_SPECIAL(c) ((enum pt_special)((c) >> 4))

struct pt_cold {
	uint64_t ip;
	uint64_t end; /* the address of the last instruction */
	uint32_t context;
	uint32_t first; /* of its direct branches in `directs`; PT_NODE_NONE: they are not kept */
	uint16_t direct; /* number of direct jumps and calls inside */
	uint8_t size; /* of the last instruction */
	uint8_t class; /* of the last instruction, as in struct pt_branch */
};

struct sonde_pt_graph {
	struct pt_node *nodes;
	struct pt_cold *cold;
	struct pt_branch *directs; /* of all nodes; the first one is unused */
	uint32_t ndirects, directs_max;
	uint64_t *hops, *tip_hops; /* PT_HOPS for each node, see hop.c */
	uint32_t *weights, *tip_weights; /* what each hop passes: PT_WEIGHT_* */
	uint32_t nodes_max; /* nodes that there is room for */
	const struct sonde_pt_image *image;
	_Atomic(struct pt_table *) table; /* maps addresses to nodes */
	_Atomic uint32_t count;
	atomic_flag busy; /* a spin lock for adding and building nodes */
};

/* Index 0 is unused. */
#define PT_NODE_NONE 0u
#define PT_NODES_MAX (1u << 24)
#define PT_NODES_MIN (1u << 16) /* with room for fewer nodes no graph is made */

/*
 * Where a flow is, or returns to: the node in the lower half, above it the number of the bias of its
 * unit in the flow (running.h). Number 0 is the bias 0.
 */
typedef uint64_t pt_at;

#define PT_AT_NODE(at) ((uint32_t)(at))
#define PT_AT_BIAS(at) ((uint32_t)((at) >> 32))
#define PT_AT_HERE(at) ((at)&0xffffffff00000000u) /* to be combined with a node of the same unit */

/* Returns the node at an address, adding it if new; PT_NODE_NONE: too many, or out of memory. */
uint32_t pt_graph_node(struct sonde_pt_graph *graph, uint32_t context, uint64_t ip);

/* Builds a node that is UNBUILT; false: too many nodes, or out of memory. */
bool pt_graph_build(struct sonde_pt_graph *graph, uint32_t index);

/* Hops: several branch bits at once. */
#define PT_HOP_BITS  3
#define PT_HOPS      (1u << PT_HOP_BITS)
#define PT_HOP_NODES 16 /* nodes that a hop passes at most */

#define PT_HOP_CANNOT     1u /* no hop is possible: the node must be followed by itself */
#define PT_HOP_TAKEN(hop) ((unsigned)(hop)&63u)
#define PT_HOP_DEPTH(hop) ((int)((unsigned)(hop) >> 6 & 3u) - 1)
#define PT_HOP_TO(hop)    ((uint32_t)(hop) >> 8)
#define PT_HOP_NODE(hop)  ((uint32_t)((hop) >> 32))

/* What a hop passes: instructions, taken branches, and those of them that are calls. */
#define PT_WEIGHT(insns, taken, calls)                                                             \
	((uint32_t)(insns) | (uint32_t)(taken) << 16 | (uint32_t)(calls) << 24)
#define PT_WEIGHT_INSNS(w) ((w)&0xffffu)
#define PT_WEIGHT_TAKEN(w) ((w) >> 16 & 0xffu)
#define PT_WEIGHT_CALLS(w) ((w) >> 24)

/* Key of a hop: bits, the first one highest; PT_HOP_BITS of them, or fewer before a TIP. */
struct pt_hop_bits {
	unsigned value, count;
	bool tip;
};

/* The nodes that a hop passes, each with its bit. */
struct pt_hop_path {
	struct {
		uint32_t node, bit;
	} steps[PT_HOP_NODES];
	unsigned count, taken;
	uint32_t to, push; /* the node it leads to, and the node that is pushed */
	bool returns; /* the last node returns to the top of the return stack */
	bool pops; /* a TIP decides a return and the stack loses one entry */
};

/* false: too many nodes, or out of memory. */
bool pt_hop_walk(struct sonde_pt_graph *graph, uint32_t at, const struct pt_hop_bits *bits,
        struct pt_hop_path *path);

/* Makes a hop. */
bool pt_hop_make(struct sonde_pt_graph *graph, uint32_t at, const struct pt_hop_bits *bits);

/* Index of the hop among those by bits, or by a TIP. */
static inline size_t pt_hop_index(uint32_t at, const struct pt_hop_bits *bits)
{
	return (size_t)at * PT_HOPS + (bits->tip ? 1u << bits->count | bits->value : bits->value);
}

static inline uint64_t *pt_hop_slot(
        const struct sonde_pt_graph *graph, uint32_t at, const struct pt_hop_bits *bits)
{
	return (bits->tip ? graph->tip_hops : graph->hops) + pt_hop_index(at, bits);
}

static inline uint32_t *pt_hop_weight(
        const struct sonde_pt_graph *graph, uint32_t at, const struct pt_hop_bits *bits)
{
	return (bits->tip ? graph->tip_weights : graph->weights) + pt_hop_index(at, bits);
}

#endif
