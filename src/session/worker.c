/* SPDX-License-Identifier: MIT */
/* Workers: samples of a chunk in any order, or of a window sorted by (time, stream, sequence). */
#include "frame/jit.h"
#include "session/inside.h"

#include "core/array.h"

#include <stdlib.h>

void session_worker_init(struct session_worker *w, struct sonde_session *s)
{
	*w = (struct session_worker){.session = s};
}

void session_worker_fini(struct session_worker *w)
{
	if (w->session != NULL && w->session->timeline != NULL) {
		timeline_cursor_fini(w->session->timeline, &w->cursor);
	}
	for (size_t i = 0; w->session != NULL && w->states != NULL && i < w->session->nsources;
	        i++) {
		if (w->session->sources[i]->ops->forget != NULL) {
			w->session->sources[i]->ops->forget(w->states[i].own);
		}
	}
	free(w->states);
	free(w->keys.p);
	free(w->spare.p);
	record_scratch_fini(&w->scratch);
	*w = (struct session_worker){0};
}

size_t session_chunks(const struct sonde_session *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->nsources; i++) {
		n += s->sources[i]->chunks;
	}
	return n;
}

static void worker_rewind(struct session_worker *w, bool sorted)
{
	w->sorted = sorted;
	w->ncounts = 0;
	w->count = 0;
	w->nbranches = 0;
	w->nitems = 0;
	w->item = 0;
	w->keys.n = 0;
	w->key = 0;
	for (size_t i = 0; w->states != NULL && i < w->session->nsources; i++) {
		w->states[i].at = 0;
	}
}

/* Makes the worker's states; false: out of memory. */
static bool has_states(struct session_worker *w)
{
	if (w->states == NULL) {
		w->states = calloc(w->session->nsources, sizeof(*w->states));
		w->failed = w->states == NULL ? SONDE_ENOMEM : w->failed;
	}
	return w->states != NULL;
}

void session_chunk_open(struct session_worker *w, size_t chunk)
{
	struct session_source *const *source = w->session->sources;
	size_t own = chunk; /* in the source */

	while (own >= (*source)->chunks) {
		own -= (*source)->chunks;
		source++;
	}
	worker_rewind(w, false);
	w->source = *source;
	w->chunk = own;
	session_progress(w->session, chunk, session_chunks(w->session));
}

size_t session_windows(const struct sonde_session *s)
{
	if (s->windows != NULL) {
		return s->nwindows;
	}
	return s->nsources != 0 ? s->sources[0]->nlimits : 0;
}

static bool key_before(const struct session_key *a, const struct session_key *b)
{
	return a->time != b->time ? a->time < b->time : a->place < b->place;
}

/* Returns the end of the sorted run that begins at i. */
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

/* Natural merge sort: each ring is sorted, so runs are few and long. */
static bool sort_keys(struct session_worker *w)
{
	size_t n = w->keys.n;

	if (n == 0 || run_end(w->keys.p, n, 0) == n) {
		return true;
	}
	if (!array_reserve(&w->spare.p, &w->spare.cap, w->keys.cap, sizeof(*w->spare.p))) {
		return false;
	}
	w->spare.n = n;
	for (;;) {
		size_t i = 0;
		size_t merges = 0;
		struct session_keys swap = w->keys;

		while (i < n) {
			size_t mid = run_end(w->keys.p, n, i);
			size_t end = mid < n ? run_end(w->keys.p, n, mid) : n;

			merge_runs(w->keys.p, i, mid, end, w->spare.p + i);
			merges++;
			i = end;
		}
		w->keys = w->spare;
		w->spare = swap;
		if (merges <= 1) {
			return true;
		}
	}
}

/* Opens a window of any times. */
static int range_open(struct session_worker *w, const struct session_window *range)
{
	const struct sonde_session *s = w->session;

	worker_rewind(w, true);
	if (!has_states(w)) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < s->nsources; i++) {
		TRY(s->sources[i]->ops->gather(s->sources[i], range, &w->states[i], &w->keys));
	}
	return sort_keys(w) ? 0 : SONDE_ENOMEM;
}

int session_window_open(struct session_worker *w, size_t window)
{
	const uint64_t *limits = w->session->sources[0]->limits;
	struct session_window own;

	if (w->session->windows != NULL) {
		own = w->session->windows[window];
		own.kinds = w->kinds;
		return range_open(w, &own);
	}
	return range_open(w, &(struct session_window){.after = window != 0 ? limits[window - 1] : 0,
	                             .limit = limits[window],
	                             .first = window == 0,
	                             .kinds = w->kinds});
}

