/* SPDX-License-Identifier: MIT */
#include "timeline/epochs.h"

#include "core/array.h"

#include <pthread.h>
#include <stdlib.h>

#define KEPT  2u /* tracks that stay in memory although no look-up uses them */
#define GRACE 1000000000u /* ns from the EXIT of a thread in which its last samples come */

enum epoch_state { ABSENT, BEING_MADE, MADE };

struct epoch {
	uint64_t after, end; /* after < time <= end; the first one has also time 0 */
	struct track base; /* not packed */
	uint32_t first_root;
	struct epochs_list lists[EPOCHS_LISTS];
	/* guarded by the lock */
	enum epoch_state state;
	struct track track;
	unsigned pins;
	uint64_t used; /* counts up with every pin */
};

struct epochs {
	struct epochs_input input;
	pthread_mutex_t lock;
	pthread_cond_t changed; /* the state of an epoch that was being made */
	uint64_t pinned; /* number of pins so far */
	bool *recorded; /* [input.nmet]: a side-band record has the thread */
	size_t n;
	struct epoch items[];
};

int notes_add(struct timeline_notes *notes, const struct record *r, uint64_t time)
{
	if (!array_reserve(&notes->items, &notes->cap, notes->n + 1, sizeof(*notes->items))) {
		return SONDE_ENOMEM;
	}
	notes->items[notes->n++] = (struct note){.time = time,
	        .offset = r->offset,
	        .body = r->body.p,
	        .type = (uint16_t)r->type,
	        .misc = r->misc,
	        .size = (uint16_t)r->body.n};
	return 0;
}

void notes_fini(struct timeline_notes *notes)
{
	free(notes->items);
	*notes = (struct timeline_notes){0};
}

/* ---- making tracks ---- */

/*
 * Adds the threads that samples name to a track; they are alive in no epoch. recorded: those that
 * side-band records have, in any epoch, or those that they do not have.
 */
static int add_met(const struct epochs *e, bool recorded, struct track *t)
{
	for (size_t i = 0; i < e->input.nmet; i++) {
		if (e->recorded[i] == recorded &&
		        track_thread_get(t, e->input.met[i].pid, e->input.met[i].tid) == NONE) {
			return SONDE_ENOMEM;
		}
	}
	return 0;
}

static void find_recorded(const struct epochs *e, const struct track *t)
{
	for (size_t i = 0; i < e->input.nmet; i++) {
		uint32_t th = track_thread(t, e->input.met[i].tid);

		if (th != NONE && t->processes[t->threads[th].process].pid == e->input.met[i].pid) {
			e->recorded[i] = true;
		}
	}
}

/* Plays an epoch, from its base on. */
static int play_epoch(const struct epochs *e, uint32_t i, struct player *play)
{
	const struct epoch *epoch = &e->items[i];
	struct timeline_notes notes = {0};
	int rc;

	if (i == 0) {
		TRY(play_begin(play));
		TRY(play_notes(play, e->input.start->items, e->input.start->n));
	} else {
		TRY(track_carry(&epoch->base, play->track, 0));
	}
	rc = e->input.reread(e->input.arg, epoch->after, epoch->end, &notes);
	for (size_t k = 0; k < notes.n; k++) { /* late records */
		struct note *n = &notes.items[k];

		n->time = n->time <= epoch->after && i != 0 ? epoch->after + 1 : n->time;
	}
	if (rc >= 0) {
		rc = play_notes(play, notes.items, notes.n);
	}
	notes_fini(&notes);
	return rc;
}

static void list_set(struct epoch *epoch, enum epochs_lists list, size_t first, size_t end)
{
	epoch->lists[list] = (struct epochs_list){.first = first, .n = end - first};
}

/* Plays epoch i for the first time: adds objects and texts, and makes the base of the next one. */
static int begin_epoch(struct epochs *e, uint32_t i, struct track *t)
{
	struct player play = {.track = t,
	        .objects = e->input.objects,
	        .diags = e->input.diags,
	        .swap = e->input.swap};
	struct epoch *epoch = &e->items[i];
	const struct track *base = &epoch->base;

	TRY(play_epoch(e, i, &play));
	find_recorded(e, t);
	if (i + 1 < e->n) {
		TRY(track_carry(
		        t, &e->items[i + 1].base, epoch->end > GRACE ? epoch->end - GRACE : 0));
		if (t->pool.count > UINT32_MAX - epoch->first_root) {
			return SONDE_ELIMIT;
		}
		e->items[i + 1].first_root = epoch->first_root + (uint32_t)t->pool.count;
	}
	if (i + 1 == e->n) { /* all others were found */
		TRY(add_met(e, false, t));
	}
	list_set(epoch, EPOCHS_PROCESSES, base->nprocesses, t->nprocesses);
	list_set(epoch, EPOCHS_THREADS, base->nthreads, t->nthreads);
	list_set(epoch, EPOCHS_MAPPINGS, base->nmappings, t->nmappings);
	TRY(add_met(e, true, t));
	if (i + 1 < e->n) {
		TRY(add_met(e, false, t));
	}
	return track_pack(t, e->input.objects);
}

