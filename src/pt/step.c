/* SPDX-License-Identifier: MIT */
/* What the caller gets: runs of instructions, events and errors wait in a queue and are given
 * singly. */
#include "pt/flow.h"

#include "core/array.h"

#include <stdlib.h>

static struct pt_item *new_item(struct sonde_pt_flow *f)
{
	if (f->head == f->tail) {
		f->head = 0;
		f->tail = 0;
	}
	if (!array_reserve(&f->items, &f->cap, f->tail + 1, sizeof(*f->items))) {
		f->failed = true;
		return NULL;
	}
	return &f->items[f->tail++];
}

void pt_emit_run(struct sonde_pt_flow *f, uint64_t ip, uint32_t insns)
{
	struct pt_item *item;

	if (insns == 0) {
		return;
	}
	if (f->counting) {
		f->counts->insns += insns;
		return;
	}
	item = new_item(f);
	if (item != NULL) {
		*item = (struct pt_item){.kind = SONDE_PT_STEP_INSN,
		        .speculative = f->speculative,
		        .context = pt_flow_context(f),
		        .insns = insns,
		        .ip = ip};
	}
}

void pt_emit_branch(struct sonde_pt_flow *f, uint64_t to, bool taken)
{
	if (f->head != f->tail && f->items[f->tail - 1].kind == SONDE_PT_STEP_INSN) {
		f->items[f->tail - 1].to = to;
		f->items[f->tail - 1].taken = taken;
	}
}

void pt_emit_event(struct sonde_pt_flow *f, const struct sonde_pt_event *event)
{
	struct pt_item *item;

	f->events++;
	if (f->counting) {
		return;
	}
	item = new_item(f);
	if (item != NULL) {
		*item = (struct pt_item){.kind = SONDE_PT_STEP_EVENT, .event = *event};
		item->event.tsc = f->options.time ? f->time.tsc : 0;
	}
	f->shown_tsc = f->time.tsc;
}

void pt_emit_error(struct sonde_pt_flow *f, int error, bool resync)
{
	struct pt_item *item;

	f->errors++;
	if (f->counting) {
		return;
	}
	item = new_item(f);
	if (item != NULL) {
		*item = (struct pt_item){.kind = SONDE_PT_STEP_ERROR,
		        .resync = resync,
		        .error = (uint16_t)error,
		        .ip = f->fresh ? 0 : f->ip,
		        .offset = f->error_at};
	}
}

void pt_emit_end(struct sonde_pt_flow *f)
{
	struct pt_item *item = f->counting ? NULL : new_item(f);

	if (item != NULL) {
		*item = (struct pt_item){.kind = SONDE_PT_STEP_END, .ip = f->ip};
	}
}

/* The next instruction of the run. */
static int next_insn(struct sonde_pt_flow *f, struct sonde_pt_step *step)
{
	struct pt_insn insn;

	if (pt_image_insn(f->graph->image, f->run.context, f->run.ip, &insn) != 0) {
		return SONDE_EFORMAT; /* the image changed */
	}
	*step = (struct sonde_pt_step){.kind = SONDE_PT_STEP_INSN,
	        .ip = f->run.ip,
	        .size = insn.size,
	        .speculative = f->run.speculative,
	        .first = f->first,
	        .branch = insn.class != PT_CLASS_OTHER,
	        .calls = insn.class == PT_CLASS_CALL || insn.class == PT_CLASS_CALL_IND,
	        .returns = insn.class == PT_CLASS_RET,
	        .call = insn.class == PT_CLASS_CALL,
	        .jump = insn.class == PT_CLASS_JUMP};
	f->first = false;
	f->run.insns--;
	if (step->call || step->jump) {
		step->taken = true;
		step->to = pt_insn_target(&insn, f->run.ip, pt_context_mode(f->run.context));
		f->run.ip = step->to;
		return 1;
	}
	f->run.ip += insn.size;
	if (step->branch) {
		step->taken = f->run.taken;
		step->to = f->run.to;
	}
	return 1;
}

static int give(struct sonde_pt_flow *f, struct sonde_pt_step *step)
{
	const struct pt_item *item = &f->items[f->head++];

	if (item->kind == SONDE_PT_STEP_INSN) {
		f->run = *item;
		f->first = true;
		return next_insn(f, step);
	}
	*step = (struct sonde_pt_step){.kind = item->kind,
	        .ip = item->kind == SONDE_PT_STEP_EVENT ? item->event.ip : item->ip,
	        .offset = item->offset,
	        .error = item->error,
	        .resync = item->resync,
	        .event = item->event};
	return 1;
}

int sonde_pt_flow_next(struct sonde_pt_flow *flow, struct sonde_pt_step *step)
{
	int rc;

	do {
		if (flow->run.insns != 0) {
			rc = next_insn(flow, step);
			continue;
		}
		while (flow->head == flow->tail && !flow->done && !flow->failed) {
			pt_flow_packet(flow);
		}
		if (flow->failed) {
			return SONDE_ENOMEM;
		}
		rc = flow->head != flow->tail ? give(flow, step) : 0;
	} while (rc > 0 && flow->options.branches && step->kind == SONDE_PT_STEP_INSN &&
	         !step->branch);
	return rc;
}

void sonde_pt_flow_free(struct sonde_pt_flow *flow)
{
	if (flow == NULL) {
		return;
	}
	pt_counts_free(flow->counts);
	free(flow->items);
	free(flow);
}
