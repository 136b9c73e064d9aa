/* SPDX-License-Identifier: MIT */
/*
 * Parts of a recording that workers read at once. If a line depends on earlier ones, all parts are
 * read once before they are formatted, to find the state at the start of each; a single worker
 * formats the parts in order and carries the state along.
 */
#include "script/script.h"

#include "core/pool.h"
#include "script/dlfilter.h"

#include <stdlib.h>

/* Records that name threads. */
#define START_KINDS (1u << RECORD_COMM | 1u << RECORD_FORK)

static int worker_ready(struct script *s, struct script_worker *w)
{
	if (w->ready) {
		return 0;
	}
	if (s->write_event != NULL) {
		w->dumps = calloc(sonde_session_events(s->session) + 1, sizeof(*w->dumps));
		if (w->dumps == NULL) {
			return SONDE_ENOMEM;
		}
	}
	if (s->shows_source) {
		w->line.source_code = srccode_new(session_frames(s->session)->options.bundle);
		if (w->line.source_code == NULL) {
			return SONDE_ENOMEM;
		}
	}
	TRY(address_cache_init(&w->line.addresses, s->session));
	session_worker_init(&w->session, s->session);
	w->session.kinds =
	        s->kinds | (s->by_start ? START_KINDS : 0) | (s->json ? 0 : SESSION_TRACE_ERRORS);
	w->off = s->switches.on != NULL;
	w->ready = true;
	return 0;
}

void script_worker_fini(const struct script *s, struct script_worker *w)
{
	for (size_t i = 0; w->dumps != NULL && i < sonde_session_events(s->session); i++) {
		text_fini(&w->dumps[i].out);
	}
	free(w->dumps);
	text_fini(&w->out);
	script_start_fini(&w->start);
	field_tracer_fini(&w->line.tracer);
	srccode_free(w->line.source_code);
	line_worker_fini(&w->line);
	if (w->ready) {
		session_worker_fini(&w->session);
		address_cache_fini(&w->line.addresses);
	}
}

int script_part_open(struct script *s, struct script_worker *w, size_t part)
{
	TRY(worker_ready(s, w));
	script_start_fini(&w->start); /* all records with time 0 are in the first part */
	if (s->parts != NULL) {
		w->line.clock = s->parts[part].clock;
		w->off = s->parts[part].off;
	}
	if (s->in_file_order) {
		session_chunk_open(&w->session, part);
		return 0;
	}
	return session_window_open(&w->session, part);
}

/* 1, 0, or a negative status. */
static int select_sample(
        struct script *s, struct script_worker *w, const struct session_sample *sample)
{
	int rc = 1;

	if (s->filter != NULL) {
		rc = script_filter_keeps(s, w, sample, true);
	}
	return rc > 0 ? pick_wanted(&s->pick, &w->line.addresses.frames, sample) : rc;
}

/* Whether another record is printed: 1, 0, SONDE_ENOMEM. As in perf, by its processor only. */
static int select_record(struct script *s, struct script_worker *w, const struct record *r,
        const struct session_sample *sample)
{
	w->name = NULL;
	if (s->by_start && sample->s.time == 0 && s->plans[sample->event].timed) {
		TRY(script_start_add(&w->start, r, session_swap(s->session), sample, &w->name));
	}
	if (s->by_start && (s->kinds >> r->type & 1) == 0) {
		return 0;
	}
	return pick_cpu(&s->pick, sample->s.cpu);
}

/* Returns the next record or sample that the filters select. */
static inline int next_selected(
        struct script *s, struct script_worker *w, struct record *r, struct session_sample *sample)
{
	int rc;

	while ((rc = session_worker_next_any(&w->session, r, sample)) > 0) {
		if (r->type == RECORD_FINISHED_ROUND || r->type == RECORD_AUXTRACE_ERROR) {
			return 1;
		}
		rc = r->type == RECORD_SAMPLE ? select_sample(s, w, sample)
		                              : select_record(s, w, r, sample);
		if (rc != 0) {
			return rc;
		}
	}
	return rc;
}

