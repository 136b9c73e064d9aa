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
#include "pt/unit.h"

#include <stdlib.h>
#include <string.h>

static struct pt_item *new_item(struct sonde_pt_flow *f)
{
	if (f->queue.head == f->queue.tail) {
		f->queue.head = 0;
		f->queue.tail = 0;
	}
	if (!array_reserve(
	            &f->queue.items, &f->queue.cap, f->queue.tail + 1, sizeof(*f->queue.items))) {
		f->failed = true;
		return NULL;
	}
	return &f->queue.items[f->queue.tail++];
}

/* Whether `every` chooses one of the next `insns` instructions. */
static bool has_multiple(struct sonde_pt_flow *f, uint32_t insns)
{
	bool has = f->insns + insns >= f->wanted.sample_at;

	f->insns += insns;
	if (has) {
		f->wanted.sample_at += ((f->insns - f->wanted.sample_at) / f->options.every + 1) *
		                       f->options.every;
	}
	return has;
}

/* Whether `every_ticks` chooses one of the last instructions. */
static bool has_tick(struct sonde_pt_flow *f)
{
	bool has = f->wanted.ticks.number <= f->insns;

	if (has) {
		pt_ticks_pass(&f->wanted.ticks, f->insns);
	}
	return has;
}

static void queue_run(struct sonde_pt_flow *f, uint64_t ip, uint32_t insns)
{
	struct pt_item *item = new_item(f);

	f->queue.run_open = item != NULL;
	if (item == NULL) {
		return;
	}
	item->kind = SONDE_PT_STEP_INSN;
	item->speculative = f->now.speculative;
	item->taken = false;
	item->ticks.number = UINT64_MAX;
	item->context = pt_flow_context(f);
	item->space = f->code.now;
	item->insns = insns;
	item->node = PT_NODE_NONE;
	item->ip = ip;
	item->to = 0;
	item->before = f->insns - insns;
	item->tsc = f->clock.time.tsc;
	item->exact = f->clock.time.exact;
	item->before_tsc = f->clock.time.tsc;
	item->before_exact = f->clock.time.exact;
	item->cycles = item->before_cycles = f->clock.cycles;
	item->cycle_insns = item->before_cycle_insns = f->clock.cycle_insns;
}

/*
 * A packet of time is read when the next branch is to be decided: it is the time of that branch,
 * while code before the branch was followed without a packet.
 */
static void take_time(struct sonde_pt_flow *f, bool told)
{
	struct pt_item *item = f->queue.run_open ? &f->queue.items[f->queue.tail - 1] : NULL;

	if (item != NULL && f->clock.moved) {
		item->before_tsc = f->clock.before_tsc;
		item->before_exact = f->clock.before_exact;
		item->tsc = told ? f->clock.time.tsc : f->clock.before_tsc;
		item->exact = told ? f->clock.time.exact : f->clock.before_exact;
	}
	f->clock.moved = f->clock.moved && !told;
}

/* The branch or event of a packet is complete: the last CYC, if any, was about it. */
static void take_cycles(struct sonde_pt_flow *f)
{
	if (f->clock.cycled) {
		f->clock.cycled = false;
		f->clock.cycles = f->clock.time.cycles;
		f->clock.cycle_insns = f->insns;
	}
}

/* The number of instructions up to the first branch in a run of `insns`; UINT32_MAX: there is none. */
static uint32_t insns_to_branch(const struct sonde_pt_flow *f, uint64_t ip, uint32_t insns)
{
	struct pt_insn insn;

	for (uint32_t i = 1; i <= insns; i++) {
		if (pt_image_insn(f->graph->image, pt_flow_context(f), ip, &insn) != 0) {
			break;
		}
		if (insn.class != PT_CLASS_OTHER) {
			return i;
		}
		ip += insn.size;
	}
	return UINT32_MAX;
}

/* Emits a run of `insns` executed instructions. */
static void emit(struct sonde_pt_flow *f, uint64_t ip, uint32_t insns, bool wanted)
{
	uint32_t first = UINT32_MAX;
	struct pt_ticks ticks;

	if (pt_ticks_is_ending(&f->wanted.ticks)) {
		first = insns_to_branch(f, ip, insns);
	}
	if (first != UINT32_MAX && f->wanted.ticks.number > f->insns + first) {
		pt_ticks_branch(&f->wanted.ticks);
	}
	ticks = f->wanted.ticks;
	wanted = has_multiple(f, insns) || wanted;
	wanted = has_tick(f) || wanted;
	f->queue.run_open = false;
	if (wanted) {
		queue_run(f, ip, insns);
	}
	if (f->queue.run_open && ticks.number <= f->insns) {
		f->queue.items[f->queue.tail - 1].ticks = ticks;
	}
	if (first != UINT32_MAX) {
		pt_ticks_branch(&f->wanted.ticks);
	}
}