static bool refill_chunk(struct session_worker *w)
{
	int n = SONDE_ENOMEM;

	if (has_states(w)) {
		n = w->source->ops->read(w->source, w->chunk, &w->states[w->source->stream],
		        w->kinds, w->items, SESSION_BATCH);
	}
	w->failed = n < 0 ? n : w->failed;
	w->nitems = n > 0 ? (size_t)n : 0;
	return w->nitems != 0;
}

/* Fetches the next records of the chunk or window; false: no more. */
static bool refill(struct session_worker *w)
{
	const struct session_key *keys;
	size_t left = w->keys.n - w->key;
	size_t n = 1;

	w->item = 0;
	w->nitems = 0;
	if (!w->sorted) {
		return refill_chunk(w);
	}
	if (left == 0) {
		return false;
	}
	keys = w->keys.p + w->key;
	while (n < left && n < SESSION_BATCH &&
	        (keys[n].place ^ keys[0].place) >> SESSION_SEQUENCE == 0) {
		n++;
	}
	w->source = w->session->sources[keys[0].place >> SESSION_SEQUENCE];
	w->source->ops->fetch(w->source, &w->states[w->source->stream], keys, n, w->items);
	w->key += n;
	w->nitems = n;
	return true;
}

/* Makes the sample of the current record's next count; 0: no more. */
static int take_count(struct session_worker *w, struct session_sample *out)
{
	const struct sonde_session *s = w->session;

	while (w->count < w->ncounts) {
		size_t i = w->count++;
		uint64_t id = w->counted.s.read_values[i].id;
		const struct session_event *e =
		        w->periods[i] != 0 ? session_event_by_id(s, id) : NULL;

		if (e != NULL) {
			*out = w->counted;
			out->s.id = id;
			out->s.period = w->periods[i];
			out->event = (uint32_t)(e - s->events);
			return 1;
		}
	}
	return 0;
}

bool session_worker_group(const struct session_worker *w, const struct session_sample *sample,
        struct session_group *out)
{
	bool last = w->ncounts != 0 && sample->offset == w->counted.offset;

	for (size_t i = w->count; i < w->ncounts; i++) {
		last = last && w->periods[i] == 0;
	}
	*out = (struct session_group){w->counted.s.read_values, w->periods, w->ncounts};
	return last;
}

/* A sample with counts becomes a sample for each count, if the walk computed periods for them. */
static int take_counts(
        struct session_worker *w, const struct session_item *item, struct session_sample *out)
{
	uint64_t place = session_place(w->source, item->sequence);
	size_t n = 0;

	w->periods = session_reads_find(&w->session->reads, &w->reads_hint, place, &n);
	if (w->periods == NULL) {
		return 1;
	}
	w->counted = *out;
	w->counted_record = session_item_record(item, w->session->swap);
	w->count = 0;
	w->ncounts = n < out->s.read_len ? n : (size_t)out->s.read_len;
	return take_count(w, out);
}

/* Makes the sample of the next branch of a run. */
static void take_branch(struct session_worker *w, struct session_sample *out)
{
	const struct aux_branch *b = w->branches++;

	w->nbranches--;
	w->run_extra.flags = b->flags;
	w->run_extra.insn_size = b->insn_size;
	w->run_extra.addr = b->addr;
	*out = w->run;
	out->s.ip = b->ip;
	out->s.addr = b->addr;
	out->misc = (uint16_t)aux_misc(b->ip, b->addr, aux_misc_is_guest(w->run.cpumode));
	out->cpumode = out->misc;
	w->run_record.misc = out->misc;
}

size_t session_worker_run(struct session_worker *w, const struct aux_branch **out)
{
	size_t n = w->nbranches;

	*out = w->branches;
	w->nbranches = 0;
	return n;
}

/* The time for which a sample's thread is looked up. */
static uint64_t sample_time(const struct sonde_session *s, const struct session_event *e,
        const struct sonde_sample *sample, const struct session_item *item)
{
	if (e->at_end || (session_item_is_made(item) && session_made_at_end(s))) {
		return UINT64_MAX - 1;
	}
	return e->plan.time != RECORD_NOT_THERE ? sample->time : item->sequence;
}

/* Whether a sample of a guest has the guest's view. */
static bool is_guest(const struct sonde_session *s, uint32_t cpumode)
{
	return s->guest_code && aux_misc_is_guest(cpumode);
}

/* Begins the run of a sample that was made of a trace, if it is one; its extra is in w->run_extra. */
static void take_run(struct session_worker *w, const struct session_item *item,
        const struct session_sample *sample)
{
	if (w->run_extra.nbranches > 1) {
		w->run = *sample;
		w->run_record = session_item_record(item, w->session->swap);
		w->branches = w->run_extra.branches + 1;
		w->nbranches = w->run_extra.nbranches - 1;
	}
}

