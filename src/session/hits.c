/* SPDX-License-Identifier: MIT */
/* The objects that samples hit, for lists of build ids. */
#include "core/pool.h"
#include "session/inside.h"

#include <stdlib.h>

struct hits_worker {
	struct session_worker samples;
	struct frame_reader frames;
	bool *hit; /* for each worker: workers do not share bytes that they write */
};

static int hits_chunk(void *arg, unsigned worker, size_t chunk)
{
	struct hits_worker *w = &((struct hits_worker *)arg)[worker];
	struct session_sample s;
	int rc;

	session_chunk_open(&w->samples, chunk);
	while ((rc = session_worker_next(&w->samples, &s)) > 0) {
		if ((s.s.present & SONDE_SAMPLE_IP) == 0) {
			continue;
		}
		frame_hit(&w->frames, s.view, s.cpumode, s.s.ip, w->hit);
	}
	return rc;
}

static int hits_run(struct sonde_session *s, struct hits_worker *workers, bool *hit)
{
	size_t nobjects = timeline_objects(s->timeline);
	unsigned jobs = session_jobs(s);

	for (unsigned i = 0; i < jobs; i++) {
		session_worker_init(&workers[i].samples, s);
		TRY(frame_reader_init(&workers[i].frames, &s->frames));
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

int session_hits(struct sonde_session *s, bool *hit)
{
	unsigned jobs = session_jobs(s);
	struct hits_worker *workers = calloc(jobs, sizeof(*workers));
	int rc = workers != NULL ? hits_run(s, workers, hit) : SONDE_ENOMEM;

	for (unsigned i = 0; workers != NULL && i < jobs; i++) {
		session_worker_fini(&workers[i].samples);
		frame_reader_fini(&workers[i].frames);
		free(workers[i].hit);
	}
	free(workers);
	return rc < 0 ? error_nomem(&s->error) : 0;
}
