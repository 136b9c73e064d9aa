/* SPDX-License-Identifier: MIT */
/* Samples in time order and their frames, for the public API. */
#include "core/array.h"
#include "core/options.h"
#include "core/pool.h"
#include "record/typed.h"
#include "session/inside.h"

#include <stdlib.h>

static int reader_ready(struct session_shown *shown, const struct sonde_session *s)
{
	return shown->reader.resolver == NULL ? frame_reader_init(&shown->reader, &s->frames) : 0;
}

static void show(struct session_shown *shown, const struct sonde_session *s, uint32_t type)
{
	const struct session_sample *in = &shown->sample;

	shown->event = (struct sonde_event){
	        .sample = &in->s,
	        .thread = {.pid = in->s.pid,
	                .tid = in->s.tid,
	                .comm = in->view->known ? timeline_text(s->timeline, in->view->comm) : "?"},
	        .event = in->event,
	        .cpumode = in->cpumode,
	        .offset = in->offset,
	        .inside = shown,
	        .type = type,
	};
}

/* Whether sonde_session_choose selected the event: 1, 0, SONDE_ENOMEM. */
static int is_chosen(struct session_shown *shown, const struct sonde_session *s, uint32_t type)
{
	if (type != RECORD_SAMPLE) {
		return pick_cpu(&s->pick, shown->sample.s.cpu);
	}
	if (s->no_samples || !s->filtered) {
		return !s->no_samples;
	}
	TRY(reader_ready(shown, s));
	return pick_wanted(&s->pick, &shown->reader, &shown->sample);
}

/*
 * Sets shown->event to the next event that sonde_session_choose selects. 1, 0 at the end of the
 * worker's chunk or window, SONDE_ENOMEM.
 */
static int show_next(
        struct session_shown *shown, const struct sonde_session *s, struct session_worker *w)
{
	uint32_t type = RECORD_SAMPLE;
	int rc;

	do {
		if (w->kinds == 0) {
			rc = session_worker_next(w, &shown->sample);
		} else {
			rc = session_worker_next_any(w, &shown->record, &shown->sample);
			type = shown->record.type;
		}
		if (rc <= 0) {
			return rc;
		}
		rc = is_chosen(shown, s, type);
	} while (rc == 0);
	show(shown, s, type);
	return rc;
}

static bool restricts(const struct sonde_filter *f)
{
	return f->comms != NULL || f->dsos != NULL || f->symbols != NULL || f->pids != NULL ||
	       f->tids != NULL || f->cpus != NULL || f->time != NULL;
}

int sonde_session_choose(struct sonde_session *s, const struct sonde_session_choice *choice)
{
	struct sonde_session_choice c = {0};
	int rc;

	TRY(session_ready(s));
	TRY(options_copy(&c, sizeof(c), choice, &s->error));
	pick_fini(&s->pick);
	rc = pick_init(&s->pick, s, &c.filter);
	if (rc < 0) {
		pick_fini(&s->pick);
		c = (struct sonde_session_choice){0};
	}
	s->filtered = restricts(&c.filter);
	c.kinds &= ~SESSION_ROUNDS; /* marks of rounds have no place in time */
	s->kinds = c.kinds;
	s->no_samples = c.no_samples;
	s->next.kinds = c.kinds;
	s->next_window = 0;
	s->next_open = false;
	return error_plain(&s->error, rc);
}

int sonde_session_next(struct sonde_session *s, const struct sonde_event **e)
{
	int rc;

	TRY(session_ready(s));
	for (;;) {
		if (!s->next_open) {
			if (s->next_window >= session_windows(s)) {
				return 0;
			}
			if (session_window_open(&s->next, s->next_window++) < 0) {
				return error_nomem(&s->error);
			}
			s->next_open = true;
		}
		rc = show_next(&s->shown_sample, s, &s->next);
		if (rc < 0) {
			return error_nomem(&s->error);
		}
		if (rc > 0) {
			*e = &s->shown_sample.event;
			return 1;
		}
		s->next_open = false;
	}
}

int sonde_session_record(
        struct sonde_session *s, const struct sonde_event *e, const struct sonde_typed_record **r)
{
	struct session_shown *shown = e->inside;
	struct sonde_typed_record *typed = &shown->typed;
	const struct record_plan *plan = &s->events[e->event].plan;

	*r = typed;
	*typed = (struct sonde_typed_record){.type = e->type,
	        .misc = (uint16_t)e->cpumode,
	        .event = (long)e->event,
	        .trailer = {.pid = e->sample->pid,
	                .tid = e->sample->tid,
	                .time = e->sample->time,
	                .id = e->sample->id,
	                .stream_id = e->sample->stream_id,
	                .cpu = e->sample->cpu}};
	if (e->type == RECORD_SAMPLE) {
		typed->sample = *e->sample;
		return 1;
	}
	typed->misc = shown->record.misc;
	return typed_decode(&shown->record, s->swap, plan, typed);
}

