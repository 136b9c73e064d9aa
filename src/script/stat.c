/* SPDX-License-Identifier: MIT */
/*
 * The table of a `stat record` file, in the layout of perf script: at the end of each round a line
 * for each count, ordered by event, thread and cpu. As in perf 6.1, a line has the total since the
 * start if counts were recorded to be summed over all cpus; otherwise the increase in the round,
 * scaled to the time that the event was enabled.
 *
 *	STAT_CONFIG u64 n; n times: u64 tag, value: 0 aggregation, 2 whether to scale
 *	STAT        u64 id; s32 cpu; s32 thread (index in the map); u64 value, enabled, running
 *	STAT_ROUND  u64 type; u64 time
 *	THREAD_MAP  u64 n; n times: s64 tid; char name[16]
 */
#include "script/script.h"
#include "session/session.h"

#include "core/array.h"
#include "core/escape.h"

#include <stdlib.h>

#define LINES_FREE     1000000u /* lines that any file may have, */
#define LINES_PER_BYTE 4u /* and more for each of its bytes */
#define THREAD_SIZE    24u

#define TAG_BY    0u
#define TAG_SCALE 2u
#define BY_ALL    1u /* counts are summed over all cpus */

struct stat_values {
	uint64_t value;
	uint64_t enabled, running; /* ns */
};

struct stat_cell {
	uint32_t event; /* index */
	int32_t thread; /* index in the map */
	int32_t cpu; /* -1: any */
	uint32_t order; /* position in the file */
	struct stat_values now, before; /* totals; at the end of this round and the one before */
};

struct stat_table {
	const struct sonde_session *session;
	const struct session_event *events;
	bool swap;
	struct stat_cell *cells;
	size_t n, sorted, cap;
	struct span threads; /* body of THREAD_MAP */
	uint64_t lines;
	bool titled;
	bool totals, scaled; /* totals instead of increases; scaled */
};

static int cell_place(const struct stat_cell *a, const struct stat_cell *b)
{
	if (a->event != b->event) {
		return a->event < b->event ? -1 : 1;
	}
	if (a->thread != b->thread) {
		return a->thread < b->thread ? -1 : 1;
	}
	return a->cpu < b->cpu ? -1 : a->cpu > b->cpu;
}

static int cell_order(const void *pa, const void *pb)
{
	const struct stat_cell *a = pa;
	const struct stat_cell *b = pb;
	int place = cell_place(a, b);

	return place != 0 ? place : a->order < b->order ? -1 : a->order > b->order;
}

static int cell_find(const void *pa, const void *pb)
{
	return cell_place(pa, pb);
}

static int take_stat(struct stat_table *t, const struct record *r)
{
	struct cursor c = cursor_make(r->body, t->swap);
	const struct session_event *e = session_event_by_id(t->session, cursor_u64(&c));
	struct stat_cell cell = {.order = (uint32_t)t->n};
	struct stat_cell *known;

	cell.cpu = (int32_t)cursor_u32(&c);
	cell.thread = (int32_t)cursor_u32(&c);
	cell.now.value = cursor_u64(&c);
	cell.now.enabled = cursor_u64(&c);
	cell.now.running = cursor_u64(&c);
	if (c.bad || e == NULL) {
		return 0; /* reported by the walk at opening */
	}
	cell.event = (uint32_t)(e - t->events);
	known = t->sorted == 0 ? NULL
	                       : bsearch(&cell, t->cells, t->sorted, sizeof(*t->cells), cell_find);
	if (known != NULL) {
		known->now = cell.now;
		return 0;
	}
	if (!array_reserve(&t->cells, &t->cap, t->n + 1, sizeof(*t->cells))) {
		return SONDE_ENOMEM;
	}
	t->cells[t->n++] = cell;
	return 0;
}

/* Sorts the counts of the round; of several for one cell the last is kept. */
static void sort_cells(struct stat_table *t)
{
	size_t kept = 0;

	if (t->sorted == t->n) {
		return;
	}
	qsort(t->cells, t->n, sizeof(*t->cells), cell_order);
	for (size_t i = 0; i < t->n; i++) {
		if (kept != 0 && cell_place(&t->cells[kept - 1], &t->cells[i]) == 0) {
			kept--;
		}
		t->cells[kept++] = t->cells[i];
	}
	t->n = t->sorted = kept;
}

