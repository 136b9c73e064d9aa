/* SPDX-License-Identifier: MIT */
/*
 * Following code instruction by instruction: to the address of an event, and over branches that the
 * graph cannot handle. Exact and slow; fast.c handles the common case.
 */
#include "pt/walk.h"

#include "pt/clock.h"
#include "pt/edge.h"
#include "pt/gap.h"
#include "pt/more.h"
#include "pt/stack.h"
#include "pt/step.h"
#include "pt/unit.h"

#define SPECIAL_MAX (1u << 14) /* instructions to search for one that a packet may be bound to */

static bool in_filters(const struct sonde_pt_flow *f, uint64_t ip)
{
	for (unsigned i = 0; i < f->options.filters; i++) {
		if (ip >= f->options.filter[i].first && ip <= f->options.filter[i].last) {
			return true;
		}
	}
	return f->options.filters == 0;
}

static void push(struct sonde_pt_flow *f, uint64_t ip)
{
	pt_at node = pt_unit_node(f, ip);

	if (node != PT_NODE_NONE) {
		pt_stack_push(f, node);
	}
}

void pt_walk_go(struct sonde_pt_flow *f, const struct pt_insn *insn, uint64_t to, bool taken)
{
	if (f->tally.counting) {
		f->tally.counts->branches++;
		f->tally.counts->taken += taken;
		pt_counts_plain(f, f->now.ip, to);
	} else if (insn->class != PT_CLASS_JUMP && insn->class != PT_CLASS_CALL) {
		pt_emit_branch(f, to, taken);
	}
	if (f->passed.on && taken) {
		pt_pass_branch(f, (enum pt_class)insn->class);
	}
	if ((insn->class == PT_CLASS_CALL && insn->disp != 0) || insn->class == PT_CLASS_CALL_IND) {
		push(f, f->now.ip + insn->size);
	} else if (insn->class == PT_CLASS_RET) {
		pt_stack_pop(f);
	}
	f->now.ip = to;
}

static bool is_far(const struct pt_insn *insn)
{
	return insn->class >= PT_CLASS_FAR_CALL;
}

enum verdict { GO_ON, ARRIVED, MISFIT };

static bool is_direct(const struct pt_insn *insn)
{
	return insn->class == PT_CLASS_JUMP || insn->class == PT_CLASS_CALL;
}

/*
 * Whether a branch is the one of a TIP.PGD: it leads to `arg` or, without an IP, out of the
 * filters.
 */
static enum verdict judge_leaving(
        const struct sonde_pt_flow *f, enum pt_goal goal, uint64_t arg, const struct pt_insn *insn)
{
	bool has_target = insn->class >= PT_CLASS_COND && insn->class <= PT_CLASS_CALL;
	uint64_t target;

	if (f->wait.attached.count != 0 && !is_far(insn)) { /* events of a far branch wait for it */
		return is_direct(insn) ? GO_ON : MISFIT;
	}
	if (!has_target) {
		return ARRIVED;
	}
	target = pt_insn_target(insn, f->now.ip, f->code.mode);
	if (goal == PT_GOAL_LEAVE) {
		if (f->options.filters != 0 && !in_filters(f, target)) {
			return ARRIVED;
		}
	} else if (target == arg ||
	           (insn->class == PT_CLASS_COND && f->now.ip + insn->size == arg)) {
		return ARRIVED;
	}
	return is_direct(insn) ? GO_ON : MISFIT;
}

/* Whether a branch is the goal of the walk. */
static enum verdict judge(
        const struct sonde_pt_flow *f, enum pt_goal goal, uint64_t arg, const struct pt_insn *insn)
{
	switch (goal) {
	case PT_GOAL_DECISION: return is_direct(insn) ? GO_ON : ARRIVED;
	case PT_GOAL_TARGET:
	case PT_GOAL_LEAVE: return judge_leaving(f, goal, arg, insn);
	case PT_GOAL_SPECIAL:
		if (is_far(insn)) {
			return ARRIVED;
		}
		break;
	case PT_GOAL_IP:
	case PT_GOAL_COUNT: break;
	}
	return is_direct(insn) ? GO_ON : MISFIT;
}

