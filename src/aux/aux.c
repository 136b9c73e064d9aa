/* SPDX-License-Identifier: MIT */
/*
 * Opening: follows each queue once from its start, and keeps the state at some PSBs, from which a
 * segment can be followed again.
 *
 *	queue   PSB .. PSB .. PSB .. PSB .. PSB .. end
 *	        |------------|------------|--------|     segments of about SEGMENT_BYTES
 */
#include "aux/inside.h"

#include "core/array.h"
#include "pt/step.h"

#include <assert.h>
#include <stdlib.h>

#define EVENT_TRACE (UINT64_C(1) << 31) /* the term event */
#define KEPT_BYTES  (4u << 10) /* of the records of a segment that are kept */
#define KEPT_MAX    (4u << 20) /* of all of them */

uint64_t aux_tsc(const struct aux_clock *c, uint64_t ns)
{
	uint64_t time = ns > c->zero ? ns - c->zero : 0;
	uint64_t whole = time / c->mult;
	uint64_t rest = time % c->mult;

	return (whole << c->shift) + ((rest << c->shift) + c->mult - 1) / c->mult;
}

void aux_free(struct aux *a)
{
	if (a == NULL) {
		return;
	}
	aux_code_fini(&a->code);
	aux_queues_free(a);
	aux_pasts_fini(&a->pasts);
	for (size_t i = 0; i < a->nsegments; i++) {
		trails_fini(&a->segments[i].trails);
		free(a->segments[i].pebs);
		if (a->segments[i].kept != NULL) {
			aux_room_fini(a->segments[i].kept);
			free(a->segments[i].kept);
		}
	}
	free(a->segments);
	free(a->events);
	free(a);
}

/* Finds the event of intel_pt. */
static void find_attr(struct aux *a)
{
	const struct aux_setup *s = &a->setup;

	a->attr = s->nattrs != 0 ? &s->attrs[0] : NULL;
	for (size_t i = s->nattrs; i-- > 0;) {
		if (s->attrs[i].type == a->info.pmu_type) {
			a->attr = &s->attrs[i];
		}
	}
}

static void set_clock(struct aux *a)
{
	bool known = a->info.time_mult != 0 && a->info.time_shift < 64;

	if (a->setup.itrace.ticks) {
		a->clock = (struct aux_clock){.mult = 1};
		return;
	}
	a->clock = (struct aux_clock){.zero = a->info.time_zero, .mult = 1};
	if (known && a->info.time_mult <= UINT32_MAX && a->info.time_shift <= 32) {
		a->clock.mult = a->info.time_mult;
		a->clock.shift = (unsigned)a->info.time_shift;
	}
}

/* The largest power of two up to n. */
static uint64_t floor_power(uint64_t n)
{
	return n != 0 ? UINT64_C(1) << (63 - __builtin_clzll(n)) : 0;
}

static void set_period(struct aux *a)
{
	const struct itrace *w = &a->setup.itrace;
	struct sonde_pt_flow_options *o = &a->flow;
	struct aux_clock c = {.mult = a->clock.mult, .shift = a->clock.shift};

	a->khz = aux_tsc(&c, 1000000);
	a->period = w->period;
	if (w->unit == ITRACE_NS) {
		a->period = aux_tsc(&c, w->period);
	}
	if (!w->instructions && !w->cycles) {
		return;
	}
	if (w->unit == ITRACE_INSNS) {
		o->every = w->period > 1 ? w->period : 0;
	} else {
		o->every_ticks = floor_power(a->period);
	}
}

static void set_want(struct aux *a)
{
	const struct itrace *w = &a->setup.itrace;
	unsigned want = SONDE_PT_WANT_EVENTS;

	want |= w->instructions || w->cycles ? SONDE_PT_WANT_INSNS : 0;
	/* call chains need the far branches, too, which the bits of calls and returns leave out */
	if (w->branches || itrace_has_trails(w)) {
		want |= SONDE_PT_WANT_TAKEN;
	}
	a->flow.want = want;
}

static void set_flow(struct aux *a)
{
	unsigned shift =
	        a->info.mtc_freq_bits != 0 ? (unsigned)__builtin_ctzll(a->info.mtc_freq_bits) : 0;

	a->flow = (struct sonde_pt_flow_options){.size = sizeof(a->flow),
	        .keep_position = true,
	        .time = true,
	        .psbs = a->setup.itrace.power,
	        .guests = true,
	        .clock = {.cpu = a->setup.cpu,
	                .tsc_ratio_numerator = (uint32_t)a->info.tsc_ctc_ratio_n,
	                .tsc_ratio_denominator = (uint32_t)a->info.tsc_ctc_ratio_d,
	                .nominal_ratio = (uint32_t)a->info.max_nonturbo_ratio,
	                .mtc_shift = (uint8_t)((a->attr->config & a->info.mtc_freq_bits) >> shift &
	                                       15)}};
}

