/* SPDX-License-Identifier: MIT */
/* Branches that a flow passes without steps: they are counted, or many become one item. */
#ifndef SONDE_PT_PASSED_H
#define SONDE_PT_PASSED_H

#include "pt/graph.h"

/* Taken branches in a queue's item of the kind PT_STEP_BRANCHES, at most. */
#define PT_BATCH 1024u

/* A step for many taken branches at the same time: f->batch.given has them. Only if batch.on is set. */
#define PT_STEP_BRANCHES 64

struct pt_batch {
	bool on;
	struct pt_branch *branches; /* [PT_BATCH] of all items in the queue */
	size_t n;
	const struct pt_branch *given; /* those of the step, valid until the next one */
	size_t ngiven;
};

/* Counts of taken branches, which need no steps: only if `on` is set. */
struct pt_passed {
	bool on;
	uint64_t taken, calls; /* calls: near and far ones */
	uint64_t tsc, calls_tsc; /* the latest time of a taken branch, of a call */
	bool last_calls; /* the last one is known to be a call */
};

static inline bool pt_class_calls(enum pt_class class)
{
	return class == PT_CLASS_CALL || class == PT_CLASS_CALL_IND || class == PT_CLASS_FAR_CALL;
}

static inline void pt_passed_add(struct pt_passed *p, uint64_t tsc, uint64_t taken, uint64_t calls)
{
	p->taken += taken;
	p->calls += calls;
	p->tsc = taken != 0 && tsc > p->tsc ? tsc : p->tsc;
	p->calls_tsc = calls != 0 && tsc > p->calls_tsc ? tsc : p->calls_tsc;
	p->last_calls = p->last_calls && taken == 0;
}

#endif