/*
 * Adds the call chain or branch stack that a trace has for a sample of the recording. As in perf, the
 * chain has the sample's own address only where no calls are known.
 */
static void add_way(struct session_worker *w, const struct session_event *e, uint32_t cpumode,
        struct sonde_sample *sample)
{
	const struct sonde_session *s = w->session;
	const struct aux_point point = {
	        .time = sample->time, .tid = sample->tid, .cpu = sample->cpu};
	struct aux_way way = {0};

	(void)aux_way(s->aux, &point, &way);
	if (e->gets_chain && way.nchain != 0) {
		sample->callchain = way.chain;
		sample->callchain_len = way.nchain;
	} else if (e->gets_chain) {
		w->own_chain[0] = cpumode == MISC_USER ? CALLCHAIN_USER : CALLCHAIN_KERNEL;
		w->own_chain[1] = sample->ip;
		sample->callchain = w->own_chain;
		sample->callchain_len = 2;
	}
	if (e->gets_branches) {
		sample->branches = way.branches;
		sample->branch_len = way.nbranches;
	}
}

/* Decodes a sample into *out; 1; 0: none of its counts changed; negative: out of memory. */
static int take_sample(
        struct session_worker *w, const struct session_item *item, struct session_sample *out)
{
	const struct sonde_session *s = w->session;
	const struct session_event *e = &s->events[item->event];
	struct span body = {item->p + RECORD_HEADER_SIZE, item->size};
	int rc = record_sample_decode(&e->plan, body, s->swap, &w->scratch, &out->s);

	if (rc < 0) {
		return rc;
	}
	if (e->plan.period == RECORD_NOT_THERE && e->attr.sample_period != 0) {
		out->s.period = e->attr.sample_period;
	}
	out->event = item->event;
	out->type = RECORD_SAMPLE;
	out->misc = load_u16(item->p + 4, s->swap);
	out->cpumode = out->misc & MISC_CPUMODE_MASK;
	if (!session_item_is_made(item) && (e->gets_chain || e->gets_branches)) {
		add_way(w, e, out->cpumode, &out->s);
	}
	out->offset = session_item_is_made(item) ? 0 : item->sequence;
	out->extra = NULL;
	if (session_item_is_made(item)) {
		memcpy(&w->run_extra, body.p + body.n, sizeof(w->run_extra));
		out->extra = &w->run_extra;
		out->s.data_src =
		        (e->plan.sample_type & SONDE_SAMPLE_DATA_SRC) != 0 ? out->s.data_src : 0;
		out->s.addr = w->run_extra.addr;
	}
	out->view = (is_guest(s, out->cpumode) ? timeline_guest_at : timeline_at)(
	        s->timeline, &w->cursor, out->s.pid, out->s.tid, sample_time(s, e, &out->s, item));
	if (w->cursor.failed < 0) {
		return w->cursor.failed;
	}
	if (s->reads.nrecords != 0 && out->s.read_len != 0 && out->extra == NULL) {
		return take_counts(w, item, out);
	}
	if (out->extra != NULL) {
		take_run(w, item, out);
	}
	return 1;
}

/* The thread that a record is about: for a fork the parent. */
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
	case RECORD_NAMESPACES:
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
	default: break; /* from the trailer */
	}
	*pid = *tid == 0 ? 0 : *pid; /* mappings of the kernel have pid -1 */
}

/* 1; 0: the record is too short. */
static int take_record(struct session_worker *w, const struct session_item *item,
        const struct record *r, struct session_sample *out)
{
	const struct sonde_session *s = w->session;
	uint32_t event = item->event != SESSION_NO_EVENT ? item->event : 0;
	const struct session_event *e = &s->events[event];
	struct record_trailer trailer;
	uint32_t pid, tid;

	if (r->type == RECORD_AUXTRACE_ERROR) { /* it has its own thread and time */
		*out = (struct session_sample){.type = (uint16_t)r->type, .offset = r->offset};
		out->view = timeline_at(s->timeline, &w->cursor, 0, 0, 0);
		return 1;
	}
	if (r->type == RECORD_FINISHED_ROUND) {
		*out = (struct session_sample){.type = RECORD_FINISHED_ROUND, .offset = r->offset};
		out->view = timeline_at(s->timeline, &w->cursor, 0, 0, 0);
		return 1;
	}
	if (!record_trailer_decode(&e->plan, r->body, s->swap, &trailer)) {
		return 0;
	}
	*out = (struct session_sample){.event = event,
	        .cpumode = r->misc & MISC_CPUMODE_MASK,
	        .type = (uint16_t)r->type,
	        .misc = r->misc,
	        .offset = r->offset};
	out->s.pid = pid = trailer.pid;
	out->s.tid = tid = trailer.tid;
	out->s.time = trailer.time;
	out->s.id = trailer.id;
	out->s.cpu = trailer.cpu;
	record_subject(r, s->swap, &pid, &tid);
	out->view = timeline_at(s->timeline, &w->cursor, pid, tid,
	        e->plan.time != RECORD_NOT_THERE ? trailer.time : r->offset);
	return w->cursor.failed < 0 ? w->cursor.failed : 1;
}

