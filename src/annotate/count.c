/* SPDX-License-Identifier: MIT */
/* Counts samples by address, on all workers. */
#include "annotate/inside.h"

#include "core/array.h"
#include "core/pool.h"

#include <stdlib.h>

#define BRANCH_CYCLES_SHIFT 4u /* of the flags of a branch: 16 bits of cycles */

struct worker {
	struct session_worker samples;
	struct frame_reader frames;
	struct annotate_table table;
	const struct pick *pick;
};

void annotate_table_fini(struct annotate_table *t)
{
	free(t->places);
	free(t->counts);
	free(t->totals);
	index_fini(&t->index);
}

/* Returns the place of an address, made when new; NULL: out of memory. */
static struct annotate_place *place_of(
        struct annotate_table *t, uint32_t object, uint64_t address, uint64_t ip)
{
	uint32_t hash = (uint32_t)hash_u64(address ^ (uint64_t)object << 44);
	size_t at = hash, counts = (t->n + 1) * t->nevents;
	uint32_t id;

	if (index_room(&t->index) < 0) {
		return NULL;
	}
	while ((id = index_next(&t->index, hash, &at)) != INDEX_NONE) {
		if (t->places[id].address == address && t->places[id].object == object) {
			return &t->places[id];
		}
		at++;
	}
	if (!array_reserve(&t->places, &t->cap, t->n + 1, sizeof(*t->places)) ||
	        !array_reserve(&t->counts, &t->counts_cap, counts, sizeof(*t->counts))) {
		return NULL;
	}
	memset(&t->counts[t->n * t->nevents], 0, t->nevents * sizeof(*t->counts));
	t->places[t->n] = (struct annotate_place){
	        .object = object, .number = (uint32_t)t->n, .address = address, .ip = ip};
	index_put(&t->index, hash, at, (uint32_t)t->n);
	return &t->places[t->n++];
}

/* Adds the cycles of a sample's branches to the places where they are. */
static int add_branches(struct worker *w, const struct session_sample *s)
{
	for (uint64_t i = 0; i < s->s.branch_len; i++) {
		const uint64_t *b = &s->s.branches[3 * i];
		uint64_t cycles = b[2] >> BRANCH_CYCLES_SHIFT & UINT16_MAX;
		struct annotate_place *place;
		struct frame at;

		if (cycles == 0) {
			continue;
		}
		at = frame_locate(&w->frames, s->view,
		        frame_mode_of(&w->frames, s->view, s->cpumode, b[0]), b[0]);
		if (at.object == FRAME_NOWHERE) {
			continue;
		}
		place = place_of(&w->table, at.object, at.address, at.ip);
		if (place == NULL) {
			return SONDE_ENOMEM;
		}
		place->cycles += cycles;
		place->branches++;
	}
	return 0;
}

static int add_sample(struct worker *w, const struct session_sample *s)
{
	struct annotate_count *total = &w->table.totals[s->event], *count;
	struct annotate_place *place;
	struct frame at;

	total->samples++;
	total->period += s->s.period;
	at = frame_locate(&w->frames, s->view, s->cpumode, s->s.ip);
	if ((s->s.present & SONDE_SAMPLE_IP) == 0 || at.object == FRAME_NOWHERE) {
		return 0;
	}
	place = place_of(&w->table, at.object, at.address, at.ip);
	if (place == NULL) {
		return SONDE_ENOMEM;
	}
	count = &w->table.counts[place->number * w->table.nevents + s->event];
	count->samples++;
	count->period += s->s.period;
	return add_branches(w, s);
}

/* pool_task_fn */
static int count_chunk(void *arg, unsigned worker, size_t chunk)
{
	struct worker *w = &((struct worker *)arg)[worker];
	struct session_sample s;
	int rc, wanted;

	session_chunk_open(&w->samples, chunk);
	while ((rc = session_worker_next(&w->samples, &s)) > 0) {
		if (!pick_takes(w->pick, s.s.cpu, s.s.time)) {
			continue;
		}
		wanted = pick_wanted(w->pick, &w->frames, &s);
		TRY(wanted);
		if (wanted != 0) {
			TRY(add_sample(w, &s));
		}
	}
	return rc;
}

static int merge(struct annotate_table *to, const struct annotate_table *from)
{
	for (size_t i = 0; i < from->n; i++) {
		const struct annotate_place *p = &from->places[i];
		struct annotate_place *place = place_of(to, p->object, p->address, p->ip);

		if (place == NULL) {
			return SONDE_ENOMEM;
		}
		place->cycles += p->cycles;
		place->branches += p->branches;
		place->ip = place->ip < p->ip ? place->ip : p->ip; /* whatever the workers' order */
		for (size_t e = 0; e < to->nevents; e++) {
			struct annotate_count *count = &to->counts[place->number * to->nevents + e];

			count->samples += annotate_counts(from, p)[e].samples;
			count->period += annotate_counts(from, p)[e].period;
		}
	}
	for (size_t e = 0; e < to->nevents; e++) {
		to->totals[e].samples += from->totals[e].samples;
		to->totals[e].period += from->totals[e].period;
	}
	return 0;
}

static int place_compare(const void *a, const void *b)
{
	const struct annotate_place *x = a, *y = b;

	if (x->object != y->object) {
		return x->object < y->object ? -1 : 1;
	}
	return x->address < y->address ? -1 : x->address > y->address;
}

static int count(struct sonde_session *s, struct worker *workers, unsigned jobs,
        const struct pick *pick, struct annotate_table *out)
{
	for (unsigned i = 0; i < jobs; i++) {
		struct worker *w = &workers[i];

		session_worker_init(&w->samples, s);
		w->pick = pick;
		w->table.nevents = out->nevents;
		w->table.totals = calloc(out->nevents + 1, sizeof(*w->table.totals));
		TRY(frame_reader_init(&w->frames, session_frames(s)));
		if (w->table.totals == NULL) {
			return SONDE_ENOMEM;
		}
	}
	TRY(pool_run(jobs, session_chunks(s), count_chunk, workers));
	for (unsigned i = 0; i < jobs; i++) {
		TRY(merge(out, &workers[i].table));
	}
	if (out->n != 0) {
		qsort(out->places, out->n, sizeof(*out->places), place_compare);
	}
	return 0;
}

int annotate_count(struct sonde_session *s, const struct pick *pick, struct annotate_table *out)
{
	unsigned jobs = session_jobs(s);
	struct worker *workers = calloc(jobs, sizeof(*workers));
	int rc = SONDE_ENOMEM;

	out->nevents = sonde_session_events(s);
	out->totals = calloc(out->nevents + 1, sizeof(*out->totals));
	if (workers != NULL && out->totals != NULL) {
		rc = count(s, workers, jobs, pick, out);
	}
	for (unsigned i = 0; workers != NULL && i < jobs; i++) {
		session_worker_fini(&workers[i].samples);
		frame_reader_fini(&workers[i].frames);
		annotate_table_fini(&workers[i].table);
	}
	free(workers);
	return rc;
}
