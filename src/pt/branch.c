/* SPDX-License-Identifier: MIT */
/*
 * Packets of branches and of the state of the processor. What a TNT or TIP decides is left to fast.c
 * and walk.c.
 *
 * A packet of an event comes before or after the packet that has its address:
 *
 *	FUP [PIP|VMCS|MODE].. TIP|TIP.PGD        an asynchronous branch, or tracing off there
 *	MODE.EXEC FUP, MODE.TSX FUP, PTW FUP ..  an event at the FUP's IP ("bound")
 *	CFE|PIP|VMCS|MODE.EXEC .. TIP|TIP.PGD    an event at the next branch ("attached")
 *	MWAIT PWRE EXSTOP FUP                    PWRE waits until MWAIT is placed ("deferred")
 *	PSB .. PSBEND                            the state, nothing happened
 *	OVF .. FUP | OVF .. TIP.PGE              lost packets while tracing is on | off
 */
#include "pt/branch.h"

#include "pt/edge.h"
#include "pt/event.h"
#include "pt/gap.h"
#include "pt/space.h"
#include "pt/step.h"
#include "pt/sync.h"
#include "pt/tick.h"
#include "pt/walk.h"

/* Applies a MODE.EXEC. */
static void apply_exec(struct sonde_pt_flow *f)
{
	static const uint8_t bits[] = {0, 16, 32, 64};
	enum pt_mode mode = pt_mode_of((unsigned)f->wait.exec);
	bool interrupts = (unsigned)f->wait.exec & SONDE_PT_EXEC_IF;
	struct sonde_pt_event event = {.kind = SONDE_PT_EVENT_EXEC_MODE,
	        .value = bits[mode],
	        .ip = f->now.ip,
	        .has_ip = true};
	bool stale = f->now.mode_stale;

	if (f->wait.exec < 0) {
		return;
	}
	f->wait.exec = -1;
	if (mode != f->code.mode || stale) {
		pt_emit_event(f, &event);
	}
	pt_space_set_mode(f, mode);
	f->now.mode_stale = false;
	if (interrupts != f->now.interrupts || stale) {
		event = (struct sonde_pt_event){.kind = SONDE_PT_EVENT_IFLAG,
		        .value = interrupts,
		        .ip = f->now.ip,
		        .has_ip = true};
		pt_emit_event(f, &event);
	}
	f->now.interrupts = interrupts;
}

static bool is_abort(const struct pt_waiting *w)
{
	return w->count != 0 && w->events[w->count - 1].kind == SONDE_PT_EVENT_TSX_ABORT;
}

/*
 * Emits the events bound to a FUP. PTWRITE has executed when its packet is written; others precede
 * it.
 */
static void emit_bound(struct sonde_pt_flow *f, uint64_t ip)
{
	struct pt_insn insn;

	for (unsigned i = 0; i < f->wait.bound.count; i++) {
		struct sonde_pt_event *event = &f->wait.bound.events[i];

		event->ip = ip;
		event->has_ip = true;
		if (event->kind == SONDE_PT_EVENT_PTWRITE && f->now.enabled && f->now.ip == ip) {
			if (!pt_walk(f, PT_GOAL_COUNT, 1, &insn)) {
				break;
			}
			f->wait.ahead++;
			f->wait.led_at = f->insns;
			pt_emit_told(f);
		}
		pt_emit_event(f, event);
		if (event->kind >= SONDE_PT_EVENT_TSX_BEGIN &&
		        event->kind <= SONDE_PT_EVENT_TSX_ABORT) {
			f->now.speculative = event->kind == SONDE_PT_EVENT_TSX_BEGIN;
		}
	}
	f->wait.bound.count = 0;
	pt_waiting_emit(f, &f->wait.deferred);
}

/* The offset of the packet that ends the asynchronous branch of the FUP before the cursor. */
static uint64_t async_end(const struct sonde_pt_flow *f)
{
	struct pt_cursor c = f->cursor;
	struct sonde_pt_packet p;

	do {
		if (pt_cursor_next(&c, &p) <= 0 || p.kind == SONDE_PT_FUP ||
		        p.kind == SONDE_PT_PSB) {
			return pt_flow_offset(f);
		}
	} while (p.kind != SONDE_PT_TIP && p.kind != SONDE_PT_TIP_PGD);
	return p.offset;
}

