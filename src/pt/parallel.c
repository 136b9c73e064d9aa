/* SPDX-License-Identifier: MIT */
/*
 * Counting on many threads. A PSB+ contains all state needed to follow the trace after it, so the
 * trace is cut at PSBs; each part continues to the IP of the PSB+ after it, and counts are added
 * up.
 *
 * A part assumes that it begins at a packet and that nothing is pending. If the part before ended
 * elsewhere, or found that a flow over the whole trace would differ, one thread counts everything
 * again: that is rare (errors at a PSB, bytes that only look like one), and exact.
 */
#include "pt/parallel.h"

#include "core/array.h"
#include "core/pool.h"
#include "pt/edge.h"
#include "pt/flow.h"
#include "pt/sync.h"

#include <stdlib.h>

#define PART_MIN  (16u << 10)
#define PARTS_JOB 64 /* parts for each thread, so that all threads end at about the same time */

struct part {
	uint64_t begin,
	        end; /* offsets of PSBs; the first begins at 0, the last ends at UINT64_MAX */
	uint64_t ended_at;
	bool diverged;
};

struct parallel {
	struct sonde_pt_flow *flow;
	struct sonde_pt_flow **workers;
	struct part *parts;
	size_t count, cap;
	unsigned jobs;
};

static bool cut(struct parallel *p)
{
	const struct pt_cursor *c = &p->flow->cursor;
	size_t size = (size_t)(c->end - c->begin);
	size_t step = p->flow->options.part;
	uint64_t begin = 0;

	if (step == 0) {
		step = size / ((size_t)p->jobs * PARTS_JOB);
		step = step > PART_MIN ? step : PART_MIN;
	}
	for (;;) {
		uint64_t from = begin + step;
		const uint8_t *psb = from < size ? pt_find_psb(c->begin + from, c->end) : NULL;
		uint64_t end = psb != NULL ? (uint64_t)(psb - c->begin) : UINT64_MAX;

		if (!array_reserve(&p->parts, &p->cap, p->count + 1, sizeof(*p->parts))) {
			return false;
		}
		p->parts[p->count++] = (struct part){.begin = begin, .end = end};
		if (psb == NULL) {
			return true;
		}
		begin = end;
	}
}

/*
 * Follows a part. After its last part a thread adds up its counts while they are in its processor's
 * caches.
 */
static int work(void *arg, unsigned worker, size_t task)
{
	struct parallel *p = arg;
	struct sonde_pt_flow *f = p->workers[worker];
	struct part *part;

	if (task >= p->count) {
		return pt_counts_flush_hops(f) ? SONDE_OK : SONDE_ENOMEM;
	}
	part = &p->parts[task];
	pt_sync_restart(f, part->begin, part->end);
	if (!pt_flow_run(f)) {
		return SONDE_ENOMEM;
	}
	part->ended_at = f->part.ended_at;
	part->diverged = f->part.diverged;
	return f->part.diverged ? SONDE_EFORMAT : SONDE_OK;
}

static bool joins(const struct parallel *p)
{
	for (size_t i = 0; i < p->count; i++) {
		if (p->parts[i].diverged || p->parts[i].ended_at != p->parts[i].end) {
			return false;
		}
	}
	return true;
}

static bool make_workers(struct parallel *p)
{
	const struct sonde_pt_flow *f = p->flow;

	p->workers = calloc(p->jobs, sizeof(struct sonde_pt_flow *));
	for (unsigned i = 0; p->workers != NULL && i < p->jobs; i++) {
		p->workers[i] = sonde_pt_flow_new(f->graph, f->cursor.begin,
		        (size_t)(f->cursor.end - f->cursor.begin), &f->options);
		if (p->workers[i] == NULL || !pt_counts_new(p->workers[i])) {
			return false;
		}
	}
	return p->workers != NULL;
}

static int run(struct parallel *p)
{
	int rc;

	if (!cut(p)) {
		return SONDE_ENOMEM;
	}
	if (p->count == 1) {
		return 0;
	}
	if (!make_workers(p)) {
		return SONDE_ENOMEM;
	}
	rc = pool_run(p->jobs, p->count + p->jobs, work, p);
	if (rc < 0 && rc != SONDE_EFORMAT) {
		return rc;
	}
	if (rc < 0 || !joins(p)) {
		return 0;
	}
	for (unsigned i = 0; i < p->jobs; i++) {
		if (!pt_counts_merge(p->flow, p->workers[i])) {
			return SONDE_ENOMEM;
		}
	}
	p->flow->done = true;
	return 1;
}

int pt_parallel_count(struct sonde_pt_flow *f)
{
	struct parallel p = {.flow = f, .jobs = f->options.jobs};
	int rc;

	/* BDM64 needs the state of transactions, which a PSB+ may not contain. */
	if (p.jobs < 2 || f->options.time || f->options.choose_space != NULL || f->options.guests ||
	        f->code.nmoves != 0 || f->psb.synced || f->done || f->cursor.p != f->cursor.begin ||
	        (f->errata & PT_ERRATUM_BDM64) != 0) {
		return 0;
	}
	p.jobs = p.jobs > POOL_JOBS_MAX ? POOL_JOBS_MAX : p.jobs;
	rc = run(&p);
	for (unsigned i = 0; p.workers != NULL && i < p.jobs; i++) {
		sonde_pt_flow_free(p.workers[i]);
	}
	free(p.workers);
	free(p.parts);
	return rc;
}
