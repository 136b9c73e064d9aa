/* SPDX-License-Identifier: MIT */
/* Runs user code block by block, and writes its flow. */
#define _GNU_SOURCE
#include "host/wait.h"
#include "softpt/emulate.h"
#include "softpt/tracer.h"

#include <sys/ptrace.h>
#include <time.h>

#define SLICE     20000u /* instructions after which other threads may run */
#define USER64_CS 0x33u

static bool load64(void *arg, uint64_t at, uint64_t *value)
{
	return space_load(arg, at, value, sizeof(*value));
}

static bool store64(void *arg, uint64_t at, uint64_t value)
{
	return space_store(arg, at, &value, sizeof(value));
}

static unsigned mode_of(const struct task *t)
{
	return t->space->wide ? SONDE_PT_EXEC_CS_L : SONDE_PT_EXEC_CS_D;
}

/* ---- flow ---- */

/* Starts or stops tracing as the filters say of the next instruction. */
static int gate(struct tracer *tr, struct task *t)
{
	unsigned all = tr->filter->bits;
	unsigned bits = all != 0 ? filter_at(&t->space->places, t->regs.rip) : 0;
	struct flow *flow = &t->track->flow;

	t->begun |= (bits & FILTER_START) != 0;
	t->begun &= (bits & FILTER_STOP) == 0;
	t->halted |= (bits & FILTER_TRACESTOP) != 0;
	if (t->halted) {
		return flow_halt(flow, t->regs.rip);
	}
	if (!t->begun || ((all & FILTER_INSIDE) != 0 && (bits & FILTER_INSIDE) == 0)) {
		return flow_leave(flow, t->regs.rip);
	}
	TRY(flow_start(flow, t->regs.rip, mode_of(t)));
	return flow_sync(flow, t->regs.rip);
}

static void run_insns(struct tracer *tr, struct task *t, uint64_t n)
{
	tr->counts.insns += n;
	flow_run(&t->track->flow, n);
}

/* A branch was executed, from its address to regs.rip. */
static int put_branch(struct task *t, const struct pt_insn *insn, uint64_t from)
{
	struct flow *flow = &t->track->flow;
	uint64_t next = from + insn->size, to = t->regs.rip;

	switch (insn->class) {
	case PT_CLASS_COND: return flow_cond(flow, to != next || insn->disp == 0);
	case PT_CLASS_CALL:
		if (insn->disp != 0) {
			flow_call(flow, next);
		}
		return 0;
	case PT_CLASS_JUMP_IND: return flow_target(flow, to);
	case PT_CLASS_CALL_IND: flow_call(flow, next); return flow_target(flow, to);
	case PT_CLASS_RET: return flow_ret(flow, to);
	default: return 0;
	}
}

int tracer_left(struct tracer *tr, struct task *t, bool by_insn)
{
	struct flow *flow = &t->track->flow;

	if (t->outside) {
		return 0;
	}
	t->outside = true;
	if (by_insn) {
		run_insns(tr, t, 1);
	}
	return by_insn ? flow_far(flow) : flow_leave(flow, t->regs.rip);
}

/* Follows the path of a block up to an address inside it; false: it is not there. */
static bool walk(struct tracer *tr, struct task *t, uint64_t to)
{
	uint64_t at = t->block->start, n;
	uint8_t bytes[PT_INSN_MAX];
	struct pt_insn insn;

	for (n = 0; n < t->block->insns && at != to; n++) {
		if (!space_insn(t->space, at, false, &insn, bytes)) {
			return false;
		}
		if (insn.class == PT_CLASS_CALL && insn.disp != 0) {
			flow_call(&t->track->flow, at + insn.size);
		}
		at = insn.class == PT_CLASS_CALL || insn.class == PT_CLASS_JUMP
		             ? pt_insn_target(&insn, at, PT_MODE_64)
		             : at + insn.size;
	}
	run_insns(tr, t, n);
	return at == to;
}

/* It is where its code does not lead: an abort of a restartable sequence, for instance. */
static int lost(struct tracer *tr, struct task *t, uint64_t from)
{
	tr->counts.gaps++;
	t->outside = true;
	return flow_leave(&t->track->flow, from);
}