static void on_fup_enabled(struct sonde_pt_flow *f, const struct sonde_pt_packet *p, uint64_t ip)
{
	bool exec = f->wait.exec >= 0;

	if (f->wait.fup_is_branch) {
		f->wait.fup_is_branch = false;
		pt_end_block(f, ip);
		if (f->now.lost) {
			pt_gap_found(f, ip);
		}
		return;
	}
	f->error_at = f->wait.bound.count != 0 || exec ? p->offset : async_end(f);
	f->wait.async_at = ip;
	f->wait.in_async = (f->wait.bound.count == 0 && !exec) || is_abort(&f->wait.bound) ||
	                   pt_waiting_has(&f->wait.bound, SONDE_PT_EVENT_CFE);
	if (!pt_walk_to(f, ip)) {
		return;
	}
	apply_exec(f);
	emit_bound(f, ip);
}

void pt_on_fup(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	struct sonde_pt_event event = {.kind = SONDE_PT_EVENT_OVERFLOW, .has_ip = true};

	if (!sonde_pt_packet_ip(p, &f->last_ip)) {
		f->error_at = p->offset;
		pt_gap_error(f, SONDE_PT_ERROR_CONTEXT);
		return;
	}
	if (f->psb.open) {
		f->psb.has_ip = true;
		f->psb.ip = f->last_ip;
		return;
	}
	if (f->wait.fup_is_void) {
		f->wait.fup_is_void = false;
		return;
	}
	if (f->wait.overflowed ||
	        (f->wait.may_enable && !f->now.enabled && f->wait.bound.count == 0)) {
		event.ip = f->last_ip;
		event.extra = f->wait.lost_ip;
		event.data[0] = f->wait.lost_tsc;
		if (f->wait.overflowed) {
			pt_emit_event(f, &event);
		}
		f->wait.overflowed = false;
		f->wait.may_enable = false;
		f->now.enabled = true;
		pt_gap_found(f, f->last_ip);
		return;
	}
	if (f->now.enabled) {
		on_fup_enabled(f, p, f->last_ip);
	} else if (f->wait.bound.count != 0) {
		emit_bound(f, f->last_ip);
	} else {
		f->error_at = p->offset;
		pt_gap_error(f, SONDE_PT_ERROR_CONTEXT);
	}
}

static void emit_attached(struct sonde_pt_flow *f, bool vmcs, const uint64_t *ip)
{
	for (unsigned i = 0; i < f->wait.attached.count; i++) {
		struct sonde_pt_event event = f->wait.attached.events[i];

		if ((event.kind == SONDE_PT_EVENT_VMCS) == vmcs) {
			event.has_ip = ip != NULL;
			event.ip = ip != NULL ? *ip : 0;
			pt_emit_event(f, &event);
		}
	}
}

/*
 * The events of an asynchronous branch, VMCS before PIP, as when an interrupt leaves a guest. They
 * are effective where it leads to; NULL: not known.
 */
static void emit_attached_async(struct sonde_pt_flow *f, const uint64_t *ip)
{
	emit_attached(f, true, ip);
	emit_attached(f, false, ip);
	f->wait.attached.count = 0;
}

static void end_async(struct sonde_pt_flow *f, uint64_t to)
{
	const struct sonde_pt_event event = {
	        .kind = SONDE_PT_EVENT_ASYNC, .ip = f->wait.async_at, .value = to, .has_ip = true};

	f->wait.in_async = false;
	pt_emit_event(f, &event);
	emit_attached_async(f, &to);
	pt_gap_found(f, to);
	apply_exec(f);
}

/* Takes a branch that a TIP decides; a flow that is lost does not consume the packet. */
static void take_tip(struct sonde_pt_flow *f, const struct sonde_pt_packet *p, uint64_t to)
{
	struct pt_insn insn;
	bool good;

	f->error_at = p->offset;
	good = pt_walk(f, PT_GOAL_DECISION, 0, &insn);
	if (good && insn.class == PT_CLASS_COND) {
		pt_gap_error(f, SONDE_PT_ERROR_QUERY);
		good = false;
	}
	if (!good && !f->psb.synced) {
		return;
	}
	if (good) {
		pt_walk_go(f, &insn, to, true);
		pt_walk_tick(f);
	}
	pt_waiting_emit(f, &f->wait.attached);
	pt_gap_found(f, to);
	apply_exec(f);
}

