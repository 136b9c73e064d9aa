/* SPDX-License-Identifier: MIT */
/*
 * Queues: the traces of one processor, or of one thread.
 *
 *	AUXTRACE  u64 size, offset, reference  u32 idx, tid, cpu, 0, then `size` bytes of trace
 *
 * Records with the same idx belong to one queue; their bytes follow each other.
 */
#include "aux/inside.h"

#include "core/array.h"

#include <stdlib.h>

#define AUXTRACE_INTEL_PT 1u

struct aux *aux_new(void)
{
	return calloc(1, sizeof(struct aux));
}

static int add_info(struct aux *a, const struct record *r, bool swap)
{
	struct sonde_typed_record typed = {.auxtrace_info = {.type = 0}};

	(void)typed_decode(r, swap, NULL, &typed);
	if (typed.auxtrace_info.type == AUXTRACE_INTEL_PT) {
		a->info = typed.auxtrace_info.intel_pt;
		a->has_info = true;
	}
	return 0;
}

static int add_trace(struct aux *a, const struct record *r, bool swap, struct span trace)
{
	struct cursor c = cursor_make(r->body, swap);
	struct aux_piece piece = {.bytes = trace, .next = AUX_NO_PIECE};

	(void)cursor_u64(&c); /* size */
	piece.offset = cursor_u64(&c);
	(void)cursor_u64(&c); /* reference */
	piece.idx = cursor_u32(&c);
	piece.tid = (int32_t)cursor_u32(&c);
	piece.cpu = (int32_t)cursor_u32(&c);
	if (c.bad || trace.n == 0) {
		return 0;
	}
	if (!array_reserve(&a->pieces, &a->pieces_cap, a->npieces + 1, sizeof(piece))) {
		return SONDE_ENOMEM;
	}
	a->pieces[a->npieces++] = piece;
	return 0;
}

int aux_add_sample(struct aux *a, const struct sonde_sample *sample)
{
	bool by_cpu = a->info.per_cpu_mmaps != 0;
	struct aux_piece piece = {.bytes = {sample->aux, (size_t)sample->aux_len},
	        .idx = by_cpu ? sample->cpu : sample->tid,
	        .tid = by_cpu ? -1 : (int32_t)sample->tid,
	        .cpu = by_cpu ? (int32_t)sample->cpu : -1,
	        .next = AUX_NO_PIECE,
	        .sampled = true};

	if (sample->aux_len == 0) {
		return 0;
	}
	if (!array_reserve(&a->pieces, &a->pieces_cap, a->npieces + 1, sizeof(piece))) {
		return SONDE_ENOMEM;
	}
	a->pieces[a->npieces++] = piece;
	return 0;
}

static int add_start(struct aux *a, const struct record *r, bool swap)
{
	struct cursor c = cursor_make(r->body, swap);
	struct timeline_thread t = {.pid = cursor_u32(&c)};

	t.tid = cursor_u32(&c);
	if (c.bad) {
		return 0;
	}
	if (!array_reserve(&a->starts, &a->starts_cap, a->nstarts + 1, sizeof(t))) {
		return SONDE_ENOMEM;
	}
	a->starts[a->nstarts++] = t;
	return 0;
}

int aux_add(struct aux *a, const struct record *r, bool swap, struct span trace,
        const struct record_trailer *trailer)
{
	switch (r->type) {
	case RECORD_AUXTRACE_INFO: return add_info(a, r, swap);
	case RECORD_AUXTRACE: return add_trace(a, r, swap, trace);
	case RECORD_ITRACE_START: return add_start(a, r, swap);
	case RECORD_AUX: return aux_lost_add(a, r, swap, trailer);
	default: return 0;
	}
}

bool aux_has_info(const struct aux *a)
{
	return a->has_info;
}

bool aux_has_traces(const struct aux *a)
{
	return a->has_info && a->npieces != 0;
}

bool aux_thread(const struct aux *a, size_t i, uint32_t *tid)
{
	if (i >= a->npieces) {
		return false;
	}
	*tid = (uint32_t)a->pieces[i].tid;
	return true;
}

