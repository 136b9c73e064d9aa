/* SPDX-License-Identifier: MIT */
#include "ptview/walk.h"

#include "core/array.h"
#include "core/span.h"

#include <stdlib.h>

#define ERROR_PID_AT 12u /* in the body of an AUXTRACE_ERROR record */

/* Returns the number of a thread, INDEX_NONE; negative: out of memory. */
static int64_t find_thread(struct ptview_walk *w, uint32_t pid, uint32_t tid, bool add)
{
	uint32_t hash = (uint32_t)hash_u64((uint64_t)pid << 32 | tid);
	size_t at = hash;
	uint32_t id;

	TRY(index_room(&w->index));
	while ((id = index_next(&w->index, hash, &at)) != INDEX_NONE) {
		if (w->ids[id].pid == pid && w->ids[id].tid == tid) {
			return id;
		}
		at++;
	}
	if (!add) {
		return INDEX_NONE;
	}
	if (!array_reserve(&w->ids, &w->cap, w->nthreads + 1, sizeof(*w->ids))) {
		return SONDE_ENOMEM;
	}
	id = (uint32_t)w->nthreads++;
	w->ids[id] = (struct ptview_id){.pid = pid, .tid = tid};
	index_put(&w->index, hash, at, id);
	return id;
}

static int end_thread(
        struct ptview_walk *w, const struct timeline_view *view, uint64_t time, bool exec)
{
	int64_t id = find_thread(w, view->pid, view->tid, false);

	if (id < 0 || id == INDEX_NONE) {
		return id < 0 ? (int)id : 0;
	}
	return w->ended(w->arg, (size_t)id, time, exec);
}

static int on_error(struct ptview_walk *w, const struct record *r)
{
	struct cursor c = cursor_make(r->body, session_swap(w->session));
	uint32_t pid, tid;
	int64_t id;

	(void)cursor_take(&c, ERROR_PID_AT);
	pid = cursor_u32(&c);
	tid = cursor_u32(&c);
	w->errors++;
	id = c.bad ? INDEX_NONE : find_thread(w, pid, tid, false);
	if (id < 0 || id == INDEX_NONE) {
		return id < 0 ? (int)id : 0;
	}
	return w->lost(w->arg, (size_t)id);
}

/* A FORK record begins with u32 pid, parent's pid, tid, parent's tid. */
static int on_fork(struct ptview_walk *w, const struct record *r)
{
	struct cursor c = cursor_make(r->body, session_swap(w->session));
	uint32_t pid = cursor_u32(&c);
	uint32_t tid;
	int64_t id;

	(void)cursor_u32(&c);
	tid = cursor_u32(&c);
	id = c.bad ? 0 : find_thread(w, pid, tid, true);
	return id < 0 ? (int)id : 0;
}

static int on_branch(struct ptview_walk *w, const struct session_sample *s)
{
	const struct ptview_branch b = {.time = s->s.time,
	        .from = s->s.ip,
	        .to = s->s.addr,
	        .flags = s->extra->flags,
	        .size = s->extra->insn_size,
	        .view = s->view};
	int64_t id = find_thread(w, s->s.pid, s->s.tid, true);

	if (id < 0) {
		return (int)id;
	}
	w->branches++;
	return w->branch(w->arg, (size_t)id, &b);
}

static bool is_branch(const struct session_event *e)
{
	return e->made && e->attr.type == SONDE_TYPE_HARDWARE &&
	       (e->attr.sample_type & SONDE_SAMPLE_ADDR) != 0;
}

/* timed: side-band and branches have times on one clock */
static int on_record(
        struct ptview_walk *w, const struct record *r, const struct session_sample *s, bool timed)
{
	switch (r->type) {
	case RECORD_AUXTRACE_ERROR: return on_error(w, r);
	case RECORD_FORK: return on_fork(w, r);
	case RECORD_SAMPLE:
		return s->extra != NULL && is_branch(&session_events(w->session)[s->event])
		               ? on_branch(w, s)
		               : 0;
	default: break;
	}
	if (!timed || (r->type == RECORD_COMM && (r->misc & MISC_COMM_EXEC) == 0)) {
		return 0;
	}
	return end_thread(w, s->view, s->s.time, r->type != RECORD_EXIT);
}

static int read_window(
        struct ptview_walk *w, struct session_worker *worker, size_t window, bool timed)
{
	struct session_sample s;
	struct record r;
	int rc;

	TRY(session_window_open(worker, window));
	while ((rc = session_worker_next_any(worker, &r, &s)) > 0) {
		TRY(on_record(w, &r, &s, timed));
	}
	return rc;
}

int ptview_walk(struct ptview_walk *w)
{
	const struct session_event *events = session_events(w->session);
	struct session_worker worker;
	bool timed = true;
	int rc = 0;

	for (size_t i = 0; i < sonde_session_events(w->session); i++) {
		timed = timed && !events[i].at_end;
	}
	w->branches = w->errors = 0;
	session_worker_init(&worker, w->session);
	worker.kinds = 1u << RECORD_COMM | 1u << RECORD_EXIT | SESSION_TRACE_ERRORS |
	               (w->forks ? 1u << RECORD_FORK : 0);
	for (size_t i = 0; i < session_windows(w->session) && rc >= 0; i++) {
		rc = read_window(w, &worker, i, timed);
	}
	session_worker_fini(&worker);
	return rc;
}

void ptview_walk_fini(struct ptview_walk *w)
{
	free(w->ids);
	index_fini(&w->index);
}

int ptview_check(struct sonde_session *s)
{
	const struct session_event *events = session_events(s);

	for (size_t i = 0; i < sonde_session_events(s); i++) {
		if (is_branch(&events[i])) {
			return 0;
		}
	}
	return error_set(session_error(s), SONDE_EARG, NO_OFFSET,
	        "no samples of branches: the recording has no Intel PT trace, or the session's "
	        "itrace is not \"be\"");
}