void session_shown_fini(struct session_shown *shown)
{
	frame_reader_fini(&shown->reader);
	free(shown->frames);
	*shown = (struct session_shown){0};
}

struct map_worker {
	struct session_worker samples;
	struct session_shown shown;
};

struct map_job {
	struct sonde_session *session;
	struct map_worker *workers;
	sonde_map_fn fn;
	void *arg;
};

static int map_chunk(void *arg, unsigned worker, size_t task)
{
	struct map_job *job = arg;
	struct map_worker *w = &job->workers[worker];
	int rc;

	session_chunk_open(&w->samples, task);
	while ((rc = show_next(&w->shown, job->session, &w->samples)) > 0) {
		TRY(job->fn(job->arg, worker, &w->shown.event));
	}
	return rc;
}

int sonde_session_map(struct sonde_session *s, sonde_map_fn fn, void *arg)
{
	struct map_job job = {.session = s, .fn = fn, .arg = arg};
	unsigned jobs = s->options.jobs;
	int rc;

	TRY(session_ready(s));
	job.workers = calloc(jobs, sizeof(*job.workers));
	if (job.workers == NULL) {
		return error_nomem(&s->error);
	}
	for (unsigned i = 0; i < jobs; i++) {
		session_worker_init(&job.workers[i].samples, s);
		job.workers[i].samples.kinds = s->kinds;
	}
	rc = pool_run(jobs, session_chunks(s), map_chunk, &job);
	for (unsigned i = 0; i < jobs; i++) {
		session_worker_fini(&job.workers[i].samples);
		session_shown_fini(&job.workers[i].shown);
	}
	free(job.workers);
	return rc == SONDE_ENOMEM ? error_nomem(&s->error) : rc;
}

/* Makes room for more than n frames; negative: out of memory. */
static int room_for(struct session_shown *shown, const struct sonde_session *s, size_t n)
{
	TRY(reader_ready(shown, s));
	return array_reserve(&shown->frames, &shown->frames_cap, n + 1, sizeof(*shown->frames))
	               ? 0
	               : SONDE_ENOMEM;
}

static int frame_show(struct session_shown *shown, const struct sonde_session *s, uint32_t cpumode,
        uint64_t ip, struct sonde_frame *out)
{
	const struct frame *f = frame_find(&shown->reader, shown->sample.view, cpumode, ip);

	if (f == NULL) {
		return SONDE_ENOMEM;
	}
	*out = (struct sonde_frame){.ip = ip,
	        .address = f->address,
	        .cpumode = cpumode,
	        .inline_depth = f->inline_depth};
	if (f->object == FRAME_NOWHERE) {
		return 0;
	}
	out->dso = timeline_text(s->timeline, timeline_object(s->timeline, f->object)->name);
	if (f->symbol != NULL) {
		out->symbol = frame_symbol_name(&s->frames, f->object, f->symbol);
		if (out->symbol == NULL) {
			return SONDE_ENOMEM;
		}
		out->symbol_offset = f->address - f->symbol->start;
	}
	return 1;
}

int sonde_session_frames(
        struct sonde_session *s, const struct sonde_event *e, const struct sonde_frame **leaf)
{
	struct session_shown *shown = e->inside;
	struct frame_chain chain;
	size_t n = 0;
	uint64_t ip;
	int rc;

	TRY(room_for(shown, s, 0));
	TRY(frame_chain_open(&shown->reader, e->sample, shown->sample.view, e->cpumode,
	        &s->events[e->event].attr, &chain));
	TRY(room_for(shown, s, chain.n));
	while ((rc = frame_chain_next(&chain, &ip)) > 0) {
		TRY(frame_show(shown, s, chain.mode, ip, &shown->frames[n++]));
	}
	if (rc < 0 || n == 0) {
		n = 1;
		TRY(frame_show(shown, s, e->cpumode, e->sample->ip, &shown->frames[0]));
	}
	for (size_t i = 0; i + 1 < n; i++) {
		shown->frames[i].caller = &shown->frames[i + 1];
	}
	*leaf = shown->frames;
	return (int)n;
}

int sonde_session_resolve(struct sonde_session *s, const struct sonde_event *e, uint32_t cpumode,
        uint64_t address, const struct sonde_frame **out)
{
	struct session_shown *shown = e->inside;

	TRY(room_for(shown, s, 0));
	*out = shown->frames;
	return frame_show(shown, s, cpumode, address, shown->frames);
}
