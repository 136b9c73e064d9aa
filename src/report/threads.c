/* SPDX-License-Identifier: MIT */
/*
 * `report --threads`: counts of each thread, from the READ records of `record -s`:
 *
 *	u32 pid, tid; u64 value; [time_enabled] [time_running] [id] [lost], by read_format
 */
#include "report/report.h"

#include "abi/abi.h"
#include "core/array.h"
#include "core/escape.h"
#include "core/hash.h"

#include <inttypes.h>
#include <stdlib.h>

struct thread_counts {
	uint32_t pid, tid;
};

struct thread_table {
	struct thread_counts *threads;
	uint64_t *values; /* events for each thread */
	size_t n, threads_cap, values_cap;
	size_t events;
	struct index known;
	struct sonde_session *session;
};

static int table_add(struct thread_table *t, uint32_t pid, uint32_t tid, size_t event, uint64_t v)
{
	uint32_t hash = (uint32_t)hash_u64((uint64_t)pid << 32 | tid);
	size_t at = hash;
	uint32_t i;

	TRY(index_room(&t->known));
	for (i = index_next(&t->known, hash, &at); i != INDEX_NONE;
	        at++, i = index_next(&t->known, hash, &at)) {
		if (t->threads[i].pid == pid && t->threads[i].tid == tid) {
			break;
		}
	}
	if (i == INDEX_NONE) {
		if (t->n >= UINT32_MAX - 1) {
			return SONDE_ENOMEM;
		}
		i = (uint32_t)t->n;
		if (!array_reserve(&t->threads, &t->threads_cap, t->n + 1, sizeof(*t->threads)) ||
		        !array_reserve(&t->values, &t->values_cap, (t->n + 1) * t->events,
		                sizeof(*t->values))) {
			return SONDE_ENOMEM;
		}
		t->threads[t->n++] = (struct thread_counts){pid, tid};
		index_put(&t->known, hash, at, i);
		memset(t->values + (size_t)i * t->events, 0, t->events * sizeof(*t->values));
	}
	t->values[(size_t)i * t->events + event] += v;
	return 0;
}

/* Adds a READ record; damaged ones are skipped. */
static int record_add(void *arg, const struct record *r, const struct session_sample *sample)
{
	struct thread_table *t = arg;
	const struct sonde_session *s = t->session;
	const struct session_event *events = session_events(s), *e;
	struct cursor c = cursor_make(r->body, session_swap(s));
	uint64_t format = events[0].attr.read_format; /* the same for all events of a file */
	uint32_t pid = cursor_u32(&c), tid = cursor_u32(&c);
	uint64_t value = cursor_u64(&c), id;

	(void)sample;
	if ((format & SONDE_READ_ENABLED) != 0) {
		(void)cursor_u64(&c);
	}
	if ((format & SONDE_READ_RUNNING) != 0) {
		(void)cursor_u64(&c);
	}
	id = (format & SONDE_READ_ID) != 0 ? cursor_u64(&c) : 0;
	e = (format & SONDE_READ_ID) != 0 ? session_event_by_id(s, id) : events;
	if (c.bad || e == NULL || (format & SONDE_READ_GROUP) != 0) {
		return 0;
	}
	return table_add(t, pid, tid, (size_t)(e - events), value);
}

static int digits(uint64_t v)
{
	int n = 1;

	for (; v >= 10; v /= 10) {
		n++;
	}
	return n;
}

static void widen(int *width, int needed)
{
	*width = needed > *width ? needed : *width;
}

/* A line for each count: perf's "raw" form. */
static void table_put_raw(
        const struct thread_table *t, const struct session_event *events, struct text *out)
{
	int pid = 3, tid = 3, name = 4, count = 5;

	for (size_t i = 0; i < t->n * t->events; i++) {
		widen(&pid, digits(t->threads[i / t->events].pid));
		widen(&tid, digits(t->threads[i / t->events].tid));
		widen(&name, (int)strlen(events[i % t->events].name));
		widen(&count, digits(t->values[i]));
	}
	text_printf(out, "# %*s  %*s  %*s  Raw  %*s\n", pid, "PID", tid, "TID", name, "Name", count,
	        "Count");
	for (size_t i = 0; i < t->n * t->events; i++) {
		const struct thread_counts *of = &t->threads[i / t->events];
		size_t e = i % t->events;

		text_printf(out, "  %*u  %*u  %*s  %3zx  %*" PRIu64 "\n", pid, of->pid, tid,
		        of->tid, name, events[e].name, e, count, t->values[i]);
	}
}

static void table_put(const struct thread_table *t, const struct session_event *events, int *width,
        struct text *out)
{
	int pid = 3, tid = 3;

	for (size_t e = 0; e < t->events; e++) {
		width[e] = (int)strlen(events[e].name);
	}
	for (size_t i = 0; i < t->n; i++) {
		widen(&pid, digits(t->threads[i].pid));
		widen(&tid, digits(t->threads[i].tid));
		for (size_t e = 0; e < t->events; e++) {
			widen(&width[e], digits(t->values[(size_t)i * t->events + e]));
		}
	}
	text_printf(out, "# %*s  %*s", pid, "PID", tid, "TID");
	for (size_t e = 0; e < t->events; e++) {
		size_t start = out->n;

		text_printf(out, "  %*s", width[e], events[e].name);
		escape_plain_from(out, start);
	}
	text_char(out, '\n');
	for (size_t i = 0; i < t->n; i++) {
		text_printf(out, "  %*u  %*u", pid, t->threads[i].pid, tid, t->threads[i].tid);
		for (size_t e = 0; e < t->events; e++) {
			text_str(out, "  ");
			text_u64(
			        out, t->values[(size_t)i * t->events + e], (unsigned)width[e], ' ');
		}
		text_char(out, '\n');
	}
}

int report_threads(struct report *r)
{
	struct thread_table t = {.events = sonde_session_events(r->session), .session = r->session};
	int *width = calloc(t.events + 1, sizeof(*width));
	int rc = width != NULL ? 0 : SONDE_ENOMEM;

	if (rc >= 0 && t.events != 0) {
		rc = session_each_record(r->session, 1u << RECORD_READ, record_add, &t);
	}
	t.events = t.n != 0 ? t.events : 0; /* as in perf: else only the first two titles */
	if (rc >= 0 && r->options.threads_raw) {
		table_put_raw(&t, session_events(r->session), &r->text);
	} else if (rc >= 0) {
		table_put(&t, session_events(r->session), width, &r->text);
	}
	free(width);
	index_fini(&t.known);
	free(t.threads);
	free(t.values);
	return rc;
}
