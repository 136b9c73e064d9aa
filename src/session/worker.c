/* SPDX-License-Identifier: MIT */
/* Workers: samples of a chunk as they stand, or of a window sorted by (time, offset). */
#include "session/inside.h"

#include "core/array.h"

#include <stdlib.h>

void session_worker_init(struct session_worker *w, struct sonde_session *s)
{
	*w = (struct session_worker){.session = s};
}

void session_worker_fini(struct session_worker *w)
{
	free(w->keys);
	free(w->spare);
	record_scratch_fini(&w->scratch);
	*w = (struct session_worker){0};
}

size_t session_chunks(const struct sonde_session *s)
{
	return s->nchunks;
}

void session_chunk_open(struct session_worker *w, size_t chunk)
{
	w->sorted = false;
	w->ncounts = 0;
	w->count = 0;
	w->offset = w->session->chunks[chunk];
	w->end = w->session->chunks[chunk + 1];
}

size_t session_windows(const struct sonde_session *s)
{
	return s->nrounds;
}

static bool key_before(const struct session_key *a, const struct session_key *b)
{
	return a->time != b->time ? a->time < b->time : a->offset < b->offset;
}

/* The end of the sorted run that begins at i. */
static size_t run_end(const struct session_key *keys, size_t n, size_t i)
{
	for (i++; i < n && !key_before(&keys[i], &keys[i - 1]); i++) {
	}
	return i;
}

static void merge_runs(
        const struct session_key *in, size_t a, size_t mid, size_t end, struct session_key *out)
{
	size_t b = mid;

	while (a < mid && b < end) {
		*out++ = key_before(&in[b], &in[a]) ? in[b++] : in[a++];
	}
	memcpy(out, in + a, (mid - a) * sizeof(*in));
	memcpy(out + (mid - a), in + b, (end - b) * sizeof(*in));
}

/* Natural merge sort: rings are sorted in themselves, so that runs are few and long. */
static bool sort_keys(struct session_worker *w)
{
	size_t n = w->nkeys;

	if (n == 0 || run_end(w->keys, n, 0) == n) {
		return true;
	}
	if (!array_reserve(&w->spare, &w->spare_cap, w->keys_cap, sizeof(*w->spare))) {
		return false;
	}
	for (;;) {
		size_t i = 0;
		size_t merges = 0;
		struct session_key *swap = w->keys;
		size_t cap = w->keys_cap;

		while (i < n) {
			size_t mid = run_end(w->keys, n, i);
			size_t end = mid < n ? run_end(w->keys, n, mid) : n;

			merge_runs(w->keys, i, mid, end, w->spare + i);
			merges++;
			i = end;
		}
		w->keys = w->spare;
		w->keys_cap = w->spare_cap;
		w->spare = swap;
		w->spare_cap = cap;
		if (merges <= 1) {
			return true;
		}
	}
}

static uint64_t sample_time(
        const struct file *f, const struct file_event *e, const struct record *r)
{
	return e->plan.time != RECORD_NOT_THERE ? load_u64(r->body.p + e->plan.time, f->swap)
	                                        : r->offset;
}

/* The place in time of a record that a window holds; false: it holds none such. */
static bool record_time(const struct session_worker *w, const struct record *r, uint64_t *time)
{
	const struct file *f = &w->session->file;
	const struct file_event *e;
	struct record_trailer trailer;

	if (r->type == RECORD_SAMPLE) {
		e = file_sample_event(f, r);
		if (e == NULL || r->body.n < e->plan.fixed_size) {
			return false;
		}
		*time = sample_time(f, e, r);
		return true;
	}
	if (f->nevents == 0 || r->type >= 32 || (w->kinds >> r->type & 1) == 0) {
		return false;
	}
	e = file_record_event(f, r);
	e = e != NULL ? e : &f->events[0];
	if (!record_trailer_decode(&e->plan, r->body, f->swap, &trailer)) {
		return false;
	}
	*time = e->plan.time != RECORD_NOT_THERE ? trailer.time : r->offset;
	return true;
}

/* Takes from [offset, end) the records with after < time <= limit (all until limit with all). */
static int gather(struct session_worker *w, uint64_t offset, uint64_t end, uint64_t after,
        uint64_t limit, bool all)
{
	const struct file *f = &w->session->file;
	struct record r;

	while (offset < end && file_next(f, &offset, &r, NULL) > 0) {
		uint64_t time;

		if (!record_time(w, &r, &time)) {
			continue;
		}
		if (time > limit || (time <= after && !all)) {
			continue;
		}
		if (!array_reserve(&w->keys, &w->keys_cap, w->nkeys + 1, sizeof(*w->keys))) {
			return SONDE_ENOMEM;
		}
		w->keys[w->nkeys++] = (struct session_key){.time = time, .offset = r.offset};
	}
	return 0;
}

/*
 * What the round has after the limit of the window before, and what the next round has until the
 * limit of this one, with records other than samples that are older than promised.
 */
int session_window_open(struct session_worker *w, size_t window)
{
	const struct sonde_session *s = w->session;
	const struct session_round *round = &s->rounds[window];
	uint64_t start = window == 0 ? file_begin(&s->file) : round[-1].end;
	uint64_t after = window == 0 ? 0 : round[-1].limit;

	w->sorted = true;
	w->ncounts = 0;
	w->count = 0;
	w->nkeys = 0;
	w->key = 0;
	TRY(gather(w, start, round->end, after, round->limit, window == 0));
	if (window + 1 < s->nrounds) {
		TRY(gather(w, round->end, round[1].end, 0, round->limit, true));
	}
	return sort_keys(w) ? 0 : SONDE_ENOMEM;
}

