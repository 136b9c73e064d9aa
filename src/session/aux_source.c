/* SPDX-License-Identifier: MIT */
/*
 * Samples that are made of traces, as a source. Its records are made when a chunk or window is read,
 * in memory of the worker.
 *
 * A chunk is a segment of a trace. Windows are cut where segments end, so that each has few segments:
 *
 *	queue 0   |-------|-----|--------|-----|        segments, by time
 *	queue 1      |---------|-----|-------|
 *	windows   |            |         |     |        WINDOW_RECORDS or more
 *
 * If samples have no times, windows after those of the file have some segments each ("slices").
 */
#include "session/inside.h"

#include "core/array.h"
#include "record/feature.h"

#include <stdio.h>
#include <stdlib.h>

#define WINDOW_RECORDS 65536u

struct aux_source {
	struct session_source base;
	const struct aux *aux;
	uint32_t first_event; /* in the session's table */
};

static struct aux_room *room_of(void **state)
{
	if (*state == NULL) {
		*state = calloc(1, sizeof(struct aux_room));
	}
	return *state;
}

static void room_free(void *state)
{
	if (state != NULL) {
		aux_room_fini(state);
		free(state);
	}
}

static bool is_selected(const struct aux_made *m, uint32_t kinds)
{
	return m->event != AUX_ERROR_EVENT || (kinds & SESSION_TRACE_ERRORS) != 0;
}

static void item_set(
        const struct aux_source *s, struct aux_room *room, size_t i, struct session_item *out)
{
	const struct aux_made *m = &room->made[i];
	uint32_t event = SESSION_NO_EVENT;

	if (m->event != AUX_ERROR_EVENT) {
		uint32_t recorded = aux_event(s->aux, m->event)->recorded;

		event = recorded == AUX_MADE_EVENT ? s->first_event + m->event : recorded;
	}
	*out = (struct session_item){.p = aux_record(room, i),
	        .sequence = i | SESSION_MADE,
	        .time = m->time,
	        .event = event,
	        .size = m->size - RECORD_HEADER_SIZE};
}

/* Opening has followed the traces already. */
static int source_scan(struct session_source *src, struct session_item *out, size_t n)
{
	(void)src;
	(void)out;
	(void)n;
	return 0;
}

/* *at: 1 + the next record; 0: the segment is not made yet. */
static int source_read(const struct session_source *src, size_t chunk, struct session_state *state,
        uint32_t kinds, struct session_item *out, size_t n)
{
	const struct aux_source *s = (const struct aux_source *)src;
	struct aux_room *room = room_of(&state->own);
	int taken = 0;

	if (room == NULL) {
		return SONDE_ENOMEM;
	}
	if (state->at == 0) {
		aux_room_clear(room);
		TRY(aux_read(s->aux, chunk, room));
		state->at = 1;
	}
	while ((size_t)taken < n && state->at <= room->nmade) {
		size_t i = (size_t)state->at++ - 1;

		if (is_selected(&room->made[i], kinds)) {
			item_set(s, room, i, &out[taken++]);
		}
	}
	return taken;
}

static int gather_segment(const struct aux_source *s, size_t segment,
        const struct session_window *window, struct aux_room *room, struct session_keys *keys)
{
	size_t i = room->nmade;

	TRY(aux_read(s->aux, segment, room));
	for (; i < room->nmade; i++) {
		const struct aux_made *m = &room->made[i];
		bool late = window->first || window->after_chunk != 0 || m->time > window->after;
		bool inside = window->slice_end != 0 ||
		              (late && (window->limit_chunk != 0 || m->time <= window->limit));

		if (inside && is_selected(m, window->kinds) &&
		        !session_keys_add(keys, &s->base, m->time, i)) {
			return SONDE_ENOMEM;
		}
	}
	return 0;
}

static bool overlaps(
        const struct aux_source *s, size_t segment, const struct session_window *window)
{
	const struct aux_segment_times t = aux_segment_times(s->aux, segment);
	bool late = window->after_chunk != 0 ? segment >= window->after_chunk
	                                     : t.last > window->after || window->first;
	bool early =
	        window->limit_chunk != 0 ? segment < window->limit_chunk : t.first <= window->limit;

	return t.records != 0 && late && early;
}

