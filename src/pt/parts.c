/* SPDX-License-Identifier: MIT */
/*
 * Steps on many threads. The trace is cut at PSBs into parts, which are processed in windows, so
 * that memory does not grow with the trace:
 *
 *	            PSB        PSB        PSB          little is pending before a part
 *	part  0     |  1       |  2       |  3         that its PSB+ lacks
 *	      >-----+-->                               1. each is followed without output, in parallel,
 *	            >----------+-->                       from after its own PSB+ to after the next
 *	                       >----------+-->
 *	      T0    T1         T2         T3           2. joined in order: the state where the part
 *	                                                  before ended has the totals until there
 *	      >-----><---------><---------><--         3. each is followed again from that state,
 *	                                                  with steps, in parallel
 *
 * If the state before a PSB+ differs from the state that its part began with, the part is followed
 * again from the right state, by one thread, before its successor is joined. So however often that
 * happens the steps are those of the whole trace; it only costs time.
 *
 * If time is used, its packets are read ahead for each window, as they depend on all before them.
 */
#include "pt/flow.h"

#include "core/pool.h"
#include "pt/place.h"

#include <stdlib.h>
#include <string.h>

#define PART_STEPS (16u << 10) /* minimum bytes of a part; its output may be kept as text */
#define WINDOW_JOB 32 /* parts of a window for each thread */
#define CARRIED    UINT64_MAX /* the value is taken over from the part before */

struct part {
	uint64_t begin, end; /* offsets of PSBs; 0 and UINT64_MAX at the ends */
	struct sonde_pt_time time; /* the time before the part */
	bool cycled;
	bool usable; /* `first` and `last` are valid */
	struct pt_place first, last; /* after its own PSB+, and after the one at `end` */
	struct pt_place start; /* the right state, from which the part is followed to `end` */
	bool skipped; /* an earlier part extends past this one */
};

struct parts {
	struct sonde_pt_flow *flow;
	struct sonde_pt_flow **workers;
	unsigned jobs;
	struct part *parts; /* parts of the window */
	size_t count, cap;
	struct pt_place place; /* the right state where the next part begins */
	uint64_t next; /* offset where the next part begins */
	unsigned want; /* the caller's */
	sonde_pt_part_fn work, emit;
	void *arg;
};

/* Returns where the part that begins there ends. */
static uint64_t cut(const struct sonde_pt_flow *f, uint64_t begin)
{
	const struct pt_cursor *c = &f->cursor;
	uint64_t size = (uint64_t)(c->end - c->begin);
	uint64_t step = f->options.part != 0 ? f->options.part : PART_STEPS;
	const uint8_t *psb =
	        step < size - begin ? pt_find_psb(c->begin + begin + step, c->end) : NULL;

	return psb != NULL ? (uint64_t)(psb - c->begin) : UINT64_MAX;
}

/* Reads packets up to an offset and follows the time. */
static void read_time(struct pt_cursor *c, struct part *to)
{
	struct sonde_pt_packet p;

	while ((uint64_t)(c->p - c->begin) < to->begin) {
		uint64_t cycles;
		int rc;

		while (c->p < c->end && (c->p[0] & 1) == 0 && c->p[0] > 2 && c->bip_size == 0) {
			c->p++;
			to->cycled = false;
		}
		if ((uint64_t)(c->p - c->begin) >= to->begin) {
			return;
		}
		rc = pt_cursor_next(c, &p);
		if (rc == 0) {
			return;
		}
		if (rc < 0) {
			c->p++;
			(void)pt_cursor_sync(c);
			continue;
		}
		cycles = to->time.cycles;
		(void)sonde_pt_time_packet(&to->time, &p);
		to->cycled = (to->cycled && p.kind != SONDE_PT_TNT64 && p.kind != SONDE_PT_TIP) ||
		             to->time.cycles != cycles || p.kind == SONDE_PT_CYC;
	}
}

