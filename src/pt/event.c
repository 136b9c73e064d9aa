/* SPDX-License-Identifier: MIT */
/*
 * Packets of events that are not branches: PTWRITE, power, event trace, triggers. Some events have
 * an address at once; others wait for a FUP ("bound", or "deferred" until the bound ones are
 * placed) or for the next branch ("attached"). branch.c gives them their address.
 */
#include "pt/event.h"

#include "pt/clock.h"
#include "pt/gap.h"
#include "pt/step.h"
#include "pt/walk.h"

enum {
	CFE_INTR = 1,
	CFE_IRET = 2,
	CFE_RSM = 4,
	CFE_VMENTRY = 7,
	CFE_VMEXIT = 8,
	CFE_VMEXIT_INTR = 9,
	CFE_UIRET = 13,
	CFE_SYSCALL = 15
};

void pt_waiting_add(
        struct sonde_pt_flow *f, struct pt_waiting *w, const struct sonde_pt_event *event)
{
	if (w->count == PT_WAITING_MAX) {
		pt_emit_event(f, event);
		return;
	}
	w->events[w->count++] = *event;
}

void pt_waiting_emit(struct sonde_pt_flow *f, struct pt_waiting *w)
{
	for (unsigned i = 0; i < w->count; i++) {
		pt_emit_event(f, &w->events[i]);
	}
	w->count = 0;
}

bool pt_waiting_has(const struct pt_waiting *w, unsigned kind)
{
	for (unsigned i = 0; i < w->count; i++) {
		if (w->events[i].kind == kind) {
			return true;
		}
	}
	return false;
}

/* An EXSTOP ends what a MWAIT began: only it waits for the FUP, and what was deferred comes first. */
void pt_waiting_give_up(struct sonde_pt_flow *f)
{
	if (pt_waiting_has(&f->wait.bound, SONDE_PT_EVENT_EXSTOP)) {
		pt_waiting_emit(f, &f->wait.deferred);
	}
	pt_waiting_emit(f, &f->wait.bound);
	pt_waiting_emit(f, &f->wait.deferred);
	pt_waiting_emit(f, &f->wait.attached);
	f->wait.fup_is_branch = false;
}

/* Without a FUP the instruction is the next PTWRITE. */
void pt_on_ptw(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	struct sonde_pt_event event = {.kind = SONDE_PT_EVENT_PTWRITE,
	        .value = p->value,
	        .count = p->flags & SONDE_PT_F_IP ? 1 : 0};
	struct pt_insn insn;

	if (p->flags & SONDE_PT_F_IP) {
		pt_waiting_add(f, &f->wait.bound, &event);
		return;
	}
	if (f->now.enabled && !f->now.lost) {
		bool found;

		f->error_at = pt_flow_offset(f);
		found = pt_walk(f, PT_GOAL_SPECIAL, PT_SPECIAL_PTWRITE, &insn);
		f->wait.ahead += f->walked;
		f->wait.led_at = f->insns;
		if (found && insn.special == PT_SPECIAL_PTWRITE) {
			event.ip = f->now.ip - insn.size;
			event.has_ip = true;
		} else if (found) {
			pt_gap_error(f, SONDE_PT_ERROR_QUERY);
		}
		if (!f->psb.synced) {
			return;
		}
		pt_emit_told(f);
	}
	pt_emit_event(f, &event);
}

void pt_on_exstop(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	const struct sonde_pt_event event = {.kind = SONDE_PT_EVENT_EXSTOP};

	if (p->flags & SONDE_PT_F_IP) {
		pt_waiting_add(f, &f->wait.bound, &event);
		return;
	}
	if (pt_waiting_has(&f->wait.bound, SONDE_PT_EVENT_MWAIT)) {
		pt_waiting_emit(f, &f->wait.bound);
		pt_waiting_emit(f, &f->wait.deferred);
	}
	pt_emit_event(f, &event);
}

void pt_on_mwait(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	const struct sonde_pt_event event = {
	        .kind = SONDE_PT_EVENT_MWAIT, .value = p->value, .extra = p->extra};

	pt_waiting_add(f, &f->wait.bound, &event);
}

/* A change of power that follows a MWAIT comes after it. */
static void emit_power(struct sonde_pt_flow *f, const struct sonde_pt_event *event)
{
	if (pt_waiting_has(&f->wait.bound, SONDE_PT_EVENT_MWAIT)) {
		pt_waiting_add(f, &f->wait.deferred, event);
	} else {
		pt_emit_event(f, event);
	}
}

void pt_on_pwre(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	const struct sonde_pt_event event = {.kind = SONDE_PT_EVENT_PWRE,
	        .value = p->value,
	        .extra = p->extra,
	        .count = p->flags & SONDE_PT_F_HW ? 1 : 0};

	emit_power(f, &event);
}

void pt_on_pwrx(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	const struct sonde_pt_event event = {.kind = SONDE_PT_EVENT_PWRX,
	        .value = p->value,
	        .extra = p->extra,
	        .count = p->count};

	emit_power(f, &event);
}

