/* SPDX-License-Identifier: MIT */
/* Where nodes of units are in the space of a flow. */
#ifndef SONDE_PT_UNIT_H
#define SONDE_PT_UNIT_H

#include "pt/state.h"

/* false: out of memory. */
bool pt_units_start(struct sonde_pt_flow *f);
void pt_units_free(struct sonde_pt_flow *f);

/* Forgets where code is: the flow is in another view or mode. */
void pt_units_turn(struct sonde_pt_flow *f);

/*
 * Returns the node at an address; PT_NODE_NONE: too many, or out of memory, and f->failed is set.
 */
pt_at pt_unit_node(struct sonde_pt_flow *f, uint64_t ip);

static inline uint64_t pt_at_bias(const struct sonde_pt_flow *f, pt_at at)
{
	return f->units.biases[PT_AT_BIAS(at)];
}

/* The address of a node. */
static inline uint64_t pt_at_ip(const struct sonde_pt_flow *f, pt_at at)
{
	return f->graph->cold[PT_AT_NODE(at)].ip + pt_at_bias(f, at);
}

/*
 * Whether the flow may go on from a node LEAVE: not if it met many of them without a packet. Then
 * code may be a circle, which is found by walking.
 */
static inline bool pt_unit_may_leave(struct sonde_pt_flow *f)
{
	struct pt_leaving *l = &f->units.leaving;

	if (l->p != f->cursor.p || l->nbits != f->tnt.nbits) {
		*l = (struct pt_leaving){.p = f->cursor.p, .nbits = f->tnt.nbits};
	}
	l->times += l->times < PT_LEAVE_MAX;
	return l->times < PT_LEAVE_MAX;
}

/* Whether pt_unit_may_leave refused, and nothing was followed since. */
static inline bool pt_unit_is_stuck(const struct sonde_pt_flow *f)
{
	const struct pt_leaving *l = &f->units.leaving;

	return l->times == PT_LEAVE_MAX && l->p == f->cursor.p && l->nbits == f->tnt.nbits;
}

#endif
