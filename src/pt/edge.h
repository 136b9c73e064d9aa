/* SPDX-License-Identifier: MIT */
/* Counts of nodes, hops and edges. */
#ifndef SONDE_PT_EDGE_H
#define SONDE_PT_EDGE_H

#include "pt/state.h"

#define PT_RECENT_LINKS 4096
#define PT_EDGE_LOG     256

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

/* Adds an edge's count; a count is never 0. false: out of memory. */
bool pt_edge_add(struct pt_edge_table *t, const struct pt_edge *edge);
void pt_counts_flush_log(struct sonde_pt_flow *f);
/* Turns counts of hops into counts of nodes; false: out of memory. */
bool pt_counts_flush_hops(struct sonde_pt_flow *f);
bool pt_counts_new(struct sonde_pt_flow *f);
void pt_counts_free(struct pt_counts *c); /* NULL is fine */
/* Merges the counts by node, hop and address into `all`; false: out of memory. */
bool pt_counts_finish(struct sonde_pt_flow *f);
/* Adds the counts of another flow over the same graph. */
bool pt_counts_merge(struct sonde_pt_flow *f, struct sonde_pt_flow *other);

/* Counts an edge by address. */
void pt_counts_plain(struct sonde_pt_flow *f, uint64_t from, uint64_t to);

#endif