/* Makes the next parts; count is 0 at the end of the trace. */
static void make_window(struct parts *p)
{
	struct pt_cursor c = p->flow->cursor;
	struct sonde_pt_time time = p->place.time;
	bool cycled = p->place.cycled;

	c.p = c.begin + p->place.at;
	c.bip_size = 0;
	for (p->count = 0; p->count < p->cap && p->next != UINT64_MAX; p->count++) {
		struct part *part = &p->parts[p->count];

		*part = (struct part){.begin = p->next, .time = time, .cycled = cycled};
		if (p->flow->options.time) {
			read_time(&c, part);
		}
		time = part->time;
		cycled = part->cycled;
		part->end = cut(p->flow, part->begin);
		p->next = part->end;
	}
}

static void run(struct sonde_pt_flow *f, uint64_t pause_at)
{
	f->part.pause_at = pause_at;
	f->part.paused = false;
	while (!f->part.paused && !f->done && !f->failed) {
		pt_flow_packet(f);
		f->queue.head = 0;
		f->queue.tail = 0;
	}
}

/* Follows a part without output: nothing is wanted. */
static int look(void *arg, unsigned worker, size_t task)
{
	struct parts *p = arg;
	struct part *part = &p->parts[task];
	struct sonde_pt_flow *f = p->workers[worker];

	f->wanted.kinds = SONDE_PT_WANT_NOTHING;
	pt_place_begin(f, part->begin, &part->time, part->cycled);
	f->wanted.sample_at = UINT64_MAX;
	if (part->begin != 0) {
		run(f, part->begin);
		if (!f->part.paused || f->psb.last != part->begin) {
			return f->failed ? SONDE_ENOMEM : SONDE_OK;
		}
		/* As in a flow that reached the end of the part. */
		f->now.fresh = false;
		f->now.by_psb = false;
		f->now.ip = f->now.enabled ? f->now.ip : CARRIED;
		f->now.has_disabled_at = true;
		f->now.disabled_at = CARRIED;
		f->clock.cycle_insns = CARRIED;
		f->insns = 0;
	}
	part->first = pt_place_of(f);
	run(f, part->end);
	part->last = pt_place_of(f);
	part->usable = true;
	return f->failed ? SONDE_ENOMEM : SONDE_OK;
}

/* Continues from the right state after a part's PSB+ to the PSB+ at its end. */
static void step_over(struct parts *p, const struct part *part)
{
	struct pt_place *place = &p->place;
	struct pt_place last = part->last;

	if (last.has_disabled_at && last.disabled_at == CARRIED) {
		last.has_disabled_at = place->has_disabled_at;
		last.disabled_at = place->disabled_at;
	}
	last.ip = last.ip != CARRIED ? last.ip : place->ip;
	if (last.cycle_insns == CARRIED) {
		last.cycles = place->cycles;
		last.cycle_insns = place->cycle_insns;
	} else {
		last.cycle_insns += place->insns;
	}
	last.insns += place->insns;
	*place = last;
}

static int join(struct parts *p)
{
	struct sonde_pt_flow *f = p->workers[0];

	for (size_t i = 0; i < p->count; i++) {
		struct part *part = &p->parts[i];

		part->start = p->place;
		part->skipped = p->place.done || p->place.psb >= part->end;
		if (part->skipped) {
			continue;
		}
		if (part->begin == 0 || (part->usable && pt_place_same(&part->first, &p->place))) {
			step_over(p, part);
			continue;
		}
		f->wanted.kinds = SONDE_PT_WANT_NOTHING;
		pt_place_goto(f, &part->start);
		f->wanted.sample_at = UINT64_MAX;
		run(f, part->end);
		if (f->failed) {
			return SONDE_ENOMEM;
		}
		p->place = pt_place_of(f);
	}
	return SONDE_OK;
}

static int drain(struct sonde_pt_flow *f)
{
	const struct sonde_pt_step *step;
	int rc;

	do {
		rc = sonde_pt_flow_next(f, &step);
	} while (rc > 0);
	return rc;
}