void pt_emit_run(struct sonde_pt_flow *f, uint64_t ip, uint32_t insns)
{
	const unsigned nothing = SONDE_PT_WANT_EVENTS | SONDE_PT_WANT_NOTHING;

	f->queue.run_open = false;
	if (f->tally.counting) {
		f->tally.counts->insns += insns;
	} else if (insns != 0) {
		emit(f, ip, insns, (f->wanted.kinds & ~nothing) != 0);
		take_time(f, false);
	}
}

void pt_emit_told(struct sonde_pt_flow *f)
{
	take_cycles(f);
	if (f->queue.run_open) {
		f->queue.items[f->queue.tail - 1].cycles = f->clock.cycles;
		f->queue.items[f->queue.tail - 1].cycle_insns = f->clock.cycle_insns;
	}
	take_time(f, true);
}

void pt_emit_branch(struct sonde_pt_flow *f, uint64_t to, bool taken)
{
	pt_emit_told(f);
	if (f->queue.run_open) {
		f->queue.items[f->queue.tail - 1].to = to;
		f->queue.items[f->queue.tail - 1].taken = taken;
	}
}

/* A direct branch is before a packet of time that was just read, as the run that it is in. */
void pt_pass_branch(struct sonde_pt_flow *f, enum pt_class class)
{
	pt_passed_add(&f->passed, f->clock.moved ? f->clock.before_tsc : f->clock.time.tsc, 1,
	        pt_class_calls(class));
	f->passed.last_calls = pt_class_calls(class);
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
	return (f->wanted.kinds & all) != 0;
}

/* Fills the members that all items but runs need. */
static struct pt_item *queue(struct sonde_pt_flow *f, uint8_t kind, uint64_t ip)
{
	struct pt_item *item = f->tally.counting ? NULL : new_item(f);

	f->queue.run_open = false;
	if (item != NULL) {
		*item = (struct pt_item){.kind = kind,
		        .ip = ip,
		        .space = f->code.now,
		        .before = f->insns,
		        .tsc = f->clock.time.tsc,
		        .exact = f->clock.time.exact,
		        .cycles = f->clock.cycles,
		        .cycle_insns = f->clock.cycle_insns};
	}
	return item;
}

/* The item that more branches can be added to; NULL: out of memory. */
static struct pt_item *open_batch(struct sonde_pt_flow *f)
{
	struct pt_item *last =
	        f->queue.head != f->queue.tail ? &f->queue.items[f->queue.tail - 1] : NULL;

	if (last != NULL && last->kind == PT_STEP_BRANCHES && last->tsc == f->clock.time.tsc &&
	        last->exact == f->clock.time.exact && last->space == f->code.now &&
	        last->speculative == f->now.speculative) {
		return last;
	}
	last = queue(f, PT_STEP_BRANCHES, 0);
	if (last != NULL) {
		last->speculative = f->now.speculative;
		last->insns = 0;
		last->before = f->batch.n;
	}
	return last;
}

bool pt_batch_start(struct sonde_pt_flow *f)
{
	f->batch.branches = malloc(PT_BATCH * sizeof(*f->batch.branches));
	f->batch.on = f->batch.branches != NULL &&
	              (f->wanted.kinds & ~(SONDE_PT_WANT_TAKEN | SONDE_PT_WANT_EVENTS)) == 0;
	return f->batch.branches != NULL;
}

void pt_batch_grow(struct sonde_pt_flow *f, const struct pt_branch *end)
{
	size_t more = (size_t)(end - f->batch.branches) - f->batch.n;
	struct pt_item *item = more != 0 ? open_batch(f) : NULL;

	if (item != NULL) {
		item->insns += (uint32_t)more;
		f->batch.n += more;
	}
}

/* Adds a node's taken branches to a batch; false: it needs an item of its own. */
static bool emit_batched(struct sonde_pt_flow *f, pt_at at, pt_at next, bool taken)
{
	const struct pt_cold *cold = &f->graph->cold[PT_AT_NODE(at)];
	uint32_t info = f->graph->nodes[PT_AT_NODE(at)].info;
	uint64_t bias = pt_at_bias(f, at);
	struct pt_branch *out = f->batch.branches + f->batch.n;

	if (f->wanted.sample_at <= f->insns + PT_NODE_INSNS(info) ||
	        f->wanted.ticks.limit <= f->insns + PT_NODE_INSNS(info) ||
	        PT_BATCH - f->batch.n <= cold->direct ||
	        (cold->direct != 0 && cold->first == PT_NODE_NONE)) {
		return false;
	}
	out = pt_copy_directs(f->graph, cold, bias, out);
	if (taken && PT_NODE_KIND(info) != PT_NODE_GOTO) {
		*out++ = (struct pt_branch){.from = cold->end + bias,
		        .to = pt_at_ip(f, next),
		        .size = cold->size,
		        .class = cold->class};
	}
	f->insns += PT_NODE_INSNS(info);
	f->queue.run_open = false;
	pt_batch_grow(f, out);
	return true;
}

