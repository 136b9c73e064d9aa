/* SPDX-License-Identifier: MIT */
/*
 * Makes steps of the queue. A run is read instruction by instruction only as far as one of them may
 * be wanted: a node without direct branches is finished by its last instruction, which the graph
 * knows.
 */
#include "pt/flow.h"

#include "pt/tick.h"

#include <stddef.h>
#include <string.h>

/* Sets the class of the step's instruction. */
static void set_class(struct sonde_pt_flow *f, unsigned class_and_special)
{
	struct sonde_pt_step *step = &f->given.step;
	enum pt_class class = PT_BRANCH_CLASS(class_and_special);

	f->given.class = (uint8_t)class_and_special;
	step->branch = class != PT_CLASS_OTHER;
	step->call = class == PT_CLASS_CALL;
	step->jump = class == PT_CLASS_JUMP;
	step->calls = class == PT_CLASS_CALL || class == PT_CLASS_CALL_IND;
	step->returns = class == PT_CLASS_RET;
	step->conditional = class == PT_CLASS_COND;
}

/* Begins a step of the run that ends with its next instruction, except for insns - 1 of them. */
static void begin(struct sonde_pt_flow *f, uint8_t kind)
{
	f->given.step = (struct sonde_pt_step){.kind = kind,
	        .ip = f->given.run.ip,
	        .space = f->given.run.space,
	        .tsc = f->given.run.before_tsc,
	        .exact_tsc = f->given.run.before_exact,
	        .cycles = f->given.run.before_cycles,
	        .cycle_insns = f->given.run.before_cycle_insns,
	        .speculative = f->given.run.speculative,
	        .first = f->given.first};
	f->given.first = false;
}

/* The packets since the last time are about the last instruction of a run. */
static void end_run(struct sonde_pt_flow *f)
{
	if (f->given.run.insns == 0) {
		f->given.step.tsc = f->given.run.tsc;
		f->given.step.exact_tsc = f->given.run.exact;
		f->given.step.cycles = f->given.run.cycles;
		f->given.step.cycle_insns = f->given.run.cycle_insns;
	}
}

/* Takes the last instruction of the node, which must have no direct branch before it. */
static void take_end(struct sonde_pt_flow *f)
{
	const struct pt_cold *cold = &f->graph->cold[f->given.run.node];

	f->given.step.count += f->given.run.insns;
	f->given.step.last = cold->end + f->given.run.bias;
	f->given.step.size = cold->size;
	f->given.run.before += f->given.run.insns;
	f->given.run.insns = 0;
	set_class(f, cold->class);
	f->given.step.taken = f->given.run.taken && f->given.step.branch;
	f->given.step.to = f->given.step.branch ? f->given.run.to : 0;
}

/* Adds one instruction to the step; false: it cannot be read, as the image has changed. */
static bool take_insn(struct sonde_pt_flow *f)
{
	struct sonde_pt_step *step = &f->given.step;
	struct pt_insn insn;

	if (pt_image_insn(f->graph->image, f->given.run.context, f->given.run.ip, &insn) != 0) {
		return false;
	}
	step->count++;
	step->last = f->given.run.ip;
	step->size = insn.size;
	set_class(f, insn.class | (unsigned)insn.special << 4);
	f->given.run.before++;
	f->given.run.insns--;
	if (step->call || step->jump) {
		step->taken = true;
		step->to = pt_insn_target(
		        &insn, f->given.run.ip, pt_context_mode(f->given.run.context));
		f->given.direct -= f->given.direct != 0;
		f->given.run.ip = step->to;
		return true;
	}
	f->given.run.ip += insn.size;
	if (step->branch) {
		step->taken = f->given.run.taken;
		step->to = f->given.run.to;
	}
	return true;
}

/* Whether the graph knows everything about the rest of the run. */
static bool at_end(const struct sonde_pt_flow *f)
{
	return f->given.run.node != PT_NODE_NONE && f->given.direct == 0;
}

/* A branch whose packets are missing matches none of these. */
static bool is_wanted(const struct sonde_pt_flow *f, const struct sonde_pt_step *step)
{
	unsigned is = 0;

	if (step->branch && step->taken) {
		is |= SONDE_PT_WANT_TAKEN;
		is |= step->calls ? SONDE_PT_WANT_CALLS : 0;
		is |= step->returns ? SONDE_PT_WANT_RETURNS : 0;
	} else if (step->conditional && step->to != 0) {
		is |= SONDE_PT_WANT_NOT_TAKEN;
	}
	return (f->wanted.kinds & (is | SONDE_PT_WANT_INSNS)) != 0;
}

static bool is_multiple(const struct sonde_pt_flow *f)
{
	return f->wanted.sample_at != UINT64_MAX && f->given.run.before % f->options.every == 0;
}

