/* SPDX-License-Identifier: MIT */
#include "timeline/track.h"

#include "core/array.h"
#include "core/search.h"

#include <stdio.h>
#include <stdlib.h>

static void log_fini(struct log *log)
{
	free(log->entries);
	*log = (struct log){0};
}

void track_fini(struct track *t)
{
	free(t->mappings);
	free(t->processes);
	free(t->threads);
	index_fini(&t->pids);
	index_fini(&t->tids);
	space_pool_fini(&t->pool);
	log_fini(&t->name_log);
	log_fini(&t->root_log);
	free(t->names);
	free(t->roots);
	free(t->generations);
	*t = (struct track){0};
}

/* ---- building ---- */

uint32_t track_process(const struct track *t, uint32_t pid)
{
	size_t at;

	return index_find_u32(&t->pids, pid, &at);
}

uint32_t track_thread(const struct track *t, uint32_t tid)
{
	size_t at;

	return index_find_u32(&t->tids, tid, &at);
}

/* Stores a new generation of a pid or tid in the slot that index_find_u32 found. */
static void generation_put(
        struct index *x, uint32_t number, size_t at, uint32_t older, uint32_t newest)
{
	if (older != NONE) {
		index_replace(x, at, newest);
	} else {
		index_put_u32(x, number, at, newest);
	}
}

static bool log_add(struct log *log, const struct log_entry *entry)
{
	if (!array_reserve(&log->entries, &log->cap, log->n + 1, sizeof(*entry))) {
		return false;
	}
	log->entries[log->n++] = *entry;
	return true;
}

bool track_root(struct track *t, uint32_t process, uint64_t time, uint32_t root, bool exec)
{
	struct process *p = &t->processes[process];
	struct log_entry *last = p->roots.n != 0 ? &t->root_log.entries[p->entry] : NULL;

	if (last != NULL && last->time == time && !exec) {
		last->to = p->root = root;
		return true;
	}
	p->entry = (uint32_t)t->root_log.n;
	p->root = root;
	p->roots.n++;
	return log_add(&t->root_log,
	        &(struct log_entry){
	                .time = time, .to = root, .owner = exec ? process | LOG_EXEC : process});
}

uint32_t track_process_new(struct track *t, uint32_t pid, uint64_t time, uint32_t root)
{
	uint32_t id = (uint32_t)t->nprocesses;
	struct process p = {.pid = pid, .ppid = NONE, .main = NONE, .start = time};
	size_t at;

	if (index_room(&t->pids) < 0 ||
	        !array_reserve(&t->processes, &t->processes_cap, t->nprocesses + 1, sizeof(p))) {
		return NONE;
	}
	p.older = index_find_u32(&t->pids, pid, &at);
	t->processes[t->nprocesses++] = p;
	generation_put(&t->pids, pid, at, p.older, id);
	return track_root(t, id, time, root, true) ? id : NONE;
}

uint32_t track_process_get(struct track *t, uint32_t pid)
{
	uint32_t p = track_process(t, pid);

	return p != NONE ? p : track_process_new(t, pid, 0, TIMELINE_NO_ROOT);
}

bool track_name(struct track *t, uint32_t thread, uint64_t time, uint32_t name)
{
	struct thread *th = &t->threads[thread];

	if (name == INTERN_NONE) {
		return false;
	}
	th->first_time = th->names.n == 0 ? time : th->first_time;
	th->name = name;
	th->names.n++;
	return log_add(
	        &t->name_log, &(struct log_entry){.time = time, .to = name, .owner = thread});
}

uint32_t track_thread_new(struct track *t, uint32_t process, uint32_t tid, uint64_t time)
{
	uint32_t id = (uint32_t)t->nthreads;
	struct thread th = {.tid = tid, .ptid = NONE, .process = process, .start = time};
	size_t at;

	if (index_room(&t->tids) < 0 ||
	        !array_reserve(&t->threads, &t->threads_cap, t->nthreads + 1, sizeof(th))) {
		return NONE;
	}
	th.older = index_find_u32(&t->tids, tid, &at);
	t->threads[t->nthreads++] = th;
	generation_put(&t->tids, tid, at, th.older, id);
	if (t->processes[process].pid == tid) {
		t->processes[process].main = id;
	}
	return id;
}

