/* SPDX-License-Identifier: MIT */
/*
 * Deferred call chains. If the kernel does not walk a user stack in the interrupt, a sample's chain
 * ends with a mark and a cookie, and a separate record has the rest when the thread returns to user
 * space:
 *
 *	SAMPLE              kernel addresses..., PERF_CONTEXT_USER_DEFERRED (-640), cookie
 *	CALLCHAIN_DEFERRED  u64 cookie, u64 nr, u64 ips[nr] (a PERF_CONTEXT_USER mark first), sample_id
 *
 * A record belongs to all samples of the thread with its cookie. (linux/perf_event.h) Only events
 * with attr.defer_callchain have such marks: elsewhere -640 is data that the kernel took for an
 * address, as any other mark that it never writes.
 */
#include "core/array.h"
#include "frame/frame.h"

#include <stdlib.h>

int frame_deferred_add(
        struct frame_resolver *f, const struct record *r, uint32_t tid, uint64_t time)
{
	struct cursor c = cursor_make(r->body, f->swap);
	uint64_t cookie = cursor_u64(&c);
	uint64_t n = cursor_u64(&c);

	if (c.bad || n > (r->body.n - 16) / 8) {
		return 0;
	}
	if (!array_reserve(
	            &f->deferred, &f->deferred_cap, f->ndeferred + 1, sizeof(*f->deferred))) {
		return SONDE_ENOMEM;
	}
	f->deferred[f->ndeferred++] = (struct frame_deferred){.cookie = cookie,
	        .time = time,
	        .tid = tid,
	        .n = (uint32_t)n,
	        .words = r->body.p + 16};
	return 1;
}

static int deferred_compare(const void *a, const void *b)
{
	const struct frame_deferred *x = a, *y = b;

	if (x->tid != y->tid) {
		return x->tid < y->tid ? -1 : 1;
	}
	if (x->cookie != y->cookie) {
		return x->cookie < y->cookie ? -1 : 1;
	}
	if (x->time != y->time) {
		return x->time < y->time ? -1 : 1;
	}
	return x->words < y->words ? -1 : x->words > y->words;
}

void frame_deferred_sort(struct frame_resolver *f)
{
	if (f->ndeferred != 0) {
		qsort(f->deferred, f->ndeferred, sizeof(*f->deferred), deferred_compare);
	}
}

/* Returns the first record with this cookie after the sample; NULL: none. */
static const struct frame_deferred *deferred_find(
        const struct frame_resolver *f, const struct frame_deferred *key)
{
	size_t low = 0, high = f->ndeferred;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (deferred_compare(&f->deferred[mid], key) < 0) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	if (low == f->ndeferred || f->deferred[low].tid != key->tid ||
	        f->deferred[low].cookie != key->cookie) {
		return NULL;
	}
	return &f->deferred[low];
}

int frame_chain_join(
        struct frame_reader *r, const struct sonde_sample *s, struct frame_chain *chain)
{
	size_t own = chain->n - 2;
	struct frame_deferred key = {
	        .tid = s->tid, .cookie = chain->words[own + 1], .time = s->time};
	const struct frame_deferred *d = deferred_find(r->resolver, &key);

	chain->n = own;
	if (d == NULL) {
		return 0;
	}
	if (!array_reserve(&r->joined, &r->joined_cap, own + d->n + 1, sizeof(*r->joined))) {
		return SONDE_ENOMEM;
	}
	memcpy(r->joined, chain->words, own * sizeof(*r->joined));
	for (uint32_t i = 0; i < d->n; i++) {
		r->joined[own + i] = load_u64(d->words + (size_t)8 * i, r->resolver->swap);
	}
	chain->words = r->joined;
	chain->n = own + d->n;
	return 0;
}