/* Appends a piece to its queue, which is made if needed. SONDE_ENOMEM. */
static int queue_piece(struct aux *a, size_t number)
{
	struct aux_piece *piece = &a->pieces[number];
	size_t at;
	uint32_t id;

	TRY(index_room(&a->by_idx));
	id = index_find_u32(&a->by_idx, piece->idx, &at);
	if (id != INDEX_NONE) {
		struct aux_queue *q = &a->queues[id];

		a->pieces[q->last].next = number;
		q->last = number;
		q->bytes.n += piece->bytes.n;
		return 0;
	}
	if (!array_reserve(&a->queues, &a->queues_cap, a->nqueues + 1, sizeof(*a->queues))) {
		return SONDE_ENOMEM;
	}
	index_put_u32(&a->by_idx, piece->idx, at, (uint32_t)a->nqueues);
	a->queues[a->nqueues++] = (struct aux_queue){.idx = piece->idx,
	        .tid = piece->tid,
	        .cpu = piece->cpu,
	        .first = number,
	        .last = number,
	        .bytes = piece->bytes};
	return 0;
}

/* Ends one of the traces that the pieces of a queue make: [from, to) of its joined bytes. */
static int end_trace(struct aux *a, size_t number, size_t from, size_t to)
{
	struct aux_queue *q = &a->queues[number];
	struct span bytes = {q->joined + from, to - from};

	if (from == 0) {
		q->bytes = bytes;
		return 0;
	}
	if (!array_reserve(&a->queues, &a->queues_cap, a->nqueues + 1, sizeof(*a->queues))) {
		return SONDE_ENOMEM;
	}
	q = &a->queues[a->nqueues++];
	*q = a->queues[number];
	q->bytes = bytes;
	q->joined = NULL;
	return 0;
}

/*
 * The bytes that two pieces have in common. The first one may end with up to 7 bytes of padding that
 * the second one does not have.
 */
static int overlap(struct span before, struct span after, size_t *out)
{
	for (unsigned pad = 0; pad < 8; pad++) {
		TRY(aux_overlap(before, after, out));
		if (*out != 0 || before.n == 0 || before.p[before.n - 1] != 0) {
			return 0;
		}
		before.n--;
	}
	return 0;
}

/*
 * Sets the bytes of a queue with several pieces: a flow needs them in one block. Of a snapshot, or of
 * the trace in a sample, that begins with the end of the one before, only the rest is new. If nothing
 * is common, another trace begins, which becomes a queue of its own.
 */
static int join(struct aux *a, size_t number)
{
	struct aux_queue *q = &a->queues[number];
	struct span before = {0};
	size_t from = 0, at = 0;
	uint8_t *joined = malloc(q->bytes.n);

	q->joined = joined;
	if (joined == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t i = q->first; i != AUX_NO_PIECE; i = a->pieces[i].next) {
		const struct span p = a->pieces[i].bytes;
		size_t skip = 0;

		if (before.n != 0 && (a->info.snapshot_mode != 0 || a->pieces[i].sampled)) {
			TRY(overlap(before, p, &skip));
			if (skip == 0) {
				TRY(end_trace(a, number, from, at));
				from = at;
			}
		}
		memcpy(joined + at, p.p + skip, p.n - skip);
		at += p.n - skip;
		before = p;
	}
	return end_trace(a, number, from, at);
}

/* The process of a thread, by ITRACE_START records, else by the timeline. */
static uint32_t process_of(const struct aux *a, uint32_t tid)
{
	const struct timeline *t = a->setup.timeline;
	struct timeline_cursor *cursor;
	struct timeline_life life;
	uint32_t pid = UINT32_MAX;

	for (size_t i = 0; i < a->nstarts; i++) {
		if (a->starts[i].tid == tid) {
			return a->starts[i].pid;
		}
	}
	cursor = calloc(1, sizeof(*cursor));
	for (size_t i = 0; cursor != NULL && i < timeline_threads(t); i++) {
		if (timeline_thread(t, cursor, i, &life) == 0 && life.tid == tid) {
			pid = life.pid;
		}
	}
	if (cursor != NULL) {
		timeline_cursor_fini(t, cursor);
	}
	free(cursor);
	return pid;
}

