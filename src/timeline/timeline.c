/* SPDX-License-Identifier: MIT */
/*
 * Side-band comes in file order and is stored as small notes; timeline_seal plays them once, by time
 * (play.c), into the track of processes and threads (track.c). The notes of a long recording are
 * only counted, and read again later (epochs.c).
 */
#include "timeline/timeline.h"

#include "core/array.h"
#include "core/hash.h"
#include "core/index.h"
#include "timeline/epochs.h"
#include "timeline/objects.h"
#include "timeline/play.h"
#include "timeline/switches.h"
#include "timeline/track.h"

#include <stdlib.h>

struct timeline {
	struct diag_sink *diags;
	struct intern texts;
	struct timeline_notes notes; /* once there is a cut: synthesised state only */
	struct met *met;
	size_t nmet, met_cap;
	struct index met_index;
	bool swap;
	struct objects objects;
	struct track track; /* unused with epochs */
	struct switches switches;
	/* long recordings */
	timeline_reread_fn reread; /* NULL: all notes are kept */
	void *reread_arg;
	size_t max_notes, counted, counted_before; /* notes so far; before the last cut */
	uint64_t *cuts; /* the last times of all epochs but one */
	size_t ncuts, cuts_cap;
	bool dropped; /* notes were dropped */
	bool guests; /* timeline_with_guests was called */
	struct epochs *epochs; /* NULL: a single track */
};

struct timeline *timeline_new(struct diag_sink *diags)
{
	struct timeline *t = calloc(1, sizeof(*t));

	if (t != NULL) {
		t->diags = diags;
		t->objects.texts = &t->texts;
		if (intern_add(&t->texts, "?", 1) != TIMELINE_NO_NAME) {
			timeline_free(t);
			return NULL;
		}
	}
	return t;
}

static void forget_notes(struct timeline *t)
{
	notes_fini(&t->notes);
	free(t->met);
	t->met = NULL;
	t->nmet = t->met_cap = 0;
	index_fini(&t->met_index);
}

void timeline_free(struct timeline *t)
{
	if (t == NULL) {
		return;
	}
	epochs_free(t->epochs);
	free(t->cuts);
	forget_notes(t);
	track_fini(&t->track);
	objects_fini(&t->objects);
	switches_fini(&t->switches);
	intern_fini(&t->texts);
	free(t);
}

void timeline_limit(struct timeline *t, size_t records, timeline_reread_fn reread, void *arg)
{
	t->max_notes = records;
	t->reread = reread;
	t->reread_arg = arg;
}

int timeline_add(struct timeline *t, const struct record *r, bool swap, uint64_t time)
{
	if (r->type >= 32 || (TIMELINE_RECORDS >> r->type & 1) == 0) {
		return 0;
	}
	t->swap = swap;
	t->counted++;
	if (r->type == RECORD_EXIT || (t->dropped && time != 0)) {
		return 0;
	}
	return notes_add(&t->notes, r, time);
}

int timeline_add_jit(struct timeline *t, const struct timeline_jit *jit, uint64_t time)
{
	t->counted++;
	return t->dropped && time != 0 ? 0 : timeline_notes_add_jit(&t->notes, jit, time);
}

int timeline_notes_add_jit(
        struct timeline_notes *notes, const struct timeline_jit *jit, uint64_t time)
{
	const struct record r = {.type = NOTE_JIT, .body = {(const uint8_t *)jit, sizeof(*jit)}};

	return notes_add(notes, &r, time);
}

int timeline_notes_add(struct timeline_notes *notes, const struct record *r, uint64_t time)
{
	return time != 0 ? notes_add(notes, r, time) : 0;
}

/* Drops all notes but those of synthesised state, which is kept. */
static void drop_notes(struct timeline *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->notes.n; i++) {
		if (t->notes.items[i].time == 0) {
			t->notes.items[n++] = t->notes.items[i];
		}
	}
	t->notes.n = n;
	t->dropped = true;
}

