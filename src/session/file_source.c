/* SPDX-License-Identifier: MIT */
/*
 * The records of a file as a source. The scan touches each record's header and time only; it marks
 * where chunks and rounds begin.
 *
 * Rounds. The recorder writes a FINISHED_ROUND mark after each pass over its rings and promises: no
 * record after the next mark is older than the newest one before this mark.
 *
 *	records of round 1 ... mark, round 2 ... mark, round 3 ...
 *	newest T1                 T2              (all of round 3 is later than T1)
 *
 * So records with a time in (T1, T2] are in rounds 2 and 3: a window reads two rounds and sorts
 * only those. Small rounds are joined up to ROUND_BYTES. If a sample breaks the promise, or there
 * are no marks, the whole file is one round. Another record that is older than promised belongs to
 * the window that ends with the round before its own.
 */
#include "file/next.h"
#include "session/inside.h"

#include "core/array.h"

#include <stdlib.h>

#define CHUNK_BYTES ((uint64_t)1 << 20)
#define ROUND_BYTES ((uint64_t)1 << 20)
#define AHEAD       1024u /* bytes to prefetch: the next header is only found through this one */

struct file_source {
	struct session_source base;
	const struct file *file;
	struct diag_sink *diags;
	bool counts_only; /* records are only scanned */
	uint64_t position; /* position of the scan, like all members below */
	uint64_t newest; /* time of the kernel's records so far, ns */
	uint64_t round_start; /* offset */
	uint64_t *chunks; /* start offsets, and the end of the last */
	size_t nchunks, chunks_cap;
	uint64_t *ends; /* offsets of the ends of rounds; limits[i]: newest time before ends[i] */
	size_t ends_cap;
};

/*
 * Sets all members but the time, one by one: compilers make a whole item on the stack and copy it in
 * larger units, which wait until the stores of its members are complete.
 */
static inline void item_set(struct session_item *out, const struct file_source *f,
        const struct record *r, const struct file_event *e)
{
	out->p = r->body.p - RECORD_HEADER_SIZE;
	out->sequence = r->offset;
	out->event = e != NULL ? (uint32_t)(e - f->file->events) : SESSION_NO_EVENT;
	out->size = (uint32_t)r->body.n;
}

/* Returns the event of a valid sample; NULL: none. */
static const struct file_event *usable(const struct file_source *f, const struct record *r)
{
	const struct file_event *e = file_sample_event_in(f->file, r);

	return e != NULL && r->body.n >= e->plan.fixed_size ? e : NULL;
}

static uint64_t sample_time(
        const struct file_source *f, const struct file_event *e, const struct record *r)
{
	return e->plan.time != RECORD_NOT_THERE ? load_u64(r->body.p + e->plan.time, f->file->swap)
	                                        : r->offset;
}

/* Reads the time of a record of the kernel that is no sample; false: too short. */
static bool side_band_time(const struct file_source *f, const struct file_event *e,
        const struct record *r, uint64_t *time)
{
	const struct file_event *any = e != NULL ? e : &f->file->events[0];
	struct record_trailer trailer;

	if (!record_trailer_decode(&any->plan, r->body, f->file->swap, &trailer)) {
		return false;
	}
	*time = any->plan.time != RECORD_NOT_THERE ? trailer.time : r->offset;
	return true;
}

/* Scanning. */

static int mark_chunk(struct file_source *f, uint64_t offset)
{
	if (f->nchunks != 0 &&
	        (f->counts_only || offset - f->chunks[f->nchunks - 1] < CHUNK_BYTES)) {
		return 0;
	}
	if (!array_reserve(&f->chunks, &f->chunks_cap, f->nchunks + 2, sizeof(*f->chunks))) {
		return SONDE_ENOMEM;
	}
	f->chunks[f->nchunks++] = offset;
	return 0;
}

static int add_round(struct file_source *f, uint64_t end, uint64_t limit)
{
	struct session_source *base = &f->base;

	if (!array_reserve(
	            &base->limits, &base->limits_cap, base->nlimits + 1, sizeof(*base->limits)) ||
	        !array_reserve(&f->ends, &f->ends_cap, base->nlimits + 1, sizeof(*f->ends))) {
		return SONDE_ENOMEM;
	}
	f->ends[base->nlimits] = end;
	base->limits[base->nlimits++] = limit;
	return 0;
}

static int mark_round(struct file_source *f, uint64_t end)
{
	if (f->counts_only || end - f->round_start < ROUND_BYTES) {
		return 0;
	}
	f->round_start = end;
	return add_round(f, end, f->newest);
}

static void mark_time(struct file_source *f, uint64_t time, bool sample)
{
	const struct session_source *base = &f->base;

	if (sample && base->nlimits >= 2 && time <= base->limits[base->nlimits - 2]) {
		f->base.late = true;
	}
	if (time > f->newest) {
		f->newest = time;
	}
}

