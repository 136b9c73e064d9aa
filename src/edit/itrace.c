/* SPDX-License-Identifier: MIT */
/*
 * The stage that replaces traces by the samples that they are decoded to. Records keep their order;
 * made samples are in the order of time, and go in before the end of the round (FINISHED_ROUND)
 * after which no earlier record may follow:
 *
 *	records of a round, up to time M | made samples up to M | FINISHED_ROUND | ...
 */
#include "edit/inside.h"

#include "file/reader.h"

#include <stdlib.h>

struct edit_itrace {
	struct sonde_editor *e;
	struct session_worker worker;
	size_t window; /* the next one */
	uint64_t first_id; /* of the first made event */
	size_t first_event; /* number of the first made event */
	uint64_t newest; /* time of the records so far, ns */
	struct record pending; /* a made record that was read and is not written yet */
	struct session_sample sample; /* its sample, if it is one */
	bool is_pending;
	bool begun; /* the worker must be freed */
};

/* Returns an id that no event of the file has; made events have the ones from it on. */
static uint64_t free_id(const struct file *f)
{
	uint64_t id = 0;

	for (size_t i = 0; i < f->nevents; i++) {
		for (size_t k = 0; k < f->events[i].nids; k++) {
			id = f->events[i].ids[k] > id ? f->events[i].ids[k] : id;
		}
	}
	return id < UINT64_MAX - UINT32_MAX ? id + 1 : 1;
}

static int events_add(struct edit_itrace *t, struct sonde_rewriter *rw)
{
	struct sonde_session *s = t->e->session;
	const struct session_event *events = session_events(s);
	size_t n = sonde_session_events(s);
	bool branches = false;
	uint8_t bytes[144];

	while (t->first_event < n && !events[t->first_event].made) {
		t->first_event++;
	}
	for (size_t i = t->first_event; i < n; i++) {
		const uint64_t id = t->first_id + (i - t->first_event);
		struct sonde_attr attr = events[i].attr;
		struct sonde_rewriter_event event = {.size = sizeof(event),
		        .attr = bytes,
		        .ids = &id,
		        .nids = 1,
		        .name = events[i].name};

		attr.size = attr.size <= sizeof(bytes) ? attr.size : sizeof(bytes);
		record_attr_encode_as(&attr, session_swap(s), bytes);
		event.attr_size = attr.size;
		TRY(sonde_rewriter_set_event(rw, i, &event));
		branches |= (attr.sample_type & SONDE_SAMPLE_BRANCH_STACK) != 0;
	}
	/* then reports count branches */
	return branches ? sonde_rewriter_set_feature(rw, FEATURE_BRANCH_STACK, "", 0) : 0;
}

static int begin(void *arg, struct sonde_rewriter *rw)
{
	struct edit_itrace *t = arg;
	struct sonde_editor *e = t->e;

	TRY(edit_failed(e, rw, edit_open(e, rw)));
	session_worker_init(&t->worker, e->session);
	t->begun = true;
	t->worker.kinds = SESSION_TRACE_ERRORS;
	t->first_id = free_id(reader_file(sonde_rewriter_file(rw)));
	return events_add(t, rw);
}

/* Whether a record of the session is one that a trace was decoded to. */
static bool is_made(const struct edit_itrace *t, const struct record *r)
{
	return r->type == RECORD_AUXTRACE_ERROR ||
	       (r->type == RECORD_SAMPLE && t->sample.extra != NULL);
}

/* Reads the next made record to t->pending: 1, or 0 at the end. */
static int next_made(struct edit_itrace *t)
{
	struct sonde_session *s = t->e->session;

	while (!t->is_pending) {
		int rc = t->window == 0
		                 ? 0 /* none is open yet */
		                 : session_worker_next_any(&t->worker, &t->pending, &t->sample);

		if (rc < 0) {
			return error_nomem(&t->e->error);
		}
		if (rc == 0 && t->window == session_windows(s)) {
			return 0;
		}
		if (rc == 0 && session_window_open(&t->worker, t->window++) < 0) {
			return error_nomem(&t->e->error);
		}
		t->is_pending = rc > 0 && is_made(t, &t->pending);
	}
	return 1;
}