void pt_on_tip(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	if (!sonde_pt_packet_ip(p, &f->last_ip) || f->psb.open ||
	        (!f->now.enabled && !f->wait.may_enable && !f->wait.overflowed)) {
		f->error_at = p->offset;
		pt_gap_error(f, SONDE_PT_ERROR_CONTEXT);
		return;
	}
	if (f->wait.in_async) {
		end_async(f, f->last_ip);
		return;
	}
	if (f->now.enabled && !f->now.lost) {
		take_tip(f, p, f->last_ip);
		return;
	}
	f->now.enabled = true;
	f->wait.may_enable = false;
	pt_gap_found(f, f->last_ip);
	pt_waiting_emit(f, &f->wait.attached);
	apply_exec(f);
}

void pt_on_pge(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	struct sonde_pt_event event = {.kind = SONDE_PT_EVENT_DISABLED};

	if (!sonde_pt_packet_ip(p, &f->last_ip) || f->psb.open) {
		f->error_at = p->offset;
		pt_gap_error(f, SONDE_PT_ERROR_CONTEXT);
		return;
	}
	pt_waiting_emit(f, &f->wait.attached);
	/*
	 * Where tracing begins, a PSB+ may come first whose IP looks as if tracing were on (BDM70).
	 * A part cannot know whether its PSB+ is such a one.
	 */
	f->part.diverged = f->part.diverged || (f->part.later && f->now.enabled && f->now.by_psb);
	if (f->now.enabled && !f->now.by_psb) {
		pt_emit_event(f, &event);
	}
	event = (struct sonde_pt_event){.kind = SONDE_PT_EVENT_ENABLED,
	        .ip = f->last_ip,
	        .has_ip = true,
	        .value = f->now.has_disabled_at && f->now.disabled_at == f->last_ip};
	pt_emit_event(f, &event);
	pt_ticks_begin(&f->wanted.ticks, f->insns);
	f->now.enabled = true;
	f->wait.overflowed = false;
	f->wait.may_enable = false;
	f->wait.in_async = false;
	f->now.has_disabled_at = false;
	pt_gap_found(f, f->last_ip);
	apply_exec(f);
}

static void disable(struct sonde_pt_flow *f, bool has_ip, uint64_t ip, uint64_t to)
{
	const struct sonde_pt_event event = {.kind = SONDE_PT_EVENT_DISABLED,
	        .has_ip = has_ip,
	        .ip = ip,
	        .value = f->wait.in_async || f->now.lost,
	        .extra = f->wait.in_async ? to : 0};

	if (f->wait.in_async) {
		pt_emit_event(f, &event);
		emit_attached_async(f, NULL);
	} else {
		pt_waiting_emit(f, &f->wait.attached);
		pt_emit_event(f, &event);
	}
	f->now.enabled = false;
	f->now.lost = false;
	f->wait.in_async = false;
	f->wait.exec = -1;
	f->now.has_disabled_at = has_ip;
	f->now.disabled_at = ip;
}

/*
 * SKD022: the FUP before a TIP.PGD may name the VM entry that ended tracing. That instruction was
 * executed, so the FUP is no asynchronous event.
 */
static bool is_vm_entry(const struct sonde_pt_flow *f)
{
	struct pt_insn insn;

	return (f->errata & PT_ERRATUM_SKD022) != 0 && !f->now.lost &&
	       f->now.ip == f->wait.async_at &&
	       pt_image_insn(f->graph->image, pt_flow_context(f), f->now.ip, &insn) == 0 &&
	       insn.special == PT_SPECIAL_VM && insn.class == PT_CLASS_FAR_RET;
}