static int give(void *arg, unsigned worker, size_t task)
{
	struct parts *p = arg;
	struct part *part = &p->parts[task];
	struct sonde_pt_flow *f = p->workers[worker];

	if (part->skipped) {
		return SONDE_OK;
	}
	f->wanted.kinds = p->want;
	pt_place_goto(f, &part->start);
	f->part.pause_at = part->end;
	return p->work(p->arg, worker, f);
}

static int hand_on(void *arg, unsigned worker, size_t task)
{
	struct parts *p = arg;

	if (p->parts[task].skipped || p->emit == NULL) {
		return SONDE_OK;
	}
	return p->emit(p->arg, worker, p->workers[worker]);
}

static int run_windows(struct parts *p)
{
	int rc = SONDE_OK;

	for (;;) {
		make_window(p);
		if (p->count == 0 || p->place.done) {
			return rc;
		}
		rc = pool_run(p->jobs, p->count, look, p);
		if (rc == SONDE_OK) {
			rc = join(p);
		}
		if (rc == SONDE_OK) {
			rc = pool_run_ordered(p->jobs, p->count, give, hand_on, p);
		}
		if (rc < 0) {
			return rc;
		}
	}
}

/* Follows one part after the other on the caller's thread. */
static int run_alone(struct parts *p)
{
	struct sonde_pt_flow *f = p->flow;
	uint64_t end = (uint64_t)(f->cursor.p - f->cursor.begin);
	int rc;

	do {
		end = end != UINT64_MAX ? cut(f, end) : end;
		f->part.pause_at = end;
		f->part.paused = false;
		rc = p->work(p->arg, 0, f);
		if (rc >= 0) {
			rc = drain(f);
		}
		if (rc >= 0 && p->emit != NULL) {
			rc = p->emit(p->arg, 0, f);
		}
	} while (rc >= 0 && f->part.paused);
	f->part.pause_at = UINT64_MAX;
	f->part.paused = false;
	return rc < 0 ? rc : SONDE_OK;
}

static bool make_workers(struct parts *p)
{
	const struct sonde_pt_flow *f = p->flow;

	p->cap = (size_t)p->jobs * WINDOW_JOB;
	p->parts = calloc(p->cap, sizeof(*p->parts));
	p->workers = calloc(p->jobs, sizeof(struct sonde_pt_flow *));
	for (unsigned i = 0; p->workers != NULL && i < p->jobs; i++) {
		p->workers[i] = sonde_pt_flow_new(f->graph, f->cursor.begin,
		        (size_t)(f->cursor.end - f->cursor.begin), &f->options);
		if (p->workers[i] == NULL) {
			return false;
		}
	}
	return p->workers != NULL && p->parts != NULL;
}

int sonde_pt_flow_parts(
        struct sonde_pt_flow *flow, sonde_pt_part_fn work, sonde_pt_part_fn emit, void *arg)
{
	struct parts p = {.flow = flow,
	        .jobs = flow->options.jobs < POOL_JOBS_MAX ? flow->options.jobs : POOL_JOBS_MAX,
	        .want = flow->wanted.kinds,
	        .work = work,
	        .emit = emit,
	        .arg = arg};
	int rc;

	/* State that a part does not know at its beginning. */
	if (p.jobs < 2 || flow->options.ticks || flow->options.every_ticks != 0 ||
	        flow->options.choose_space != NULL || flow->options.guests ||
	        flow->code.nmoves != 0 || flow->psb.synced || flow->done ||
	        flow->cursor.p != flow->cursor.begin) {
		return run_alone(&p);
	}
	p.place.time = flow->clock.time;
	rc = make_workers(&p) ? run_windows(&p) : SONDE_ENOMEM;
	for (unsigned i = 0; p.workers != NULL && i < p.jobs; i++) {
		sonde_pt_flow_free(p.workers[i]);
	}
	free(p.workers);
	free(p.parts);
	flow->done = true;
	return rc;
}
