/* SPDX-License-Identifier: MIT */
/*
 * The graph of code. A node is a run of instructions from an address to the next one at which the
 * trace decides; direct jumps inside it, and one direct call, are followed. Nodes are named by
 * their index, never move, and are built when a flow first comes to them.
 *
 *	hot, 16 bytes:   next[not taken] next[taken] push info
 *	cold:            where it begins, where its last instruction is
 */
#ifndef SONDE_PT_GRAPH_H
#define SONDE_PT_GRAPH_H

#include "pt/image.h"

#include <stdatomic.h>

enum pt_node_kind {
	PT_NODE_UNBUILT = 15, /* only its address is known */
	PT_NODE_COND = 0, /* a TNT bit chooses next[0] or next[1] */
	PT_NODE_GOTO, /* nothing is decided: next[0] and next[1] are the same */
	PT_NODE_RET, /* the return stack, or a TIP */
	PT_NODE_TIP, /* indirect and far branches: a TIP */
	PT_NODE_DEAD /* leads to where there is no code, or for ever in a circle */
};

struct pt_node {
	uint32_t next[2];
	uint32_t push; /* the node behind the call inside, or of an indirect call; 0: none */
	uint32_t info; /* enum pt_node_kind in 4 bits, above them the number of instructions */
};

#define PT_NODE_KIND(info)  ((info)&15u)
#define PT_NODE_INSNS(info) ((info) >> 4)
#define PT_NODE_INSNS_MAX   0xffffu

struct pt_cold {
	uint64_t ip;
	uint64_t end; /* the address of the last instruction */
	uint32_t context;
	uint16_t direct; /* direct jumps and calls inside */
	uint8_t size; /* of the last instruction */
	uint8_t class; /* of the last instruction, enum pt_class */
};

struct sonde_pt_graph {
	struct pt_node *nodes;
	struct pt_cold *cold;
	uint64_t *hops, *tip_hops; /* PT_HOPS for each node, see hop.c */
	uint32_t nodes_max; /* that there is room for */
	const struct sonde_pt_image *image;
	_Atomic(struct pt_table *) table; /* from address to node */
	_Atomic uint32_t count;
	atomic_flag busy; /* held while nodes are added or built */
};

/* No node has index 0. */
#define PT_NODE_NONE 0u
#define PT_NODES_MAX (1u << 24)
#define PT_NODES_MIN (1u << 16) /* where fewer have room, there is no graph */

/* n bytes of zeros that take memory as they are touched; NULL: there is none. */
void *pt_reserve(size_t n);
void pt_release(void *p, size_t n); /* NULL is fine */

/* The node at an address, made if need be; PT_NODE_NONE: too many, or no memory. */
uint32_t pt_graph_node(struct sonde_pt_graph *graph, uint32_t context, uint64_t ip);

/* Builds a node that is UNBUILT; false: too many nodes, or no memory. */
bool pt_graph_build(struct sonde_pt_graph *graph, uint32_t index);

/* Several branch bits at once. */
#define PT_HOP_BITS  3
#define PT_HOPS      (1u << PT_HOP_BITS)
#define PT_HOP_NODES 16 /* that one goes over at most */

#define PT_HOP_CANNOT     1u /* there is none: the node must be looked at by itself */
#define PT_HOP_TAKEN(hop) ((unsigned)(hop)&63u)
#define PT_HOP_DEPTH(hop) ((int)((unsigned)(hop) >> 6 & 3u) - 1)
#define PT_HOP_TO(hop)    ((uint32_t)(hop) >> 8)
#define PT_HOP_NODE(hop)  ((uint32_t)((hop) >> 32))

/* What a hop goes by: bits, the first one highest, PT_HOP_BITS or, before a TIP, fewer. */
struct pt_hop_bits {
	unsigned value, count;
	bool tip;
};

/* The nodes that a hop goes over, each with its bit. */
struct pt_hop_path {
	struct {
		uint32_t node, bit;
	} steps[PT_HOP_NODES];
	unsigned count, taken;
	uint32_t to, push; /* where it leads, and what is pushed */
	bool returns; /* the last node returns to what the stack tells */
	bool pops; /* the stack loses one to a return that a TIP tells */
};

/* false: too many nodes, or no memory. */
bool pt_hop_walk(struct sonde_pt_graph *graph, uint32_t at, const struct pt_hop_bits *bits,
        struct pt_hop_path *path);

/* Makes a hop. */
bool pt_hop_make(struct sonde_pt_graph *graph, uint32_t at, const struct pt_hop_bits *bits);

/* Among hops by bits, or by a TIP. */
static inline size_t pt_hop_index(uint32_t at, const struct pt_hop_bits *bits)
{
	return (size_t)at * PT_HOPS + (bits->tip ? 1u << bits->count | bits->value : bits->value);
}

static inline uint64_t *pt_hop_slot(
        const struct sonde_pt_graph *graph, uint32_t at, const struct pt_hop_bits *bits)
{
	return (bits->tip ? graph->tip_hops : graph->hops) + pt_hop_index(at, bits);
}

#endif
