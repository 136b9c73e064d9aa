/* SPDX-License-Identifier: MIT */
/* Reads the branches of a session in order of time, with names of functions. */
#include "ptview/ptview.h"

#include "core/array.h"
#include "core/span.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_START  (UINT64_C(1) << 63)
#define UNLIKELY_PART ".cold"

#define ERROR_PID_AT 12u /* in the body of an AUXTRACE_ERROR record */

/* Fills in a new function. */
static int make_function(struct ptview *v, uint32_t id, uint32_t name, uint32_t object, bool named)
{
	struct ptview_function *f;

	if (!array_reserve(&v->functions, &v->functions_cap, id + 1, sizeof(*v->functions))) {
		return SONDE_ENOMEM;
	}
	f = &v->functions[id];
	*f = (struct ptview_function){.name = intern_text(&v->texts, name), .named = named};
	f->object = object != INTERN_NONE ? intern_text(&v->texts, object) : NULL;
	v->nfunctions = id + 1;
	if (v->from != NULL && v->from_function == UINT32_MAX && strcmp(f->name, v->from) == 0) {
		v->from_function = id;
	}
	if (v->to != NULL && v->to_function == UINT32_MAX && strcmp(f->name, v->to) == 0) {
		v->to_function = id;
	}
	return 0;
}

/* Returns the function of a name and object, which may be new. Negative: out of memory. */
static int64_t add_function(
        struct ptview *v, const char *name, size_t name_size, const char *object, bool named)
{
	uint32_t name_id = intern_add(&v->texts, name, name_size);
	uint32_t object_id = INTERN_NONE, id;
	char key[32];
	int n;

	if (object != NULL) {
		object_id = intern_add(&v->texts, object, strlen(object));
	}
	if (name_id == INTERN_NONE || (object != NULL && object_id == INTERN_NONE)) {
		return SONDE_ENOMEM;
	}
	n = snprintf(key, sizeof(key), "%u %u", name_id, object_id);
	id = intern_add(&v->keys, key, (size_t)n);
	if (id == INTERN_NONE) {
		return SONDE_ENOMEM;
	}
	if (id >= v->nfunctions) {
		TRY(make_function(v, id, name_id, object_id, named));
	}
	return id;
}

static const char *object_name(const struct ptview *v, const struct frame *f)
{
	const struct timeline *t = v->frames.resolver->timeline;

	return f->object != FRAME_NOWHERE ? frame_object_name(t, timeline_object(t, f->object))
	                                  : NULL;
}

static int64_t function_of_symbol(struct ptview *v, const struct frame *f)
{
	size_t slot = hash_u64((uint64_t)(uintptr_t)f->symbol) & (PTVIEW_CACHE - 1);
	const char *name, *part;
	int64_t id;

	if (v->cache[slot].symbol == f->symbol && v->cache[slot].object == f->object) {
		return v->cache[slot].function;
	}
	name = frame_symbol_name(v->frames.resolver, f->object, f->symbol);
	if (name == NULL) {
		return SONDE_ENOMEM;
	}
	part = strstr(name, UNLIKELY_PART);
	id = add_function(v, name,
	        part != NULL && part != name ? (size_t)(part - name) : strlen(name),
	        object_name(v, f), true);
	if (id >= 0) {
		v->cache[slot].symbol = f->symbol;
		v->cache[slot].object = f->object;
		v->cache[slot].function = (uint32_t)id;
	}
	return id;
}

/* Whether a symbol is the beginning of a function, not its part for unlikely code. */
static bool is_function_start(const struct ptview *v, const struct frame *f)
{
	const char *name = frame_symbol_name(v->frames.resolver, f->object, f->symbol);

	return f->address == f->symbol->start &&
	       (name == NULL || strstr(name, UNLIKELY_PART) == NULL);
}

int ptview_locate(
        struct ptview *v, const struct timeline_view *view, uint64_t ip, struct ptview_place *out)
{
	uint32_t mode = ip >= KERNEL_START ? MISC_KERNEL : MISC_USER;
	const struct frame *f = frame_find(&v->frames, view, mode, ip);
	char address[32];
	int64_t id;

	if (f == NULL) {
		return SONDE_ENOMEM;
	}
	if (f->symbol != NULL) {
		id = function_of_symbol(v, f);
		*out = (struct ptview_place){.ip = ip, .start = is_function_start(v, f)};
	} else {
		(void)snprintf(address, sizeof(address), "0x%llx", (unsigned long long)f->address);
		id = add_function(v, address, strlen(address), object_name(v, f), false);
		*out = (struct ptview_place){.ip = ip, .start = true};
	}
	out->function = (uint32_t)id;
	return id < 0 ? (int)id : 0;
}