static bool stop(struct sonde_pt_flow *f, uint64_t ip, uint32_t insns, int error)
{
	f->walked = insns;
	pt_emit_run(f, ip, insns);
	if (error != SONDE_PT_ERROR_NONE) {
		pt_gap_error(f, error);
	}
	return error == SONDE_PT_ERROR_NONE;
}

/*
 * Whether a direct branch was passed before: code that comes back without a decision loops for
 * ever. Keeps one address, and replaces it each time the number of branches has doubled.
 */
static bool is_circle(uint64_t ip, uint32_t *direct, uint64_t *seen)
{
	if (*direct != 0 && ip == *seen) {
		return true;
	}
	++*direct;
	if ((*direct & (*direct - 1)) == 0) {
		*seen = ip;
	}
	return false;
}

/* Whether an instruction that is no branch is the goal; events of a far branch wait for that. */
static bool is_special(
        const struct sonde_pt_flow *f, enum pt_goal goal, uint64_t arg, const struct pt_insn *insn)
{
	if (goal == PT_GOAL_LEAVE) {
		return insn->special == PT_SPECIAL_MOV_CR3 && f->wait.attached.count == 0;
	}
	return goal == PT_GOAL_SPECIAL && insn->special == arg;
}

bool pt_walk(struct sonde_pt_flow *f, enum pt_goal goal, uint64_t arg, struct pt_insn *insn)
{
	uint64_t from = f->now.ip;
	uint32_t insns = 0;
	uint32_t direct = 0;
	uint64_t seen = 0;

	f->now.fresh = false;
	f->now.by_psb = false;
	for (;;) {
		enum verdict verdict;
		int error;

		if ((goal == PT_GOAL_IP && f->now.ip == arg) ||
		        (goal == PT_GOAL_COUNT && insns == arg)) {
			return stop(f, from, insns, SONDE_PT_ERROR_NONE);
		}
		error = pt_image_insn(f->graph->image, pt_flow_context(f), f->now.ip, insn);
		if (error != SONDE_PT_ERROR_NONE) {
			return stop(f, from, insns, error);
		}
		insns++;
		if (insn->class == PT_CLASS_OTHER) {
			f->now.ip += insn->size;
			if (is_special(f, goal, arg, insn)) {
				return stop(f, from, insns, SONDE_PT_ERROR_NONE);
			}
			continue;
		}
		verdict = judge(f, goal, arg, insn);
		if (verdict == GO_ON && goal != PT_GOAL_COUNT &&
		        is_circle(f->now.ip, &direct, &seen)) {
			return stop(f, from, insns, SONDE_PT_ERROR_LOOP);
		}
		if (verdict != GO_ON) {
			return stop(f, from, insns,
			        verdict == MISFIT ? SONDE_PT_ERROR_QUERY : SONDE_PT_ERROR_NONE);
		}
		pt_walk_go(f, insn, pt_insn_target(insn, f->now.ip, f->code.mode), true);
	}
}

bool pt_walk_to(struct sonde_pt_flow *f, uint64_t ip)
{
	struct pt_insn insn;

	if (!f->now.lost && pt_walk(f, PT_GOAL_IP, ip, &insn)) {
		return true;
	}
	if (!f->psb.synced) {
		return false;
	}
	pt_gap_found(f, ip);
	return true;
}

/* Whether code leads from one address to another without a decision. */
static bool leads_to(const struct sonde_pt_flow *f, uint64_t ip, uint64_t to)
{
	for (unsigned i = 0; i < 4096 && ip != to; i++) {
		struct pt_insn insn;

		if (pt_image_insn(f->graph->image, pt_flow_context(f), ip, &insn) != 0) {
			return false;
		}
		if (insn.class == PT_CLASS_JUMP || insn.class == PT_CLASS_CALL) {
			ip = pt_insn_target(&insn, ip, f->code.mode);
		} else if (insn.class == PT_CLASS_OTHER) {
			ip += insn.size;
		} else {
			return false;
		}
	}
	return ip == to;
}

enum pt_lead pt_lead_of(const struct sonde_pt_flow *f, enum pt_special special)
{
	uint64_t ip = f->now.ip;

