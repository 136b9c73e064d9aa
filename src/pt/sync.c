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
#include "pt/walk.h"

/* Resets everything but the position in the trace. */
static void reset(struct sonde_pt_flow *f)
{
	f->sp = 1;
	f->nbits = 0;
	f->bits = 0;
	f->bound.count = 0;
	f->deferred.count = 0;
	f->attached.count = 0;
	f->evd = (struct sonde_pt_event){.kind = SONDE_PT_EVENT_CFE};
	f->enabled = false;
	f->lost = false;
	f->speculative = false;
	f->in_async = false;
	f->in_psb = false;
	f->overflowed = false;
	f->may_enable = false;
	f->fup_is_branch = false;
	f->block_ends = false;
	f->fup_is_void = false;
	f->has_disabled_at = false;
	f->mode_stale = false;
	f->pending_exec = -1;
	f->ahead = 0;
}

/* Whether something is pending that a PSB+ does not contain. */
static bool is_open(const struct sonde_pt_flow *f)
{
	return f->evd.extra != 0 || f->pending_exec >= 0 || f->in_async || f->fup_is_branch ||
	       f->overflowed || f->attached.count != 0 || f->in_psb;
}

void pt_sync_psb(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	if (p->offset >= f->stop_at && !f->syncing) {
		f->ending = true;
		f->ended_at = p->offset;
		f->diverged = f->diverged || is_open(f);
	}
	f->saw_exec = false;
	pt_clock_packet(f, p);
	f->in_psb = true;
	f->psb_ip = false;
	f->last_ip = 0;
	f->last_psb = p->offset;
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

/* Calls before a PSB are never the target of a compressed return after it. */
void pt_sync_psbend(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	if (!f->in_psb) {
		return;
	}
	pt_clock_packet(f, p);
	f->in_psb = false;
	f->in_psbend = true;
	f->packet_at = f->last_psb; /* where a gap ends */
	if (f->syncing) {
		f->diverged = f->diverged || (f->is_part && !f->saw_exec);
		f->mode_stale = !f->saw_exec;
		f->fresh = true;
		f->enabled = f->psb_ip;
		f->by_psb = f->psb_ip;
		pt_gap_found(f, f->psb_at);
		f->shown_tsc = f->time.tsc;
	} else if (!f->psb_ip) {
		f->enabled = false;
	} else if (!f->enabled) {
		f->enabled = true;
		f->by_psb = true;
		pt_gap_found(f, f->psb_at);
	} else {
		f->error_at = p->offset;
		f->diverged = f->diverged || (f->ending && enables_next(f));
		(void)pt_walk_to(f, f->psb_at);
	}
	f->in_psbend = false;
	if (f->synced) {
		f->good_psb = f->last_psb;
	}
	f->time_moved = false;
	f->syncing = false;
	f->overflowed = false;
	f->may_enable = false;
	f->sp = 1;
	f->done = f->done || f->ending;
}

void pt_sync_exec(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	enum pt_mode mode = pt_mode_of((unsigned)p->value);

	if (!f->syncing && f->enabled && !f->lost && mode != f->mode) {
		f->fresh = false;
		f->error_at = p->offset;
		f->ip = f->psb_ip ? f->psb_at : f->ip;
		pt_gap_error(f, SONDE_PT_ERROR_STATUS);
		return;
	}
	pt_space_set_mode(f, mode);
	f->mode_stale = false;
	f->saw_exec = true;
	f->interrupts = p->value & SONDE_PT_EXEC_IF;
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
	const struct sonde_pt_event event = {.kind = SONDE_PT_EVENT_OVERFLOW};

	if (f->ending) { /* the next part begins with it */
		f->done = true;
		f->diverged = f->diverged || f->in_gap;
		return;
	}
	/* it cuts off the PSB+ that a part began with, perhaps before the mode packet */
	f->diverged = f->diverged || (f->is_part && f->syncing && !f->saw_exec);
	pt_clock_packet(f, p);
	pt_waiting_give_up(f);
	reset(f);
	f->last_ip = 0; /* the last IP may have been in a lost packet */
	f->syncing = false;
	f->fresh = false;
	f->mode_stale = true;
	f->overflowed = fup_follows(f, &f->fup_is_void);
	if (!f->overflowed) {
		f->may_enable = true;
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
	if (pt_flow_offset(f) >= f->stop_at) {
		f->ended_at = pt_flow_offset(f);
		f->done = true;
		return;
	}
	f->synced = true;
	f->syncing = true;
	f->fresh = true;
	f->ip = 0;
}

void pt_sync_restart(struct sonde_pt_flow *f, uint64_t offset, uint64_t stop_at)
{
	reset(f);
	f->cursor = pt_cursor_make(f->cursor.begin, (size_t)(f->cursor.end - f->cursor.begin));
	f->cursor.errata = f->errata;
	f->cursor.p += offset;
	f->mode = PT_MODE_64;
	f->time_moved = false;
	f->interrupts = false;
	f->synced = false;
	f->done = false;
	f->ending = false;
	f->in_gap = false;
	pt_gap_open(f, offset, false);
	f->is_part = offset != 0;
	f->stop_at = stop_at;
	f->ended_at = UINT64_MAX;
}
