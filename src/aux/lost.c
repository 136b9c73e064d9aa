/* SPDX-License-Identifier: MIT */
/*
 * Losses: AUX records say that a ring was full (TRUNCATED); each is an error, as in perf. What is
 * missing between two AUXTRACE records is counted in bytes.
 *
 *	AUX  u64 offset, size, flags
 */
#include "aux/inside.h"

#include "core/array.h"

#define TRUNCATED 1u /* flag of an AUX record */

int aux_lost_add(
        struct aux *a, const struct record *r, bool swap, const struct record_trailer *trailer)
{
	struct cursor c = cursor_make(r->body, swap);
	struct aux_lost lost = {.time = trailer->time,
	        .pid = trailer->pid,
	        .tid = trailer->tid,
	        .cpu = trailer->cpu};
	uint64_t flags;

	(void)cursor_u64(&c);
	(void)cursor_u64(&c);
	flags = cursor_u64(&c);
	if (c.bad || (flags & TRUNCATED) == 0) {
		return 0;
	}
	if (!array_reserve(&a->lost, &a->lost_cap, a->nlost + 1, sizeof(lost))) {
		return SONDE_ENOMEM;
	}
	a->lost[a->nlost++] = lost;
	return 0;
}

size_t aux_lost_errors(const struct aux *a)
{
	const struct itrace *w = &a->setup.itrace;

	return w->errors && !w->no_lost_errors && a->attr != NULL ? a->nlost : 0;
}

struct aux_segment_times aux_lost_times(const struct aux *a)
{
	struct aux_segment_times t = {.first = UINT64_MAX, .records = aux_lost_errors(a)};

	for (size_t i = 0; i < t.records; i++) {
		uint64_t time = a->timeless ? 0 : a->lost[i].time;

		t.first = time < t.first ? time : t.first;
		t.last = time > t.last ? time : t.last;
	}
	return t;
}

int aux_lost_read(const struct aux *a, struct aux_room *room)
{
	size_t n = aux_lost_errors(a);
	uint64_t last = 0;

	for (size_t i = 0; i < n; i++) {
		const struct aux_lost *l = &a->lost[i];
		const struct aux_error_of e = {.code = AUX_ERROR_LOST,
		        .text = aux_error_text(AUX_ERROR_LOST),
		        .cpu = l->cpu,
		        .pid = l->pid,
		        .tid = l->tid,
		        .time = a->timeless ? 0 : l->time};

		last = e.time > last ? e.time : last;
		TRY(aux_error_write(a, room, &e, last));
	}
	return 0;
}

/* Between pieces that follow each other in the AUX area, bytes may be missing. */
static uint64_t missing_bytes(const struct aux *a)
{
	uint64_t missing = 0;

	if (a->info.snapshot_mode != 0) {
		return 0;
	}
	for (size_t i = 0; i < a->npieces; i++) {
		const struct aux_piece *p = &a->pieces[i];
		const struct aux_piece *next = p->next != AUX_NO_PIECE ? &a->pieces[p->next] : NULL;
		uint64_t end = p->offset + p->bytes.n;

		if (next != NULL && !p->sampled && next->offset > end) {
			missing += next->offset - end;
		}
	}
	return missing;
}

struct aux_losses aux_losses(const struct aux *a)
{
	struct aux_losses l = {.missing = missing_bytes(a), .skipped = a->skipped};

	l.bytes = l.missing;
	for (size_t i = 0; i < a->nqueues; i++) {
		l.bytes += a->queues[i].bytes.n;
	}
	return l;
}
