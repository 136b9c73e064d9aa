/* SPDX-License-Identifier: MIT */
/*
 * Periods from counts in samples.
 *
 *	record of the leader (id 1)          samples
 *	time 10   {id 1: 100}  {id 2: 4}     event of id 1, period 100   event of id 2, period 4
 *	time 20   {id 1: 250}  {id 2: 4}     event of id 1, period 150
 *	time 30   {id 1: 300}  {id 2: 9}     event of id 1, period  50   event of id 2, period 5
 *
 * A count that did not change makes no sample, nor does a count with an unknown id. An event that
 * is alone in its samples is handled alike. An instance has one id and writes into one ring, so
 * that its records are in time order; if they are not (rings written backward), everything is done
 * again in time order. Without ids samples stay as they were recorded.
 *
 * Source: perf_event_open(2) on PERF_SAMPLE_READ, and what perf 6.1 prints of made recordings.
 */
#include "session/inside.h"

#include "core/array.h"
#include "core/hash.h"

#include <stdlib.h>

void session_reads_fini(struct session_reads *reads)
{
	free(reads->records);
	free(reads->periods);
	*reads = (struct session_reads){0};
}

static bool is_record(const struct session_reads *reads, size_t i, uint64_t place)
{
	return i < reads->nrecords && reads->records[i].place == place;
}

const uint64_t *session_reads_find(
        const struct session_reads *reads, size_t *hint, uint64_t place, size_t *n)
{
	size_t low = 0;
	size_t high = reads->nrecords;

	if (is_record(reads, *hint + 1, place)) {
		low = *hint + 1;
	} else {
		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (reads->records[middle].place < place) {
				low = middle + 1;
			} else {
				high = middle;
			}
		}
	}
	if (!is_record(reads, low, place)) {
		return NULL;
	}
	*hint = low;
	*n = (low + 1 < reads->nrecords ? reads->records[low + 1].first : reads->nperiods) -
	     reads->records[low].first;
	return reads->periods + reads->records[low].first;
}

/* Returns the last count of an instance, all 0 if it is new; NULL: out of memory. */
static struct reads_last *last_of(struct reads_walk *w, uint64_t id, uint32_t tid)
{
	uint32_t hash = (uint32_t)hash_step(hash_u64(id), tid);
	size_t at = hash;
	uint32_t i;

	if (index_room(&w->index) < 0) {
		return NULL;
	}
	while ((i = index_next(&w->index, hash, &at)) != INDEX_NONE) {
		if (w->last[i].id == id && w->last[i].tid == tid) {
			return &w->last[i];
		}
		at++;
	}
	if (!array_reserve(&w->last, &w->last_cap, w->nlast + 1, sizeof(*w->last))) {
		return NULL;
	}
	i = (uint32_t)w->nlast++;
	w->last[i] = (struct reads_last){.id = id, .tid = tid};
	index_put(&w->index, hash, at, i);
	return &w->last[i];
}

/* Computes the increase since the instance's last sample; a count that went down was restarted. */
static int period_of(struct reads_walk *w, const struct sonde_record_read_value *count,
        uint32_t tid, uint64_t time, uint64_t *period)
{
	struct reads_last *last = last_of(w, count->id, tid);

	if (last == NULL) {
		return SONDE_ENOMEM;
	}
	w->disorder |= time < last->time;
	*period = count->value >= last->value ? count->value - last->value : count->value;
	last->value = count->value;
	last->time = time;
	return 0;
}

static uint64_t time_of(
        const struct reads_walk *w, const struct session_event *e, const struct record *r)
{
	return e->plan.time != RECORD_NOT_THERE
	               ? load_u64(r->body.p + e->plan.time, w->session->swap)
	               : r->offset;
}

/* Computes the periods of a record's counts. */
static int periods_of(struct reads_walk *w, const struct session_event *e, const struct record *r,
        struct record_counts *counts, uint64_t *periods)
{
	bool inherit = sonde_attr_has(&e->attr, SONDE_FLAG_INHERIT) != 0;
	uint32_t tid = inherit && e->plan.tid != RECORD_NOT_THERE
	                       ? load_u32(r->body.p + e->plan.tid + 4, w->session->swap)
	                       : 0;
	struct sonde_record_read_value count;

