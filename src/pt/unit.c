/* SPDX-License-Identifier: MIT */
/*
 * Units in the space of a flow. What was found is kept until the flow comes to another view:
 *
 *	space   |  libc  |     | program |      a range of addresses each: `near`
 *	            | - bias       | - bias
 *	unit    |  libc  |     | program |      nodes, the same for all spaces
 *
 * Code of a mode other than 64 bits, where addresses wrap, and counted edges, which have no
 * addresses but those of nodes, are without units.
 */
#include "pt/unit.h"

#include "core/array.h"

#include <stdlib.h>
#include <string.h>

bool pt_units_start(struct sonde_pt_flow *f)
{
	struct pt_units *u = &f->units;

	if (!array_reserve(&u->biases, &u->cap, 1, sizeof(*u->biases))) {
		return false;
	}
	u->biases[0] = 0;
	u->nbiases = 1;
	u->turn = 1;
	return true;
}

void pt_units_free(struct sonde_pt_flow *f)
{
	free(f->units.biases);
	index_fini(&f->units.by_bias);
}

void pt_units_turn(struct sonde_pt_flow *f)
{
	if (++f->units.turn == 0) {
		memset(f->units.near, 0, sizeof(f->units.near));
		memset(f->tips, 0, sizeof(f->tips));
		f->units.turn = 1;
	}
}

/* Sets *number to that of a bias; false: out of memory. */
static bool number_of(struct pt_units *u, uint64_t bias, uint32_t *number)
{
	uint32_t hash = (uint32_t)hash_u64(bias);
	size_t at = hash;

	*number = 0;
	if (bias == 0) {
		return true;
	}
	if (index_room(&u->by_bias) < 0 ||
	        !array_reserve(&u->biases, &u->cap, u->nbiases + 1, sizeof(*u->biases))) {
		return false;
	}
	while ((*number = index_next(&u->by_bias, hash, &at)) != INDEX_NONE) {
		if (u->biases[*number] == bias) {
			return true;
		}
		at++;
	}
	*number = (uint32_t)u->nbiases++;
	u->biases[*number] = bias;
	index_put(&u->by_bias, hash, at, *number);
	return true;
}

/* Finds what is at an address; false: out of memory. */
static bool find(struct sonde_pt_flow *f, uint64_t ip, struct pt_near *near)
{
	struct pt_unit_at at = {.first = ip, .last = ip};
	uint32_t view = pt_image_unit(f->graph->image, f->code.view, ip, &at);

	*near = (struct pt_near){.first = at.first,
	        .last = at.last,
	        .context = pt_flow_context(f),
	        .turn = f->units.turn};
	if (view != PT_VIEW_NONE) {
		near->context = pt_context(view, PT_MODE_64);
		return number_of(&f->units, at.bias, &near->bias);
	}
	return true;
}

static bool has_units(const struct sonde_pt_flow *f)
{
	return pt_image_has_units(f->graph->image) && !f->tally.counting &&
	       pt_context_mode(pt_flow_context(f)) == PT_MODE_64;
}

pt_at pt_unit_node(struct sonde_pt_flow *f, uint64_t ip)
{
	struct pt_near *near = &f->units.near[(ip >> 12 ^ ip >> 20) & (PT_NEARS - 1)];
	uint32_t node;

	if (!has_units(f)) {
		node = pt_graph_node(f->graph, pt_flow_context(f), ip);
		f->failed = f->failed || node == PT_NODE_NONE;
		return node;
	}
	if (near->turn != f->units.turn || ip < near->first || ip > near->last) {
		if (!find(f, ip, near)) {
			f->failed = true;
			return PT_NODE_NONE;
		}
	}
	node = pt_graph_node(f->graph, near->context, ip - f->units.biases[near->bias]);
	f->failed = f->failed || node == PT_NODE_NONE;
	return node != PT_NODE_NONE ? (pt_at)near->bias << 32 | node : PT_NODE_NONE;
}
