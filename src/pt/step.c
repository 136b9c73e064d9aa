/* SPDX-License-Identifier: MIT */
/*
 * Runs of instructions, events and errors go into a queue; give.c makes steps of them. A run in
 * which nothing is wanted is only counted.
 */
#include "pt/step.h"

#include "core/array.h"
#include "pt/edge.h"
#include "pt/space.h"
#include "pt/tick.h"

#include <stdlib.h>
#include <string.h>

static struct pt_item *new_item(struct sonde_pt_flow *f)
{
	if (f->head == f->tail) {
		f->head = 0;
		f->tail = 0;
	}
	if (!array_reserve(&f->items, &f->cap, f->tail + 1, sizeof(*f->items))) {
		f->failed = true;
		return NULL;
	}
	return &f->items[f->tail++];
}

/* Whether `every` chooses one of the next `insns` instructions. */
static bool has_multiple(struct sonde_pt_flow *f, uint32_t insns)
{
	bool has = f->insns + insns >= f->sample_at;

	f->insns += insns;
	if (has) {
		f->sample_at +=
		        ((f->insns - f->sample_at) / f->options.every + 1) * f->options.every;
	}
	return has;
}

/* Whether `every_ticks` chooses one of the last instructions. */
static bool has_tick(struct sonde_pt_flow *f)
{
	bool has = f->ticks.number <= f->insns;

	if (has) {
		pt_ticks_pass(&f->ticks, f->insns);
	}
	return has;
}

static void queue_run(struct sonde_pt_flow *f, uint64_t ip, uint32_t insns)
{
	struct pt_item *item = new_item(f);

	f->run_open = item != NULL;
	if (item == NULL) {
		return;
	}
	item->kind = SONDE_PT_STEP_INSN;
	item->speculative = f->speculative;
	item->taken = false;
	item->ticks.number = UINT64_MAX;
	item->context = pt_flow_context(f);
	item->space = f->space;
	item->insns = insns;
	item->node = PT_NODE_NONE;
	item->ip = ip;
	item->to = 0;
	item->before = f->insns - insns;
	item->tsc = f->time.tsc;
	item->exact = f->time.exact;
	item->before_tsc = f->time.tsc;
	item->before_exact = f->time.exact;
	item->cycles = f->cycles;
	item->cycle_insns = f->cycle_insns;
}

/*
 * A packet of time is read when the next branch is to be decided: it is the time of that branch,
 * while code before the branch was followed without a packet.
 */
static void take_time(struct sonde_pt_flow *f, bool told)
{
	struct pt_item *item = f->run_open ? &f->items[f->tail - 1] : NULL;

	if (item != NULL && f->time_moved) {
		item->before_tsc = f->before_tsc;
		item->before_exact = f->before_exact;
		item->tsc = told ? f->time.tsc : f->before_tsc;
		item->exact = told ? f->time.exact : f->before_exact;
	}
	f->time_moved = f->time_moved && !told;
}

/* The branch or event of a packet is complete: the last CYC, if any, was about it. */
static void take_cycles(struct sonde_pt_flow *f)
{
	if (f->cycled) {
		f->cycled = false;
		f->cycles = f->time.cycles;
		f->cycle_insns = f->insns;
	}
}

/* Emits a run of `insns` executed instructions. */
static void emit(struct sonde_pt_flow *f, uint64_t ip, uint32_t insns, bool wanted)
{
	const struct pt_ticks ticks = f->ticks;

	wanted = has_multiple(f, insns) || wanted;
	wanted = has_tick(f) || wanted;
	f->run_open = false;
	if (wanted) {
		queue_run(f, ip, insns);
	}
	if (f->run_open && ticks.number <= f->insns) {
		f->items[f->tail - 1].ticks = ticks;
	}
}

void pt_emit_run(struct sonde_pt_flow *f, uint64_t ip, uint32_t insns)
{
	const unsigned nothing = SONDE_PT_WANT_EVENTS | SONDE_PT_WANT_NOTHING;

	f->run_open = false;
	if (f->counting) {
		f->counts->insns += insns;
	} else if (insns != 0) {
		emit(f, ip, insns, (f->want & ~nothing) != 0);
		take_time(f, false);
	}
}

void pt_emit_told(struct sonde_pt_flow *f)
{
	take_cycles(f);
	if (f->run_open) {
		f->items[f->tail - 1].cycles = f->cycles;
		f->items[f->tail - 1].cycle_insns = f->cycle_insns;
	}
	take_time(f, true);
}

