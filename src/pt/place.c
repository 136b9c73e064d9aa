/* SPDX-License-Identifier: MIT */
/*
 * Places: the state of a flow directly after a PSB+ when nothing is pending. Almost all state there
 * comes from the PSB+, so a flow that begins at the PSB can be compared with one that reached it.
 */
#include "pt/place.h"

#include "pt/space.h"
#include "pt/sync.h"

bool pt_place_is_one(const struct sonde_pt_flow *f)
{
	bool reading = f->psb.syncing || f->psb.open || f->gap.open || f->tnt.nbits != 0;
	bool waiting = f->wait.bound.count != 0 || f->wait.deferred.count != 0 ||
	               f->wait.attached.count != 0 || f->wait.evd.extra != 0 || f->wait.exec >= 0;
	bool open = f->wait.in_async || f->wait.fup_is_branch || f->wait.fup_is_void ||
	            f->wait.block_ends || f->now.lost;

	return f->psb.synced && f->psb.good == f->psb.last && !reading && !waiting && !open;
}

struct pt_place pt_place_of(const struct sonde_pt_flow *f)
{
	return (struct pt_place){
	        .at = (uint64_t)(f->cursor.p - f->cursor.begin),
	        .psb = f->psb.last,
	        .done = f->done,
	        .ip = f->now.ip,
	        .last_ip = f->last_ip,
	        .asid = f->code.asid,
	        .mode = f->code.mode,
	        .enabled = f->now.enabled,
	        .fresh = f->now.fresh,
	        .by_psb = f->now.by_psb,
	        .speculative = f->now.speculative,
	        .interrupts = f->now.interrupts,
	        .mode_stale = f->now.mode_stale,
	        .has_disabled_at = f->now.has_disabled_at,
	        .disabled_at = f->now.disabled_at,
	        .time = f->clock.time,
	        .cycled = f->clock.cycled,
	        .cycles = f->clock.cycles,
	        .cycle_insns = f->clock.cycle_insns,
	        .insns = f->insns,
	};
}

/* The clock is the same for the whole trace. */
static bool same_time(const struct sonde_pt_time *a, const struct sonde_pt_time *b)
{
	bool told = a->tsc == b->tsc && a->exact == b->exact && a->cycles == b->cycles &&
	            a->speed == b->speed && a->cbr == b->cbr && a->has_tsc == b->has_tsc &&
	            a->lost_mtc == b->lost_mtc && a->lost_cyc == b->lost_cyc &&
	            a->has_cyc == b->has_cyc;
	bool cycles = a->own.cycle_base == b->own.cycle_base && a->own.fast == b->own.fast &&
	              a->own.interval_ticks == b->own.interval_ticks &&
	              a->own.interval_cycles == b->own.interval_cycles &&
	              a->own.tsc_before == b->own.tsc_before &&
	              a->own.tsc_cycles == b->own.tsc_cycles &&
	              a->own.has_before == b->own.has_before && a->own.in_psb == b->own.in_psb &&
	              a->own.cycled == b->own.cycled;
	bool crystal = a->own.ctc_base == b->own.ctc_base && a->own.ctc_ticks == b->own.ctc_ticks &&
	               a->own.ctc == b->own.ctc && a->own.ctc_mask == b->own.ctc_mask &&
	               a->own.mtc == b->own.mtc && a->own.has_ctc == b->own.has_ctc &&
	               a->own.has_mtc == b->own.has_mtc;

	return told && cycles && crystal;
}

/*
 * Totals are ignored: they do not change what follows. So is the address where tracing ended, which
 * the next part takes over.
 */
bool pt_place_same(const struct pt_place *a, const struct pt_place *b)
{
	return a->at == b->at && a->psb == b->psb && a->done == b->done &&
	       (a->ip == b->ip || !a->enabled) && a->last_ip == b->last_ip && a->mode == b->mode &&
	       a->enabled == b->enabled && a->fresh == b->fresh && a->by_psb == b->by_psb &&
	       a->speculative == b->speculative && a->interrupts == b->interrupts &&
	       a->mode_stale == b->mode_stale && a->cycled == b->cycled &&
	       same_time(&a->time, &b->time);
}

void pt_place_begin(
        struct sonde_pt_flow *f, uint64_t offset, const struct sonde_pt_time *time, bool cycled)
{
	pt_sync_restart(f, offset, UINT64_MAX);
	f->clock.time = *time;
	f->clock.cycled = cycled;
	f->clock.moved = false;
	f->insns = 0;
	f->clock.cycles = 0;
	f->clock.cycle_insns = 0;
	f->wanted.sample_at = f->options.every > 1 ? f->options.every : UINT64_MAX;
	f->last_ip = 0;
	f->psb.last = 0;
	f->psb.good = UINT64_MAX;
	f->queue.run_open = false;
	f->given.run.insns = 0;
	f->queue.head = 0;
	f->queue.tail = 0;
	f->part.paused = false;
}

void pt_place_goto(struct sonde_pt_flow *f, const struct pt_place *place)
{
	uint64_t every = f->options.every;

	pt_place_begin(f, place->at, &place->time, place->cycled);
	if (place->at == 0) {
		return;
	}
	f->gap.open = false;
	f->psb.synced = true;
	f->psb.syncing = false;
	f->done = place->done;
	f->now.ip = place->ip;
	f->last_ip = place->last_ip;
	f->psb.last = place->psb;
	f->psb.good = place->psb;
	pt_space_set_mode(f, place->mode);
	f->code.asid = place->asid;
	pt_space_set(f, f->code.space, f->code.generation);
	f->now.enabled = place->enabled;
	f->now.fresh = place->fresh;
	f->now.by_psb = place->by_psb;
	f->now.speculative = place->speculative;
	f->now.interrupts = place->interrupts;
	f->now.mode_stale = place->mode_stale;
	f->now.has_disabled_at = place->has_disabled_at;
	f->now.disabled_at = place->disabled_at;
	f->clock.cycles = place->cycles;
	f->clock.cycle_insns = place->cycle_insns;
	f->insns = place->insns;
	f->wanted.sample_at = every > 1 ? (f->insns / every + 1) * every : UINT64_MAX;
}