/* Adds the records of a window that the timeline is made of. */
static int add_notes(struct session_worker *w, struct timeline_notes *notes)
{
	const struct sonde_session *s = w->session;
	struct record_trailer trailer;

	while (refill(w)) {
		for (size_t i = 0; i < w->nitems; i++) {
			const struct session_item *item = &w->items[i];
			const struct record r = session_item_record(item, s->swap);
			uint32_t event = item->event != SESSION_NO_EVENT ? item->event : 0;
			const struct record_plan *plan = &s->events[event].plan;

			if (!record_trailer_decode(plan, r.body, s->swap, &trailer)) {
				continue; /* reported when the session was opened */
			}
			TRY(timeline_notes_add(notes, &r,
			        plan->time != RECORD_NOT_THERE ? trailer.time : r.offset));
		}
	}
	return 0;
}

int session_reread(void *arg, uint64_t after, uint64_t limit, struct timeline_notes *notes)
{
	struct sonde_session *s = arg;
	const struct session_window range = {.after = after,
	        .limit = limit,
	        .first = after == 0,
	        .no_samples = true,
	        .kinds = TIMELINE_RECORDS};
	struct session_worker *w = malloc(sizeof(*w));
	int rc;

	if (w == NULL) {
		return SONDE_ENOMEM;
	}
	session_worker_init(w, s);
	rc = range_open(w, &range);
	if (rc >= 0) {
		rc = add_notes(w, notes);
	}
	session_worker_fini(w);
	free(w);
	return rc < 0 ? rc : frame_jit_notes(&s->frames, after, limit, notes);
}

int session_worker_next_any(struct session_worker *w, struct record *r, struct session_sample *out)
{
	if (w->count < w->ncounts && take_count(w, out) > 0) {
		*r = w->counted_record;
		return 1;
	}
	if (w->nbranches != 0) {
		take_branch(w, out);
		*r = w->run_record;
		return 1;
	}
	while (w->item < w->nitems || refill(w)) {
		const struct session_item *item = &w->items[w->item++];
		int rc;

		*r = session_item_record(item, w->session->swap);
		rc = r->type == RECORD_SAMPLE ? take_sample(w, item, out)
		                              : take_record(w, item, r, out);
		if (rc != 0) {
			return rc;
		}
	}
	return w->failed;
}

/* Calls fn for the records of a chunk that are no samples. */
static int chunk_records(struct session_worker *w, session_record_fn fn, void *arg)
{
	struct session_sample sample;
	int rc = 0;

	while (rc >= 0 && refill(w)) {
		for (size_t i = 0; rc >= 0 && i < w->nitems; i++) {
			const struct session_item *item = &w->items[i];
			const struct record r = session_item_record(item, w->session->swap);

			if (r.type != RECORD_SAMPLE) {
				rc = take_record(w, item, &r, &sample);
				rc = rc > 0 ? fn(arg, &r, &sample) : rc;
			}
		}
	}
	return rc < 0 ? rc : w->failed;
}

int session_each_record(struct sonde_session *s, uint32_t kinds, session_record_fn fn, void *arg)
{
	struct session_worker w;
	int rc = 0;

	session_worker_init(&w, s);
	w.kinds = kinds;
	for (size_t i = 0; rc >= 0 && i < session_chunks(s); i++) {
		session_chunk_open(&w, i);
		rc = chunk_records(&w, fn, arg);
	}
	session_worker_fini(&w);
	return rc < 0 ? rc : 0;
}

int session_worker_next(struct session_worker *w, struct session_sample *out)
{
	if (w->count < w->ncounts && take_count(w, out) > 0) {
		return 1;
	}
	if (w->nbranches != 0) {
		take_branch(w, out);
		return 1;
	}
	while (w->item < w->nitems || refill(w)) {
		const struct session_item *item = &w->items[w->item++];
		int rc = load_u32(item->p, w->session->swap) == RECORD_SAMPLE
		                 ? take_sample(w, item, out)
		                 : 0;

		if (rc != 0) {
			return rc;
		}
	}
	return w->failed;
}