int timeline_settled(struct timeline *t, uint64_t time)
{
	if (t->reread == NULL || t->counted - t->counted_before < t->max_notes ||
	        (t->ncuts != 0 ? time <= t->cuts[t->ncuts - 1] : time == 0)) {
		return 0;
	}
	/* room for the end of the last epoch too */
	if (!array_reserve(&t->cuts, &t->cuts_cap, t->ncuts + 2, sizeof(*t->cuts))) {
		return SONDE_ENOMEM;
	}
	t->cuts[t->ncuts++] = time;
	t->counted_before = t->counted;
	drop_notes(t);
	return 0;
}

void timeline_unsettle(struct timeline *t)
{
	t->ncuts = 0;
	t->max_notes = SIZE_MAX;
}

int timeline_add_thread(struct timeline *t, uint32_t pid, uint32_t tid)
{
	uint32_t hash = (uint32_t)hash_u64((uint64_t)pid << 32 | tid);
	uint32_t id;
	size_t at = hash;

	TRY(index_room(&t->met_index));
	while ((id = index_next(&t->met_index, hash, &at)) != INDEX_NONE) {
		if (t->met[id].pid == pid && t->met[id].tid == tid) {
			return 0;
		}
		at++;
	}
	if (!array_reserve(&t->met, &t->met_cap, t->nmet + 1, sizeof(*t->met))) {
		return SONDE_ENOMEM;
	}
	id = (uint32_t)t->nmet++;
	t->met[id] = (struct met){.pid = pid, .tid = tid};
	index_put(&t->met_index, hash, at, id);
	return 0;
}

int timeline_add_switch(struct timeline *t, uint32_t cpu, uint64_t time,
        struct timeline_thread from, struct timeline_thread to)
{
	return switches_add(&t->switches, cpu, time, from, to);
}

static int seal_epochs(struct timeline *t)
{
	const struct epochs_input input = {.objects = &t->objects,
	        .diags = t->diags,
	        .swap = t->swap,
	        .start = &t->notes,
	        .met = t->met,
	        .nmet = t->nmet,
	        .reread = t->reread,
	        .arg = t->reread_arg};

	t->cuts[t->ncuts] = UINT64_MAX;
	return epochs_new(&input, t->cuts, t->ncuts + 1, &t->epochs);
}

static int seal_track(struct timeline *t)
{
	struct player play = {.track = &t->track,
	        .objects = &t->objects,
	        .diags = t->diags,
	        .swap = t->swap,
	        .guests = t->guests};

	TRY(play_begin(&play));
	TRY(play_notes(&play, t->notes.items, t->notes.n));
	for (size_t i = 0; i < t->nmet; i++) {
		uint32_t pid = t->met[i].pid, tid = t->met[i].tid;

		if (track_thread_get(&t->track, pid, tid) == NONE) {
			return SONDE_ENOMEM;
		}
		if (t->guests && pid < GUEST_MAX && tid < GUEST_MAX &&
		        track_thread_get(&t->track, pid | GUEST_TASK, tid | GUEST_TASK) == NONE) {
			return SONDE_ENOMEM;
		}
	}
	forget_notes(t);
	return track_pack(&t->track, &t->objects);
}

int timeline_seal(struct timeline *t)
{
	TRY(switches_seal(&t->switches));
	if (t->ncuts != 0) {
		return seal_epochs(t);
	}
	if (t->dropped) {
		TRY(t->reread(t->reread_arg, 0, UINT64_MAX, &t->notes));
	}
	return seal_track(t);
}

/* Look-ups. */

void timeline_cursor_fini(const struct timeline *t, struct timeline_cursor *c)
{
	if (c->track != NULL && t->epochs != NULL) {
		epochs_unpin(t->epochs, c->epoch);
	}
	c->track = NULL;
	c->epoch = UINT32_MAX;
}

/* Returns the track of an epoch, pinned by the cursor; NULL: it cannot be made. */
static const struct track *cursor_turn(
        const struct timeline *t, struct timeline_cursor *c, uint32_t epoch)
{
	if (c->track != NULL && c->epoch == epoch) {
		return c->track;
	}
	timeline_cursor_fini(t, c);
	c->failed = epochs_pin(t->epochs, epoch, &c->track);
	if (c->failed < 0) {
		c->track = NULL;
		return NULL;
	}
	c->epoch = epoch;
	return c->track;
}

