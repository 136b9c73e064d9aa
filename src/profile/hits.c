/* SPDX-License-Identifier: MIT */
#include "profile/hits.h"

#include <stdlib.h>

struct hits {
	const struct timeline *timeline;
	size_t nobjects;
	bool *of_worker; /* [worker][object]: workers do not share bytes that they write */
};

static int hits_add(void *arg, unsigned worker, const struct sonde_event *e)
{
	struct hits *h = arg;
	const struct timeline_mapping *m;

	if ((e->sample->present & SONDE_SAMPLE_IP) == 0) {
		return 0;
	}
	m = timeline_find(h->timeline, e->view, e->cpumode, e->sample->ip);
	if (m != NULL) {
		h->of_worker[worker * h->nobjects + m->object] = true;
	}
	return 0;
}

int profile_hits(struct sonde_session *s, bool *hit)
{
	struct hits h = {.timeline = session_timeline(s)};
	unsigned jobs = session_jobs(s);
	int rc;

	h.nobjects = timeline_objects(h.timeline);
	h.of_worker = calloc((size_t)jobs * h.nobjects + 1, sizeof(*h.of_worker));
	if (h.of_worker == NULL) {
		return error_nomem(session_error(s));
	}
	rc = sonde_session_map(s, hits_add, &h);
	for (size_t i = 0; i < (size_t)jobs * h.nobjects; i++) {
		hit[i % h.nobjects] |= h.of_worker[i];
	}
	free(h.of_worker);
	return rc;
}