/* The block was left at its end. */
static void pass_block(struct tracer *tr, struct task *t)
{
	const struct block *block = t->block;
	size_t i;

	run_insns(tr, t, block->insns);
	for (i = 0; i < block->ncalls; i++) {
		flow_call(&t->track->flow, block->calls[i]);
	}
	if (block->reads_clock) {
		/* the program may know the time now */
		flow_anchor(&t->track->flow, host_now_ns(CLOCK_MONOTONIC));
	}
}

int tracer_enter(struct tracer *tr, struct task *t, uint64_t from)
{
	uint64_t at = t->regs.rip;

	if (!t->entering) {
		return 0;
	}
	t->entering = t->outside = false;
	t->regs.rip = from;
	TRY(gate(tr, t));
	t->regs.rip = at;
	return 0;
}

/* After a single step. */
static int stepped(struct tracer *tr, struct task *t)
{
	uint64_t to = t->regs.rip, from = t->from;
	const struct pt_insn *insn = &t->insn;

	if (t->lifted) {
		(void)space_break(t->space, from);
	}
	t->lifted = false;
	if (!t->known) {
		return to == from ? 0 : lost(tr, t, from);
	}
	if (insn->class == PT_CLASS_OTHER) {
		if (to == from) {
			return 0; /* a repeated string instruction is not complete */
		}
		run_insns(tr, t, 1);
		return to == from + insn->size ? 0 : lost(tr, t, from);
	}
	if (insn->class >= PT_CLASS_FAR_CALL) {
		return tracer_left(tr, t, true);
	}
	run_insns(tr, t, 1);
	return put_branch(t, insn, from);
}

/* A step that another stop overtook; its own stop comes later if the instruction was executed. */
static int interrupted_step(struct tracer *tr, struct task *t)
{
	bool done = t->stepping && t->swallow;

	t->stepping = false;
	if (!done) {
		return 0;
	}
	TRY(tracer_enter(tr, t, t->from));
	return stepped(tr, t);
}

/* Nothing was executed since it was resumed. */
static void not_executed(struct task *t)
{
	if (t->lifted) {
		(void)space_break(t->space, t->from);
	}
	t->block = NULL;
	t->lifted = t->stepping = t->entering = false;
}

int tracer_arrived(struct tracer *tr, struct task *t)
{
	const struct block *block = t->block;

	if (t->trap_first) {
		not_executed(t);
		return 0;
	}
	if (block == NULL) {
		return interrupted_step(tr, t);
	}
	if (t->swallow && space_broken(t->space, t->regs.rip - 1)) {
		t->regs.rip--;
		t->dirty = true;
	}
	if (t->regs.rip == block->start) {
		t->entering = false;
		t->block = NULL;
		return 0;
	}
	TRY(tracer_enter(tr, t, block->start));
	if (t->regs.rip == block->end) {
		pass_block(tr, t);
	} else if (!walk(tr, t, t->regs.rip)) {
		t->block = NULL;
		return lost(tr, t, block->start);
	}
	t->block = NULL;
	return 0;
}

/* Carries out the branch at the end of a block; 0: the processor has to do it. */
static int branch(struct tracer *tr, struct task *t, const struct block *block)
{
	const struct emulate_memory memory = {load64, store64, t->space};
	uint64_t from = t->regs.rip;

	if (!emulate_branch(&block->last, block->bytes, &t->regs, &memory)) {
		return 0;
	}
	t->dirty = true;
	run_insns(tr, t, 1);
	TRY(put_branch(t, &block->last, from));
	return 1;
}

/* ---- resuming ---- */

static bool is_syscall(const struct pt_insn *insn, const uint8_t *bytes)
{
	return insn->class == PT_CLASS_FAR_CALL && insn->size == 2 &&
	       (bytes[0] == 0x0f || (bytes[0] == 0xcd && bytes[1] == 0x80));
}

/* Lets the processor execute one instruction. */
static void step(struct tracer *tr, struct task *t)
{
	uint64_t at = t->regs.rip;
	uint8_t bytes[PT_INSN_MAX];

	t->block = NULL;
	t->stepping = true;
	t->trap_first = t->swallow;
	t->from = at;
	t->known = space_insn(t->space, at, true, &t->insn, bytes);
	t->lifted = space_broken(t->space, at) && space_unbreak(t->space, at);
	t->state = TASK_RUNNING;
	tr->counts.stops++;
	tr->counts.steps++;
	tracer_resume(
	        t, t->known && is_syscall(&t->insn, bytes) ? PTRACE_SYSCALL : PTRACE_SINGLESTEP);
}