void pt_emit_branch(struct sonde_pt_flow *f, uint64_t to, bool taken)
{
	pt_emit_told(f);
	if (f->run_open) {
		f->items[f->tail - 1].to = to;
		f->items[f->tail - 1].taken = taken;
	}
}

/* Whether a node may contain an instruction that is wanted for its class. */
static bool has_wanted(const struct sonde_pt_flow *f, uint32_t node, bool taken)
{
	static const unsigned by_kind[][2] = {
	        [PT_NODE_COND] = {SONDE_PT_WANT_NOT_TAKEN, SONDE_PT_WANT_TAKEN},
	        [PT_NODE_GOTO] = {0, 0},
	        [PT_NODE_RET] = {0, SONDE_PT_WANT_TAKEN | SONDE_PT_WANT_RETURNS},
	        [PT_NODE_TIP] = {0, SONDE_PT_WANT_TAKEN | SONDE_PT_WANT_CALLS},
	};
	unsigned all = SONDE_PT_WANT_INSNS | SONDE_PT_WANT_BLOCKS |
	               by_kind[PT_NODE_KIND(f->graph->nodes[node].info)][taken];

	if (f->graph->cold[node].direct != 0) {
		all |= SONDE_PT_WANT_TAKEN | SONDE_PT_WANT_CALLS;
	}
	return (f->want & all) != 0;
}

void pt_emit_node(struct sonde_pt_flow *f, uint32_t node, uint32_t next, bool taken)
{
	uint32_t info = f->graph->nodes[node].info;
	bool told = PT_NODE_KIND(info) != PT_NODE_GOTO;

	emit(f, f->graph->cold[node].ip, PT_NODE_INSNS(info), has_wanted(f, node, taken));
	if (told) {
		take_cycles(f);
	}
	if (f->run_open) {
		struct pt_item *item = &f->items[f->tail - 1];

		item->node = node;
		item->to = f->graph->cold[next].ip;
		item->taken = taken;
		item->cycles = f->cycles;
		item->cycle_insns = f->cycle_insns;
	}
	take_time(f, told);
}

/* Fills the members that all items but runs need. */
static struct pt_item *queue(struct sonde_pt_flow *f, uint8_t kind, uint64_t ip)
{
	struct pt_item *item = f->counting ? NULL : new_item(f);

	f->run_open = false;
	if (item != NULL) {
		*item = (struct pt_item){.kind = kind,
		        .ip = ip,
		        .space = f->space,
		        .before = f->insns,
		        .tsc = f->time.tsc,
		        .exact = f->time.exact,
		        .cycles = f->cycles,
		        .cycle_insns = f->cycle_insns};
	}
	return item;
}

void pt_emit_event(struct sonde_pt_flow *f, const struct sonde_pt_event *event)
{
	struct pt_item *item = NULL;

	f->events++;
	if (event->kind == SONDE_PT_EVENT_ASYNC || event->kind == SONDE_PT_EVENT_DISABLED) {
		take_cycles(f);
	}
	if (event->kind == SONDE_PT_EVENT_PAGING || event->kind == SONDE_PT_EVENT_VMCS) {
		pt_space_event(f, event);
	}
	if ((f->want & SONDE_PT_WANT_EVENTS) != 0) {
		item = queue(f, SONDE_PT_STEP_EVENT, event->ip);
	}
	f->run_open = false;
	f->time_moved = false;
	if (item != NULL) {
		item->event = *event;
		item->event.tsc = f->time.tsc;
	}
	f->shown_tsc = f->time.tsc;
}

void pt_emit_error(struct sonde_pt_flow *f, int error, bool resync)
{
	struct pt_item *item = queue(f, SONDE_PT_STEP_ERROR, f->fresh ? 0 : f->ip);

	f->errors++;
	if (item != NULL) {
		item->resync = resync;
		item->error = (uint16_t)error;
		item->offset = f->error_at;
		item->psb = f->good_psb;
	}
}

void pt_emit_end(struct sonde_pt_flow *f)
{
	(void)queue(f, SONDE_PT_STEP_END, f->ip);
}

void pt_emit_gap(struct sonde_pt_flow *f, uint64_t end, uint64_t ip)
{
	size_t place = f->gap_item;
	bool run_open = f->run_open;
	struct pt_item *item = queue(f, SONDE_PT_STEP_GAP, ip);
	struct pt_item gap;

	if (item == NULL) {
		return;
	}
	gap = *item;
	gap.offset = f->gap_at;
	gap.to = end;
	if (place != f->tail - 1) {
		f->run_open = run_open;
		gap.before = f->items[place].before;
		memmove(f->items + place + 1, f->items + place,
		        (f->tail - 1 - place) * sizeof(gap));
	}
	f->items[place] = gap;
}