static void view_fill(
        const struct timeline *t, struct timeline_cursor *c, struct timeline_view *v, uint64_t time)
{
	const struct track *track = &t->track;

	if (t->epochs != NULL) {
		v->epoch = epochs_at(t->epochs, time);
		track = cursor_turn(t, c, v->epoch);
		if (track == NULL) {
			v->track = &t->track; /* which is empty */
			v->known = false;
			v->until = 0;
			return;
		}
		epochs_times(t->epochs, v->epoch, &v->from, &v->until);
	}
	v->track = track;
	track_view(track, v, time);
}

void timeline_view_make(const struct timeline *t, struct timeline_cursor *c, uint32_t pid,
        uint32_t tid, uint64_t time, struct timeline_view *slot)
{
	*slot = (struct timeline_view){.pid = pid, .tid = tid, .until = UINT64_MAX, .known = true};
	view_fill(t, c, slot, time);
}

const struct timeline_view *timeline_guest_at(const struct timeline *t, struct timeline_cursor *c,
        uint32_t pid, uint32_t tid, uint64_t time)
{
	struct timeline_view *v = &c->views[hash_u64(tid) & (TIMELINE_CURSOR_SLOTS - 1)];

	if (v->tid == tid && v->pid == pid && time >= v->from && time < v->until &&
	        v->epoch == c->epoch && v->guest) {
		return v;
	}
	timeline_view_make(t, c, pid | GUEST_TASK, tid | GUEST_TASK, time, v);
	v->pid = pid;
	v->tid = tid;
	v->guest = true;
	v->kernel_root = track_guest_root(v->track, v, pid, time);
	return v;
}

void timeline_with_guests(struct timeline *t)
{
	t->guests = true;
}

/* The root in the view's own track. */
static uint32_t own_root(const struct timeline_view *view, uint32_t root)
{
	return root != 0 ? root - view->track->first_root : 0;
}

static const struct space_node *view_find(
        const struct timeline_view *view, uint32_t root, uint64_t addr)
{
	return space_find(&view->track->pool, own_root(view, root), addr);
}

const struct timeline_mapping *timeline_find(const struct timeline_view *view, uint32_t cpumode,
        uint64_t addr, struct timeline_range *out)
{
	bool kernel = cpumode == (view->guest ? MISC_GUEST_KERNEL : MISC_KERNEL);
	const struct space_node *n = NULL;

	*out = (struct timeline_range){addr, addr};
	if (kernel || cpumode == MISC_USER) {
		n = view_find(view, kernel ? view->kernel_root : view->root, addr);
	}
	if (n != NULL) {
		*out = (struct timeline_range){n->start, n->end};
	} else if (cpumode == MISC_USER) {
		n = view_find(view, view->later_root, addr);
	}
	return n != NULL && n->mapping != NONE ? &view->track->mappings[n->mapping] : NULL;
}

const struct timeline_mapping *timeline_next(
        const struct timeline_view *view, uint64_t addr, struct timeline_range *out)
{
	const struct space_node *n =
	        space_next(&view->track->pool, own_root(view, view->root), addr);

	if (n == NULL || n->mapping == NONE) {
		return NULL;
	}
	*out = (struct timeline_range){n->start, n->end};
	return &view->track->mappings[n->mapping];
}

struct timeline_thread timeline_running(
        const struct timeline *t, struct timeline_cursor *c, uint32_t cpu, uint64_t time)
{
	struct timeline_thread who = switches_at(&t->switches, cpu, time);
	struct timeline_view v = {.tid = who.tid};
	const struct track *track = &t->track;
	uint32_t th;

	if (who.tid == TIMELINE_NO_THREAD || who.pid != TIMELINE_NO_THREAD) {
		return who;
	}
	if (t->epochs != NULL) {
		track = cursor_turn(t, c, epochs_at(t->epochs, time));
	}
	th = track != NULL ? track_thread_at(track, &v, time) : NONE;
	who.pid = th != NONE ? track->processes[track->threads[th].process].pid : who.pid;
	return who;
}

uint64_t timeline_switch_after(const struct timeline *t, uint32_t cpu, uint64_t time)
{
	return switches_after(&t->switches, cpu, time);
}