/* Adds a range, unless it continues the one before. */
static int add_range(struct aux_queue *q, const struct aux_range *range)
{
	const struct aux_range *last = q->nranges != 0 ? &q->ranges[q->nranges - 1] : NULL;

	if (last != NULL && last->pid == range->pid && last->tid == range->tid &&
	        last->space == range->space) {
		return 0;
	}
	if (!array_reserve(&q->ranges, &q->ranges_cap, q->nranges + 1, sizeof(*range))) {
		return SONDE_ENOMEM;
	}
	q->ranges[q->nranges++] = *range;
	return 0;
}

/* The thread of a queue at a time, and until when it is the same one. */
static struct aux_range thread_at(struct aux *a, const struct aux_queue *q,
        struct timeline_cursor *cursor, uint64_t time, uint64_t *until)
{
	const struct timeline *t = a->setup.timeline;
	uint32_t cpu = (uint32_t)q->cpu;
	struct timeline_thread who;

	*until = UINT64_MAX;
	if (q->tid != -1 || q->cpu == -1) {
		return (struct aux_range){.pid = q->pid, .tid = (uint32_t)q->tid};
	}
	who = timeline_running(t, cursor, cpu, time);
	*until = timeline_switch_after(t, cpu, time);
	return (struct aux_range){.pid = who.pid, .tid = who.tid};
}

/* Sets *out to the code of a thread at a time. 0 or a negative status. */
static int space_at(struct aux *a, struct timeline_cursor *cursor, const struct aux_range *who,
        uint64_t time, struct aux_space *out)
{
	const struct timeline *t = a->setup.timeline;

	*out = (struct aux_space){.view = *timeline_at(t, cursor, who->pid, who->tid, time),
	        .pokes = frame_pokes_until(&a->setup.frames->pokes, time)};
	if (a->setup.guests && cursor->failed >= 0) {
		out->guest = *timeline_guest_at(t, cursor, who->pid, who->tid, time);
	}
	return cursor->failed;
}

/* Adds a range for each change of a queue's thread, and of its address space. */
static int add_ranges(struct aux *a, struct aux_queue *q, struct timeline_cursor *cursor)
{
	const struct frame_pokes *pokes = &a->setup.frames->pokes;
	uint64_t time = a->timeless ? UINT64_MAX - 1 : 0;
	uint64_t until;

	if (q->tid != -1) {
		q->pid = process_of(a, (uint32_t)q->tid);
	}
	do {
		struct aux_range range = thread_at(a, q, cursor, time, &until);
		struct aux_space space;

		TRY(space_at(a, cursor, &range, time, &space));
		range.time = a->timeless ? 0 : time;
		TRY(aux_code_space(&a->code, &space, &range.space));
		TRY(add_range(q, &range));
		until = space.view.until < until ? space.view.until : until;
		if (a->setup.guests && space.guest.until < until) {
			until = space.guest.until;
		}
		if (space.pokes < pokes->n && pokes->items[space.pokes].time < until) {
			until = pokes->items[space.pokes].time;
		}
		until = until > time ? until : UINT64_MAX;
		time = until;
	} while (!a->timeless && until != UINT64_MAX);
	return 0;
}

static int make_ranges(struct aux *a)
{
	struct timeline_cursor *cursor = calloc(1, sizeof(*cursor));
	int rc = cursor != NULL ? 0 : SONDE_ENOMEM;

	for (size_t i = 0; rc == 0 && i < a->nqueues; i++) {
		rc = add_ranges(a, &a->queues[i], cursor);
	}
	if (cursor != NULL) {
		timeline_cursor_fini(a->setup.timeline, cursor);
	}
	free(cursor);
	return rc;
}

int aux_queues_make(struct aux *a)
{
	size_t n;

	for (size_t i = 0; i < a->npieces; i++) {
		TRY(queue_piece(a, i));
	}
	n = a->nqueues;
	for (size_t i = 0; i < n; i++) {
		TRY(a->queues[i].first != a->queues[i].last ? join(a, i) : 0);
	}
	return make_ranges(a);
}

void aux_queues_free(struct aux *a)
{
	for (size_t i = 0; i < a->nqueues; i++) {
		free(a->queues[i].joined);
		free(a->queues[i].ranges);
	}
	free(a->queues);
	index_fini(&a->by_idx);
	free(a->pieces);
	free(a->starts);
	free(a->lost);
}
