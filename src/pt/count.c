/* SPDX-License-Identifier: MIT */
/* Counting a whole trace: on one thread, or in parts on many. */
#include "pt/edge.h"
#include "pt/flow.h"
#include "pt/parallel.h"

static void sum_up(struct sonde_pt_flow *f)
{
	const struct sonde_pt_graph *g = f->graph;
	uint32_t nodes = atomic_load_explicit(&g->count, memory_order_acquire);

	f->tally.totals = (struct sonde_pt_totals){.insns = f->tally.counts->insns,
	        .branches = f->tally.counts->branches,
	        .taken = f->tally.counts->taken,
	        .events = f->tally.events,
	        .errors = f->tally.errors,
	        .gaps = f->tally.gaps,
	        .gap_bytes = f->tally.gap_bytes,
	        .nodes = nodes - 1};
	for (uint32_t i = 1; i < nodes; i++) {
		uint64_t other = f->tally.counts->nodes[2 * (size_t)i];
		uint64_t taken = f->tally.counts->nodes[2 * (size_t)i + 1];
		uint64_t all = other + taken;
		bool decides;

		if (all == 0) { /* another thread may be building the node */
			continue;
		}
		decides = PT_NODE_KIND(g->nodes[i].info) != PT_NODE_GOTO;
		f->tally.totals.insns += all * PT_NODE_INSNS(g->nodes[i].info);
		f->tally.totals.branches += all * (g->cold[i].direct + (decides ? 1u : 0));
		f->tally.totals.taken += all * g->cold[i].direct + (decides ? taken : 0);
	}
}

int sonde_pt_flow_count(struct sonde_pt_flow *flow, const struct sonde_pt_totals **totals)
{
	int rc;

	if (!pt_counts_new(flow)) {
		return SONDE_ENOMEM;
	}
	/* Counts depend on time only in these cases. */
	flow->options.time = flow->options.time && (flow->options.ticks || flow->code.nmoves != 0);
	rc = pt_parallel_count(flow);
	if (rc < 0 || (rc == 0 && (!pt_flow_run(flow) || !pt_counts_finish(flow)))) {
		return SONDE_ENOMEM;
	}
	sum_up(flow);
	*totals = &flow->tally.totals;
	return SONDE_OK;
}
