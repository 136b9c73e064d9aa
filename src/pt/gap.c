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
	f->gap_at = f->in_gap ? f->gap_at : offset;
	f->gap_told = told;
	f->gap_item = f->tail;
	f->in_gap = true;
}

void pt_gap_found(struct sonde_pt_flow *f, uint64_t ip)
{
	f->ip = ip;
	f->lost = false;
	f->found_ip = ip;
}

static void drop_branches(struct sonde_pt_flow *f)
{
	f->nbits = 0;
	f->bits = 0;
}

void pt_gap_error(struct sonde_pt_flow *f, int error)
{
	bool status = error == SONDE_PT_ERROR_STATUS;
	bool at_psb = (f->in_psbend || status) && !f->options.keep_position;
	bool unread = error <= SONDE_PT_ERROR_TRUNCATED;

	/* A flow over the whole trace would continue differently than the next part does. */
	f->diverged = f->diverged || (f->ending && !f->in_psbend) || (f->is_part && f->fresh);
	pt_emit_error(f, error, false);
	pt_gap_open(f, at_psb ? f->last_psb : f->packet_at, true);
	drop_branches(f);
	if (at_psb) { /* the state at this PSB is known */
		f->cursor.p = f->cursor.begin + f->last_psb;
		f->synced = false;
		return;
	}
	if (f->options.keep_position && !unread && !f->fresh && !status) {
		f->lost = f->enabled;
		return;
	}
	if (f->options.keep_position && status) {
		pt_emit_error(f, error, true);
		pt_gap_open(f, f->packet_at, true);
	}
	f->synced = false;
}

/* The output of the packet that ends a gap comes after the gap. */
void pt_gap_before(struct sonde_pt_flow *f, bool *syncing)
{
	*syncing = f->syncing;
	if (f->in_gap && f->head == f->tail) {
		f->head = 0;
		f->tail = 0;
		f->gap_item = 0;
	}
}

static void end_at(struct sonde_pt_flow *f, uint64_t end, uint64_t ip)
{
	f->in_gap = false;
	/*
	 * A part without an error begins with its PSB; else its gap is the end of an earlier one.
	 */
	f->diverged = f->diverged || (f->is_part && !f->gap_told && end > f->gap_at);
	if (end <= f->gap_at && !f->gap_told) {
		return; /* the trace begins with a PSB */
	}
	end = end > f->gap_at ? end : f->gap_at;
	f->gaps++;
	f->gap_bytes += end - f->gap_at;
	pt_emit_gap(f, end, ip);
}

void pt_gap_behind(struct sonde_pt_flow *f, bool syncing)
{
	uint64_t size = (uint64_t)(f->cursor.end - f->cursor.begin);

	if (!f->in_gap) {
		return;
	}
	if (f->done && (!f->synced || f->lost || f->syncing)) {
		/*
		 * A flow over the whole trace may not find its position at the PSB+ that ends a
		 * part.
		 */
		f->diverged = f->diverged || f->ending;
		end_at(f, f->ended_at < size ? f->ended_at : size, 0);
	} else if (f->synced && !f->syncing && !f->lost) {
		end_at(f, syncing ? f->last_psb : f->packet_at, f->enabled ? f->found_ip : 0);
	}
}