static int source_gather(const struct session_source *src, const struct session_window *window,
        struct session_state *state, struct session_keys *keys)
{
	const struct aux_source *s = (const struct aux_source *)src;
	struct aux_room *room = room_of(&state->own);
	bool timeless = aux_timeless(s->aux);
	size_t end = timeless ? window->slice_end : aux_segments(s->aux);

	if (room == NULL) {
		return SONDE_ENOMEM;
	}
	aux_room_clear(room);
	for (size_t i = timeless ? window->slice : 0; i < end && !window->no_samples; i++) {
		if (window->slice_end != 0 || overlaps(s, i, window)) {
			TRY(gather_segment(s, i, window, room, keys));
		}
	}
	return 0;
}

static void source_fetch(const struct session_source *src, struct session_state *state,
        const struct session_key *keys, size_t n, struct session_item *out)
{
	const struct aux_source *s = (const struct aux_source *)src;

	for (size_t i = 0; i < n; i++) {
		item_set(s, state->own, (size_t)(keys[i].place & SESSION_SEQUENCE_MAX), &out[i]);
	}
}

static void source_free(struct session_source *src)
{
	free(src->limits);
	free(src);
}

static int add_source(struct sonde_session *s)
{
	static const struct session_source_ops ops = {.scan = source_scan,
	        .read = source_read,
	        .gather = source_gather,
	        .fetch = source_fetch,
	        .forget = room_free,
	        .free = source_free};
	struct aux_source *src = calloc(1, sizeof(*src));

	if (src == NULL) {
		return SONDE_ENOMEM;
	}
	src->base.ops = &ops;
	src->base.chunks = aux_segments(s->aux);
	src->aux = s->aux;
	src->first_event = (uint32_t)s->nevents;
	return session_add_source(s, &src->base);
}

static void count_samples(struct session_event *to, const struct aux_event *e)
{
	to->count.samples += e->samples;
	to->count.period += e->period;
	to->count.side_band[RECORD_SAMPLE] += e->samples;
}

static int add_events(struct sonde_session *s)
{
	for (size_t i = 0; i < aux_events(s->aux); i++) {
		const struct aux_event *e = aux_event(s->aux, i);
		struct session_event own = {.name = e->name,
		        .attr = e->attr,
		        .plan = e->plan,
		        .made = true,
		        .at_end = aux_timeless(s->aux)};

		if (e->recorded != AUX_MADE_EVENT) {
			count_samples(&s->events[e->recorded], e);
			continue;
		}
		count_samples(&own, e);
		TRY(session_add_event(s, &own));
	}
	return 0;
}

/* A time at which a window may end. */
struct cut {
	uint64_t time, records; /* records: of the segment that ends */
	size_t chunk; /* number of that segment plus 1; 0: a limit of the file */
};

static int by_time(const void *a, const void *b)
{
	const struct cut *x = a, *y = b;

	if (x->time != y->time) {
		return x->time < y->time ? -1 : 1;
	}
	return x->chunk < y->chunk ? -1 : x->chunk > y->chunk;
}

static int add_window(struct sonde_session *s, const struct session_window *window)
{
	if (!array_reserve(&s->windows, &s->windows_cap, s->nwindows + 1, sizeof(*window))) {
		return SONDE_ENOMEM;
	}
	s->windows[s->nwindows++] = *window;
	return 0;
}

/* Adds the windows of samples without times. */
static int add_slices(struct sonde_session *s)
{
	size_t n = aux_segments(s->aux);
	struct session_window w = {.after = UINT64_MAX, .limit = UINT64_MAX};
	uint64_t records = 0;

	for (size_t i = 0; i < n; i++) {
		records += aux_segment_times(s->aux, i).records;
		if (records >= WINDOW_RECORDS || (i + 1 == n && records != 0)) {
			w.slice_end = i + 1;
			TRY(add_window(s, &w));
			w.slice = i + 1;
			records = 0;
		}
	}
	return 0;
}

/* Returns all ends of segments and limits of the file, sorted; NULL: out of memory. */
static struct cut *find_ends(const struct sonde_session *s, size_t *n)
{
	const struct session_source *file = s->sources[0];
	size_t segments = aux_segments(s->aux);
	struct cut *ends = calloc(segments + file->nlimits + 1, sizeof(*ends));