/* Lets it run to the end of a block. */
static void run_block(struct tracer *tr, struct task *t, const struct block *block)
{
	bool stops = block->how == BLOCK_SYSCALL || space_break(t->space, block->end);

	if (!stops || space_broken(t->space, block->start)) {
		step(tr, t);
		return;
	}
	t->block = block;
	t->trap_first = t->swallow;
	t->state = TASK_RUNNING;
	tr->counts.stops++;
	tracer_resume(t, PTRACE_SYSCALL);
}

static void resume_at(struct tracer *tr, struct task *t, const struct block *block)
{
	if (tr->step_all || (block->how == BLOCK_STEP && block->end == block->start)) {
		step(tr, t);
	} else {
		run_block(tr, t, block);
	}
}

int tracer_trapped(struct tracer *tr, struct task *t, bool *own)
{
	uint64_t at = t->regs.rip - 1;

	*own = false;
	if (t->swallow) { /* a breakpoint that was seen before its signal */
		t->swallow = t->trap_first = false;
		not_executed(t);
		return 0;
	}
	if (t->block == NULL) {
		TRY(tracer_enter(tr, t, t->from));
	}
	t->stepping = false;
	if (t->outside && t->block == NULL) {
		return 0; /* at the first instruction of a signal handler */
	}
	if (t->block == NULL) {
		/* int3 of the program: its SIGTRAP comes instead of the step's */
		*own = t->known && t->insn.special == PT_SPECIAL_INT && t->insn.size == 1;
		return stepped(tr, t);
	}
	if (at != t->block->end &&
	        (t->regs.rip == t->block->start || !space_broken(t->space, at))) {
		*own = true;
		return tracer_arrived(tr, t);
	}
	t->regs.rip = at;
	t->dirty = true;
	return tracer_arrived(tr, t);
}

int tracer_switch(struct tracer *tr, struct task *t)
{
	struct task *old = tr->on_cpu;
	struct tape_task id;

	if (old == t) {
		return 0;
	}
	if (old != NULL) {
		TRY(tracer_left(tr, old, false));
		id = tracer_id(old);
		tape_switch(tr->tape, &id, true);
		tr->counts.switches++;
	}
	tr->on_cpu = t;
	tr->slice = t->track->flow.cycles + SLICE;
	id = tracer_id(t);
	flow_anchor(&t->track->flow, tr->tape->last_time);
	tape_switch(tr->tape, &id, false);
	t->halted = false;
	return 0;
}

int tracer_run_task(struct tracer *tr, struct task *t)
{
	const struct block *block;
	int rc = 1;

	if (t->restarts) {
		/* the kernel goes back to the system call, whose entry is reported */
		t->block = NULL;
		t->state = TASK_RUNNING;
		tracer_resume(t, PTRACE_SYSCALL);
		return 0;
	}
	t->space->wide = t->regs.cs == USER64_CS;
	if (t->outside) {
		flow_anchor(&t->track->flow, host_now_ns(CLOCK_MONOTONIC));
		block = space_block(t->space, t->regs.rip);
		if (block == NULL) {
			return error_nomem(tr->err);
		}
		t->entering =
		        tr->step_all || block->end != block->start || block->how != BLOCK_BRANCH;
		t->outside = t->entering;
		if (t->entering) {
			resume_at(tr, t, block);
			return 0;
		}
	}
	while (rc > 0) {
		TRY(gate(tr, t));
		if (t->track->flow.cycles > tr->slice && tr->n > 1) {
			return 0; /* others may run */
		}
		block = space_block(t->space, t->regs.rip);
		if (block == NULL) {
			return error_nomem(tr->err);
		}
		if (tr->step_all || block->how != BLOCK_BRANCH || block->end != t->regs.rip) {
			break;
		}
		rc = branch(tr, t, block);
	}
	TRY(rc);
	if (rc == 0) {
		step(tr, t);
	} else {
		resume_at(tr, t, block);
	}
	return 0;
}
