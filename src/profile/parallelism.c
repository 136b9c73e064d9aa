/* SPDX-License-Identifier: MIT */
/*
 * How many threads of the recording ran at a time, from context switches:
 *
 *	SWITCH in   its thread runs from then on        SWITCH out, EXIT   it does not run
 *
 * A thread whose first record is the end of its run had been running from the beginning. The idle
 * thread, tid 0, does not count.
 */
#include "profile/profile.h"

#include "abi/abi.h"
#include "core/array.h"
#include "core/hash.h"
#include "core/span.h"

#include <stdlib.h>

struct run_change {
	uint64_t time, offset; /* of the record */
	uint32_t tid;
	bool begins;
};

struct run_changes {
	struct run_change *list;
	size_t n, cap;
	size_t switches; /* those of context switches */
	bool swap; /* byte order of the records */
};

/* Threads by tid, and whether each runs. */
struct runners {
	struct index index;
	uint32_t *tids;
	bool *runs;
	size_t n, tids_cap, runs_cap;
};

static int change_order(const void *a, const void *b)
{
	const struct run_change *x = a, *y = b;

	if (x->time != y->time) {
		return x->time < y->time ? -1 : 1;
	}
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* EXIT: u32 pid, ppid, tid, ptid; u64 time */
static uint32_t exit_tid(const struct record *r, bool swap)
{
	struct cursor c = cursor_make(r->body, swap);

	(void)cursor_u64(&c);
	return cursor_u32(&c);
}

static int change_add(void *arg, const struct record *r, const struct session_sample *s)
{
	struct run_changes *x = arg;
	bool exits = r->type == RECORD_EXIT;
	struct run_change change = {.time = s->s.time,
	        .offset = r->offset,
	        .tid = exits ? exit_tid(r, x->swap) : s->s.tid,
	        .begins = !exits && (r->misc & MISC_SWITCH_OUT) == 0};

	if (change.tid == 0 || change.tid == UINT32_MAX) {
		return 0;
	}
	if (!array_reserve(&x->list, &x->cap, x->n + 1, sizeof(*x->list))) {
		return SONDE_ENOMEM;
	}
	x->list[x->n++] = change;
	x->switches += !exits;
	return 0;
}

/* Sets *runs to the state of a thread; *met: it has one already. SONDE_ENOMEM. */
static int runner_get(struct runners *r, uint32_t tid, bool **runs, bool *met)
{
	uint32_t hash = (uint32_t)hash_u64(tid), id;
	size_t at = hash;

	TRY(index_room(&r->index));
	while ((id = index_next(&r->index, hash, &at)) != INDEX_NONE && r->tids[id] != tid) {
		at++;
	}
	*met = id != INDEX_NONE;
	if (id == INDEX_NONE) {
		if (r->n >= UINT32_MAX - 1 ||
		        !array_reserve(&r->tids, &r->tids_cap, r->n + 1, sizeof(*r->tids)) ||
		        !array_reserve(&r->runs, &r->runs_cap, r->n + 1, sizeof(*r->runs))) {
			return SONDE_ENOMEM;
		}
		id = (uint32_t)r->n++;
		r->tids[id] = tid;
		index_put(&r->index, hash, at, id);
	}
	*runs = &r->runs[id];
	return 0;
}

/* Turns the changes, in order, into numbers of threads relative to the beginning. */
static int steps_make(
        const struct run_changes *x, struct runners *r, struct field_steps *out, uint32_t *first)
{
	int64_t running = 0;

	for (size_t i = 0; i < x->n; i++) {
		const struct run_change *c = &x->list[i];
		bool *runs, met;

		TRY(runner_get(r, c->tid, &runs, &met));
		*first += !met && !c->begins;
		running += met ? (int)c->begins - (int)*runs : c->begins ? 1 : -1;
		*runs = c->begins;
		out->steps[out->n++] =
		        (struct field_step){.time = c->time, .count = (int32_t)running};
	}
	return 0;
}

int profile_parallelism_make(struct profile *p)
{
	const uint32_t kinds =
	        1u << RECORD_SWITCH | 1u << RECORD_SWITCH_CPU_WIDE | 1u << RECORD_EXIT;
	struct run_changes x = {.swap = session_swap(p->session)};
	struct runners r = {0};
	uint32_t first = 0;
	int rc = session_each_record(p->session, kinds, change_add, &x);

	if (rc >= 0 && x.switches == 0) {
		rc = error_set(session_error(p->session), SONDE_EARG, NO_OFFSET,
		        "latency and parallelism need context switches, which were not recorded: "
		        "record with `sonde record --latency`");
	}
	p->steps.steps = rc >= 0 ? malloc((x.n + 1) * sizeof(*p->steps.steps)) : NULL;
	if (rc >= 0) {
		if (x.n != 0) {
			qsort(x.list, x.n, sizeof(*x.list), change_order);
		}
		rc = p->steps.steps != NULL ? steps_make(&x, &r, &p->steps, &first) : SONDE_ENOMEM;
	}
	p->steps.first = (int32_t)first;
	p->source.steps = &p->steps;
	free(x.list);
	index_fini(&r.index);
	free(r.tids);
	free(r.runs);
	return rc < 0 ? rc : 0;
}