uint32_t track_thread_get(struct track *t, uint32_t pid, uint32_t tid)
{
	uint32_t th = track_thread(t, tid);
	uint32_t p;

	if (th != NONE && t->processes[t->threads[th].process].pid == pid) {
		return th;
	}
	p = track_process_get(t, pid);
	return p != NONE ? track_thread_new(t, p, tid, 0) : NONE;
}

/* ---- packing ---- */

/* Calls a thread ":TID" from a time on, in front of its `all` names. */
static int name_nameless(
        struct track *t, struct thread *th, uint64_t from, size_t all, struct objects *objects)
{
	char text[32];
	bool guest = th->tid >= GUEST_TASK && th->tid < GUEST_KERNEL;
	uint32_t number = guest ? th->tid - GUEST_TASK : th->tid;
	int n = th->tid == 0 ? snprintf(text, sizeof(text), "swapper")
	                     : snprintf(text, sizeof(text), ":%d", (int)number);
	uint32_t name = objects_text(objects, text, (size_t)n);

	if (name == INTERN_NONE) {
		return SONDE_ENOMEM;
	}
	t->names[th->names.first] = (struct change){.time = from, .to = name};
	th->names.n = 1;
	th->name = all == 0 ? name : th->name;
	th->renamed = all != 0 && th->tid != 0 && !th->forked;
	return 0;
}

static int pack_names(struct track *t, struct objects *objects)
{
	uint32_t n = 0;

	t->names = calloc(t->name_log.n + t->nthreads + 1, sizeof(*t->names));
	if (t->names == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < t->nthreads; i++) {
		struct thread *th = &t->threads[i];
		uint64_t from = th->older != NONE ? th->start : 0;
		uint32_t all = th->names.n;

		th->names = (struct run){.first = n};
		if (all == 0 || th->first_time > from) {
			TRY(name_nameless(t, th, from, all, objects));
		}
		n += all + th->names.n;
	}
	for (size_t i = 0; i < t->name_log.n; i++) {
		const struct log_entry *e = &t->name_log.entries[i];
		struct run *run = &t->threads[e->owner].names;

		t->names[run->first + run->n++] = (struct change){.time = e->time, .to = e->to};
	}
	log_fini(&t->name_log);
	return 0;
}

/* Sets `last` of the roots of a process; before, it is 1 where a new program begins. */
static void find_execs(struct change *roots, uint32_t n)
{
	bool exec = true; /* whether the next root begins a new program */

	for (uint32_t i = n; i-- > 0;) {
		bool own = roots[i].last != 0;

		roots[i].last = exec ? i : roots[i + 1].last;
		exec = own;
	}
}

static int pack_roots(struct track *t)
{
	uint32_t n = 0;

	t->roots = calloc(t->root_log.n + 1, sizeof(*t->roots));
	if (t->roots == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < t->nprocesses; i++) {
		struct run *run = &t->processes[i].roots;
		uint32_t all = run->n;

		*run = (struct run){.first = n};
		n += all;
	}
	for (size_t i = 0; i < t->root_log.n; i++) {
		const struct log_entry *e = &t->root_log.entries[i];
		struct run *run = &t->processes[e->owner & ~LOG_EXEC].roots;

		t->roots[run->first + run->n++] = (struct change){
		        .time = e->time, .to = e->to, .last = (e->owner & LOG_EXEC) != 0};
	}
	for (size_t i = 0; i < t->nprocesses; i++) {
		find_execs(t->roots + t->processes[i].roots.first, t->processes[i].roots.n);
	}
	log_fini(&t->root_log);
	return 0;
}

/* Makes the list of generations of each tid that has several. */
static int pack_generations(struct track *t)
{
	uint32_t n = 0, *newest = calloc(t->nthreads + 1, sizeof(*newest));

	t->generations = calloc(t->nthreads + 1, sizeof(*t->generations));
	if (newest == NULL || t->generations == NULL) {
		free(newest);
		return SONDE_ENOMEM;
	}
	for (uint32_t i = (uint32_t)t->nthreads; i-- > 0;) { /* newest first */
		uint32_t of = newest[i] != 0 ? newest[i] - 1 : i;

		t->threads[of].generations.n++;
		if (t->threads[i].older != NONE) {
			newest[t->threads[i].older] = of + 1;
		}
	}
	for (uint32_t i = (uint32_t)t->nthreads; i-- > 0;) {
		struct run *run = &t->threads[newest[i] != 0 ? newest[i] - 1 : i].generations;
		uint64_t start = t->threads[i].start;

		if (run->n == 1) {
			continue;
		}
		if (newest[i] == 0) {
			n += run->n;
			run->first = n; /* moves down to the first */
		}
		run->first--;
		t->generations[run->first] = (struct generation){
		        .thread = i,
		        .earliest =
		                newest[i] != 0 && t->generations[run->first + 1].earliest < start
		                        ? t->generations[run->first + 1].earliest
		                        : start,
		};
	}
	free(newest);
	return 0;
}