void pt_on_pgd(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	bool has_ip = sonde_pt_packet_ip(p, &f->last_ip);
	uint64_t to = f->last_ip;
	uint64_t goes_on;
	struct pt_insn insn;

	f->error_at = pt_flow_offset(f);
	if (!f->now.enabled && f->wait.may_enable && !f->psb.open) {
		return; /* SKD010, APL11: tracing was off already */
	}
	if (!f->now.enabled || f->psb.open) {
		f->error_at = p->offset;
		pt_gap_error(f, SONDE_PT_ERROR_CONTEXT);
		return;
	}
	f->wait.in_async = f->wait.in_async && !is_vm_entry(f);
	if (f->wait.in_async || f->now.lost) {
		disable(f, f->wait.in_async, f->wait.in_async ? f->wait.async_at : 0,
		        has_ip ? to : 0);
		return;
	}
	if (!pt_walk(f, has_ip ? PT_GOAL_TARGET : PT_GOAL_LEAVE, to, &insn)) {
		if (f->psb.synced) {
			disable(f, false, 0, 0);
		}
		return;
	}
	if (insn.class == PT_CLASS_OTHER) { /* a MOV CR3 */
		pt_emit_told(f);
		disable(f, false, 0, 0);
		f->now.has_disabled_at = true;
		f->now.disabled_at = f->now.ip;
		return;
	}
	pt_emit_branch(f, has_ip ? to : 0, true);
	if (f->passed.on) {
		pt_pass_branch(f, (enum pt_class)insn.class);
	}
	goes_on = has_ip ? to : 0;
	if (insn.class <= PT_CLASS_CALL) {
		goes_on = pt_insn_target(&insn, f->now.ip, f->code.mode);
	} else if (insn.class == PT_CLASS_FAR_CALL || insn.class == PT_CLASS_CALL_IND) {
		goes_on = f->now.ip + insn.size;
	}
	disable(f, has_ip, to, 0);
	f->now.has_disabled_at = goes_on != 0;
	f->now.disabled_at = goes_on;
	if (f->tally.counting) {
		f->tally.counts->branches++;
		f->tally.counts->taken++;
	}
}

void pt_on_tnt(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	if (!f->now.enabled || f->psb.open || f->wait.in_async) {
		f->error_at = p->offset;
		pt_gap_error(f, SONDE_PT_ERROR_CONTEXT);
		return;
	}
	if (f->now.lost) {
		return;
	}
	pt_waiting_emit(f, &f->wait.attached);
	f->tnt.gather = f->cursor.begin + p->offset;
	f->tnt.gathered = p->count;
	f->tnt.nbits = p->count;
	f->tnt.bits = p->value << (64 - p->count);
}

void pt_on_mode_exec(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	if (f->psb.open) {
		pt_sync_exec(f, p);
	} else {
		f->wait.exec = (int)p->value;
	}
}

void pt_on_mode_tsx(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	struct sonde_pt_event event = {.kind = SONDE_PT_EVENT_TSX_COMMIT};

	if (f->psb.open) {
		f->now.speculative = p->value & SONDE_PT_TSX_IN;
		return;
	}
	if (p->value & SONDE_PT_TSX_ABORT) {
		event.kind = SONDE_PT_EVENT_TSX_ABORT;
	} else if (p->value & SONDE_PT_TSX_IN) {
		event.kind = SONDE_PT_EVENT_TSX_BEGIN;
	}
	if (f->now.enabled) {
		pt_waiting_add(f, &f->wait.bound, &event);
		return;
	}
	pt_emit_event(f, &event);
	f->now.speculative = event.kind == SONDE_PT_EVENT_TSX_BEGIN;
}

/*
 * Binds an event to the MOV CR3 or VMPTRLD that the code leads to, else to the next far branch. An
 * event before it that waits for that branch must come first.
 */
static void bind_to_insn(
        struct sonde_pt_flow *f, const struct sonde_pt_event *event, enum pt_special special)
{
	struct pt_insn insn;

	if (f->psb.open) {
		pt_space_event(f, event);
		return;
	}
	if (!f->now.enabled || f->now.lost) {
		if (f->wait.in_async) {
			pt_waiting_add(f, &f->wait.attached, event);
		} else {
			pt_emit_event(f, event);
		}
		return;
	}
	if (f->wait.in_async || f->wait.attached.count != 0 ||
	        pt_lead_of(f, special) == PT_LEAD_BRANCH) {
		pt_waiting_add(f, &f->wait.attached, event);
		return;
	}
	f->error_at = pt_flow_offset(f);
	if (pt_walk(f, PT_GOAL_SPECIAL, special, &insn) || f->psb.synced) {
		pt_emit_event(f, event);
	}
}

void pt_on_pip(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	const struct sonde_pt_event event = {.kind = SONDE_PT_EVENT_PAGING,
	        .value = p->value,
	        .extra = p->flags & SONDE_PT_F_NR ? 1 : 0};

	bind_to_insn(f, &event, PT_SPECIAL_MOV_CR3);
}

void pt_on_vmcs(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	const struct sonde_pt_event event = {.kind = SONDE_PT_EVENT_VMCS, .value = p->value};

	bind_to_insn(f, &event, PT_SPECIAL_VM);
}