int aux_add_moves(
        const struct aux *a, const struct aux_queue *q, size_t range, struct sonde_pt_flow *flow)
{
	for (size_t i = range + 1; i < q->nranges; i++) {
		const struct sonde_pt_move move = {.at = aux_tsc(&a->clock, q->ranges[i].time),
		        .space = q->ranges[i].space,
		        .by_tsc = true};

		if (q->ranges[i].space != q->ranges[i - 1].space) {
			TRY(sonde_pt_flow_move(flow, &move));
		}
	}
	return 0;
}

/* Without times the clock is 1 when the trace begins, and each instruction takes a tick. */
static void start_ticks(struct pt_ticks *t)
{
	t->timeless = true;
	t->at = t->every;
	t->tsc = 1;
	t->insns = 0;
	t->number = t->limit = t->every > 1 ? t->every - 1 : 1;
}

/*
 * Branches need no steps without call chains, depths, branch stacks, Event Trace and the letter A. Opening need not
 * make them, but only count them, where nothing but their class decides which are samples: no guests
 * and no cycles.
 */
static void set_batches(struct aux *a)
{
	const struct itrace *w = &a->setup.itrace;
	bool user = (a->attr->flags & UINT64_C(1) << SONDE_FLAG_EXCLUDE_KERNEL) != 0;

	a->batches = w->branches && !itrace_has_trails(w) && !a->event_trace && !w->approximate;
	a->counts = a->batches && user && !w->instructions && !a->cycles && !w->returns;
	aux_flags_make(a);
}

/* Lets a flow pass branches: counts them, or returns many at once. false: out of memory. */
static bool pass_branches(const struct aux *a, struct sonde_pt_flow *flow, bool counts)
{
	if (counts && a->counts) {
		flow->passed.on = true;
		flow->wanted.kinds &= ~SONDE_PT_WANT_TAKEN;
		return true;
	}
	return !a->batches || pt_batch_start(flow);
}

static struct sonde_pt_flow *flow_at(const struct aux *a, const struct aux_queue *q, size_t range)
{
	struct sonde_pt_flow_options o = a->flow;
	struct sonde_pt_flow *flow;

	o.space = q->ranges[range].space;
	flow = sonde_pt_flow_new(a->code.graph, q->bytes.p, q->bytes.n, &o);
	if (flow != NULL) {
		flow->wanted.unnumbered = o.want == SONDE_PT_WANT_EVENTS;
	}
	if (flow != NULL && a->timeless && o.every_ticks != 0) {
		start_ticks(&flow->wanted.ticks);
	}
	if (flow != NULL && aux_add_moves(a, q, range, flow) < 0) {
		sonde_pt_flow_free(flow);
		return NULL;
	}
	return flow;
}

static struct aux_segment *add_segment(struct aux *a, const struct aux_follower *f, size_t queue)
{
	struct aux_segment *s;

	if (!array_reserve(
	            &a->segments, &a->segments_cap, a->nsegments + 1, sizeof(*a->segments))) {
		return NULL;
	}
	s = &a->segments[a->nsegments++];
	*s = (struct aux_segment){.queue = queue,
	        .start = pt_place_of(f->flow),
	        .tally = f->tally,
	        .range = f->range};
	s->tally.ticks = f->flow->wanted.ticks;
	s->end = s->start.psb + SEGMENT_BYTES;
	return s;
}

/* Keeps the records of a segment that opening has made, if they are complete. */
static int keep_records(struct aux *a, struct aux_segment *s, const struct aux_follower *f)
{
	size_t bytes = aux_room_bytes(f->room);

	if (f->made != f->records || f->records == 0 || bytes > KEPT_BYTES ||
	        bytes > KEPT_MAX - a->kept) {
		return 0;
	}
	s->kept = aux_room_copy(f->room);
	a->kept += bytes;
	return s->kept != NULL ? 0 : SONDE_ENOMEM;
}

static int scan_segment(struct aux *a, struct aux_follower *f, size_t queue)
{
	struct aux_segment *s = add_segment(a, f, queue);

	if (s == NULL) {
		return SONDE_ENOMEM;
	}
	f->keeps = &s->trails;
	TRY(aux_pebs_keep(f, s));
	TRY(aux_follow_thread(f));
	f->records = 0;
	f->made = 0;
	aux_room_clear(f->room);
	f->flow->part.pause_at = s->end;
	f->flow->part.paused = false;
	TRY(aux_follow(f));
	s->records = f->records;
	s->last = f->tally.time;
	return keep_records(a, s, f);
}

static int scan_flow(struct aux *a, struct aux_follower *f, size_t queue)
{
	int rc;

	f->flow = flow_at(a, f->queue, 0);
	if (f->flow == NULL || !pass_branches(a, f->flow, true)) {
		sonde_pt_flow_free(f->flow);
		return SONDE_ENOMEM;
	}
	do {
		rc = scan_segment(a, f, queue);
	} while (rc >= 0 && f->flow->part.paused);
	sonde_pt_flow_free(f->flow);
	return rc;
}

