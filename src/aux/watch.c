/* SPDX-License-Identifier: MIT */
/*
 * Follows a queue packet by packet and instruction by instruction, for a log. TICK events keep the
 * flow from reading branch bits ahead, so that each step follows its packet.
 */
#include "aux/inside.h"

#include "pt/insn.h"
#include "pt/state.h"

struct aux_watched_clock aux_watched_clock(const struct aux *a)
{
	const struct sonde_pt_clock *c = &a->flow.clock;

	return (struct aux_watched_clock){
	        .hz = (UINT64_C(1000000000) << a->clock.shift) / a->clock.mult,
	        .max_nonturbo_ratio = a->info.max_nonturbo_ratio,
	        .mtc_shift = c->mtc_shift,
	        .tsc_ctc_n = c->tsc_ratio_numerator,
	        .tsc_ctc_d = c->tsc_ratio_denominator};
}

uint64_t aux_time_tsc(const struct aux *a, uint64_t ns)
{
	const struct aux_clock *c = &a->clock;
	uint64_t time = ns > c->zero ? ns - c->zero : 0;

	return (time / c->mult << c->shift) + (time % c->mult << c->shift) / c->mult;
}

size_t aux_queue_count(const struct aux *a)
{
	return a->nqueues;
}

static int on_insn(
        const struct aux_watcher *w, struct sonde_pt_flow *flow, const struct sonde_pt_step *s)
{
	uint32_t context = pt_context(flow->code.view, PT_MODE_64);
	struct aux_watched_insn out = {.ip = s->ip};
	uint8_t room[PT_INSN_MAX];
	struct pt_insn insn;
	size_t n;

	if (pt_image_insn(flow->graph->image, context, s->ip, &insn) == 0) {
		out.class = insn.class;
		out.special = insn.special;
		out.disp = insn.disp;
	}
	out.bytes = pt_image_fetch(flow->graph->image, flow->code.view, s->ip, room, &n);
	out.size = n < s->size ? (uint32_t)n : s->size;
	return w->insn(w->arg, &out);
}

static int on_error(struct aux_follower *f, const struct aux_watcher *w,
        const struct sonde_pt_step *s, bool overflow)
{
	const struct aux_range *r = &f->queue->ranges[f->range];
	uint64_t tsc = overflow ? s->event.data[0] : s->tsc;
	struct aux_watched_error out = {.cpu = f->queue->cpu,
	        .pid = r->pid,
	        .tid = r->tid,
	        .ip = overflow ? s->event.extra : s->ip,
	        .time = f->a->timeless ? 0 : aux_ns(&f->a->clock, tsc)};

	out.code = overflow ? AUX_ERROR_OVERFLOW : aux_error_code(s->error);
	out.text = aux_error_text(out.code);
	return w->error(w->arg, &out);
}

/* The end of the first OVF from an offset on. */
static uint64_t overflow_end(const struct aux_queue *q, uint64_t offset)
{
	struct pt_cursor c = pt_cursor_make(q->bytes.p, q->bytes.n);
	struct sonde_pt_packet p;

	c.p += offset;
	while (pt_cursor_next(&c, &p) > 0 && p.kind != SONDE_PT_OVF) {
	}
	return (uint64_t)(c.p - c.begin);
}

/*
 * The flow reads on after an error, or after an OVF to the packet with the next address, before it
 * returns the step.
 */
static int pass_packets(struct aux_follower *f, const struct aux_watcher *w,
        const struct sonde_pt_step *s, uint64_t *read)
{
	uint64_t end = pt_flow_offset(f->flow);

	if (s->kind == SONDE_PT_STEP_ERROR && s->offset < end) {
		end = s->offset + 1;
	} else if (s->kind == SONDE_PT_STEP_EVENT && s->event.kind == SONDE_PT_EVENT_OVERFLOW) {
		end = overflow_end(f->queue, *read);
	}
	*read = end > *read ? end : *read;
	return w->packets(w->arg, *read);
}

static int on_step(
        struct aux_follower *f, const struct aux_watcher *w, const struct sonde_pt_step *s)
{
	TRY(aux_follow_range(f, s->tsc));
	switch (s->kind) {
	case SONDE_PT_STEP_INSN: return on_insn(w, f->flow, s);
	case SONDE_PT_STEP_ERROR: return s->resync ? 0 : on_error(f, w, s, false);
	case SONDE_PT_STEP_EVENT:
		if (s->event.kind == SONDE_PT_EVENT_TICK) {
			return w->time(w->arg, s->tsc);
		}
		return s->event.kind == SONDE_PT_EVENT_OVERFLOW ? on_error(f, w, s, true) : 0;
	default: return 0;
	}
}

int aux_watch(const struct aux *a, size_t queue, const struct aux_watcher *w)
{
	const struct aux_queue *q = &a->queues[queue];
	const struct aux_watched_queue about = {.number = q->idx,
	        .cpu = q->cpu,
	        .tid = (uint32_t)q->tid,
	        .pid = q->ranges[0].pid,
	        .bytes = q->bytes};
	struct sonde_pt_flow_options o = a->flow;
	struct aux_follower f = {.a = a, .queue = q};
	const struct sonde_pt_step *s;
	uint64_t read = 0;
	int rc;

	o.want = SONDE_PT_WANT_INSNS | SONDE_PT_WANT_EVENTS;
	o.every = o.every_ticks = 0;
	o.psbs = false;
	o.ticks = !a->timeless;
	TRY(w->begin(w->arg, &about));
	o.space = q->ranges[0].space;
	f.flow = sonde_pt_flow_new(a->code.graph, q->bytes.p, q->bytes.n, &o);
	if (f.flow == NULL) {
		return SONDE_ENOMEM;
	}
	rc = aux_add_moves(a, q, 0, f.flow);
	f.flow->code.fast_end = f.flow->cursor.begin; /* without times there are no TICKs */
	while (rc >= 0 && (rc = sonde_pt_flow_next(f.flow, &s)) > 0) {
		rc = pass_packets(&f, w, s, &read);
		rc = rc < 0 ? rc : on_step(&f, w, s);
	}
	sonde_pt_flow_free(f.flow);
	trails_fini(&f.trails);
	return rc < 0 ? rc : w->packets(w->arg, q->bytes.n);
}
