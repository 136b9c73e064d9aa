/* SPDX-License-Identifier: MIT */
/*
 * Side-band comes in file order and is stored as small notes; timeline_seal sorts them by (time,
 * order in the file) and plays them once. Playing a note adds a name to a thread or a root of the
 * address space to a process, each with its time. Synthesised state has time 0: it sorts first and
 * is valid from the beginning.
 *
 *	tid -> thread generations (newest first) -> names by time
 *	pid -> process generations (newest first) -> roots by time
 *
 * FORK starts a generation. EXIT is ignored: samples of a task can follow its EXIT.
 */
#include "timeline/timeline.h"

#include "core/array.h"
#include "core/hash.h"
#include "core/index.h"
#include "core/sort.h"
#include "timeline/objects.h"
#include "timeline/space.h"
#include "timeline/switches.h"

#include <stdio.h>
#include <stdlib.h>

#define NONE       UINT32_MAX
#define KERNEL_PID UINT32_MAX /* pid of the pseudo process that owns the kernel's mappings */

/* A side-band record that is not played yet. */
struct note {
	uint64_t time;
	uint64_t offset; /* in the file */
	const uint8_t *body;
	uint16_t type, misc, size; /* size: of the body */
};

/* A new name of a thread, or a new root of a process. */
struct change {
	uint64_t time;
	uint32_t to; /* interned text, or root */
	bool exec; /* a new program begins here */
};

struct process {
	uint32_t pid, ppid; /* ppid: of its FORK record, or NONE */
	uint32_t older; /* generation before this one, or NONE */
	uint64_t start;
	struct change *roots;
	size_t nroots, roots_cap;
};

struct thread {
	uint32_t tid;
	uint32_t ptid; /* thread that created it, from a FORK record; NONE */
	uint32_t process;
	uint32_t older;
	uint64_t start;
	struct change *names;
	size_t nnames, names_cap;
	bool forked; /* a FORK record started this generation */
	bool renamed; /* names[0] is ":TID"; perf report counts those samples under names[1] */
};

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
	struct timeline_mapping *mappings;
	size_t nmappings, mappings_cap;
	struct process *processes;
	size_t nprocesses, processes_cap;
	struct thread *threads;
	size_t nthreads, threads_cap;
	struct index pids, tids; /* newest generation by pid, by tid */
	struct space_pool pool;
	struct switches switches;
	uint32_t kernel; /* index of the process KERNEL_PID */
};

/* Returns the newest generation of a pid, or NONE; *at: its slot, or the slot to insert it. */
static uint32_t process_slot(const struct timeline *t, uint32_t pid, size_t *at)
{
	uint32_t hash = (uint32_t)hash_u64(pid);
	uint32_t p = NONE;

	*at = hash;
	while (t->pids.n != 0 && (p = index_next(&t->pids, hash, at)) != NONE &&
	        t->processes[p].pid != pid) {
		++*at;
	}
	return p;
}

static uint32_t thread_slot(const struct timeline *t, uint32_t tid, size_t *at)
{
	uint32_t hash = (uint32_t)hash_u64(tid);
	uint32_t th = NONE;

	*at = hash;
	while (t->tids.n != 0 && (th = index_next(&t->tids, hash, at)) != NONE &&
	        t->threads[th].tid != tid) {
		++*at;
	}
	return th;
}

static uint32_t process_find(const struct timeline *t, uint32_t pid)
{
	size_t at;

	return process_slot(t, pid, &at);
}

static uint32_t thread_find(const struct timeline *t, uint32_t tid)
{
	size_t at;

	return thread_slot(t, tid, &at);
}

struct timeline *timeline_new(struct diag_sink *diags)
{
	struct timeline *t = calloc(1, sizeof(*t));

