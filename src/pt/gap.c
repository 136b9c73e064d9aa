/* SPDX-License-Identifier: MIT */
/*
 * Errors, and skipped parts of the trace: from the beginning, or from an error, to where the flow
 * continues. Errors inside a gap belong to it.
 *
 *	.. TNT  bad bytes ..  FUP .. TNT ..  PSB .. PSBEND  TNT
 *	        |             |              |
 *	        error         end with       end, where a PSB is wanted
 *	                      keep_position
 */
#include "pt/gap.h"

#include "pt/step.h"

void pt_gap_open(struct sonde_pt_flow *f, uint64_t offset, bool told)
{
	f->gap.at = f->gap.open ? f->gap.at : offset;
	f->gap.told = told;
	f->gap.item = f->queue.tail;
	f->gap.open = true;
}

void pt_gap_found(struct sonde_pt_flow *f, uint64_t ip)
{
	f->now.ip = ip;
	f->now.lost = false;
	f->gap.found_ip = ip;
}

static void drop_branches(struct sonde_pt_flow *f)
{
	f->tnt.nbits = 0;
	f->tnt.bits = 0;
}

void pt_gap_error(struct sonde_pt_flow *f, int error)
{
	bool status = error == SONDE_PT_ERROR_STATUS;
	bool at_psb = (f->psb.closing || status) && !f->options.keep_position;
	bool unread = error <= SONDE_PT_ERROR_TRUNCATED;

	/* A flow over the whole trace would continue differently than the next part does. */
	f->part.diverged = f->part.diverged || (f->part.ending && !f->psb.closing) ||
	                   (f->part.later && f->now.fresh);
	pt_emit_error(f, error, false);
	pt_gap_open(f, at_psb ? f->psb.last : f->gap.packet_at, true);
	drop_branches(f);
	if (at_psb) { /* the state at this PSB is known */
		f->cursor.p = f->cursor.begin + f->psb.last;
		f->psb.synced = false;
		return;
	}
	if (f->options.keep_position && !unread && !f->now.fresh && !status) {
		f->now.lost = f->now.enabled;
		return;
	}
	if (f->options.keep_position && status) {
		pt_emit_error(f, error, true);
		pt_gap_open(f, f->gap.packet_at, true);
	}
	f->psb.synced = false;
}

/* The output of the packet that ends a gap comes after the gap. */
void pt_gap_before(struct sonde_pt_flow *f, bool *syncing)
{
	*syncing = f->psb.syncing;
	if (f->gap.open && f->queue.head == f->queue.tail) {
		f->queue.head = 0;
		f->queue.tail = 0;
		f->gap.item = 0;
	}
}

static void end_at(struct sonde_pt_flow *f, uint64_t end, uint64_t ip)
{
	f->gap.open = false;
	/*
	 * A part without an error begins with its PSB; else its gap is the end of an earlier one.
	 */
	f->part.diverged = f->part.diverged || (f->part.later && !f->gap.told && end > f->gap.at);
	if (end <= f->gap.at && !f->gap.told) {
		return; /* the trace begins with a PSB */
	}
	end = end > f->gap.at ? end : f->gap.at;
	f->tally.gaps++;
	f->tally.gap_bytes += end - f->gap.at;
	pt_emit_gap(f, end, ip);
}

void pt_gap_behind(struct sonde_pt_flow *f, bool syncing)
{
	uint64_t size = (uint64_t)(f->cursor.end - f->cursor.begin);

	if (!f->gap.open) {
		return;
	}
	if (f->done && (!f->psb.synced || f->now.lost || f->psb.syncing)) {
		/*
		 * A flow over the whole trace may not find its position at the PSB+ that ends a
		 * part.
		 */
		f->part.diverged = f->part.diverged || f->part.ending;
		end_at(f, f->part.ended_at < size ? f->part.ended_at : size, 0);
	} else if (f->psb.synced && !f->psb.syncing && !f->now.lost) {
		end_at(f, syncing ? f->psb.last : f->gap.packet_at,
		        f->now.enabled ? f->gap.found_ip : 0);
	}
}