/* Returns whether the sample is printed, and updates *off. */
static bool switch_passes(const struct script *s, bool *off, const struct session_sample *sample)
{
	const char *wanted = *off ? s->switches.on : s->switches.off;

	if (wanted == NULL || strcmp(session_events(s->session)[sample->event].name, wanted) != 0) {
		return !*off;
	}
	*off = !*off;
	return s->switches.shown;
}

static bool is_switched(const struct script *s)
{
	return s->switches.on != NULL || s->switches.off != NULL;
}

/* Whether a sample that the filters select is printed: 1, 0, or a negative status. */
static int passes(struct script *s, struct script_worker *w, const struct session_sample *sample)
{
	if (is_switched(s) && !switch_passes(s, &w->off, sample)) {
		return 0;
	}
	if (s->filter != NULL) {
		int rc = script_filter_keeps(s, w, sample, false);

		if (rc <= 0) {
			return rc;
		}
	}
	return s->graph.on ? script_graph_passes(s, w, sample) : 1;
}

int script_part_next(
        struct script *s, struct script_worker *w, struct record *r, struct session_sample *sample)
{
	int rc;

	if (s->filter == NULL && !s->graph.on && !is_switched(s)) {
		return next_selected(s, w, r, sample);
	}
	while ((rc = next_selected(s, w, r, sample)) > 0) {
		rc = r->type == RECORD_SAMPLE ? passes(s, w, sample) : 1;
		if (rc != 0) {
			return rc;
		}
	}
	return rc;
}

/* Finds the state at the end of a part for both states at its start. */
static int switch_part(void *arg, unsigned worker, size_t part)
{
	struct script *s = arg;
	struct script_worker *w = &s->workers[worker];
	bool *off = s->parts[part].ends_off;
	struct session_sample sample;
	struct record r;
	int rc;

	off[0] = false;
	off[1] = true;
	TRY(script_part_open(s, w, part));
	while ((rc = next_selected(s, w, &r, &sample)) > 0) {
		if (r.type == RECORD_SAMPLE) {
			(void)switch_passes(s, &off[0], &sample);
			(void)switch_passes(s, &off[1], &sample);
		}
	}
	return rc;
}

static int find_switches(struct script *s)
{
	bool off = s->switches.on != NULL;

	TRY(pool_run(s->nworkers, s->nparts, switch_part, s));
	for (size_t i = 0; i < s->nparts; i++) {
		s->parts[i].off = off;
		off = s->parts[i].ends_off[off];
	}
	return 0;
}

/* Sets the clock of a part to that at its end, as if the part were the first one. */
static int pass_part(void *arg, unsigned worker, size_t part)
{
	struct script *s = arg;
	struct script_worker *w = &s->workers[worker];
	struct session_sample sample;
	struct record r;
	int rc;

	TRY(script_part_open(s, w, part));
	while ((rc = script_part_next(s, w, &r, &sample)) > 0) {
		if (r.type != RECORD_FINISHED_ROUND && r.type != RECORD_AUXTRACE_ERROR) {
			line_pass(&s->plans[sample.event], &s->parts[part].clock, &sample);
		}
	}
	return rc;
}

static int find_clocks(struct script *s)
{
	struct line_clock clock = {0};

	TRY(pool_run(s->nworkers, s->nparts, pass_part, s));
	for (size_t i = 0; i < s->nparts; i++) {
		struct line_clock end = s->parts[i].clock;

		s->parts[i].clock = clock;
		clock.start = clock.start != 0 ? clock.start : end.start;
		clock.last = end.last != 0 ? end.last : clock.last;
	}
	return 0;
}

int script_parts_find(struct script *s)
{
	bool timed = s->style.times != LINE_TIMES_RECORDED;

	if ((!timed && !is_switched(s)) || s->nworkers == 1 || s->nparts < 2) {
		return 0;
	}
	s->parts = arena_zalloc(&s->arena, s->nparts * sizeof(*s->parts));
	if (s->parts == NULL) {
		return SONDE_ENOMEM;
	}
	if (is_switched(s)) {
		TRY(find_switches(s));
	}
	return timed ? find_clocks(s) : 0;
}