	if (t != NULL) {
		t->diags = diags;
		t->objects.texts = &t->texts;
		t->kernel = NONE;
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
	for (size_t i = 0; i < t->nprocesses; i++) {
		free(t->processes[i].roots);
	}
	for (size_t i = 0; i < t->nthreads; i++) {
		free(t->threads[i].names);
	}
	free(t->processes);
	free(t->threads);
	index_fini(&t->pids);
	index_fini(&t->tids);
	forget_notes(t);
	objects_fini(&t->objects);
	free(t->mappings);
	space_pool_fini(&t->pool);
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

/* Threads and processes. */

/* Stores a new generation in the slot that process_slot or thread_slot found. */
static void generation_put(
        struct index *x, uint32_t number, size_t at, uint32_t older, uint32_t newest)
{
	if (older != NONE) {
		index_replace(x, at, newest);
	} else {
		index_put(x, (uint32_t)hash_u64(number), at, newest);
	}
}

static uint32_t process_new(struct timeline *t, uint32_t pid, uint64_t time, uint32_t root)
{
	uint32_t id = (uint32_t)t->nprocesses;
	struct process p = {.pid = pid, .ppid = NONE, .start = time};
	size_t at;

	if (index_room(&t->pids) < 0 ||
	        !array_reserve(&t->processes, &t->processes_cap, t->nprocesses + 1, sizeof(p)) ||
	        !array_reserve(&p.roots, &p.roots_cap, 1, sizeof(*p.roots))) {
		return NONE;
	}
	p.roots[p.nroots++] = (struct change){.time = time, .to = root, .exec = true};
	p.older = process_slot(t, pid, &at);
	t->processes[t->nprocesses++] = p;
	generation_put(&t->pids, pid, at, p.older, id);
	return id;
}

static uint32_t process_get(struct timeline *t, uint32_t pid)
{
	uint32_t p = process_find(t, pid);

	return p != NONE ? p : process_new(t, pid, 0, TIMELINE_NO_ROOT);
}

static bool thread_name(struct thread *th, uint64_t time, uint32_t name)
{
	if (name == INTERN_NONE ||
	        !array_reserve(&th->names, &th->names_cap, th->nnames + 1, sizeof(*th->names))) {
		return false;
	}
	th->names[th->nnames++] = (struct change){.time = time, .to = name};
	return true;
}

static uint32_t thread_new(struct timeline *t, uint32_t process, uint32_t tid, uint64_t time)
{
	uint32_t id = (uint32_t)t->nthreads;
	struct thread th = {.tid = tid, .ptid = NONE, .process = process, .start = time};
	size_t at;

	if (index_room(&t->tids) < 0 ||
	        !array_reserve(&t->threads, &t->threads_cap, t->nthreads + 1, sizeof(th))) {
		return NONE;
	}
	th.older = thread_slot(t, tid, &at);
	t->threads[t->nthreads++] = th;
	generation_put(&t->tids, tid, at, th.older, id);
	return id;
}

static uint32_t thread_get(struct timeline *t, uint32_t pid, uint32_t tid)
{
	uint32_t th = thread_find(t, tid);
	uint32_t p;

	if (th != NONE && t->processes[t->threads[th].process].pid == pid) {
		return th;
	}
	p = process_get(t, pid);
	return p != NONE ? thread_new(t, p, tid, 0) : NONE;
}

static uint32_t last_root(const struct process *p)
{
	return p->roots[p->nroots - 1].to;
}

static bool process_set_root(struct process *p, uint64_t time, uint32_t root, bool exec)
{
	struct change *last = &p->roots[p->nroots - 1];

	if (last->time == time && !exec) {
		last->to = root;
		return true;
	}
	if (!array_reserve(&p->roots, &p->roots_cap, p->nroots + 1, sizeof(*p->roots))) {
		return false;
	}
	p->roots[p->nroots++] = (struct change){.time = time, .to = root, .exec = exec};
	return true;
}

/* Playing the notes. */

static bool play_comm(struct timeline *t, const struct record *r, uint64_t time)
{
	struct record_comm c;
	struct process *p;
	uint32_t th;

	if (!record_comm_decode(r, t->swap, &c)) {
		diag_report(t->diags, SONDE_DIAG_DAMAGED, r->offset, "a COMM record is cut short");
		return true;
	}
	th = thread_get(t, c.pid, c.tid);
	if (th == NONE) {
		return false;
	}
	/*
	 * Old mappings stay until the new program maps over them: until then samples still have
	 * addresses of the old program.
	 */
	p = &t->processes[t->threads[th].process];
	if (c.exec && !process_set_root(p, time, last_root(p), true)) {
		return false;
	}
	return thread_name(
	        &t->threads[th], time, intern_add(&t->texts, (const char *)c.name.p, c.name.n));
}

static bool fork_name(struct timeline *t, uint32_t th, uint32_t ptid, uint64_t time)
{
	uint32_t parent = thread_find(t, ptid);

	if (parent == NONE || parent == th || t->threads[parent].nnames == 0) {
		return true;
	}
	return thread_name(
	        &t->threads[th], time, t->threads[parent].names[t->threads[parent].nnames - 1].to);
}

/*
 * Tasks of other PID namespaces all have tid 0, so such a task seems to fork itself. As in perf, a
 * name set afterwards does not apply to earlier samples.
 */
static bool play_fork_of_itself(struct timeline *t, uint32_t tid, uint64_t time)
{
	uint32_t old = thread_find(t, tid);
	uint32_t new;

	if (old == NONE || t->threads[old].nnames == 0) {
		return true;
	}
	new = thread_new(t, t->threads[old].process, tid, time);
	if (new == NONE) {
		return false;
	}
	t->threads[new].forked = true;
	return thread_name(
	        &t->threads[new], time, t->threads[old].names[t->threads[old].nnames - 1].to);
}

static bool play_fork(struct timeline *t, const struct record *r, uint64_t time)
{
	struct record_task f;
	uint32_t p;
	uint32_t th;
	uint32_t parent;

	if (!record_task_decode(r, t->swap, &f)) {
		diag_report(t->diags, SONDE_DIAG_DAMAGED, r->offset, "a FORK record is cut short");
		return true;
	}
	th = thread_find(t, f.tid);
	if (time == 0 && th != NONE) { /* synthesised state; an earlier record named the thread */
		t->threads[th].ptid = f.ptid;
		return true;
	}
	if (f.tid == f.ptid && f.pid == f.ppid) {
		return play_fork_of_itself(t, f.tid, time);
	}
	parent = process_find(t, f.ppid);
	if (f.pid == f.ppid || f.tid != f.pid) {
		p = process_get(t, f.pid);
	} else {
		bool copy = parent != NONE && (r->misc & MISC_FORK_EXEC) == 0;
		uint32_t known = time == 0 ? process_find(t, f.pid) : NONE;

		p = known != NONE
		            ? known
		            : process_new(t, f.pid, time,
		                      copy ? last_root(&t->processes[parent]) : TIMELINE_NO_ROOT);
		if (p != NONE) {
			t->processes[p].ppid = f.ppid;
		}
	}
	if (p == NONE) {
		return false;
	}
	th = thread_new(t, p, f.tid, time);
	if (th == NONE) {
		return false;
	}
	t->threads[th].forked = true;
	t->threads[th].ptid = f.ptid;
	return fork_name(t, th, f.ptid, time);
}

/*
 * The kernel's MMAP record covers _text to _etext, but init text, which is in call chains of the
 * idle task, comes after it. As perf does, resolve that too: extend the mapping to the next GiB
 * boundary. On x86-64 the image never crosses it and modules begin there; on other machines modules
 * are mapped over the extension.
 */
static uint64_t kernel_end(uint64_t end)
{
	const uint64_t gib = (uint64_t)1 << 30;

	return end > UINT64_MAX - gib ? UINT64_MAX : (end + gib - 1) & ~(gib - 1);
}

static bool map_into(struct timeline *t, uint32_t process, uint64_t time,
        const struct record_mmap *m, uint32_t object)
{
	struct timeline_mapping *map;
	struct process *p;
	uint64_t end = m->len > UINT64_MAX - m->start ? UINT64_MAX : m->start + m->len;
	uint32_t root;

	if (object == NONE || process == NONE ||
	        !array_reserve(&t->mappings, &t->mappings_cap, t->nmappings + 1, sizeof(*map))) {
		return false;
	}
	if (m->len == 0) {
		return true;
	}
	map = &t->mappings[t->nmappings];
	*map = (struct timeline_mapping){.start = m->start,
	        .end = end,
	        .pgoff = m->pgoff,
	        .time = time,
	        .object = object,
	        .inode = m->ino,
	        .prot = m->prot,
	        .flags = m->flags,
	        .pid = t->processes[process].pid};
	p = &t->processes[process];
	if (t->objects.items[object].kind == TIMELINE_KERNEL) {
		end = kernel_end(end);
		map->end = end;
	}
	if (t->objects.items[object].kind == TIMELINE_MODULE) {
		t->objects.items[object].base = m->start - m->pgoff;
	}
	root = space_insert(&t->pool, last_root(p), m->start, end, (uint32_t)t->nmappings++);
	return !t->pool.failed && process_set_root(p, time, root, false);
}

/* Maps or unmaps code that the kernel made at run time, such as a BPF program. */
static bool play_ksymbol(struct timeline *t, const struct record *r, uint64_t time)
{
	struct process *k = &t->processes[t->kernel];
	struct record_ksymbol s;
	struct record_mmap map;
	uint32_t root;

	if (!record_ksymbol_decode(r, t->swap, &s)) {
		diag_report(
		        t->diags, SONDE_DIAG_DAMAGED, r->offset, "a KSYMBOL record is cut short");
		return true;
	}
	map = (struct record_mmap){.start = s.addr, .len = s.len};
	if ((s.flags & KSYMBOL_UNREGISTER) == 0) {
		return map_into(t, t->kernel, time, &map, objects_code(&t->objects, &s));
	}
	if (s.len == 0 || s.addr > UINT64_MAX - s.len) {
		return true;
	}
	root = space_insert(&t->pool, last_root(k), s.addr, s.addr + s.len, NONE);
	return !t->pool.failed && process_set_root(k, time, root, false);
}

static bool play_mmap(struct timeline *t, const struct record *r, uint64_t time)
{
	struct record_mmap m;
	uint32_t mode = r->misc & MISC_CPUMODE_MASK;
	uint32_t th;

	if (!record_mmap_decode(r, t->swap, &m)) {
		diag_report(t->diags, SONDE_DIAG_DAMAGED, r->offset, "an MMAP record is cut short");
		return true;
	}
	if (mode == MISC_KERNEL) {
		return map_into(t, t->kernel, time, &m, objects_kernel(&t->objects, &m));
	}
	if (mode == MISC_GUEST_KERNEL || mode == MISC_GUEST_USER) {
		return true; /* mappings of guests are not modelled */
	}
	th = thread_get(t, m.pid, m.tid);
	if (th == NONE) {
		return false;
	}
	return map_into(t, t->threads[th].process, time, &m, objects_user(&t->objects, &m));
}

static bool play(struct timeline *t, const struct note *n)
{
	const struct record r = {
	        .type = n->type, .misc = n->misc, .offset = n->offset, .body = {n->body, n->size}};

	switch (n->type) {
	case RECORD_COMM: return play_comm(t, &r, n->time);
	case RECORD_FORK: return play_fork(t, &r, n->time);
	case RECORD_KSYMBOL: return play_ksymbol(t, &r, n->time);
	default: return play_mmap(t, &r, n->time);
	}
}

/* In time order; notes with the same time in the order of arrival. */
static int play_all(struct timeline *t)
{
	uint64_t *times = calloc(t->nnotes + 1, sizeof(*times));
	uint64_t *spare = calloc(2 * t->nnotes + 1, sizeof(*spare));
	uint32_t *order = calloc(t->nnotes + 1, sizeof(*order));
	bool good = times != NULL && spare != NULL && order != NULL;

	for (size_t i = 0; good && i < t->nnotes; i++) {
		times[i] = t->notes[i].time;
		order[i] = (uint32_t)i;
	}
	if (good) {
		sort_order(times, order, spare, t->nnotes);
	}
	free(times);
	free(spare);
	for (size_t i = 0; good && i < t->nnotes; i++) {
		good = play(t, &t->notes[order[i]]);
	}
	free(order);
	return good ? 0 : SONDE_ENOMEM;
}

/* As in perf, a thread is called ":TID" until its first name. */
static bool name_nameless(struct timeline *t)
{
	char text[32];

	for (size_t i = 0; i < t->nthreads; i++) {
		struct thread *th = &t->threads[i];
		uint64_t from = th->older != NONE ? th->start : 0;
		int n;

		if (th->nnames != 0 && th->names[0].time <= from) {
			continue;
		}
		n = th->tid == 0 ? snprintf(text, sizeof(text), "swapper")
		                 : snprintf(text, sizeof(text), ":%d", (int)th->tid);
		if (!thread_name(th, from, intern_add(&t->texts, text, (size_t)n))) {
			return false;
		}
		th->renamed = th->nnames > 1 && th->tid != 0 && !th->forked;
		for (size_t k = th->nnames - 1; k > 0; k--) { /* move ":TID" to the front */
			struct change last = th->names[k];

			th->names[k] = th->names[k - 1];
			th->names[k - 1] = last;
		}
	}
	return true;
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
	t->kernel = process_new(t, KERNEL_PID, 0, TIMELINE_NO_ROOT);
	if (t->kernel == NONE) {
		return SONDE_ENOMEM;
	}
	TRY(play_all(t));
	for (size_t i = 0; i < t->nmet; i++) {
		if (thread_get(t, t->met[i].pid, t->met[i].tid) == NONE) {
			return SONDE_ENOMEM;
		}
	}
	forget_notes(t);
	TRY(switches_seal(&t->switches));
	return name_nameless(t) ? 0 : SONDE_ENOMEM;
}

/* Look-ups. */

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
	size_t lo = 0;
	size_t hi = n;

	while (hi - lo > 1) {
		size_t mid = lo + (hi - lo) / 2;

		if (c[mid].time <= time) {
			lo = mid;
		} else {
			hi = mid;
		}
	}
	narrow(v, lo == 0 ? 0 : c[lo].time, lo + 1 < n ? c[lo + 1].time : UINT64_MAX);
	return lo;
}

static void view_process(
        const struct timeline *t, uint32_t process, struct timeline_view *v, uint64_t time)
{
	const struct process *p = &t->processes[process];
	size_t i = change_at(p->roots, p->nroots, time, v);
	size_t last = i;

	v->root = p->roots[i].to;
	while (last + 1 < p->nroots && !p->roots[last + 1].exec) {
		last++;
	}
	v->later_root = p->roots[last].to;
}

/* Returns the generation at `time`, or the oldest when all start later. */
static uint32_t thread_at(const struct timeline *t, struct timeline_view *v, uint64_t time)
{
	uint32_t th = thread_find(t, v->tid);

	while (th != NONE && t->threads[th].start > time && t->threads[th].older != NONE) {
		narrow(v, 0, t->threads[th].start);
		th = t->threads[th].older;
	}
	if (th != NONE && t->threads[th].start <= time) {
		narrow(v, t->threads[th].start, UINT64_MAX);
	} else if (th != NONE) {
		narrow(v, 0, t->threads[th].start);
	}
	return th;
}

static void view_fill(const struct timeline *t, struct timeline_view *v, uint32_t pid, uint32_t tid,
        uint64_t time)
{
	const struct process *k = &t->processes[t->kernel];
	size_t i;
	uint32_t th;

	*v = (struct timeline_view){.pid = pid, .tid = tid, .until = UINT64_MAX, .known = true};
	i = change_at(k->roots, k->nroots, time, v);
	v->kernel_root = k->roots[i].to;
	th = thread_at(t, v, time);
	if (th == NONE) {
		v->known = false;
		return;
	}
	i = change_at(t->threads[th].names, t->threads[th].nnames, time, v);
	v->comm = t->threads[th].names[i].to;
	v->row_comm = v->comm;
	v->last_comm = v->comm;
	if (t->threads[th].start <=
	        time) { /* else the sample is of an earlier task without records */
		v->last_comm = t->threads[th].names[t->threads[th].nnames - 1].to;
	}
	if (i == 0 && t->threads[th].renamed) {
		v->row_comm = t->threads[th].names[1].to;
	}
	view_process(t, t->threads[th].process, v, time);
}

const struct timeline_view *timeline_at(const struct timeline *t, struct timeline_cursor *c,
        uint32_t pid, uint32_t tid, uint64_t time)
{
	struct timeline_view *v = &c->views[hash_u64(tid) & (TIMELINE_CURSOR_SLOTS - 1)];

	if (v->tid != tid || v->pid != pid || time < v->from || time >= v->until) {
		view_fill(t, v, pid, tid, time);
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
		n = space_find(&t->pool, kernel ? view->kernel_root : view->root, addr);
	}
	if (n != NULL) {
		*out = (struct timeline_range){n->start, n->end};
	} else if (cpumode == MISC_USER) {
		n = space_find(&t->pool, view->later_root, addr);
	}
	return n != NULL && n->mapping != NONE ? &t->mappings[n->mapping] : NULL;
}

const struct timeline_mapping *timeline_next(const struct timeline *t,
        const struct timeline_view *view, uint64_t addr, struct timeline_range *out)
{
	const struct space_node *n = space_next(&t->pool, view->root, addr);

	if (n == NULL || n->mapping == NONE) {
		return NULL;
	}
	*out = (struct timeline_range){n->start, n->end};
	return &t->mappings[n->mapping];
}

struct timeline_thread timeline_running(const struct timeline *t, uint32_t cpu, uint64_t time)
{
	struct timeline_thread who = switches_at(&t->switches, cpu, time);
	struct timeline_view v = {.tid = who.tid};
	uint32_t th;

