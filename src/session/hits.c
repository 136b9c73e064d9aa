/* SPDX-License-Identifier: MIT */
/* The objects that samples hit, for lists of build ids. */
#include "core/pool.h"
#include "session/inside.h"

#include <stdlib.h>

struct hits_worker {
	struct session_worker samples;
	struct frame_reader frames;
	bool *hit; /* for each worker: workers do not share bytes that they write */
	bool all; /* also callers, branches and data */
};

static void hit_near(struct hits_worker *w, const struct session_sample *s, uint64_t address)
{
	uint32_t mode = frame_mode_of(&w->frames, s->view, s->cpumode, address);

	frame_hit(&w->frames, s->view, mode, address, w->hit);
}

/* Marks the objects of what a sample has besides its own address. SONDE_ENOMEM. */
static int hits_others(struct hits_worker *w, const struct session_sample *s)
{
	const struct sonde_attr *attr = &w->samples.session->events[s->event].attr;
	struct frame_chain chain;
	uint64_t ip;

	TRY(frame_chain_open(&w->frames, &s->s, s->view, s->cpumode, attr, &chain));
	while (frame_chain_next(&chain, &ip) > 0) {
		frame_hit(&w->frames, s->view, chain.mode, ip, w->hit);
	}
	for (uint64_t i = 0; i < s->s.branch_len; i++) { /* from, to, flags */
		hit_near(w, s, s->s.branches[3 * i]);
		hit_near(w, s, s->s.branches[3 * i + 1]);
	}
	if ((s->s.present & SONDE_SAMPLE_ADDR) != 0) {
		hit_near(w, s, s->s.addr);
	}
	return 0;
}

static int hits_chunk(void *arg, unsigned worker, size_t chunk)
{
	struct hits_worker *w = &((struct hits_worker *)arg)[worker];
	struct session_sample s;
	int rc;

	session_chunk_open(&w->samples, chunk);
	while ((rc = session_worker_next(&w->samples, &s)) > 0) {
		if ((s.s.present & SONDE_SAMPLE_IP) != 0) {
			frame_hit(&w->frames, s.view, s.cpumode, s.s.ip, w->hit);
		}
		if (w->all) {
			TRY(hits_others(w, &s));
		}
	}
	return rc;
}

static int hits_run(struct sonde_session *s, struct hits_worker *workers, bool all, bool *hit)
{
	size_t nobjects = timeline_objects(s->timeline);
	unsigned jobs = session_jobs(s);

	for (unsigned i = 0; i < jobs; i++) {
		session_worker_init(&workers[i].samples, s);
		TRY(frame_reader_init(&workers[i].frames, &s->frames));
		workers[i].all = all;
		workers[i].hit = calloc(nobjects + 1, sizeof(*workers[i].hit));
		if (workers[i].hit == NULL) {
			return SONDE_ENOMEM;
		}
	}
	TRY(pool_run(jobs, session_chunks(s), hits_chunk, workers));
	for (size_t i = 0; i < jobs * nobjects; i++) {
		hit[i % nobjects] |= workers[i / nobjects].hit[i % nobjects];
	}
	return 0;
}

static int hits_find(struct sonde_session *s, bool all, bool *hit)
{
	unsigned jobs = session_jobs(s);
	struct hits_worker *workers = calloc(jobs, sizeof(*workers));
	int rc = workers != NULL ? hits_run(s, workers, all, hit) : SONDE_ENOMEM;

	for (unsigned i = 0; workers != NULL && i < jobs; i++) {
		session_worker_fini(&workers[i].samples);
		frame_reader_fini(&workers[i].frames);
		free(workers[i].hit);
	}
	free(workers);
	return rc < 0 ? error_nomem(&s->error) : 0;
}

void session_want_hits(struct sonde_session *s)
{
	s->wants_hits = true;
}

int session_hits(struct sonde_session *s, bool *hit)
{
	int rc = s->pages != NULL ? hit_pages_find(s->pages, s->timeline, hit) : 0;

	if (rc < 0) {
		return error_ensure(&s->error, rc);
	}
	return rc > 0 ? 0 : hits_find(s, false, hit);
}

int session_all_hits(struct sonde_session *s, bool *hit)
{
	return hits_find(s, true, hit);
}
