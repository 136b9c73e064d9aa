/* SPDX-License-Identifier: MIT */
#include "timeline/play.h"

#include "core/array.h"
#include "core/sort.h"

#include <stdlib.h>
#include <sys/mman.h>

int play_begin(struct player *play)
{
	play->track->kernel = track_process_new(play->track, KERNEL_PID, 0, TIMELINE_NO_ROOT);
	return play->track->kernel != NONE ? 0 : SONDE_ENOMEM;
}

static bool play_comm(struct player *play, const struct record *r, uint64_t time)
{
	struct track *t = play->track;
	struct record_comm c;
	uint32_t th, process;

	if (!record_comm_decode(r, play->swap, &c)) {
		diag_report(
		        play->diags, SONDE_DIAG_DAMAGED, r->offset, "a COMM record is cut short");
		return true;
	}
	th = track_thread_get(t, c.pid, c.tid);
	if (th == NONE) {
		return false;
	}
	/*
	 * Old mappings stay until the new program maps over them: until then samples still have
	 * addresses of the old program.
	 */
	process = t->threads[th].process;
	if (c.exec && !track_root(t, process, time, t->processes[process].root, true)) {
		return false;
	}
	return track_name(
	        t, th, time, objects_text(play->objects, (const char *)c.name.p, c.name.n));
}

/* Gives a thread the newest name of another one, if that has a name. */
static bool copy_name(struct track *t, uint32_t thread, uint32_t from, uint64_t time)
{
	return t->threads[from].names.n == 0 || track_name(t, thread, time, t->threads[from].name);
}

/*
 * Tasks of other PID namespaces all have tid 0, so such a task seems to fork itself. As in perf, a
 * name set afterwards does not apply to earlier samples.
 */
static bool play_fork_of_itself(struct track *t, uint32_t tid, uint64_t time)
{
	uint32_t old = track_thread(t, tid);
	uint32_t new;

	if (old == NONE || t->threads[old].names.n == 0) {
		return true;
	}
	new = track_thread_new(t, t->threads[old].process, tid, time);
	if (new == NONE) {
		return false;
	}
	t->threads[new].forked = true;
	return copy_name(t, new, old, time);
}

/* Returns the process of a new thread, or NONE: out of memory. */
static uint32_t fork_process(struct track *t, const struct record_task *f, bool exec, uint64_t time)
{
	uint32_t parent = track_process(t, f->ppid);
	uint32_t p = NONE;

	if (f->pid == f->ppid || f->tid != f->pid) {
		return track_process_get(t, f->pid);
	}
	if (time == 0) {
		p = track_process(t, f->pid);
	}
	if (p == NONE) {
		p = track_process_new(t, f->pid, time,
		        parent != NONE && !exec ? t->processes[parent].root : TIMELINE_NO_ROOT);
	}
	if (p != NONE) {
		t->processes[p].ppid = f->ppid;
	}
	return p;
}

static bool play_fork(struct player *play, const struct record *r, uint64_t time)
{
	struct track *t = play->track;
	struct record_task f;
	uint32_t p, th, parent;

	if (!record_task_decode(r, play->swap, &f)) {
		diag_report(
		        play->diags, SONDE_DIAG_DAMAGED, r->offset, "a FORK record is cut short");
		return true;
	}
	th = track_thread(t, f.tid);
	if (time == 0 && th != NONE) { /* synthesised state; an earlier record named the thread */
		t->threads[th].ptid = f.ptid;
		return true;
	}
	if (f.tid == f.ptid && f.pid == f.ppid) {
		return play_fork_of_itself(t, f.tid, time);
	}
	p = fork_process(t, &f, (r->misc & MISC_FORK_EXEC) != 0, time);
	if (p == NONE) {
		return false;
	}
	th = track_thread_new(t, p, f.tid, time);
	if (th == NONE) {
		return false;
	}
	t->threads[th].forked = true;
	t->threads[th].ptid = f.ptid;
	parent = track_thread(t, f.ptid);
	return parent == NONE || parent == th || copy_name(t, th, parent, time);
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

/* Makes [start, end) of a process belong to a mapping, or to none. */
static bool set_range(struct track *t, uint32_t process, uint64_t time, uint64_t start,
        uint64_t end, uint32_t mapping)
{
	uint32_t root = space_insert(&t->pool, t->processes[process].root, start, end, mapping);

	return !t->pool.failed && track_root(t, process, time, root, false);
}

/* Whether a mapping is of memory for code that is not in a file. */
static bool is_anonymous(const struct player *play, const struct timeline_object *o)
{
	static const char *const names[] = {"/memfd:", "[anon:"};
	const char *name = intern_text(play->objects->texts, o->name);
	bool found = o->kind == TIMELINE_ANON;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		found = found || strncmp(name, names[i], strlen(names[i])) == 0;
	}
	return found;
}