/* The sample of the next count of the record at hand; 0: it has no more. */
static int take_count(struct session_worker *w, struct session_sample *out)
{
	const struct file *f = &w->session->file;

	while (w->count < w->ncounts) {
		size_t i = w->count++;
		uint64_t id = w->counted.s.read_values[i].id;
		const struct file_event *e = w->periods[i] != 0 ? file_event_by_id(f, id) : NULL;

		if (e != NULL) {
			*out = w->counted;
			out->s.id = id;
			out->s.period = w->periods[i];
			out->event = (uint32_t)(e - f->events);
			return 1;
		}
	}
	return 0;
}

/* A sample with counts becomes one sample a count, if the walk found periods for them. */
static int take_counts(struct session_worker *w, const struct record *r, struct session_sample *out)
{
	size_t n = 0;

	w->periods = session_reads_find(&w->session->reads, &w->reads_hint, r->offset, &n);
	if (w->periods == NULL) {
		return 1;
	}
	w->counted = *out;
	w->counted_record = *r;
	w->count = 0;
	w->ncounts = n < out->s.read_len ? n : (size_t)out->s.read_len;
	return take_count(w, out);
}

/* Decodes the record into *out; 1, 0 when it is no usable sample, negative: no memory. */
static int take_sample(struct session_worker *w, const struct record *r, struct session_sample *out)
{
	const struct sonde_session *s = w->session;
	const struct file_event *e;
	int rc;

	if (r->type != RECORD_SAMPLE) {
		return 0;
	}
	e = file_sample_event(&s->file, r);
	if (e == NULL || r->body.n < e->plan.fixed_size) {
		return 0; /* reported by the walk */
	}
	rc = record_sample_decode(&e->plan, r->body, s->file.swap, &w->scratch, &out->s);
	if (rc < 0) {
		return rc;
	}
	if (e->plan.period == RECORD_NOT_THERE && e->attr.sample_period != 0) {
		out->s.period = e->attr.sample_period;
	}
	out->event = (uint32_t)(e - s->file.events);
	out->cpumode = r->misc & MISC_CPUMODE_MASK;
	out->offset = r->offset;
	out->view = timeline_at(s->timeline, &w->cursor, out->s.pid, out->s.tid,
	        e->plan.time != RECORD_NOT_THERE ? out->s.time : r->offset);
	if (s->reads.nrecords != 0 && out->s.read_len != 0) {
		return take_counts(w, r, out);
	}
	return 1;
}

/* The thread that a record is about: for a fork the one that forked. */
static void record_subject(const struct record *r, bool swap, uint32_t *pid, uint32_t *tid)
{
	struct cursor c = cursor_make(r->body, swap);
	uint32_t words[4];

	for (unsigned i = 0; i < 4; i++) {
		words[i] = cursor_u32(&c);
	}
	if (c.bad) {
		return;
	}
	switch (r->type) {
	case RECORD_MMAP:
	case RECORD_MMAP2:
	case RECORD_COMM:
		*pid = words[0];
		*tid = words[1];
		break;
	case RECORD_FORK:
		*pid = words[1];
		*tid = words[3];
		break;
	case RECORD_EXIT:
		*pid = words[0];
		*tid = words[2];
		break;
	default: break; /* the trailer says it */
	}
	*pid = *tid == 0 ? 0 : *pid; /* the kernel's own mappings have pid -1 */
}

/* 1, or 0 when the record is too short. */
static int take_record(struct session_worker *w, const struct record *r, struct session_sample *out)
{
	const struct sonde_session *s = w->session;
	const struct file_event *e = file_record_event(&s->file, r);
	struct record_trailer trailer;
	uint32_t pid, tid;

	e = e != NULL ? e : &s->file.events[0];
	if (!record_trailer_decode(&e->plan, r->body, s->file.swap, &trailer)) {
		return 0;
	}
	*out = (struct session_sample){.event = (uint32_t)(e - s->file.events),
	        .cpumode = r->misc & MISC_CPUMODE_MASK,
	        .offset = r->offset};
	out->s.pid = pid = trailer.pid;
	out->s.tid = tid = trailer.tid;
	out->s.time = trailer.time;
	out->s.cpu = trailer.cpu;
	record_subject(r, s->file.swap, &pid, &tid);
	out->view = timeline_at(s->timeline, &w->cursor, pid, tid,
	        e->plan.time != RECORD_NOT_THERE ? trailer.time : r->offset);
	return 1;
}

int session_worker_next_any(struct session_worker *w, struct record *r, struct session_sample *out)
{
	if (w->count < w->ncounts && take_count(w, out) > 0) {
		*r = w->counted_record;
		return 1;
	}
	while (w->key < w->nkeys) {
		uint64_t offset = w->keys[w->key++].offset;
		int rc = file_next(&w->session->file, &offset, r, NULL);

		if (rc > 0) {
			rc = r->type == RECORD_SAMPLE ? take_sample(w, r, out)
			                              : take_record(w, r, out);
		}
		if (rc != 0) {
			return rc;
		}
	}
	return 0;
}

int session_worker_next(struct session_worker *w, struct session_sample *out)
{
	const struct file *f = &w->session->file;
	struct record r;
	int rc;

	if (w->count < w->ncounts && take_count(w, out) > 0) {
		return 1;
	}
	if (w->sorted) {
		while (w->key < w->nkeys) {
			uint64_t offset = w->keys[w->key++].offset;

			rc = file_next(f, &offset, &r, NULL) > 0 ? take_sample(w, &r, out) : 0;
			if (rc != 0) {
				return rc;
			}
		}
		return 0;
	}
	while (w->offset < w->end && file_next(f, &w->offset, &r, NULL) > 0) {
		rc = take_sample(w, &r, out);
		if (rc != 0) {
			return rc;
		}
	}
	return 0;
}