/* Returns the time of the pending record. */
static uint64_t pending_time(const struct edit_itrace *t)
{
	const struct record *r = &t->pending;

	if (r->type == RECORD_AUXTRACE_ERROR) {
		return r->body.n >= 40 ? load_u64(r->body.p + 32, session_swap(t->e->session)) : 0;
	}
	return session_made_at_end(t->e->session) ? UINT64_MAX : t->sample.s.time;
}

/*
 * Writes the pending record: a sample of an event that only traces have gets the id of its event, and
 * what differs from the first branch of those that share a record.
 */
static int pending_put(struct edit_itrace *t, struct sonde_rewriter *rw)
{
	const struct record *r = &t->pending;
	bool swap = session_swap(t->e->session);
	struct sonde_raw_record raw = {
	        .type = r->type, .misc = r->misc, .size = r->body.n + RECORD_HEADER_SIZE};
	uint8_t *p = t->e->room;

	t->is_pending = false;
	memcpy(p, r->body.p - RECORD_HEADER_SIZE, raw.size);
	raw.bytes = p;
	if (r->type == RECORD_SAMPLE && t->sample.event >= t->first_event) {
		const struct session_event *event = &session_events(t->e->session)[t->sample.event];
		uint8_t *body = p + RECORD_HEADER_SIZE;

		store_u16(p + 4, r->misc, swap);
		store_u64(body, t->first_id + (t->sample.event - t->first_event), swap);
		store_u64(body + event->plan.ip, t->sample.s.ip, swap);
		if (event->plan.addr != RECORD_NOT_THERE) {
			store_u64(body + event->plan.addr, t->sample.s.addr, swap);
		}
	}
	return sonde_rewriter_put(rw, &raw);
}

/* Writes the made records up to a time. */
static int made_put(struct edit_itrace *t, struct sonde_rewriter *rw, uint64_t until)
{
	int rc;

	while ((rc = next_made(t)) > 0 && pending_time(t) <= until) {
		TRY(pending_put(t, rw));
	}
	return edit_failed(t->e, rw, rc < 0 ? rc : 0);
}

/* Records that belong to a trace. */
static bool is_trace(uint32_t type)
{
	return type == RECORD_AUXTRACE || type == RECORD_AUXTRACE_INFO || type == RECORD_AUX ||
	       type == RECORD_ITRACE_START || type == RECORD_AUX_OUTPUT_HW_ID;
}

static int record(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
{
	struct edit_itrace *t = arg;

	if (is_trace(r->type) || (t->e->o.strip && r->type == RECORD_SAMPLE)) {
		return 0;
	}
	if (r->type == RECORD_FINISHED_ROUND) {
		TRY(made_put(t, rw, t->newest));
	} else if (r->type < RECORD_USER_START) {
		t->newest = edit_newer(reader_file(sonde_rewriter_file(rw)), r, t->newest);
	}
	return sonde_rewriter_put(rw, r);
}

static int end(void *arg, struct sonde_rewriter *rw)
{
	return made_put(arg, rw, UINT64_MAX);
}

int edit_itrace_stage(struct sonde_editor *e, struct sonde_rewriter *rw)
{
	struct sonde_rewriter_stage stage = {
	        .size = sizeof(stage), .begin = begin, .record = record, .end = end};

	e->traces = calloc(1, sizeof(*e->traces));
	if (e->traces == NULL) {
		return error_nomem(&e->error);
	}
	e->traces->e = e;
	stage.arg = e->traces;
	return sonde_rewriter_add(rw, &stage);
}

void edit_itrace_fini(struct sonde_editor *e)
{
	if (e->traces != NULL && e->traces->begun) {
		session_worker_fini(&e->traces->worker);
	}
	free(e->traces);
}