/* Returns the first JIT-compiled code at or after an address and before `end`, or NULL. */
static const struct space_node *next_jit(
        const struct player *play, uint32_t root, uint64_t at, uint64_t end)
{
	const struct track *t = play->track;
	const struct space_node *n = space_next(&t->pool, root, at);

	while (n != NULL && n->start < end) {
		if (n->mapping != NONE &&
		        play->objects->items[t->mappings[n->mapping].object].kind == TIMELINE_JIT) {
			return n;
		}
		n = space_next(&t->pool, root, n->end);
	}
	return NULL;
}

/* As set_range for memory without a file: JIT-compiled code in it stays. */
static bool set_around_jit(struct player *play, uint32_t process, uint64_t time,
        const struct timeline_mapping *m, uint32_t mapping)
{
	struct track *t = play->track;
	uint64_t from = m->start;

	while (from < m->end) {
		const struct space_node *n =
		        next_jit(play, t->processes[process].root, from, m->end);
		uint64_t stop = n != NULL ? n->start : m->end;
		uint64_t next = n != NULL ? n->end : m->end;

		if (stop > from && !set_range(t, process, time, from, stop, mapping)) {
			return false;
		}
		from = next;
	}
	return true;
}

static bool map_into(struct player *play, uint32_t process, uint64_t time,
        const struct record_mmap *m, uint32_t object)
{
	struct track *t = play->track;
	struct timeline_object *o;
	struct timeline_mapping map = {.start = m->start,
	        .end = m->len > UINT64_MAX - m->start ? UINT64_MAX : m->start + m->len,
	        .pgoff = m->pgoff,
	        .time = time,
	        .object = object,
	        .inode = m->ino,
	        .prot = m->prot,
	        .flags = m->flags};

	if (object == NONE || process == NONE ||
	        !array_reserve(&t->mappings, &t->mappings_cap, t->nmappings + 1, sizeof(map))) {
		return false;
	}
	if (m->len == 0) {
		return true;
	}
	o = &play->objects->items[object];
	if (o->kind == TIMELINE_KERNEL) {
		map.end = kernel_end(map.end);
	}
	if (o->kind == TIMELINE_MODULE && !play->objects->complete) {
		o->base = m->start - m->pgoff;
	}
	map.pid = t->processes[process].pid;
	t->mappings[t->nmappings] = map;
	if (play->objects->has_jit && is_anonymous(play, o)) {
		return set_around_jit(play, process, time, &map, (uint32_t)t->nmappings++);
	}
	return set_range(t, process, time, map.start, map.end, (uint32_t)t->nmappings++);
}

/* Maps or unmaps code that the kernel made at run time, such as a BPF program. */
static bool play_ksymbol(struct player *play, const struct record *r, uint64_t time)
{
	uint32_t kernel = play->track->kernel;
	struct record_ksymbol s;
	struct record_mmap map;

	if (!record_ksymbol_decode(r, play->swap, &s)) {
		diag_report(play->diags, SONDE_DIAG_DAMAGED, r->offset,
		        "a KSYMBOL record is cut short");
		return true;
	}
	map = (struct record_mmap){.start = s.addr, .len = s.len};
	if ((s.flags & KSYMBOL_UNREGISTER) == 0) {
		return map_into(play, kernel, time, &map, objects_code(play->objects, &s));
	}
	return s.len == 0 || s.addr > UINT64_MAX - s.len ||
	       set_range(play->track, kernel, time, s.addr, s.addr + s.len, NONE);
}