	*n = segments + file->nlimits;
	for (size_t i = 0; ends != NULL && i < segments; i++) {
		struct aux_segment_times t = aux_segment_times(s->aux, i);

		ends[i] = (struct cut){t.last, t.records, i + 1};
	}
	for (size_t i = 0; ends != NULL && i < file->nlimits; i++) {
		ends[segments + i] = (struct cut){file->limits[i], WINDOW_RECORDS, 0};
	}
	if (ends != NULL) {
		qsort(ends, *n, sizeof(*ends), by_time);
	}
	return ends;
}

/*
 * Finds the times at which to cut windows, in place. The segments of one queue do not overlap, so they
 * are never divided: several windows may then end at the same time.
 */
static size_t choose_cuts(const struct sonde_session *s, struct cut *cuts, size_t n)
{
	bool whole = aux_is_one_queue(s->aux);
	uint64_t records = 0;
	size_t chosen = 0;

	for (size_t i = 0; i < n; i++) {
		struct cut c = cuts[i];

		c.chunk = whole ? c.chunk : 0;
		records += c.records;
		if (records < WINDOW_RECORDS ||
		        (chosen != 0 && cuts[chosen - 1].time == c.time &&
		                (c.chunk == 0 || cuts[chosen - 1].chunk == 0))) {
			continue;
		}
		cuts[chosen++] = c;
		records = 0;
	}
	return chosen;
}

static int add_file_windows(struct sonde_session *s)
{
	const struct session_source *file = s->sources[0];

	for (size_t i = 0; i < file->nlimits; i++) {
		const struct session_window w = {.after = i != 0 ? file->limits[i - 1] : 0,
		        .limit = file->limits[i],
		        .first = i == 0};

		TRY(add_window(s, &w));
	}
	return 0;
}

static int make_windows(struct sonde_session *s)
{
	struct session_window w = {.first = true};
	struct cut *cuts;
	size_t n;
	int rc = 0;

	if (aux_timeless(s->aux)) {
		TRY(add_file_windows(s));
		return add_slices(s);
	}
	cuts = find_ends(s, &n);
	if (cuts == NULL) {
		return SONDE_ENOMEM;
	}
	n = choose_cuts(s, cuts, n);
	for (size_t i = 0; rc == 0 && i < n; i++) {
		w.limit = cuts[i].time;
		w.limit_chunk = cuts[i].chunk;
		rc = add_window(s, &w);
		w = (struct session_window){.after = w.limit, .after_chunk = w.limit_chunk};
	}
	free(cuts);
	return rc;
}

static struct sonde_pt_cpu traced_cpu(struct sonde_session *s)
{
	struct sonde_pt_cpu cpu = {0, 0};
	struct arena arena = {0};
	struct layout_text id = {0};
	unsigned family, model;

	if (SESSION_FEATURE(s, FEATURE_CPUID, &arena, &id) > 0 && id.s != NULL &&
	        sscanf(id.s, "GenuineIntel,%u,%u", &family, &model) == 2) {
		cpu = (struct sonde_pt_cpu){(uint16_t)family, (uint8_t)model};
	}
	arena_fini(&arena);
	return cpu;
}

/* Adds the times of samples to those of the session. */
static void add_times(struct sonde_session *s)
{
	struct session_counts *n = &s->counts;

	for (size_t i = 0; i < aux_segments(s->aux); i++) {
		struct aux_segment_times t = aux_segment_times(s->aux, i);

		if (t.records == 0 || aux_timeless(s->aux)) {
			continue;
		}
		n->first_time =
		        n->first_time == 0 || t.first < n->first_time ? t.first : n->first_time;
		n->last_time = t.last > n->last_time ? t.last : n->last_time;
	}
}

static int open_traces(struct sonde_session *s, const struct itrace *itrace)
{
	struct sonde_attr *attrs = calloc(s->nevents + 1, sizeof(*attrs));
	uint64_t *ids = calloc(s->nevents + 1, sizeof(*ids));
	struct aux_setup setup = {.itrace = *itrace,
	        .swap = s->swap,
	        .cpu = traced_cpu(s),
	        .timeline = s->timeline,
	        .frames = &s->frames,
	        .attrs = attrs,
	        .ids = ids,
	        .nattrs = s->nevents,
	        .guests = s->guest_code,
	        .diags = &s->diags};
	int rc = SONDE_ENOMEM;

	for (size_t i = 0; attrs != NULL && ids != NULL && i < s->nevents; i++) {
		attrs[i] = s->events[i].attr;
		ids[i] = s->events[i].nids != 0 ? s->events[i].ids[0] : 0;
	}
	if (attrs != NULL && ids != NULL) {
		rc = aux_open(s->aux, &setup);
	}
	free(ids);
	free(attrs);
	return rc;
}