int track_pack(struct track *t, struct objects *objects)
{
	TRY(pack_names(t, objects));
	TRY(pack_roots(t));
	return pack_generations(t);
}

/* ---- look-ups ---- */

static void narrow(struct timeline_view *v, uint64_t from, uint64_t until)
{
	v->from = from > v->from ? from : v->from;
	v->until = until < v->until ? until : v->until;
}

/*
 * Finds the last of n changes at or before `time`, or the first one when all are later. Returns its
 * index and narrows the view to the time in which it is valid.
 */
static size_t change_at(const struct change *c, size_t n, uint64_t time, struct timeline_view *v)
{
	size_t i = SEARCH_LAST(c, n, time, time);

	narrow(v, i == 0 ? 0 : c[i].time, i + 1 < n ? c[i + 1].time : UINT64_MAX);
	return i;
}

/* The last generation that starts at or before `time`, or the first one. */
static uint32_t generation_at(
        const struct generation *g, size_t n, uint64_t time, struct timeline_view *v)
{
	size_t i = SEARCH_LAST(g, n, earliest, time);

	if (i + 1 < n) {
		narrow(v, 0, g[i + 1].earliest);
	}
	return g[i].thread;
}

uint32_t track_thread_at(const struct track *t, struct timeline_view *v, uint64_t time)
{
	uint32_t th = track_thread(t, v->tid);
	const struct run *all;

	if (th == NONE) {
		return NONE;
	}
	all = &t->threads[th].generations;
	if (all->n > 1) {
		th = generation_at(t->generations + all->first, all->n, time, v);
	}
	if (t->threads[th].start <= time) {
		narrow(v, t->threads[th].start, UINT64_MAX);
	} else {
		narrow(v, 0, t->threads[th].start);
	}
	return th;
}

static uint32_t shown_root(const struct track *t, uint32_t root)
{
	return root != TIMELINE_NO_ROOT ? root + t->first_root : TIMELINE_NO_ROOT;
}

static void view_process(
        const struct track *t, uint32_t process, struct timeline_view *v, uint64_t time)
{
	const struct run *run = &t->processes[process].roots;
	const struct change *roots = t->roots + run->first;
	size_t i = change_at(roots, run->n, time, v);

	v->root = shown_root(t, roots[i].to);
	v->later_root = shown_root(t, roots[roots[i].last].to);
}

uint32_t track_guest_root(
        const struct track *t, struct timeline_view *v, uint32_t pid, uint64_t time)
{
	uint32_t p = track_process(t, guest_kernel_pid(pid));
	const struct run *run;
	size_t i;

	p = p != NONE ? p : track_process(t, guest_kernel_pid(0));
	if (p == NONE) {
		return TIMELINE_NO_ROOT;
	}
	run = &t->processes[p].roots;
	i = change_at(t->roots + run->first, run->n, time, v);
	return shown_root(t, t->roots[run->first + i].to);
}

void track_view(const struct track *t, struct timeline_view *v, uint64_t time)
{
	const struct run *kernel = &t->processes[t->kernel].roots;
	const struct change *names;
	const struct thread *th;
	size_t i = change_at(t->roots + kernel->first, kernel->n, time, v);
	uint32_t id;

	v->kernel_root = shown_root(t, t->roots[kernel->first + i].to);
	id = track_thread_at(t, v, time);
	if (id == NONE) {
		v->known = false;
		return;
	}
	th = &t->threads[id];
	names = t->names + th->names.first;
	i = change_at(names, th->names.n, time, v);
	v->comm = names[i].to;
	v->row_comm = v->comm;
	v->last_comm = v->comm;
	if (th->start <= time) { /* else the sample is of an earlier task without records */
		v->last_comm = names[th->names.n - 1].to;
	}
	if (i == 0 && th->renamed) {
		v->row_comm = names[1].to;
	}
	view_process(t, th->process, v, time);
}