int epochs_new(
        const struct epochs_input *input, const uint64_t *ends, size_t n, struct epochs **out)
{
	struct epochs *e = calloc(1, sizeof(*e) + n * sizeof(e->items[0]));
	int rc = 0;

	*out = e;
	if (e == NULL) {
		return SONDE_ENOMEM;
	}
	e->input = *input;
	e->n = n;
	e->recorded = calloc(input->nmet + 1, sizeof(*e->recorded));
	rc = e->recorded != NULL ? 0 : SONDE_ENOMEM;
	(void)pthread_mutex_init(&e->lock, NULL);
	(void)pthread_cond_init(&e->changed, NULL);
	for (size_t i = 0; i < n; i++) {
		e->items[i].after = i != 0 ? ends[i - 1] : 0;
		e->items[i].end = ends[i];
	}
	for (uint32_t i = 0; rc >= 0 && i < n; i++) {
		struct track track = {0};

		rc = begin_epoch(e, i, &track);
		track_fini(&track);
	}
	input->objects->complete = true;
	return rc;
}

void epochs_free(struct epochs *e)
{
	if (e == NULL) {
		return;
	}
	for (size_t i = 0; i < e->n; i++) {
		track_fini(&e->items[i].base);
		track_fini(&e->items[i].track);
	}
	(void)pthread_mutex_destroy(&e->lock);
	(void)pthread_cond_destroy(&e->changed);
	free(e->recorded);
	free(e);
}

static int make_track(const struct epochs *e, uint32_t i, struct track *t)
{
	struct diag_sink reported = {0}; /* by epochs_new */
	struct player play = {
	        .track = t, .objects = e->input.objects, .diags = &reported, .swap = e->input.swap};

	t->first_root = e->items[i].first_root;
	TRY(play_epoch(e, i, &play));
	TRY(add_met(e, false, t));
	TRY(add_met(e, true, t));
	return track_pack(t, e->input.objects);
}

/* ---- look-ups ---- */

uint32_t epochs_at(const struct epochs *e, uint64_t time)
{
	size_t lo = 0;
	size_t hi = e->n - 1;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (e->items[mid].end < time) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	return (uint32_t)lo;
}

void epochs_times(const struct epochs *e, uint32_t i, uint64_t *from, uint64_t *until)
{
	*from = i != 0 ? e->items[i].after + 1 : 0;
	*until = e->items[i].end != UINT64_MAX ? e->items[i].end + 1 : UINT64_MAX;
}

/* Frees the unused track that was used least recently, if there are more than KEPT. */
static void forget_one(struct epochs *e)
{
	struct epoch *oldest = NULL;
	size_t unused = 0;

	for (size_t i = 0; i < e->n; i++) {
		struct epoch *epoch = &e->items[i];

		if (epoch->state == MADE && epoch->pins == 0) {
			unused++;
			oldest = oldest == NULL || epoch->used < oldest->used ? epoch : oldest;
		}
	}
	if (unused > KEPT) {
		track_fini(&oldest->track);
		oldest->state = ABSENT;
	}
}

int epochs_pin(struct epochs *e, uint32_t i, const struct track **track)
{
	struct epoch *epoch = &e->items[i];
	int rc = 0;

	(void)pthread_mutex_lock(&e->lock);
	epoch->pins++;
	epoch->used = ++e->pinned;
	while (epoch->state == BEING_MADE) {
		(void)pthread_cond_wait(&e->changed, &e->lock);
	}
	if (epoch->state == ABSENT) {
		epoch->state = BEING_MADE;
		(void)pthread_mutex_unlock(&e->lock);
		rc = make_track(e, i, &epoch->track);
		if (rc < 0) {
			track_fini(&epoch->track);
		}
		(void)pthread_mutex_lock(&e->lock);
		epoch->state = rc < 0 ? ABSENT : MADE;
		epoch->pins -= rc < 0 ? 1 : 0;
		(void)pthread_cond_broadcast(&e->changed);
	}
	(void)pthread_mutex_unlock(&e->lock);
	*track = &epoch->track;
	return rc;
}

void epochs_unpin(struct epochs *e, uint32_t i)
{
	(void)pthread_mutex_lock(&e->lock);
	e->items[i].pins--;
	forget_one(e);
	(void)pthread_mutex_unlock(&e->lock);
}

size_t epochs_count(const struct epochs *e, enum epochs_lists list)
{
	size_t n = 0;

	for (size_t i = 0; i < e->n; i++) {
		n += e->items[i].lists[list].n;
	}
	return n;
}

uint32_t epochs_item(const struct epochs *e, enum epochs_lists list, size_t *i)
{
	uint32_t epoch = 0;

	while (*i >= e->items[epoch].lists[list].n) {
		*i -= e->items[epoch++].lists[list].n;
	}
	*i += e->items[epoch].lists[list].first;
	return epoch;
}
