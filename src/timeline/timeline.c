/* SPDX-License-Identifier: MIT */
/*
 * Side-band comes in file order and is stored as small notes; timeline_seal plays them once, by time
 * (play.c), into the track of processes and threads (track.c).
 */
#include "timeline/timeline.h"

#include "core/array.h"
#include "core/hash.h"
#include "core/index.h"
#include "timeline/objects.h"
#include "timeline/play.h"
#include "timeline/switches.h"
#include "timeline/track.h"

#include <stdlib.h>

/* A thread that a record names. */
struct met {
	uint32_t pid, tid;
};

struct timeline {
	struct diag_sink *diags;
	struct intern texts;
	struct note *notes;
	size_t nnotes, notes_cap;
	struct met *met;
	size_t nmet, met_cap;
	struct index met_index;
	bool swap;
	struct objects objects;
	struct track track;
	struct switches switches;
};

struct timeline *timeline_new(struct diag_sink *diags)
{
	struct timeline *t = calloc(1, sizeof(*t));

	if (t != NULL) {
		t->diags = diags;
		t->objects.texts = &t->texts;
		/* text 0: the name of threads that no record and no sample names */
		if (intern_add(&t->texts, "?", 1) != 0) {
			timeline_free(t);
			return NULL;
		}
	}
	return t;
}

static void forget_notes(struct timeline *t)
{
	free(t->notes);
	t->notes = NULL;
	t->nnotes = t->notes_cap = 0;
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
	forget_notes(t);
	track_fini(&t->track);
	objects_fini(&t->objects);
	switches_fini(&t->switches);
	intern_fini(&t->texts);
	free(t);
}

int timeline_add(struct timeline *t, const struct record *r, bool swap, uint64_t time)
{
	if (r->type != RECORD_MMAP && r->type != RECORD_MMAP2 && r->type != RECORD_COMM &&
	        r->type != RECORD_FORK && r->type != RECORD_KSYMBOL) {
		return 0;
	}
	if (!array_reserve(&t->notes, &t->notes_cap, t->nnotes + 1, sizeof(*t->notes))) {
		return SONDE_ENOMEM;
	}
	t->swap = swap;
	t->notes[t->nnotes++] = (struct note){.time = time,
	        .offset = r->offset,
	        .body = r->body.p,
	        .type = (uint16_t)r->type,
	        .misc = r->misc,
	        .size = (uint16_t)r->body.n};
	return 0;
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

int timeline_seal(struct timeline *t)
{
	struct player play = {
	        .track = &t->track, .objects = &t->objects, .diags = t->diags, .swap = t->swap};

	TRY(play_begin(&play));
	TRY(play_notes(&play, t->notes, t->nnotes));
	for (size_t i = 0; i < t->nmet; i++) {
		if (track_thread_get(&t->track, t->met[i].pid, t->met[i].tid) == NONE) {
			return SONDE_ENOMEM;
		}
	}
	forget_notes(t);
	TRY(switches_seal(&t->switches));
	return track_pack(&t->track, &t->texts);
}

/* Look-ups. */

const struct timeline_view *timeline_at(const struct timeline *t, struct timeline_cursor *c,
        uint32_t pid, uint32_t tid, uint64_t time)
{
	struct timeline_view *v = &c->views[hash_u64(tid) & (TIMELINE_CURSOR_SLOTS - 1)];

	if (v->tid != tid || v->pid != pid || time < v->from || time >= v->until) {
		*v = (struct timeline_view){
		        .pid = pid, .tid = tid, .until = UINT64_MAX, .known = true};
		track_view(&t->track, v, time);
	}
	return v;
}

const struct timeline_mapping *timeline_find(const struct timeline *t,
        const struct timeline_view *view, uint32_t cpumode, uint64_t addr,
        struct timeline_range *out)
{
	bool kernel = cpumode == MISC_KERNEL;
	const struct space_node *n = NULL;

	*out = (struct timeline_range){addr, addr};
	if (kernel || cpumode == MISC_USER) {
		n = space_find(&t->track.pool, kernel ? view->kernel_root : view->root, addr);
	}
	if (n != NULL) {
		*out = (struct timeline_range){n->start, n->end};
	} else if (cpumode == MISC_USER) {
		n = space_find(&t->track.pool, view->later_root, addr);
	}
	return n != NULL && n->mapping != NONE ? &t->track.mappings[n->mapping] : NULL;
}

const struct timeline_mapping *timeline_next(const struct timeline *t,
        const struct timeline_view *view, uint64_t addr, struct timeline_range *out)
{
	const struct space_node *n = space_next(&t->track.pool, view->root, addr);

	if (n == NULL || n->mapping == NONE) {
		return NULL;
	}
	*out = (struct timeline_range){n->start, n->end};
	return &t->track.mappings[n->mapping];
}

struct timeline_thread timeline_running(const struct timeline *t, uint32_t cpu, uint64_t time)
{
	struct timeline_thread who = switches_at(&t->switches, cpu, time);
	struct timeline_view v = {.tid = who.tid};
	uint32_t th;

	if (who.tid != TIMELINE_NO_THREAD && who.pid == TIMELINE_NO_THREAD) {
		th = track_thread_at(&t->track, &v, time);
		who.pid =
		        th != NONE ? t->track.processes[t->track.threads[th].process].pid : who.pid;
	}
	return who;
}

uint64_t timeline_object_address(
        const struct timeline *t, const struct timeline_mapping *m, uint64_t addr)
{
	switch (t->objects.items[m->object].kind) {
	case TIMELINE_USER:
	case TIMELINE_VDSO:
	case TIMELINE_CODE:
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

size_t timeline_processes(const struct timeline *t)
{
	return t->track.nprocesses;
}

struct timeline_life timeline_process(const struct timeline *t, size_t i)
{
	const struct process *p = &t->track.processes[i];
	struct timeline_life life = {
	        .pid = p->pid, .tid = p->pid, .ppid = p->ppid, .ptid = NONE, .start = p->start};

	if (p->main != NONE) {
		life.comm = t->track.threads[p->main].name;
		life.named = true;
	}
	return life;
}

size_t timeline_threads(const struct timeline *t)
{
	return t->track.nthreads;
}

struct timeline_life timeline_thread(const struct timeline *t, size_t i)
{
	const struct thread *th = &t->track.threads[i];
	const struct process *p = &t->track.processes[th->process];

	return (struct timeline_life){.pid = p->pid,
	        .tid = th->tid,
	        .ppid = p->ppid,
	        .ptid = th->ptid,
	        .start = th->start,
	        .comm = th->name,
	        .named = true};
}

size_t timeline_mappings(const struct timeline *t)
{
	return t->track.nmappings;
}

const struct timeline_mapping *timeline_mapping(const struct timeline *t, size_t i)
{
	return &t->track.mappings[i];
}

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