/* Returns the tid by index in the map; -1: the counts belong to no thread. */
static int thread_of(const struct stat_table *t, int32_t index)
{
	struct cursor c = cursor_make(t->threads, t->swap);
	uint64_t tid;

	if (index < 0) {
		return -1;
	}
	(void)cursor_take(&c, 8 + (size_t)index * THREAD_SIZE);
	tid = cursor_u64(&c);
	return c.bad ? -1 : (int)tid;
}

static void take_config(struct stat_table *t, const struct record *r)
{
	struct cursor c = cursor_make(r->body, t->swap);
	uint64_t n = cursor_u64(&c);

	for (uint64_t i = 0; i < n && !c.bad; i++) {
		uint64_t tag = cursor_u64(&c);
		uint64_t value = cursor_u64(&c);

		if (tag == TAG_BY) {
			t->totals = value == BY_ALL;
		} else if (tag == TAG_SCALE) {
			t->scaled = value != 0;
		}
	}
}

/* Values that a line shows for a cell at the end of a round. */
static struct stat_values shown(const struct stat_table *t, struct stat_cell *cell)
{
	struct stat_values v = cell->now;

	if (t->totals) {
		return v;
	}
	v.value -= cell->before.value;
	v.enabled -= cell->before.enabled;
	v.running -= cell->before.running;
	cell->before = cell->now;
	if (t->scaled && v.running == 0) {
		v.value = 0;
	} else if (t->scaled && v.running < v.enabled) {
		double scaled = (double)v.value * ((double)v.enabled / (double)v.running);

		v.value = scaled < 0x1p64 ? (uint64_t)scaled : UINT64_MAX;
	}
	return v;
}

static int put_round(struct stat_table *t, const struct record *r, struct text *out)
{
	struct cursor c = cursor_make(r->body, t->swap);
	unsigned long long time;

	(void)cursor_u64(&c); /* type: an interval, or the end */
	time = cursor_u64(&c);
	if (c.bad) {
		return 0;
	}
	sort_cells(t);
	t->lines += t->n;
	if (t->lines > LINES_FREE && t->lines / LINES_PER_BYTE > session_size(t->session)) {
		return SONDE_ELIMIT;
	}
	if (!t->titled) {
		t->titled = true;
		text_printf(out, "%3s %8s %15s %15s %15s %15s %s\n", "CPU", "THREAD", "VAL", "ENA",
		        "RUN", "TIME", "EVENT");
	}
	for (size_t i = 0; i < t->n; i++) {
		struct stat_cell *cell = &t->cells[i];
		struct stat_values v = shown(t, cell);

		text_printf(out, "%3d %8d %15llu %15llu %15llu %15llu ", (int)cell->cpu,
		        thread_of(t, cell->thread), (unsigned long long)v.value,
		        (unsigned long long)v.enabled, (unsigned long long)v.running, time);
		text_plain(out, t->events[cell->event].name);
		text_char(out, '\n');
	}
	return out->failed ? SONDE_ENOMEM : 0;
}

static int take_record(struct stat_table *t, const struct record *r, struct text *out)
{
	switch (r->type) {
	case RECORD_THREAD_MAP: t->threads = r->body; return 0;
	case RECORD_STAT: return take_stat(t, r);
	case RECORD_STAT_CONFIG: take_config(t, r); return 0;
	case RECORD_STAT_ROUND: return put_round(t, r, out);
	default: return 0;
	}
}

int script_stat_print(const struct sonde_session *s, sonde_write_fn write, void *arg)
{
	struct stat_table t = {.session = s, .events = session_events(s), .swap = session_swap(s)};
	struct text out = {0};
	uint64_t position = 0;
	struct record r;
	int rc;

	while ((rc = session_file_record_next(s, &position, &r)) > 0) {
		rc = take_record(&t, &r, &out);
		rc = rc >= 0 ? text_flush(&out, 0, write, arg) : rc;
		if (rc < 0) {
			break;
		}
	}
	text_fini(&out);
	free(t.cells);
	return rc;
}