void pt_on_mnt(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	const struct sonde_pt_event event = {.kind = SONDE_PT_EVENT_MNT, .value = p->value};

	if (!f->part.ending) {
		pt_emit_event(f, &event);
	}
}

void pt_on_cbr(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	const struct sonde_pt_event event = {.kind = SONDE_PT_EVENT_CBR, .value = p->value};

	pt_clock_packet(f, p);
	if (!f->psb.open) {
		pt_emit_event(f, &event);
	}
}

/* An EVD with CR2 belongs to an interrupt, the other two to a VM exit. */
void pt_on_evd(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	uint64_t bit = 1ULL << p->count;

	if (p->count > 2 || (f->wait.evd.extra & bit) != 0 ||
	        (f->wait.evd.extra != 0 && (p->count == 0 || (f->wait.evd.extra & 1) != 0))) {
		f->error_at = p->offset;
		pt_gap_error(f, SONDE_PT_ERROR_CONTEXT);
		return;
	}
	f->wait.evd.extra |= bit;
	f->wait.evd.data[p->count] = p->value;
}

static bool fits_evd(uint64_t evd, unsigned type)
{
	if (evd == 0) {
		return true;
	}
	return evd == 1 ? type == CFE_INTR : type == CFE_VMEXIT || type == CFE_VMEXIT_INTR;
}

void pt_on_cfe(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	struct sonde_pt_event event = f->wait.evd;
	bool of_branch = p->count == CFE_IRET || p->count == CFE_RSM || p->count == CFE_VMENTRY ||
	                 p->count == CFE_UIRET || p->count == CFE_SYSCALL;

	if (!fits_evd(f->wait.evd.extra, p->count)) {
		f->error_at = p->offset;
		pt_gap_error(f, SONDE_PT_ERROR_CONTEXT);
		return;
	}
	f->wait.evd = (struct sonde_pt_event){.kind = SONDE_PT_EVENT_CFE};
	event.count = p->count;
	event.value = p->value;
	if (f->now.enabled && of_branch) {
		pt_waiting_add(f, &f->wait.attached, &event);
		f->wait.fup_is_branch = p->flags & SONDE_PT_F_IP;
	} else if (f->now.enabled || p->flags & SONDE_PT_F_IP) {
		pt_waiting_add(f, &f->wait.bound, &event);
	} else {
		pt_emit_event(f, &event);
	}
}

/* The count of instructions begins at the last branch, FUP or TRIG. */
void pt_on_trig(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	struct sonde_pt_event event = {.kind = SONDE_PT_EVENT_TRIG,
	        .value = p->value,
	        .count = p->flags & SONDE_PT_F_MULT ? 1 : 0};
	uint64_t insns = p->extra > f->wait.ahead ? p->extra - f->wait.ahead : 0;
	struct pt_insn insn;

	if (p->flags & SONDE_PT_F_IP) {
		pt_waiting_add(f, &f->wait.bound, &event);
		return;
	}
	if (f->now.enabled && !f->now.lost && p->flags & SONDE_PT_F_ICNT) {
		f->error_at = pt_flow_offset(f);
		f->wait.ahead = 0;
		event.has_ip = pt_walk(f, PT_GOAL_COUNT, insns, &insn);
		event.ip = event.has_ip ? f->now.ip : 0;
		if (!event.has_ip && !f->psb.synced) {
			return;
		}
	}
	pt_emit_event(f, &event);
}

void pt_on_stop(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	const struct sonde_pt_event event = {.kind = SONDE_PT_EVENT_STOP};

	(void)p;
	pt_emit_event(f, &event);
}

void pt_on_bbp(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	const struct sonde_pt_event event = {
	        .kind = SONDE_PT_EVENT_PEBS_BLOCK, .count = p->count, .value = p->value};

	f->wait.block = p->count;
	pt_emit_event(f, &event);
}

void pt_on_bip(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	const struct sonde_pt_event event = {.kind = SONDE_PT_EVENT_PEBS_ITEM,
	        .count = p->count,
	        .value = p->value,
	        .extra = f->wait.block};

	pt_emit_event(f, &event);
}

/*
 * The FUP after a BEP names the instruction that the block belongs to. It does not say how far code
 * was executed: the next branch may come before that instruction.
 */
void pt_on_bep(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	const struct sonde_pt_event event = {.kind = SONDE_PT_EVENT_PEBS_END};

	if ((p->flags & SONDE_PT_F_IP) == 0) {
		pt_emit_event(f, &event);
	} else if (f->now.enabled) {
		f->wait.fup_is_branch = true;
		f->wait.block_ends = true;
	} else {
		pt_waiting_add(f, &f->wait.bound, &event);
	}
}

void pt_end_block(struct sonde_pt_flow *f, uint64_t ip)
{
	const struct sonde_pt_event event = {
	        .kind = SONDE_PT_EVENT_PEBS_END, .ip = ip, .has_ip = true};

	if (f->wait.block_ends) {
		f->wait.block_ends = false;
		pt_emit_event(f, &event);
	}
}
