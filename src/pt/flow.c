/* SPDX-License-Identifier: MIT */
/* What each packet does to a flow, and when several are followed at once: fast.c. */
#include "pt/flow.h"

#include "core/options.h"
#include "pt/branch.h"
#include "pt/clock.h"
#include "pt/edge.h"
#include "pt/event.h"
#include "pt/fast.h"
#include "pt/gap.h"
#include "pt/place.h"
#include "pt/space.h"
#include "pt/step.h"
#include "pt/sync.h"
#include "pt/unit.h"
#include "pt/walk.h"

#include <stdlib.h>
#include <string.h>

#define EVERY_TICKS_MAX (1ULL << 40) /* minutes */

typedef void (*handler_fn)(struct sonde_pt_flow *f, const struct sonde_pt_packet *p);

static void on_nothing(struct sonde_pt_flow *f, const struct sonde_pt_packet *p)
{
	(void)f;
	(void)p;
}

static const struct {
	handler_fn handle;
	bool keeps_bound; /* may come between an event and the FUP that places it */
} handlers[SONDE_PT_KINDS] = {
        [SONDE_PT_PAD] = {on_nothing, true},
        [SONDE_PT_TNT8] = {pt_on_tnt, false},
        [SONDE_PT_TNT64] = {pt_on_tnt, false},
        [SONDE_PT_TIP] = {pt_on_tip, false},
        [SONDE_PT_TIP_PGE] = {pt_on_pge, false},
        [SONDE_PT_TIP_PGD] = {pt_on_pgd, false},
        [SONDE_PT_FUP] = {pt_on_fup, true},
        [SONDE_PT_PIP] = {pt_on_pip, false},
        [SONDE_PT_MODE_EXEC] = {pt_on_mode_exec, true},
        [SONDE_PT_MODE_TSX] = {pt_on_mode_tsx, true},
        [SONDE_PT_STOP] = {pt_on_stop, false},
        [SONDE_PT_CBR] = {pt_on_cbr, true},
        [SONDE_PT_TSC] = {pt_clock_packet, true},
        [SONDE_PT_TMA] = {pt_clock_packet, true},
        [SONDE_PT_MTC] = {pt_clock_packet, true},
        [SONDE_PT_CYC] = {pt_clock_packet, true},
        [SONDE_PT_VMCS] = {pt_on_vmcs, false},
        [SONDE_PT_OVF] = {pt_sync_ovf, true},
        [SONDE_PT_PSB] = {pt_sync_psb, false},
        [SONDE_PT_PSBEND] = {pt_sync_psbend, false},
        [SONDE_PT_MNT] = {pt_on_mnt, true},
        [SONDE_PT_EXSTOP] = {pt_on_exstop, true},
        [SONDE_PT_MWAIT] = {pt_on_mwait, true},
        [SONDE_PT_PWRE] = {pt_on_pwre, true},
        [SONDE_PT_PWRX] = {pt_on_pwrx, true},
        [SONDE_PT_PTW] = {pt_on_ptw, true},
        [SONDE_PT_CFE] = {pt_on_cfe, true},
        [SONDE_PT_EVD] = {pt_on_evd, true},
        [SONDE_PT_TRIG] = {pt_on_trig, true},
        [SONDE_PT_BBP] = {pt_on_bbp, true},
        [SONDE_PT_BIP] = {pt_on_bip, true},
        [SONDE_PT_BEP] = {pt_on_bep, true},
};

static void finish(struct sonde_pt_flow *f)
{
	pt_waiting_give_up(f);
	if (f->now.enabled && !f->now.lost) {
		pt_emit_end(f);
	}
	f->done = true;
}

static bool may_run_fast(const struct sonde_pt_flow *f)
{
	return f->now.enabled && !f->now.lost && !f->wait.in_async && !f->psb.open &&
	       !f->options.ticks && f->wait.bound.count == 0 && f->wait.attached.count == 0 &&
	       f->wait.deferred.count == 0 && f->wait.exec < 0 && !f->wait.fup_is_branch &&
	       !f->wait.overflowed && !(f->now.speculative && (f->errata & PT_ERRATUM_BDM64) != 0);
}