/*
 * Extends the last round to the end of the file; if a sample broke the promise, makes the whole
 * file one round.
 */
static int scan_end(struct file_source *f)
{
	uint64_t end = file_end(f->file);

	if (f->counts_only) {
		return 0;
	}
	if (f->base.late) {
		f->base.nlimits = 0;
	}
	if (f->nchunks != 0) {
		f->chunks[f->nchunks] = end;
	}
	f->base.chunks = f->nchunks;
	return add_round(f, end, UINT64_MAX);
}

static inline __attribute__((always_inline)) int scan_sample(
        struct file_source *f, const struct record *r, struct session_item *out)
{
	const struct file_event *e =
	        f->file->nevents != 0 ? file_sample_event_in(f->file, r) : NULL;

	TRY(mark_chunk(f, r->offset));
	item_set(out, f, r, e);
	out->time = 0;
	if (e != NULL && r->body.n >= e->plan.fixed_size) {
		out->time = sample_time(f, e, r);
		mark_time(f, out->time, true);
	}
	return 0;
}

static int scan_record(struct file_source *f, const struct record *r, struct session_item *out)
{
	bool known = r->type < RECORD_KERNEL_MAX && f->file->nevents != 0;
	const struct file_event *e = known ? file_record_event(f->file, r) : NULL;

	if (r->type == RECORD_SAMPLE) {
		return scan_sample(f, r, out);
	}
	TRY(mark_chunk(f, r->offset));
	item_set(out, f, r, e);
	out->time = 0;
	if (known && side_band_time(f, e, r, &out->time)) {
		mark_time(f, out->time, false);
	}
	return r->type == RECORD_FINISHED_ROUND ? mark_round(f, f->position) : 0;
}

/*
 * Scans a record that the fast path does not handle. A gap is reported only after the `taken`
 * records before it were returned: until then, returns FILE_GAP with the position unchanged.
 */
static enum file_step scan_slowly(
        struct file_source *f, const struct file_stream **s, size_t taken, struct record *r)
{
	uint64_t position = f->position;
	struct file_gap gap;
	enum file_step step = file_step(f->file, &position, r, &gap);

	if (gap.text[0] != '\0') {
		if (taken != 0) {
			return FILE_GAP;
		}
		file_gap_report(f->file, &gap, f->diags);
	}
	f->position = position;
	*s = file_stream_at(f->file, position);
	return step;
}

/* Scans samples as long as the next record is one; returns their number, up to n. */
static int scan_samples(
        struct file_source *f, const struct file_stream *s, struct session_item *out, size_t n)
{
	uint64_t position = f->position;
	size_t i = 0;

	for (; i < n; i++) {
		uint64_t next = position;
		struct record r;

		if (!file_step_usual(f->file, s, &next, &r) || r.type != RECORD_SAMPLE) {
			break;
		}
		__builtin_prefetch(r.body.p + AHEAD);
		__builtin_prefetch(r.body.p + AHEAD + 64);
		TRY(scan_sample(f, &r, &out[i]));
		position = next;
	}
	f->position = position;
	return (int)i;
}

static int source_scan(struct session_source *src, struct session_item *out, size_t n)
{
	struct file_source *f = (struct file_source *)src;
	const struct file_stream *s;
	size_t i = 0;

	if (f->position == 0) {
		f->position = f->round_start = file_begin(f->file);
	}
	s = file_stream_at(f->file, f->position);
	while (i < n) {
		enum file_step step;
		struct record r;
		int samples = scan_samples(f, s, out + i, n - i);

		TRY(samples);
		i += (size_t)samples;
		if (i == n) {
			break;
		}
		step = scan_slowly(f, &s, i, &r);
		if (step == FILE_END || (step == FILE_GAP && i != 0)) {
			break;
		}
		if (step == FILE_RECORD) {
			TRY(scan_record(f, &r, &out[i]));
			i++;
		}
	}
	return i != 0 ? (int)i : scan_end(f);
}

/* Reading. */

/* Reads the time of a record that a window may contain; false: not such a record. */
static bool record_time(
        const struct file_source *f, const struct record *r, uint32_t kinds, uint64_t *time)
{
	const struct file_event *e;

	if (r->type == RECORD_SAMPLE) {
		e = usable(f, r);
		if (e != NULL) {
			*time = sample_time(f, e, r);
		}
		return e != NULL;
	}
	if (f->file->nevents == 0 || r->type >= SESSION_KINDS || (kinds >> r->type & 1) == 0) {
		return false;
	}
	return side_band_time(f, file_record_event(f->file, r), r, time);
}

