/* SPDX-License-Identifier: MIT */
/* Counted edges by address: at the end, counts by node become counts of edges. */
#include "pt/edge.h"

#include <stdlib.h>

/* Adds the direct branches inside a node, each `count` times. */
static bool add_direct(struct sonde_pt_flow *f, uint32_t node, struct pt_edge edge)
{
	const struct pt_cold *cold = &f->graph->cold[node];
	uint64_t ip = cold->ip;

	for (unsigned left = cold->direct; left > 0;) {
		struct pt_insn insn;

		if (pt_image_insn(f->graph->image, cold->context, ip, &insn) != 0) {
			return true;
		}
		if (insn.class != PT_CLASS_JUMP && insn.class != PT_CLASS_CALL) {
			ip += insn.size;
			continue;
		}
		edge.from = ip;
		edge.to = pt_insn_target(&insn, ip, pt_context_mode(cold->context));
		if (!pt_edge_add(&f->tally.counts->all, &edge)) {
			return false;
		}
		ip = edge.to;
		left--;
	}
	return true;
}

static uint32_t space_of(const struct sonde_pt_flow *f, uint32_t node)
{
	return pt_image_space(f->graph->image, f->graph->cold[node].context >> 2);
}

static bool add_node(struct sonde_pt_flow *f, uint32_t node)
{
	const struct sonde_pt_graph *g = f->graph;
	const uint64_t *counts = &f->tally.counts->nodes[2 * (size_t)node];
	struct pt_edge edge = {.count = counts[0] + counts[1]};

	if (edge.count == 0) {
		return true;
	}
	edge.space = space_of(f, node);
	if (!add_direct(f, node, edge)) {
		return false;
	}
	edge.from = g->cold[node].end;
	for (unsigned bit = 0; bit < 2 && PT_NODE_KIND(g->nodes[node].info) == PT_NODE_COND;
	        bit++) {
		edge.to = g->cold[g->nodes[node].next[bit]].ip;
		edge.count = counts[bit];
		if (edge.count != 0 && !pt_edge_add(&f->tally.counts->all, &edge)) {
			return false;
		}
	}
	return true;
}

static bool add_link(struct sonde_pt_flow *f, const struct pt_link *link)
{
	uint32_t from = (uint32_t)(link->key >> 32), to = (uint32_t)link->key;
	const struct pt_edge edge = {.from = f->graph->cold[from].end,
	        .to = f->graph->cold[to].ip,
	        .count = link->count,
	        .space = space_of(f, from)};

	return pt_edge_add(&f->tally.counts->all, &edge);
}

static bool gather(struct sonde_pt_flow *f)
{
	const struct sonde_pt_graph *g = f->graph;
	struct pt_counts *c = f->tally.counts;
	uint32_t nodes = atomic_load_explicit(&g->count, memory_order_acquire);

	for (uint32_t i = 1; i < nodes; i++) {
		if (!add_node(f, i)) {
			return false;
		}
	}
	for (uint32_t i = 0; i < c->links.size; i++) {
		if (c->links.slots[i].count != 0 && !add_link(f, &c->links.slots[i])) {
			return false;
		}
	}
	for (size_t i = 0; i < c->plain.size; i++) {
		if (c->plain.slots[i].count != 0 && !pt_edge_add(&c->all, &c->plain.slots[i])) {
			return false;
		}
	}
	return true;
}

int sonde_pt_flow_next_edge(struct sonde_pt_flow *flow, const struct sonde_pt_edge **edge)
{
	struct pt_counts *c = flow->tally.counts;

	if (c == NULL) {
		return 0;
	}
	if (!c->gathered) {
		if (!gather(flow)) {
			return SONDE_ENOMEM;
		}
		c->gathered = true;
	}
	while (c->given < c->all.size) {
		const struct pt_edge *e = &c->all.slots[c->given++];

		if (e->count != 0) {
			c->edge = (struct sonde_pt_edge){
			        .from = e->from, .to = e->to, .count = e->count, .space = e->space};
			*edge = &c->edge;
			return 1;
		}
	}
	return 0;
}
