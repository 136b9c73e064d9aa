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
static void set_class(struct sonde_pt_step *step, unsigned class)
{
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
	f->step = (struct sonde_pt_step){.kind = kind,
	        .ip = f->run.ip,
	        .space = f->run.space,
	        .tsc = f->run.before_tsc,
	        .exact_tsc = f->run.before_exact,
	        .cycles = f->run.cycles,
	        .cycle_insns = f->run.cycle_insns,
	        .speculative = f->run.speculative,
	        .first = f->first};
	f->first = false;
}

/* The packets since the last time are about the last instruction of a run. */
static void end_run(struct sonde_pt_flow *f)
{
	if (f->run.insns == 0) {
		f->step.tsc = f->run.tsc;
		f->step.exact_tsc = f->run.exact;
	}
}

/* Takes the last instruction of the node, which must have no direct branch before it. */
static void take_end(struct sonde_pt_flow *f)
{
	const struct pt_cold *cold = &f->graph->cold[f->run.node];

	f->step.count += f->run.insns;
	f->step.last = cold->end;
	f->step.size = cold->size;
	f->run.before += f->run.insns;
	f->run.insns = 0;
	set_class(&f->step, cold->class);
	f->step.taken = f->run.taken;
	f->step.to = f->run.to;
}

/* Adds one instruction to the step; false: it cannot be read, as the image has changed. */
static bool take_insn(struct sonde_pt_flow *f)
{
	struct sonde_pt_step *step = &f->step;
	struct pt_insn insn;

	if (pt_image_insn(f->graph->image, f->run.context, f->run.ip, &insn) != 0) {
		return false;
	}
	step->count++;
	step->last = f->run.ip;
	step->size = insn.size;
	set_class(step, insn.class);
	f->run.before++;
	f->run.insns--;
	if (step->call || step->jump) {
		step->taken = true;
		step->to = pt_insn_target(&insn, f->run.ip, pt_context_mode(f->run.context));
		f->direct -= f->direct != 0;
		f->run.ip = step->to;
		return true;
	}
	f->run.ip += insn.size;
	if (step->branch) {
		step->taken = f->run.taken;
		step->to = f->run.to;
	}
	return true;
}

/* Whether the graph knows everything about the rest of the run. */
static bool at_end(const struct sonde_pt_flow *f)
{
	return f->run.node != PT_NODE_NONE && f->direct == 0;
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
	return (f->want & (is | SONDE_PT_WANT_INSNS)) != 0;
}

static bool is_multiple(const struct sonde_pt_flow *f)
{
	return f->sample_at != UINT64_MAX && f->run.before % f->options.every == 0;
}

/* Whether `every` chooses one of the remaining instructions of the run. */
static bool has_multiple(const struct sonde_pt_flow *f)
{
	uint64_t every = f->options.every;

	return f->sample_at != UINT64_MAX &&
	       f->run.before / every != (f->run.before + f->run.insns) / every;
}

/* Whether `every_ticks` chooses the last taken instruction or one of the remaining. */
static bool is_tick(struct sonde_pt_flow *f)
{
	if (f->run.ticks.number != f->run.before) {
		return false;
	}
	pt_ticks_pass(&f->run.ticks, f->run.before);
	return true;
}

static bool has_tick(const struct sonde_pt_flow *f)
{
	return f->run.ticks.number <= f->run.before + f->run.insns;
}

/* Finds the next wanted instruction of the run: 1, 0 (none), or negative. */
static int next_insn(struct sonde_pt_flow *f)
{
	bool all = (f->want & SONDE_PT_WANT_INSNS) != 0;

	while (f->run.insns != 0) {
		bool tick;

		if (!all && at_end(f) && !has_multiple(f) && !has_tick(f)) {
			f->run.ip = f->graph->cold[f->run.node].end;
			f->run.before += f->run.insns - 1;
			f->run.insns = 1;
			begin(f, SONDE_PT_STEP_INSN);
			take_end(f);
		} else {
			begin(f, SONDE_PT_STEP_INSN);
			if (!take_insn(f)) {
				f->run.insns = 0;
				return SONDE_EFORMAT;
			}
		}
		tick = is_tick(f);
		end_run(f);
		f->step.insns = f->run.before;
		f->step.sampled = tick || is_multiple(f);
		if (f->step.sampled || is_wanted(f, &f->step)) {
			return 1;
		}
	}
	return 0;
}

static int next_block(struct sonde_pt_flow *f)
{
	begin(f, SONDE_PT_STEP_BLOCK);
	while (f->run.insns != 0 && !f->step.branch) {
		if (at_end(f)) {
			take_end(f);
		} else if (!take_insn(f)) {
			f->run.insns = 0;
			return SONDE_EFORMAT;
		}
	}
	end_run(f);
	f->step.insns = f->run.before;
	return 1;
}

static int next_of_run(struct sonde_pt_flow *f)
{
	if (f->run.insns == 0) {
		return 0;
	}
	return f->want & SONDE_PT_WANT_BLOCKS ? next_block(f) : next_insn(f);
}

/* Makes a step of the next item; a run is only started. */
static bool next_item(struct sonde_pt_flow *f)
{
	const struct pt_item *item = &f->items[f->head++];

	if (item->kind == SONDE_PT_STEP_INSN) {
		memcpy(&f->run, item, offsetof(struct pt_item, event));
		f->first = true;
		f->direct = f->graph->cold[item->node].direct;
		return false;
	}
	f->step = (struct sonde_pt_step){.kind = item->kind,
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
	        .resync = item->resync,
	        .event = item->event};
	return true;
}

int sonde_pt_flow_next(struct sonde_pt_flow *flow, const struct sonde_pt_step **step)
{
	*step = &flow->step;
	for (;;) {
		int rc = next_of_run(flow);

		if (rc != 0) {
			return rc;
		}
		while (flow->head == flow->tail && !flow->done && !flow->failed && !flow->paused) {
			pt_flow_packet(flow);
		}
		if (flow->failed) {
			return SONDE_ENOMEM;
		}
		if (flow->head == flow->tail) {
			return 0;
		}
		if (next_item(flow)) {
			return 1;
		}
	}
}