static void next_packet(struct sonde_pt_flow *f)
{
	struct sonde_pt_packet p;
	int rc;

	if (!f->psb.synced) {
		pt_sync_find(f);
		return;
	}
	if (f->code.moved < f->code.nmoves) {
		pt_space_move(f);
	}
	if (f->tnt.nbits != 0 && !may_run_fast(f)) {
		pt_walk_branch(f);
		return;
	}
	if (may_run_fast(f)) {
		const uint8_t *before = f->cursor.p;
		const uint8_t *end = f->cursor.end;
		unsigned nbits = f->tnt.nbits;

		f->cursor.end = before < f->code.fast_end ? f->code.fast_end : before;
		pt_fast_run(f);
		f->cursor.end = end;
		if (f->cursor.p != before || f->tnt.nbits != nbits ||
		        f->queue.head != f->queue.tail) {
			f->wait.ahead = 0;
			return;
		}
		if (f->tnt.nbits != 0) {
			pt_walk_branch(f);
			return;
		}
	}
	rc = pt_cursor_next(&f->cursor, &p);
	f->gap.packet_at = p.offset;
	f->part.diverged = f->part.diverged ||
	                   (f->part.ending && (rc == 0 || (rc > 0 && !pt_sync_may_have(p.kind))));
	if (rc == 0) {
		finish(f);
		return;
	}
	if (rc < 0) {
		f->error_at = p.offset;
		f->cursor.p++;
		pt_gap_error(f, f->cursor.error);
		return;
	}
	if (p.kind >= SONDE_PT_TNT8 && p.kind <= SONDE_PT_FUP) {
		f->wait.ahead = 0;
	}
	if (!handlers[p.kind].keeps_bound && f->wait.bound.count != 0) {
		pt_waiting_emit(f, &f->wait.bound);
		pt_waiting_emit(f, &f->wait.deferred);
	}
	handlers[p.kind].handle(f, &p);
}

void pt_flow_packet(struct sonde_pt_flow *f)
{
	bool in_psb = f->psb.open;
	bool syncing;

	pt_gap_before(f, &syncing);
	next_packet(f);
	pt_gap_behind(f, syncing);
	f->part.paused =
	        in_psb && !f->psb.open && f->psb.last >= f->part.pause_at && pt_place_is_one(f);
}

bool pt_flow_run(struct sonde_pt_flow *f)
{
	while (!f->done && !f->failed) {
		pt_flow_packet(f);
	}
	return !f->failed;
}

static bool take_options(struct sonde_pt_flow *f, const struct sonde_pt_flow_options *options)
{
	struct sonde_pt_flow_options *o = &f->options;
	struct error why;

	if (options_copy(o, sizeof(*o), options, &why) < 0) {
		return false;
	}
	o->time = o->time || o->every_ticks != 0;
	f->wanted.kinds = o->want != 0 ? o->want : SONDE_PT_WANT_INSNS | SONDE_PT_WANT_EVENTS;
	f->wanted.sample_at = UINT64_MAX;
	pt_ticks_init(&f->wanted.ticks, 0);
	if ((f->wanted.kinds & SONDE_PT_WANT_INSNS) != 0 &&
	        (f->wanted.kinds & SONDE_PT_WANT_BLOCKS) == 0) {
		f->wanted.sample_at = o->every > 1 ? o->every : UINT64_MAX;
		f->wanted.ticks.every =
		        o->every_ticks < EVERY_TICKS_MAX ? o->every_ticks : EVERY_TICKS_MAX;
	}
	if (f->wanted.kinds & SONDE_PT_WANT_BLOCKS || o->every > 1 || o->every_ticks != 0) {
		f->wanted.kinds &= ~SONDE_PT_WANT_INSNS; /* not every one */
	}
	return true;
}

struct sonde_pt_flow *sonde_pt_flow_new(struct sonde_pt_graph *graph, const void *data, size_t n,
        const struct sonde_pt_flow_options *options)
{
	struct sonde_pt_flow *f = calloc(1, sizeof(*f));

	if (f == NULL || !take_options(f, options) || !pt_units_start(f)) {
		free(f);
		return NULL;
	}
	f->psb.good = UINT64_MAX;
	f->calls.sp = 1;
	f->part.pause_at = UINT64_MAX;
	f->part.stop_at = UINT64_MAX;
	f->part.ended_at = UINT64_MAX;
	f->graph = graph;
	f->errata = pt_errata(&f->options.clock.cpu);
	f->cursor = pt_cursor_make(data, n);
	f->cursor.errata = f->errata;
	f->code.mode = PT_MODE_64;
	pt_gap_open(f, 0, false);
	sonde_pt_time_init(&f->clock.time, &f->options.clock);
	f->code.fast_end = f->cursor.end;
	f->code.view = PT_VIEW_NONE;
	pt_space_set(f, f->options.space, f->options.generation);
	if (f->failed) {
		sonde_pt_flow_free(f);
		return NULL;
	}
	return f;
}

void sonde_pt_flow_free(struct sonde_pt_flow *flow)
{
	if (flow == NULL) {
		return;
	}
	pt_counts_free(flow->tally.counts);
	free(flow->queue.items);
	free(flow->batch.branches);
	free(flow->code.moves);
	pt_units_free(flow);
	free(flow);
}