/* Whether `every` chooses one of the remaining instructions of the run. */
static bool has_multiple(const struct sonde_pt_flow *f)
{
	uint64_t every = f->options.every;

	return f->wanted.sample_at != UINT64_MAX &&
	       f->given.run.before / every != (f->given.run.before + f->given.run.insns) / every;
}

/* Whether `every_ticks` chooses the last taken instruction or one of the remaining. */
static bool is_tick(struct sonde_pt_flow *f)
{
	if (f->given.run.ticks.number != f->given.run.before) {
		return false;
	}
	pt_ticks_pass(&f->given.run.ticks, f->given.run.before);
	return true;
}

static bool has_tick(const struct sonde_pt_flow *f)
{
	return f->given.run.ticks.number <= f->given.run.before + f->given.run.insns;
}

/* Finds the next wanted instruction of the run: 1, 0 (none), or negative. */
static int next_insn(struct sonde_pt_flow *f)
{
	bool all = (f->wanted.kinds & SONDE_PT_WANT_INSNS) != 0;

	while (f->given.run.insns != 0) {
		bool tick;

		if (!all && at_end(f) && !has_multiple(f) && !has_tick(f)) {
			f->given.run.ip = f->graph->cold[f->given.run.node].end + f->given.run.bias;
			f->given.run.before += f->given.run.insns - 1;
			f->given.run.insns = 1;
			begin(f, SONDE_PT_STEP_INSN);
			take_end(f);
		} else {
			begin(f, SONDE_PT_STEP_INSN);
			if (!take_insn(f)) {
				f->given.run.insns = 0;
				return SONDE_EFORMAT;
			}
		}
		tick = is_tick(f);
		end_run(f);
		f->given.step.insns = f->given.run.before;
		f->given.step.sampled = tick || is_multiple(f);
		if (f->given.step.sampled || is_wanted(f, &f->given.step)) {
			return 1;
		}
	}
	return 0;
}

static int next_block(struct sonde_pt_flow *f)
{
	begin(f, SONDE_PT_STEP_BLOCK);
	while (f->given.run.insns != 0 && !f->given.step.branch) {
		if (at_end(f)) {
			take_end(f);
		} else if (!take_insn(f)) {
			f->given.run.insns = 0;
			return SONDE_EFORMAT;
		}
	}
	end_run(f);
	f->given.step.insns = f->given.run.before;
	return 1;
}

static int next_of_run(struct sonde_pt_flow *f)
{
	if (f->given.run.insns == 0) {
		return 0;
	}
	return f->wanted.kinds & SONDE_PT_WANT_BLOCKS ? next_block(f) : next_insn(f);
}

/* Starts a run. */
static void start_run(struct sonde_pt_flow *f, const struct pt_item *item)
{
	bool goes_on = f->given.goes_on && f->given.run.before == item->before;

	memcpy(&f->given.run, item, offsetof(struct pt_item, event));
	f->given.first = !goes_on;
	f->given.direct = f->graph->cold[item->node].direct;
	f->given.goes_on = item->node != PT_NODE_NONE &&
	                   PT_NODE_KIND(f->graph->nodes[item->node].info) == PT_NODE_GOTO;
}

/* Makes a step of the next item; a run is only started. */
static bool next_item(struct sonde_pt_flow *f)
{
	const struct pt_item *item = &f->queue.items[f->queue.head++];

	if (item->kind == PT_STEP_BRANCHES) { /* in the step below */
		f->batch.given = f->batch.branches + item->before;
		f->batch.ngiven = item->insns;
	}
	if (item->kind == SONDE_PT_STEP_INSN) {
		start_run(f, item);
		return false;
	}
	f->given.goes_on = false;
	f->given.step = (struct sonde_pt_step){.kind = item->kind,
	        .ip = item->ip,
	        .space = item->space,
	        .insns = item->before,
	        .tsc = item->tsc,
	        .exact_tsc = item->exact,
	        .cycles = item->cycles,
	        .cycle_insns = item->cycle_insns,
	        .offset = item->offset,
	        .end = item->kind == SONDE_PT_STEP_GAP ? item->to : 0,
	        .psb = item->psb,
	        .error = item->error,
	        .speculative = item->kind == PT_STEP_BRANCHES && item->speculative,
	        .resync = item->resync,
	        .event = item->event};
	return true;
}

int sonde_pt_flow_next(struct sonde_pt_flow *flow, const struct sonde_pt_step **step)
{
	*step = &flow->given.step;
	for (;;) {
		int rc = next_of_run(flow);

		if (rc != 0) {
			return rc;
		}
		if (flow->queue.head == flow->queue.tail) {
			flow->batch.n = 0;
		}
		while (flow->queue.head == flow->queue.tail && !flow->done && !flow->failed &&
		        !flow->part.paused) {
			pt_flow_packet(flow);
		}
		if (flow->failed) {
			return SONDE_ENOMEM;
		}
		if (flow->queue.head == flow->queue.tail) {
			return 0;
		}
		if (next_item(flow)) {
			return 1;
		}
	}
}
