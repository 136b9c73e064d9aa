/* SPDX-License-Identifier: MIT */
/* Emits runs of instructions, events and errors. */
#ifndef SONDE_PT_STEP_H
#define SONDE_PT_STEP_H

#include "pt/state.h"

/*
 * Whether taken branches can be kept in a batch: nothing but these, and instructions by number, is
 * wanted, all are at the same time, and there is room for more.
 */
static inline bool pt_batch_fits(const struct sonde_pt_flow *f)
{
	return f->batch.on && !f->clock.cycled && !f->clock.moved && f->batch.n < PT_BATCH;
}

/* Emits walked instructions; pt_emit_branch adds where they lead. */
void pt_emit_run(struct sonde_pt_flow *f, uint64_t ip, uint32_t insns);
void pt_emit_branch(struct sonde_pt_flow *f, uint64_t to, bool taken);
/*
 * A packet decided the end of the last emitted run: it gets the time and the cycles of the packets
 * before that one.
 */
void pt_emit_told(struct sonde_pt_flow *f);
/* Counts a taken branch that was walked. */
void pt_pass_branch(struct sonde_pt_flow *f, enum pt_class class);
/* Emits a whole node and its successor. */
void pt_emit_node(struct sonde_pt_flow *f, pt_at at, pt_at next, bool taken);
/*
 * From now on taken branches may be in steps of the kind PT_STEP_BRANCHES, if nothing but these and
 * events is wanted. false: out of memory.
 */
bool pt_batch_start(struct sonde_pt_flow *f);
/* Copies the direct branches of a node; returns the end of the copies. */
static inline struct pt_branch *pt_copy_directs(const struct sonde_pt_graph *g,
        const struct pt_cold *cold, uint64_t bias, struct pt_branch *out)
{
	for (unsigned i = 0; i < cold->direct; i++, out++) {
		*out = g->directs[cold->first + i];
		out->from += bias;
		out->to += bias;
	}
	return out;
}

/* Adds the branches from batch.n up to `end`, which are in f->batch.branches already. */
void pt_batch_grow(struct sonde_pt_flow *f, const struct pt_branch *end);
void pt_emit_event(struct sonde_pt_flow *f, const struct sonde_pt_event *event);
void pt_emit_error(struct sonde_pt_flow *f, int error, bool resync);
void pt_emit_end(struct sonde_pt_flow *f);
/* Completes the gap from f->gap.at, at its index in the queue. */
void pt_emit_gap(struct sonde_pt_flow *f, uint64_t end, uint64_t ip);

#endif