	if (who.tid != TIMELINE_NO_THREAD && who.pid == TIMELINE_NO_THREAD) {
		th = thread_at(t, &v, time);
		who.pid = th != NONE ? t->processes[t->threads[th].process].pid : who.pid;
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
	return t->nprocesses;
}

struct timeline_life timeline_process(const struct timeline *t, size_t i)
{
	const struct process *p = &t->processes[i];
	struct timeline_life life = {
	        .pid = p->pid, .tid = p->pid, .ppid = p->ppid, .ptid = NONE, .start = p->start};
	uint32_t th = thread_find(t, p->pid);

	while (th != NONE && t->threads[th].process != i) {
		th = t->threads[th].older;
	}
	if (th != NONE) {
		life.comm = t->threads[th].names[t->threads[th].nnames - 1].to;
		life.named = true;
	}
	return life;
}

size_t timeline_threads(const struct timeline *t)
{
	return t->nthreads;
}

struct timeline_life timeline_thread(const struct timeline *t, size_t i)
{
	const struct thread *th = &t->threads[i];

	return (struct timeline_life){.pid = t->processes[th->process].pid,
	        .tid = th->tid,
	        .ppid = t->processes[th->process].ppid,
	        .ptid = th->ptid,
	        .start = th->start,
	        .comm = th->names[th->nnames - 1].to,
	        .named = true};
}

size_t timeline_mappings(const struct timeline *t)
{
	return t->nmappings;
}

const struct timeline_mapping *timeline_mapping(const struct timeline *t, size_t i)
{
	return &t->mappings[i];
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
