/* SPDX-License-Identifier: MIT */
/*
 * Where a flow starts again: at a PSB, whose packets up to PSBEND ("PSB+") contain state and no
 * events; after lost packets (OVF); and at the beginning of a part.
 */
#include "pt/sync.h"

#include "pt/clock.h"
#include "pt/event.h"
#include "pt/gap.h"
#include "pt/space.h"
#include "pt/step.h"
#include "pt/tick.h"
#include "pt/walk.h"

/* Resets everything but the position in the trace. */
static void reset(struct sonde_pt_flow *f)
{
	f->calls.sp = 1;
	f->tnt.nbits = 0;
	f->tnt.bits = 0;
	f->wait.bound.count = 0;
	f->wait.deferred.count = 0;
	f->wait.attached.count = 0;
	f->wait.evd = (struct sonde_pt_event){.kind = SONDE_PT_EVENT_CFE};
	f->now.enabled = false;
	f->now.lost = false;
	f->now.speculative = false;
	f->wait.in_async = false;
	f->psb.open = false;
	f->wait.overflowed = false;
	f->wait.may_enable = false;
	f->wait.fup_is_branch = false;
	f->wait.block_ends = false;
	f->wait.fup_is_void = false;
	f->now.has_disabled_at = false;
	f->now.mode_stale = false;
	f->wait.exec = -1;
	f->wait.ahead = 0;
}

/* Whether something is pending that a PSB+ does not contain. */
static bool is_open(const struct sonde_pt_flow *f)
{
	return f->wait.evd.extra != 0 || f->wait.exec >= 0 || f->wait.in_async ||
	       f->wait.fup_is_branch || f->wait.overflowed || f->wait.attached.count != 0 ||
	       f->psb.open;
}

void pt_sync_psb(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	if (p->offset >= f->part.stop_at && !f->psb.syncing) {
		f->part.ending = true;
		f->part.ended_at = p->offset;
		f->part.diverged = f->part.diverged || is_open(f);
	}
	f->psb.has_mode = false;
	pt_clock_packet(f, p);
	f->psb.open = true;
	f->psb.has_ip = false;
	f->last_ip = 0;
	f->psb.last = p->offset;
}

/* Whether a TIP.PGE is next: a part that begins here would take it for the end of a pause. */
static bool enables_next(const struct sonde_pt_flow *f)
{
	struct pt_cursor c = f->cursor;
	struct sonde_pt_packet p;

	while (pt_cursor_next(&c, &p) > 0) {
		if (p.kind == SONDE_PT_TIP_PGE) {
			return true;
		}
		if (p.kind == SONDE_PT_PSB || p.kind == SONDE_PT_OVF ||
		        (p.kind >= SONDE_PT_TNT8 && p.kind <= SONDE_PT_FUP)) {
			return false;
		}
	}
	return false;
}

static void emit_psb(struct sonde_pt_flow *f)
{
	const struct sonde_pt_event event = {.kind = SONDE_PT_EVENT_PSB,
	        .value = f->psb.last,
	        .extra = f->clock.time.cbr,
	        .ip = f->psb.has_ip ? f->psb.ip : 0,
	        .has_ip = f->psb.has_ip};

	if (f->options.psbs) {
		pt_emit_event(f, &event);
	}
}

/* Calls before a PSB are never the target of a compressed return after it. */
void pt_sync_psbend(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	bool enabled = f->now.enabled || f->wait.overflowed;

	if (!f->psb.open) {
		return;
	}
	pt_clock_packet(f, p);
	f->psb.open = false;
	f->psb.closing = true;
	f->gap.packet_at = f->psb.last; /* where a gap ends */
	if (f->psb.syncing) {
		f->part.diverged = f->part.diverged || (f->part.later && !f->psb.has_mode);
		f->now.mode_stale = !f->psb.has_mode;
		f->now.fresh = true;
		f->now.enabled = f->psb.has_ip;
		f->now.by_psb = f->psb.has_ip;
		pt_gap_found(f, f->psb.ip);
		f->clock.shown_tsc = f->clock.time.tsc;
	} else if (!f->psb.has_ip) {
		f->now.enabled = false;
	} else if (!f->now.enabled) {
		f->now.enabled = true;
		f->now.by_psb = true;
		pt_gap_found(f, f->psb.ip);
	} else {
		f->error_at = p->offset;
		f->part.diverged = f->part.diverged || (f->part.ending && enables_next(f));
		(void)pt_walk_to(f, f->psb.ip);
	}
	pt_clock_known(f, enabled);
	f->psb.closing = false;
	if (f->psb.synced) {
		f->psb.good = f->psb.last;
		emit_psb(f);
	}
	f->clock.moved = false;
	f->psb.syncing = false;
	f->wait.overflowed = false;
	f->wait.may_enable = false;
	f->calls.sp = 1;
	f->done = f->done || f->part.ending;
}

