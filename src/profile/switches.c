/* SPDX-License-Identifier: MIT */
/*
 * Switching by events: samples count only after one of an event on, and until one of another. A pass
 * over the samples of both finds the moments at which the state changes; workers then look up the
 * state of each sample by time, and by position in the file for equal times.
 */
#include "profile/profile.h"

#include "core/array.h"
#include "core/pool.h"

#include <stdlib.h>

struct moment {
	uint64_t time, offset; /* of a sample */
	uint32_t event;
};

struct found { /* by one worker */
	struct session_worker worker;
	struct moment *list;
	size_t n, cap;
};

struct profile_switches {
	struct moment *list; /* the samples that change the state, in order */
	size_t n;
	bool on; /* the state before the first */
	bool shown; /* the samples that change it are counted */
};

struct finding {
	const struct profile *p;
	struct found *workers;
};

static int moment_order(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	if (x->time != y->time) {
		return x->time < y->time ? -1 : 1;
	}
	if (x->offset != y->offset) {
		return x->offset < y->offset ? -1 : 1;
	}
	return x->event < y->event ? -1 : x->event > y->event; /* counts of a group in one record */
}

static bool is_event(const struct profile *p, const char *name, uint32_t event)
{
	return name != NULL && strcmp(name, sonde_session_event_name(p->session, event)) == 0;
}

static int find_in_chunk(void *arg, unsigned worker, size_t chunk)
{
	const struct finding *x = arg;
	const struct profile_options *o = &x->p->options;
	struct found *f = &x->workers[worker];
	struct session_sample s;
	int rc;

	session_chunk_open(&f->worker, chunk);
	while ((rc = session_worker_next(&f->worker, &s)) > 0) {
		if (!pick_time(o->pick, s.s.time) ||
		        (!is_event(x->p, o->switch_on, s.event) &&
		                !is_event(x->p, o->switch_off, s.event))) {
			continue;
		}
		if (!array_reserve(&f->list, &f->cap, f->n + 1, sizeof(*f->list))) {
			return SONDE_ENOMEM;
		}
		f->list[f->n++] = (struct moment){s.s.time, s.offset, s.event};
	}
	return rc;
}

/* Joins what the workers found, and keeps the samples that change the state. */
static int moments_join(const struct profile *p, const struct found *workers, unsigned nworkers,
        struct profile_switches *out)
{
	bool on = out->on;
	size_t n = 0;

	for (unsigned i = 0; i < nworkers; i++) {
		n += workers[i].n;
	}
	out->list = malloc((n + 1) * sizeof(*out->list));
	if (out->list == NULL) {
		return SONDE_ENOMEM;
	}
	n = 0;
	for (unsigned i = 0; i < nworkers; i++) {
		for (size_t k = 0; k < workers[i].n; k++) {
			out->list[n++] = workers[i].list[k];
		}
	}
	qsort(out->list, n, sizeof(*out->list), moment_order);
	for (size_t i = 0; i < n; i++) {
		if (is_event(p, on ? p->options.switch_off : p->options.switch_on,
		            out->list[i].event)) {
			out->list[out->n++] = out->list[i];
			on = !on;
		}
	}
	return 0;
}

int profile_switches_make(struct profile *p)
{
	unsigned jobs = session_jobs(p->session);
	struct finding x = {.p = p, .workers = calloc(jobs, sizeof(*x.workers))};
	int rc;

	p->switches = calloc(1, sizeof(*p->switches));
	if (x.workers == NULL || p->switches == NULL) {
		free(x.workers);
		return SONDE_ENOMEM;
	}
	p->switches->on = p->options.switch_on == NULL;
	p->switches->shown = p->options.show_switches;
	for (unsigned i = 0; i < jobs; i++) {
		session_worker_init(&x.workers[i].worker, p->session);
	}
	rc = pool_run(jobs, session_chunks(p->session), find_in_chunk, &x);
	if (rc >= 0) {
		rc = moments_join(p, x.workers, jobs, p->switches);
	}
	for (unsigned i = 0; i < jobs; i++) {
		session_worker_fini(&x.workers[i].worker);
		free(x.workers[i].list);
	}
	free(x.workers);
	return rc;
}

void profile_switches_free(struct profile_switches *s)
{
	if (s != NULL) {
		free(s->list);
		free(s);
	}
}

bool profile_switches_take(const struct profile_switches *s, const struct session_sample *sample)
{
	const struct moment key = {
	        .time = sample->s.time, .offset = sample->offset, .event = sample->event};
	size_t low = 0, high = s->n;

	while (low < high) { /* finds the number of changes before the sample */
		size_t middle = low + (high - low) / 2;
		int order = moment_order(&s->list[middle], &key);

		if (order == 0) {
			return s->shown;
		}
		if (order < 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return s->on != (low % 2 != 0);
}