/* Counts the branches of a node; those before its end are before a packet of time just read. */
static void pass_node(struct sonde_pt_flow *f, uint32_t node, bool taken)
{
	const struct pt_cold *cold = &f->graph->cold[node];
	uint64_t before = f->clock.moved ? f->clock.before_tsc : f->clock.time.tsc;
	uint64_t calls = 0;

	for (unsigned i = 0; i < cold->direct && cold->first != PT_NODE_NONE; i++) {
		calls += f->graph->directs[cold->first + i].class == PT_CLASS_CALL;
	}
	pt_passed_add(&f->passed, before, cold->direct, calls);
	if (taken && PT_NODE_KIND(f->graph->nodes[node].info) != PT_NODE_GOTO) {
		pt_passed_add(&f->passed, f->clock.time.tsc, 1,
		        pt_class_calls(PT_BRANCH_CLASS(cold->class)));
	}
}

void pt_emit_node(struct sonde_pt_flow *f, pt_at at, pt_at next, bool taken)
{
	uint32_t node = PT_AT_NODE(at);
	uint32_t info = f->graph->nodes[node].info;
	bool told = PT_NODE_KIND(info) != PT_NODE_GOTO;

	if (pt_batch_fits(f) && emit_batched(f, at, next, taken)) {
		return;
	}
	if (f->passed.on) {
		pass_node(f, node, taken);
	}
	emit(f, pt_at_ip(f, at), PT_NODE_INSNS(info), has_wanted(f, node, taken));
	if (told) {
		take_cycles(f);
	}
	if (f->queue.run_open) {
		struct pt_item *item = &f->queue.items[f->queue.tail - 1];

		item->node = node;
		item->bias = pt_at_bias(f, at);
		item->to = pt_at_ip(f, next);
		item->taken = taken;
		item->cycles = f->clock.cycles;
		item->cycle_insns = f->clock.cycle_insns;
	}
	take_time(f, told);
}

void pt_emit_event(struct sonde_pt_flow *f, const struct sonde_pt_event *event)
{
	struct pt_item *item = NULL;

	f->tally.events++;
	if (event->kind == SONDE_PT_EVENT_ASYNC || event->kind == SONDE_PT_EVENT_DISABLED) {
		take_cycles(f);
	}
	if (event->kind == SONDE_PT_EVENT_PAGING || event->kind == SONDE_PT_EVENT_VMCS) {
		pt_space_event(f, event);
	}
	if ((f->wanted.kinds & SONDE_PT_WANT_EVENTS) != 0) {
		item = queue(f, SONDE_PT_STEP_EVENT, event->ip);
	}
	f->queue.run_open = false;
	f->clock.moved = false;
	if (item != NULL) {
		item->event = *event;
		item->event.tsc = f->clock.time.tsc;
	}
	f->clock.shown_tsc = f->clock.time.tsc;
}

void pt_emit_error(struct sonde_pt_flow *f, int error, bool resync)
{
	struct pt_item *item = queue(f, SONDE_PT_STEP_ERROR, f->now.fresh ? 0 : f->now.ip);

	f->tally.errors++;
	if (item != NULL) {
		item->resync = resync;
		item->error = (uint16_t)error;
		item->offset = f->error_at;
		item->psb = f->psb.good;
	}
}

void pt_emit_end(struct sonde_pt_flow *f)
{
	(void)queue(f, SONDE_PT_STEP_END, f->now.ip);
}

void pt_emit_gap(struct sonde_pt_flow *f, uint64_t end, uint64_t ip)
{
	size_t place = f->gap.item;
	bool run_open = f->queue.run_open;
	struct pt_item *item = queue(f, SONDE_PT_STEP_GAP, ip);
	struct pt_item gap;

	if (item == NULL) {
		return;
	}
	gap = *item;
	gap.offset = f->gap.at;
	gap.to = end;
	if (place != f->queue.tail - 1) {
		f->queue.run_open = run_open;
		gap.before = f->queue.items[place].before;
		memmove(f->queue.items + place + 1, f->queue.items + place,
		        (f->queue.tail - 1 - place) * sizeof(gap));
	}
	f->queue.items[place] = gap;
}
