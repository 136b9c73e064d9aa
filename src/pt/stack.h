/* SPDX-License-Identifier: MIT */
/* The return stack: nodes after calls. */
#ifndef SONDE_PT_STACK_H
#define SONDE_PT_STACK_H

#include "pt/state.h"

/* Drops the older half of the return stack. */
void pt_stack_shrink(struct sonde_pt_flow *f);

static inline void pt_stack_push(struct sonde_pt_flow *f, pt_at node)
{
	if (f->calls.sp > PT_STACK_SIZE - PT_HOT_ROOM) {
		pt_stack_shrink(f);
	}
	f->calls.nodes[f->calls.sp++] = node;
}

/* The node after the last call; PT_NODE_NONE: the stack is empty. */
static inline pt_at pt_stack_top(const struct sonde_pt_flow *f)
{
	return f->calls.nodes[f->calls.sp - 1];
}

static inline void pt_stack_pop(struct sonde_pt_flow *f)
{
	f->calls.sp -= f->calls.sp > 1;
}

#endif