	for (unsigned i = 0; i < SPECIAL_MAX; i++) {
		struct pt_insn insn;

		if (pt_image_insn(f->graph->image, pt_flow_context(f), ip, &insn) != 0) {
			return PT_LEAD_NOWHERE;
		}
		if (insn.class == PT_CLASS_JUMP || insn.class == PT_CLASS_CALL) {
			ip = pt_insn_target(&insn, ip, f->code.mode);
			continue;
		}
		if (insn.class != PT_CLASS_OTHER) {
			return PT_LEAD_BRANCH;
		}
		if (insn.special == special) {
			return PT_LEAD_SPECIAL;
		}
		ip += insn.size;
	}
	return PT_LEAD_BRANCH;
}

/*
 * BDM64: the bit of the last conditional branch before a transaction aborts may be wrong. If that
 * direction does not lead to the address of the abort and the other one does, the other was taken.
 */
static bool corrected(const struct sonde_pt_flow *f, const struct pt_insn *insn, bool taken)
{
	uint64_t target = pt_insn_target(insn, f->now.ip, f->code.mode);
	uint64_t behind = f->now.ip + insn->size;
	struct pt_cursor ahead = f->cursor;
	uint64_t last = f->last_ip;
	struct sonde_pt_packet mode, fup;

	if ((f->errata & PT_ERRATUM_BDM64) == 0 || !f->now.speculative || f->tnt.nbits != 0) {
		return taken;
	}
	if (pt_cursor_next(&ahead, &mode) <= 0 || mode.kind != SONDE_PT_MODE_TSX ||
	        mode.value != SONDE_PT_TSX_ABORT || pt_cursor_next(&ahead, &fup) <= 0 ||
	        fup.kind != SONDE_PT_FUP || !sonde_pt_packet_ip(&fup, &last)) {
		return taken;
	}
	if (leads_to(f, taken ? target : behind, last) ||
	        !leads_to(f, taken ? behind : target, last)) {
		return taken;
	}
	return !taken;
}

void pt_walk_tick(struct sonde_pt_flow *f)
{
	const struct sonde_pt_event event = {.kind = SONDE_PT_EVENT_TICK};

	if (f->options.ticks && f->clock.time.tsc != f->clock.shown_tsc) {
		pt_emit_event(f, &event);
	}
}

static bool take_bit(struct sonde_pt_flow *f)
{
	bool bit = f->tnt.bits >> 63;

	f->tnt.bits <<= 1;
	f->tnt.nbits--;
	return bit;
}

static void take_cond(struct sonde_pt_flow *f, const struct pt_insn *insn)
{
	bool taken;

	if (f->tnt.nbits == 0) {
		pt_gap_error(f, SONDE_PT_ERROR_QUERY);
		return;
	}
	taken = corrected(f, insn, take_bit(f));
	pt_walk_go(f, insn,
	        taken ? pt_insn_target(insn, f->now.ip, f->code.mode) : f->now.ip + insn->size,
	        taken);
	pt_walk_tick(f);
}

static void take_compressed_ret(struct sonde_pt_flow *f, const struct pt_insn *insn)
{
	pt_at node;

	if (!take_bit(f)) {
		pt_gap_error(f, SONDE_PT_ERROR_QUERY);
		return;
	}
	node = pt_stack_top(f);
	if (node == PT_NODE_NONE) {
		pt_gap_error(f, SONDE_PT_ERROR_RETURN);
		return;
	}
	pt_walk_go(f, insn, pt_at_ip(f, node), true);
	pt_walk_tick(f);
}

void pt_walk_branch(struct sonde_pt_flow *f)
{
	struct pt_insn insn;
	uint64_t to;

	if (f->tnt.nbits != 0) {
		f->error_at = pt_bits_offset(f, &f->gap.packet_at);
	} else {
		f->error_at = (uint64_t)(f->cursor.p - f->cursor.begin);
	}
	if (!pt_walk(f, PT_GOAL_DECISION, 0, &insn)) {
		return;
	}
	if (insn.class == PT_CLASS_COND) {
		take_cond(f, &insn);
		return;
	}
	if (insn.class == PT_CLASS_RET && f->tnt.nbits != 0) {
		take_compressed_ret(f, &insn);
		return;
	}
	if (!pt_deferred(f) || !pt_clock_tip(f, &to)) {
		pt_gap_error(f, SONDE_PT_ERROR_QUERY);
		return;
	}
	pt_walk_go(f, &insn, to, true);
	pt_walk_tick(f);
}