static bool play_mmap(struct player *play, const struct record *r, uint64_t time)
{
	struct track *t = play->track;
	uint32_t mode = r->misc & MISC_CPUMODE_MASK;
	struct record_mmap m;
	uint32_t th;

	if (!record_mmap_decode(r, play->swap, &m)) {
		diag_report(
		        play->diags, SONDE_DIAG_DAMAGED, r->offset, "an MMAP record is cut short");
		return true;
	}
	if (mode == MISC_KERNEL) {
		return map_into(
		        play, t->kernel, time, &m, objects_kernel(play->objects, &m, false));
	}
	if (mode == MISC_GUEST_KERNEL && play->guests) {
		return map_into(play, track_process_get(t, guest_kernel_pid(m.pid)), time, &m,
		        objects_kernel(play->objects, &m, true));
	}
	if (mode == MISC_GUEST_KERNEL || mode == MISC_GUEST_USER) {
		return true; /* user code of guests is not modelled */
	}
	th = track_thread_get(t, m.pid, m.tid);
	return th != NONE &&
	       map_into(play, t->threads[th].process, time, &m, objects_user(play->objects, &m));
}

static bool play_jit(struct player *play, const struct note *n)
{
	struct track *t = play->track;
	struct timeline_jit jit;
	struct record_mmap map;
	uint32_t th;

	memcpy(&jit, n->body, sizeof(jit));
	map = (struct record_mmap){.pid = jit.pid,
	        .tid = jit.tid,
	        .start = jit.start,
	        .len = jit.length,
	        .pgoff = jit.pgoff,
	        .prot = PROT_EXEC,
	        .flags = MAP_SHARED};
	th = track_thread_get(t, jit.pid, jit.tid);
	return th != NONE && map_into(play, t->threads[th].process, n->time, &map,
	                             objects_jit(play->objects, &jit));
}

/* Samples of a task can follow its EXIT: it only marks when the thread may be dropped. */
static bool play_exit(struct player *play, const struct record *r, uint64_t time)
{
	struct track *t = play->track;
	struct record_task f;
	uint32_t th;

	if (!record_task_decode(r, play->swap, &f)) {
		return true;
	}
	th = track_thread(t, f.tid);
	if (th != NONE && t->processes[t->threads[th].process].pid == f.pid) {
		t->threads[th].ended = time;
	}
	return true;
}

static bool play_note(struct player *play, const struct note *n)
{
	const struct record r = {
	        .type = n->type, .misc = n->misc, .offset = n->offset, .body = {n->body, n->size}};

	switch (n->type) {
	case RECORD_COMM: return play_comm(play, &r, n->time);
	case RECORD_FORK: return play_fork(play, &r, n->time);
	case RECORD_EXIT: return play_exit(play, &r, n->time);
	case RECORD_KSYMBOL: return play_ksymbol(play, &r, n->time);
	case NOTE_JIT: return play_jit(play, n);
	default: return play_mmap(play, &r, n->time);
	}
}

int play_notes(struct player *play, const struct note *notes, size_t n)
{
	uint64_t *times = calloc(n + 1, sizeof(*times));
	uint64_t *spare = calloc(2 * n + 1, sizeof(*spare));
	uint32_t *order = calloc(n + 1, sizeof(*order));
	bool good = times != NULL && spare != NULL && order != NULL;

	for (size_t i = 0; good && i < n; i++) {
		times[i] = notes[i].time;
		order[i] = (uint32_t)i;
	}
	if (good) {
		sort_order(times, order, spare, n);
	}
	free(times);
	free(spare);
	for (size_t i = 0; good && i < n; i++) {
		good = play_note(play, &notes[order[i]]);
	}
	free(order);
	return good ? 0 : SONDE_ENOMEM;
}
