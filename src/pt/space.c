/* SPDX-License-Identifier: MIT */
/*
 * Which code a flow runs: PIP and VMCS packets select the address space, the caller defines where
 * code changes, MODE.EXEC selects how it is decoded. Nodes on the return stack belong to one view
 * and mode; when either changes they are looked up again, so that returns lead into the code that
 * runs now.
 */
#include "pt/space.h"

#include "core/array.h"
#include "pt/unit.h"

static void look_up_stack(struct sonde_pt_flow *f)
{
	pt_units_turn(f);
	for (unsigned i = 1; i < f->calls.sp && !f->failed; i++) {
		if (f->calls.nodes[i] != PT_NODE_NONE) {
			f->calls.nodes[i] = pt_unit_node(f, pt_at_ip(f, f->calls.nodes[i]));
		}
	}
}

static void set_view(struct sonde_pt_flow *f, uint32_t view)
{
	if (view == PT_VIEW_NONE) {
		f->failed = true;
		return;
	}
	if (view == f->code.view) {
		return;
	}
	f->code.view = view;
	look_up_stack(f);
}

void pt_space_set_mode(struct sonde_pt_flow *f, enum pt_mode mode)
{
	if (mode != f->code.mode) {
		f->code.mode = mode;
		look_up_stack(f);
	}
}

void pt_space_set(struct sonde_pt_flow *f, uint32_t space, uint32_t generation)
{
	bool guest = f->options.guests && f->code.asid.non_root;

	f->code.space = space;
	f->code.now = guest ? space | SONDE_PT_GUEST : space;
	f->code.generation = generation;
	set_view(f, pt_image_view(f->graph->image, f->code.now, generation));
}

void pt_space_event(struct sonde_pt_flow *f, const struct sonde_pt_event *event)
{
	struct sonde_pt_asid old = f->code.asid;
	struct sonde_pt_asid *a = &f->code.asid;

	if (event->kind == SONDE_PT_EVENT_PAGING) {
		a->has_cr3 = true;
		a->cr3 = event->value;
		a->non_root = event->extra != 0;
	} else {
		a->has_vmcs = true;
		a->vmcs = event->value;
	}
	if (f->options.guests && old.non_root != a->non_root) {
		pt_space_set(f, f->code.space, f->code.generation);
	}
	if (f->options.choose_space == NULL ||
	        (old.has_cr3 == a->has_cr3 && old.has_vmcs == a->has_vmcs && old.cr3 == a->cr3 &&
	                old.vmcs == a->vmcs && old.non_root == a->non_root)) {
		return;
	}
	pt_space_set(f, f->options.choose_space(f->options.choose_arg, a), f->code.generation);
}

static bool is_due(const struct sonde_pt_flow *f, const struct sonde_pt_move *move)
{
	if (move->by_tsc) {
		return f->clock.time.has_tsc && f->clock.time.tsc >= move->at;
	}
	return (uint64_t)(f->cursor.p - f->cursor.begin) >= move->at;
}

void pt_space_time(struct sonde_pt_flow *f)
{
	f->code.move_due =
	        f->code.moved < f->code.nmoves && is_due(f, &f->code.moves[f->code.moved]);
}

void pt_space_move(struct sonde_pt_flow *f)
{
	const struct sonde_pt_move *move = NULL;

	while (f->tnt.nbits == 0 && f->code.moved < f->code.nmoves &&
	        is_due(f, &f->code.moves[f->code.moved])) {
		move = &f->code.moves[f->code.moved++];
		pt_space_set(f, move->keep_space ? f->code.space : move->space, move->generation);
	}
	move = f->code.moved < f->code.nmoves ? &f->code.moves[f->code.moved] : NULL;
	f->code.move_due = false;
	f->code.fast_end = f->cursor.end;
	if (move != NULL && !move->by_tsc &&
	        move->at < (uint64_t)(f->cursor.end - f->cursor.begin)) {
		f->code.fast_end = f->cursor.begin + move->at;
	}
}

int sonde_pt_flow_move(struct sonde_pt_flow *flow, const struct sonde_pt_move *move)
{
	if (move->by_tsc && !flow->options.time) {
		return SONDE_EARG;
	}
	if (!array_reserve(&flow->code.moves, &flow->code.cap, flow->code.nmoves + 1,
	            sizeof(*flow->code.moves))) {
		return SONDE_ENOMEM;
	}
	flow->code.moves[flow->code.nmoves++] = *move;
	return SONDE_OK;
}