/* Returns the number of a thread; negative: out of memory. */
static int64_t find_thread(struct ptview *v, uint32_t pid, uint32_t tid, bool add)
{
	uint32_t hash = (uint32_t)hash_u64((uint64_t)pid << 32 | tid);
	size_t at = hash;
	uint32_t id;

	TRY(index_room(&v->thread_index));
	while ((id = index_next(&v->thread_index, hash, &at)) != INDEX_NONE) {
		if (v->threads[id].pid == pid && v->threads[id].tid == tid) {
			return id;
		}
		at++;
	}
	if (!add) {
		return INDEX_NONE;
	}
	if (!array_reserve(&v->threads, &v->threads_cap, v->nthreads + 1, sizeof(*v->threads))) {
		return SONDE_ENOMEM;
	}
	id = (uint32_t)v->nthreads++;
	v->threads[id] = (struct ptview_thread){.pid = pid, .tid = tid};
	index_put(&v->thread_index, hash, at, id);
	return id;
}

static int end_thread(
        struct ptview *v, uint32_t pid, uint32_t tid, uint64_t time, enum ptview_end end)
{
	int64_t id = find_thread(v, pid, tid, false);

	if (id < 0) {
		return (int)id;
	}
	if (id != INDEX_NONE) {
		ptview_end_all(&v->threads[id], time, end);
	}
	return 0;
}

static int on_error(struct ptview *v, const struct record *r)
{
	struct cursor c = cursor_make(r->body, session_swap(v->session));
	uint32_t pid, tid;
	int64_t id;

	(void)cursor_take(&c, ERROR_PID_AT);
	pid = cursor_u32(&c);
	tid = cursor_u32(&c);
	v->errors++;
	id = c.bad ? INDEX_NONE : find_thread(v, pid, tid, false);
	if (id < 0) {
		return (int)id;
	}
	if (id != INDEX_NONE) {
		ptview_end_all(&v->threads[id], v->threads[id].time, PTVIEW_LOST);
	}
	return 0;
}

static int on_branch(struct ptview *v, const struct session_sample *s)
{
	const struct ptview_branch b = {.time = s->s.time,
	        .from = s->s.ip,
	        .to = s->s.addr,
	        .flags = s->extra->flags,
	        .size = s->extra->insn_size,
	        .view = s->view};
	int64_t id = find_thread(v, s->s.pid, s->s.tid, true);

	if (id < 0) {
		return (int)id;
	}
	if (v->threads[id].comm == NULL || v->threads[id].depth == 0) {
		v->threads[id].comm = timeline_text(v->frames.resolver->timeline, s->view->comm);
	}
	v->branches++;
	return ptview_branch(v, &v->threads[id], &b);
}

static bool is_branch(const struct session_event *e)
{
	return e->made && e->attr.type == SONDE_TYPE_HARDWARE &&
	       (e->attr.sample_type & SONDE_SAMPLE_ADDR) != 0;
}

/* timed: side-band and branches have times on one clock */
static int on_record(
        struct ptview *v, const struct record *r, const struct session_sample *s, bool timed)
{
	const struct session_event *events = session_events(v->session);

	if (r->type == RECORD_AUXTRACE_ERROR) {
		return on_error(v, r);
	}
	if (r->type == RECORD_SAMPLE) {
		return s->extra != NULL && is_branch(&events[s->event]) ? on_branch(v, s) : 0;
	}
	if (!timed || (r->type == RECORD_COMM && (r->misc & MISC_COMM_EXEC) == 0)) {
		return 0;
	}
	return end_thread(v, s->view->pid, s->view->tid, s->s.time,
	        r->type == RECORD_EXIT ? PTVIEW_EXIT : PTVIEW_EXEC);
}

static int read_window(struct ptview *v, struct session_worker *w, size_t window, bool timed)
{
	struct session_sample s;
	struct record r;
	int rc;

	TRY(session_window_open(w, window));
	while ((rc = session_worker_next_any(w, &r, &s)) > 0) {
		TRY(on_record(v, &r, &s, timed));
	}
	return rc;
}

int ptview_read(struct ptview *v)
{
	const struct session_event *events = session_events(v->session);
	struct session_worker w;
	bool timed = true;
	int rc = 0;

	for (size_t i = 0; i < sonde_session_events(v->session); i++) {
		timed = timed && !events[i].at_end;
	}
	session_worker_init(&w, v->session);
	w.kinds = 1u << RECORD_COMM | 1u << RECORD_EXIT | SESSION_TRACE_ERRORS;
	for (size_t i = 0; i < session_windows(v->session) && rc >= 0; i++) {
		rc = read_window(v, &w, i, timed);
	}
	session_worker_fini(&w);
	for (size_t i = 0; i < v->nthreads; i++) {
		ptview_end_all(&v->threads[i], v->threads[i].time, PTVIEW_OPEN);
	}
	return rc;
}

void ptview_fini(struct ptview *v)
{
	for (size_t i = 0; i < v->nthreads; i++) {
		free(v->threads[i].calls);
		free(v->threads[i].stack);
		free(v->threads[i].active);
	}
	free(v->threads);
	free(v->functions);
	free(v->intervals);
	free(v->outliers);
	index_fini(&v->thread_index);
	intern_fini(&v->texts);
	intern_fini(&v->keys);
	frame_reader_fini(&v->frames);
}