void pt_sync_exec(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	enum pt_mode mode = pt_mode_of((unsigned)p->value);

	if (!f->psb.syncing && f->now.enabled && !f->now.lost && mode != f->code.mode) {
		f->now.fresh = false;
		f->error_at = p->offset;
		f->now.ip = f->psb.has_ip ? f->psb.ip : f->now.ip;
		pt_gap_error(f, SONDE_PT_ERROR_STATUS);
		return;
	}
	pt_space_set_mode(f, mode);
	f->now.mode_stale = false;
	f->psb.has_mode = true;
	f->now.interrupts = p->value & SONDE_PT_EXEC_IF;
}

/* Whether the packets after an OVF lead to a FUP with tracing on; *is_void: only the first one. */
static bool fup_follows(const struct sonde_pt_flow *f, bool *is_void)
{
	struct pt_cursor c = f->cursor;
	struct sonde_pt_packet p;
	bool found = false;

	while (pt_cursor_next(&c, &p) > 0) {
		switch (p.kind) {
		case SONDE_PT_FUP:
			if (found) {
				return true;
			}
			found = true;
			if ((f->errata & PT_ERRATUM_APL12) == 0) {
				return true;
			}
			break;
		case SONDE_PT_PSB:
		case SONDE_PT_TIP_PGE:
		case SONDE_PT_OVF:
		case SONDE_PT_MODE_TSX: *is_void = found; return false;
		case SONDE_PT_TIP:
		case SONDE_PT_TIP_PGD:
		case SONDE_PT_TNT8:
		case SONDE_PT_TNT64: return found;
		default: break;
		}
	}
	return found;
}

void pt_sync_ovf(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	struct sonde_pt_event event = {.kind = SONDE_PT_EVENT_OVERFLOW};

	if (f->part.ending) { /* the next part begins with it */
		f->done = true;
		f->part.diverged = f->part.diverged || f->gap.open;
		return;
	}
	/* it cuts off the PSB+ that a part began with, perhaps before the mode packet */
	f->part.diverged =
	        f->part.diverged || (f->part.later && f->psb.syncing && !f->psb.has_mode);
	pt_clock_packet(f, p);
	pt_ticks_lose(&f->wanted.ticks, f->insns);
	pt_waiting_give_up(f);
	/* where tracing is off: of the instruction at which it ended */
	f->wait.lost_ip = f->now.lost ? 0 : f->now.ip;
	f->wait.lost_tsc = f->clock.moved ? f->clock.before_tsc : f->clock.time.tsc;
	event.extra = f->wait.lost_ip;
	event.data[0] = f->wait.lost_tsc;
	reset(f);
	f->last_ip = 0; /* the last IP may have been in a lost packet */
	f->psb.syncing = false;
	f->now.fresh = false;
	f->now.mode_stale = true;
	f->wait.overflowed = fup_follows(f, &f->wait.fup_is_void);
	if (!f->wait.overflowed) {
		f->wait.may_enable = true;
		pt_emit_event(f, &event);
	}
}

bool pt_sync_may_have(unsigned kind)
{
	static const bool status[SONDE_PT_KINDS] = {
	        [SONDE_PT_PAD] = true,
	        [SONDE_PT_FUP] = true,
	        [SONDE_PT_PIP] = true,
	        [SONDE_PT_MODE_EXEC] = true,
	        [SONDE_PT_MODE_TSX] = true,
	        [SONDE_PT_CBR] = true,
	        [SONDE_PT_TSC] = true,
	        [SONDE_PT_TMA] = true,
	        [SONDE_PT_MTC] = true,
	        [SONDE_PT_CYC] = true,
	        [SONDE_PT_VMCS] = true,
	        [SONDE_PT_OVF] = true,
	        [SONDE_PT_PSB] = true,
	        [SONDE_PT_PSBEND] = true,
	        [SONDE_PT_MNT] = true,
	};

	return status[kind];
}

void pt_sync_find(struct sonde_pt_flow *f)
{
	reset(f);
	if (pt_cursor_sync(&f->cursor) == 0) {
		f->done = true;
		return;
	}
	if (pt_flow_offset(f) >= f->part.stop_at) {
		f->part.ended_at = pt_flow_offset(f);
		f->done = true;
		return;
	}
	f->psb.synced = true;
	f->psb.syncing = true;
	f->now.fresh = true;
	f->now.ip = 0;
}

void pt_sync_restart(struct sonde_pt_flow *f, uint64_t offset, uint64_t stop_at)
{
	reset(f);
	f->cursor = pt_cursor_make(f->cursor.begin, (size_t)(f->cursor.end - f->cursor.begin));
	f->cursor.errata = f->errata;
	f->cursor.p += offset;
	pt_space_set_mode(f, PT_MODE_64);
	f->clock.moved = false;
	f->now.interrupts = false;
	f->psb.synced = false;
	f->done = false;
	f->part.ending = false;
	f->gap.open = false;
	pt_gap_open(f, offset, false);
	f->part.later = offset != 0;
	f->part.stop_at = stop_at;
	f->part.ended_at = UINT64_MAX;
}