static int scan_queue(struct aux *a, size_t queue)
{
	struct aux_room room = {0};
	struct aux_follower f = {.a = a,
	        .queue = &a->queues[queue],
	        .tally = {.skip = a->setup.itrace.skip},
	        .room = a->setup.itrace.quick != 0 ? NULL : &room,
	        .room_max = KEPT_BYTES,
	        .counts = calloc(a->nevents + 1, sizeof(*f.counts)),
	        .pasts = a->pasts.n != 0 ? &a->pasts : NULL};
	int rc = SONDE_ENOMEM;

	if (f.counts == NULL) {
		return rc;
	}
	rc = a->setup.itrace.quick != 0 ? aux_quick_scan(a, &f, queue) : scan_flow(a, &f, queue);

	if (rc >= 0 && f.pasts != NULL) {
		rc = aux_pasts_reach(&f, UINT64_MAX);
	}
	trails_fini(&f.trails);
	aux_room_fini(&room);
	for (size_t i = 0; i < a->nevents; i++) {
		a->events[i].samples += f.counts[i].samples;
		a->events[i].period += f.counts[i].period;
	}
	free(f.counts);
	a->errors += f.errors;
	a->skipped += f.skipped;
	a->unnamed += f.unnamed;
	return rc;
}

int aux_open(struct aux *a, const struct aux_setup *setup)
{
	a->setup = *setup;
	find_attr(a);
	if (a->attr == NULL) {
		return 0;
	}
	a->timeless = (a->attr->config & a->info.tsc_bit) == 0 || setup->itrace.timeless;
	a->cycles = (a->attr->config & 1u << 1) != 0; /* the term cyc */
	a->event_trace = (a->attr->config & EVENT_TRACE) != 0;
	set_clock(a);
	set_flow(a);
	set_want(a);
	set_period(a);
	TRY(aux_filters_set(a));
	set_batches(a);
	TRY(aux_code_init(&a->code, setup->frames));
	TRY(aux_events_make(a));
	TRY(aux_queues_make(a));
	TRY(aux_pasts_begin(a));
	for (size_t i = 0; i < a->nqueues; i++) {
		TRY(scan_queue(a, i));
	}
	aux_pebs_report(a);
	return 0;
}

static int read_segment(const struct aux *a, size_t segment, struct aux_room *room)
{
	const struct aux_segment *s = &a->segments[segment];
	struct aux_follower f = {.a = a,
	        .queue = &a->queues[s->queue],
	        .tally = s->tally,
	        .range = s->range,
	        .kept = &s->trails,
	        .room = room};
	int rc;

	if (s->records == 0) {
		return 0;
	}
	if (s->pebs != NULL) {
		f.pebs = *s->pebs;
	}
	if (a->setup.itrace.quick != 0) {
		rc = aux_quick_read(&f, s);
		trails_fini(&f.trails);
		return rc;
	}
	if (s->kept != NULL) {
		return aux_room_append(room, s->kept);
	}
	f.flow = flow_at(a, f.queue, s->range);
	if (f.flow == NULL || !pass_branches(a, f.flow, false)) {
		sonde_pt_flow_free(f.flow);
		return SONDE_ENOMEM;
	}
	pt_place_goto(f.flow, &s->start);
	if (s->start.at != 0) {
		f.flow->wanted.ticks = s->tally.ticks;
	}
	f.flow->part.pause_at = s->end;
	rc = aux_follow_thread(&f);
	if (rc == 0) {
		rc = aux_follow(&f);
		assert(rc < 0 || (f.records == s->records && f.tally.time == s->last));
	}
	trails_fini(&f.trails);
	sonde_pt_flow_free(f.flow);
	return rc;
}

int aux_read(const struct aux *a, size_t segment, struct aux_room *room)
{
	return segment < a->nsegments ? read_segment(a, segment, room) : aux_lost_read(a, room);
}

size_t aux_events(const struct aux *a)
{
	return a->nevents;
}

const struct aux_event *aux_event(const struct aux *a, size_t i)
{
	return &a->events[i];
}

bool aux_timeless(const struct aux *a)
{
	return a->timeless;
}

uint64_t aux_errors(const struct aux *a)
{
	return a->errors + aux_lost_errors(a);
}

size_t aux_segments(const struct aux *a)
{
	return a->nsegments + (aux_lost_errors(a) != 0);
}

bool aux_is_one_queue(const struct aux *a)
{
	return a->nqueues == 1 && aux_lost_errors(a) == 0;
}

struct aux_segment_times aux_segment_times(const struct aux *a, size_t segment)
{
	const struct aux_segment *s = &a->segments[segment];

	if (segment == a->nsegments) {
		return aux_lost_times(a);
	}
	return (struct aux_segment_times){
	        .first = s->tally.time, .last = s->last, .records = s->records};
}