/* Reports what AUX records say about losses. */
static void report_flags(struct sonde_session *s)
{
	const struct session_aux_flags *n = &s->aux_flags;
	const struct {
		uint64_t records;
		const char *what;
	} rows[] = {{n->truncated, "AUX data was lost"}, {n->partial, "AUX data has gaps"},
	        {n->collisions, "AUX data was disturbed by another tracer"}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].records != 0) {
			diag_report(&s->diags, SONDE_DIAG_LOST, NO_OFFSET,
			        "%s in %llu of %llu AUX records", rows[i].what,
			        (unsigned long long)rows[i].records,
			        (unsigned long long)n->records);
		}
	}
}

/* Reports the errors of traces, and the share of their bytes that is lost. */
static void report_errors(struct sonde_session *s)
{
	struct aux_losses l = aux_losses(s->aux);
	uint64_t lost = l.missing + l.skipped;
	double share = l.bytes != 0 ? 100.0 * (double)lost / (double)l.bytes : 0;

	if (lost == 0) {
		if (aux_errors(s->aux) != 0) {
			diag_report(&s->diags, SONDE_DIAG_LOST, NO_OFFSET,
			        "%llu instruction trace errors",
			        (unsigned long long)aux_errors(s->aux));
		}
		return;
	}
	diag_report(&s->diags, SONDE_DIAG_LOST, NO_OFFSET,
	        "%llu instruction trace errors; %.1f %% of the traces is lost (%llu of %llu bytes: "
	        "%llu were not recorded, %llu are skipped after errors)",
	        (unsigned long long)aux_errors(s->aux), share, (unsigned long long)lost,
	        (unsigned long long)l.bytes, (unsigned long long)l.missing,
	        (unsigned long long)l.skipped);
}

void session_aux_choose(struct sonde_session *s)
{
	for (size_t i = 0; s->aux != NULL && i < s->nevents; i++) {
		struct session_event *e = &s->events[i];
		uint64_t has = e->attr.sample_type;

		e->gets_chain = s->itrace.other_chain != 0 && (has & SONDE_SAMPLE_CALLCHAIN) == 0;
		e->gets_branches =
		        s->itrace.other_last != 0 && (has & SONDE_SAMPLE_BRANCH_STACK) == 0;
	}
}

/* Without traces samples get nothing. */
static void choose_nothing(struct sonde_session *s)
{
	for (size_t i = 0; i < s->nevents; i++) {
		s->events[i].gets_chain = s->events[i].gets_branches = false;
	}
}

/* From now on the events seem to be recorded with what their samples get. */
static void change_attrs(struct sonde_session *s)
{
	for (size_t i = 0; i < s->nevents; i++) {
		struct session_event *e = &s->events[i];

		e->attr.sample_type |= e->gets_chain ? SONDE_SAMPLE_CALLCHAIN : 0;
		e->attr.sample_type |= e->gets_branches ? SONDE_SAMPLE_BRANCH_STACK : 0;
	}
}

int session_aux_open(struct sonde_session *s)
{
	report_flags(s);
	if (s->aux == NULL || !aux_has_traces(s->aux) || s->options.counts_only) {
		choose_nothing(s);
		return 0;
	}
	TRY(open_traces(s, &s->itrace));
	change_attrs(s);
	TRY(add_source(s));
	TRY(add_events(s));
	add_times(s);
	report_errors(s);
	return make_windows(s);
}

bool session_made_at_end(const struct sonde_session *s)
{
	return s->aux != NULL && aux_timeless(s->aux);
}

const struct itrace *session_itrace(const struct sonde_session *s)
{
	return &s->itrace;
}

const struct aux *session_aux(const struct sonde_session *s)
{
	return s->aux != NULL && aux_has_traces(s->aux) && !s->options.counts_only ? s->aux : NULL;
}