uint64_t timeline_object_address(
        const struct timeline *t, const struct timeline_mapping *m, uint64_t addr)
{
	switch (t->objects.items[m->object].kind) {
	case TIMELINE_USER:
	case TIMELINE_VDSO:
	case TIMELINE_CODE:
	case TIMELINE_JIT:
	case TIMELINE_MODULE: return addr - m->start + m->pgoff;
	case TIMELINE_KERNEL:
	case TIMELINE_ANON:
	case TIMELINE_NONE: break;
	}
	return addr;
}

int timeline_add_build_id(
        struct timeline *t, const char *name, const uint8_t *id, size_t size, bool kernel)
{
	return objects_add_build_id(&t->objects, name, id, size, kernel);
}

/* Lists. */

size_t timeline_processes(const struct timeline *t)
{
	return t->epochs != NULL ? epochs_count(t->epochs, EPOCHS_PROCESSES) : t->track.nprocesses;
}

size_t timeline_threads(const struct timeline *t)
{
	return t->epochs != NULL ? epochs_count(t->epochs, EPOCHS_THREADS) : t->track.nthreads;
}

size_t timeline_mappings(const struct timeline *t)
{
	return t->epochs != NULL ? epochs_count(t->epochs, EPOCHS_MAPPINGS) : t->track.nmappings;
}

/*
 * Returns the track with item *i of a list, and sets *i to its index there; *last: the last time of
 * the track. NULL: it cannot be made.
 */
static const struct track *list_track(const struct timeline *t, struct timeline_cursor *c,
        enum epochs_lists list, size_t *i, uint64_t *last)
{
	uint64_t from, until;
	uint32_t epoch;

	*last = UINT64_MAX;
	if (t->epochs == NULL) {
		return &t->track;
	}
	epoch = epochs_item(t->epochs, list, i);
	epochs_times(t->epochs, epoch, &from, &until);
	*last = until != UINT64_MAX ? until - 1 : UINT64_MAX;
	return cursor_turn(t, c, epoch);
}

int timeline_process(
        const struct timeline *t, struct timeline_cursor *c, size_t i, struct timeline_life *life)
{
	uint64_t last;
	const struct track *track = list_track(t, c, EPOCHS_PROCESSES, &i, &last);
	const struct process *p;

	if (track == NULL) {
		return c->failed;
	}
	p = &track->processes[i];
	*life = (struct timeline_life){.pid = p->pid,
	        .tid = p->pid,
	        .ppid = p->ppid,
	        .ptid = NONE,
	        .start = p->start,
	        .last = last};
	if (p->main != NONE) {
		life->comm = track->threads[p->main].name;
		life->named = true;
	}
	return 0;
}

int timeline_thread(
        const struct timeline *t, struct timeline_cursor *c, size_t i, struct timeline_life *life)
{
	uint64_t last;
	const struct track *track = list_track(t, c, EPOCHS_THREADS, &i, &last);
	const struct thread *th;
	const struct process *p;

	if (track == NULL) {
		return c->failed;
	}
	th = &track->threads[i];
	p = &track->processes[th->process];
	*life = (struct timeline_life){.pid = p->pid,
	        .tid = th->tid,
	        .ppid = p->ppid,
	        .ptid = th->ptid,
	        .start = th->start,
	        .last = last,
	        .comm = th->name,
	        .named = true};
	return 0;
}

int timeline_mapping(const struct timeline *t, struct timeline_cursor *c, size_t i,
        const struct timeline_mapping **mapping)
{
	uint64_t last;
	const struct track *track = list_track(t, c, EPOCHS_MAPPINGS, &i, &last);

	if (track == NULL) {
		return c->failed;
	}
	*mapping = &track->mappings[i];
	return 0;
}

/* Objects and texts. */

size_t timeline_objects(const struct timeline *t)
{
	return t->objects.n;
}

const struct timeline_object *timeline_object(const struct timeline *t, uint32_t index)
{
	return &t->objects.items[index];
}

const char *timeline_text(const struct timeline *t, uint32_t id)
{
	return intern_text(&t->texts, id);
}

size_t timeline_texts(const struct timeline *t)
{
	return t->texts.count;
}