	while (record_counts_next(counts, &count)) {
		const struct session_event *member = session_event_by_id(w->session, count.id);
		uint64_t *period = periods++;
		struct reads_total *total;

		*period = 0;
		if (member == NULL && w->diags != NULL) {
			diag_report(w->diags, SONDE_DIAG_UNKNOWN, r->offset,
			        "a sample has a count with an id that belongs to no event of the "
			        "file");
		}
		if (member == NULL) {
			continue;
		}
		TRY(period_of(w, &count, tid, time_of(w, e, r), period));
		total = &w->totals[member - w->session->events];
		total->samples += *period != 0;
		total->period += *period;
	}
	return 0;
}

static bool is_counted(const struct reads_walk *w, const struct session_event *e)
{
	return (e->plan.sample_type & SONDE_SAMPLE_READ) != 0 &&
	       (e->plan.read_format & SONDE_READ_ID) != 0 && w->session->ids;
}

int reads_walk_add(struct reads_walk *w, const struct session_source *src,
        const struct session_event *e, const struct record *r)
{
	struct session_reads *out = w->out;
	struct record_counts counts;
	size_t n;

	if (!is_counted(w, e)) {
		return 0;
	}
	if (!record_counts_begin(&e->plan, r->body, w->session->swap, &counts) ||
	        counts.left == 0) {
		diag_report(w->diags, SONDE_DIAG_DAMAGED, r->offset,
		        "the counts of a sample do not fit into it");
		return 0;
	}
	n = (size_t)counts.left;
	if (w->totals == NULL) {
		w->totals = calloc(w->session->nevents, sizeof(*w->totals));
	}
	if (w->totals == NULL ||
	        !array_reserve(&out->records, &out->records_cap, out->nrecords + 1,
	                sizeof(*out->records)) ||
	        !array_reserve(&out->periods, &out->periods_cap, out->nperiods + n,
	                sizeof(*out->periods))) {
		return SONDE_ENOMEM;
	}
	TRY(periods_of(w, e, r, &counts, out->periods + out->nperiods));
	out->records[out->nrecords++] = (struct reads_record){
	        .place = session_place(src, r->offset), .first = out->nperiods};
	out->nperiods += n;
	return 1;
}

struct place {
	uint64_t time; /* ns */
	size_t record;
};

static int by_time(const void *a, const void *b)
{
	const struct place *x = a;
	const struct place *y = b;

	if (x->time != y->time) {
		return x->time < y->time ? -1 : 1;
	}
	return x->record < y->record ? -1 : 1;
}

/* Fetches a record that was added before, and returns its event. */
static const struct session_event *record_again(
        const struct reads_walk *w, size_t i, struct record *r)
{
	struct session_key key = {.place = w->out->records[i].place};
	const struct session_source *src = w->session->sources[key.place >> SESSION_SEQUENCE];
	struct session_state none = {.at = 0}; /* records of a file need no memory */
	struct session_item item;

	src->ops->fetch(src, &none, &key, 1, &item);
	*r = session_item_record(&item, w->session->swap);
	return &w->session->events[item.event];
}

static int again(struct reads_walk *w, const struct place *places)
{
	struct record_counts counts;
	struct record r;

	index_fini(&w->index);
	w->nlast = 0;
	memset(w->totals, 0, w->session->nevents * sizeof(*w->totals));
	w->diags = NULL; /* reported already */
	for (size_t i = 0; i < w->out->nrecords; i++) {
		const struct session_event *e = record_again(w, places[i].record, &r);

		if (record_counts_begin(&e->plan, r.body, w->session->swap, &counts)) {
			TRY(periods_of(w, e, &r, &counts,
			        w->out->periods + w->out->records[places[i].record].first));
		}
	}
	return 0;
}

int reads_walk_end(struct reads_walk *w)
{
	struct place *places;
	struct record r;
	int rc;

	if (!w->disorder) {
		return 0;
	}
	places = calloc(w->out->nrecords, sizeof(*places));
	if (places == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < w->out->nrecords; i++) {
		const struct session_event *e = record_again(w, i, &r);

		places[i] = (struct place){.time = time_of(w, e, &r), .record = i};
	}
	qsort(places, w->out->nrecords, sizeof(*places), by_time);
	rc = again(w, places);
	free(places);
	return rc;
}

void reads_walk_fini(struct reads_walk *w)
{
	free(w->last);
	index_fini(&w->index);
	free(w->totals);
}