static int source_read(const struct session_source *src, size_t chunk, struct session_state *state,
        uint32_t kinds, struct session_item *out, size_t n)
{
	const struct file_source *f = (const struct file_source *)src;
	uint64_t position = state->at != 0 ? state->at : f->chunks[chunk];
	uint64_t end = f->chunks[chunk + 1];
	const struct file_stream *s = file_stream_at(f->file, position);
	struct record r;
	size_t i = 0;

	while (i < n && position < end && file_next_in(f->file, &s, &position, &r)) {
		const struct file_event *e = r.type == RECORD_SAMPLE ? usable(f, &r) : NULL;
		uint64_t time;

		__builtin_prefetch(r.body.p + AHEAD);
		__builtin_prefetch(r.body.p + AHEAD + 64);
		if (e != NULL) {
			item_set(&out[i++], f, &r, e);
		} else if (kinds != 0 && r.type != RECORD_SAMPLE &&
		           record_time(f, &r, kinds, &time)) {
			item_set(&out[i++], f, &r, file_record_event(f->file, &r));
		} else if ((kinds & SESSION_ROUNDS) != 0 && r.type == RECORD_FINISHED_ROUND) {
			item_set(&out[i++], f, &r, NULL);
		}
	}
	state->at = position;
	return (int)i;
}

/* Adds the keys of the records of round i that are in the window. */
static int gather_round(const struct file_source *f, size_t i, const struct session_window *window,
        struct session_keys *keys)
{
	uint64_t offset = i == 0 ? file_begin(f->file) : f->ends[i - 1];
	bool promised = i >= 2; /* the recorder promised that no record is older than */
	uint64_t promise = promised ? f->base.limits[i - 2] : 0;
	const struct file_stream *s = file_stream_at(f->file, offset);
	struct record r;

	while (offset < f->ends[i] && file_next_in(f->file, &s, &offset, &r)) {
		uint64_t time, at;

		if ((window->no_samples && r.type == RECORD_SAMPLE) ||
		        !record_time(f, &r, window->kinds, &time)) {
			continue;
		}
		at = promised && time <= promise ? promise + 1 : time;
		if (at > window->limit || (at <= window->after && !window->first)) {
			continue;
		}
		if (!session_keys_add(keys, &f->base, time, r.offset)) {
			return SONDE_ENOMEM;
		}
	}
	return 0;
}

/* Returns the first round with records after a time, or the last round. */
static size_t round_after(const struct session_source *src, uint64_t after)
{
	size_t a = 0;
	size_t b = src->nlimits - 1;

	while (a < b) {
		size_t mid = a + (b - a) / 2;

		if (src->limits[mid] > after) {
			b = mid;
		} else {
			a = mid + 1;
		}
	}
	return a;
}

static int source_gather(const struct session_source *src, const struct session_window *window,
        struct session_state *state, struct session_keys *keys)
{
	const struct file_source *f = (const struct file_source *)src;
	size_t i = window->first ? 0 : round_after(src, window->after);

	(void)state;
	if (window->slice_end != 0) {
		return 0;
	}

	for (; i < src->nlimits && (i < 2 || src->limits[i - 2] < window->limit); i++) {
		TRY(gather_round(f, i, window, keys));
	}
	return 0;
}

static void source_fetch(const struct session_source *src, struct session_state *state,
        const struct session_key *keys, size_t n, struct session_item *out)
{
	const struct file_source *f = (const struct file_source *)src;

	const struct file_stream *s = f->file->streams;

	(void)state;
	for (size_t i = 0; i < n; i++) {
		uint64_t offset = keys[i].place & SESSION_SEQUENCE_MAX;
		struct record r;

		if (offset < s->start || offset >= s->end) {
			s = file_stream_at(f->file, offset);
		}
		(void)file_next_in(f->file, &s, &offset, &r);
		item_set(&out[i], f, &r,
		        r.type == RECORD_SAMPLE ? file_sample_event_in(f->file, &r)
		                                : file_record_event(f->file, &r));
	}
}

static void source_free(struct session_source *src)
{
	struct file_source *f = (struct file_source *)src;

	free(src->limits);
	free(f->ends);
	free(f->chunks);
	free(f);
}

struct session_source *session_file_source(
        const struct file *file, struct diag_sink *diags, bool counts_only)
{
	static const struct session_source_ops ops = {.scan = source_scan,
	        .read = source_read,
	        .gather = source_gather,
	        .fetch = source_fetch,
	        .free = source_free};
	struct file_source *f = calloc(1, sizeof(*f));

	if (f == NULL) {
		return NULL;
	}
	f->base.ops = &ops;
	f->file = file;
	f->diags = diags;
	f->counts_only = counts_only;
	return &f->base;
}
