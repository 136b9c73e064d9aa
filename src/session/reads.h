/* SPDX-License-Identifier: MIT */
/*
 * Samples with counts (PERF_SAMPLE_READ): each becomes a sample of every event whose count it has;
 * the period is the increase of the count since the last such sample. The walk at opening computes
 * the periods, workers look them up by record. `reads.c` has an example.
 */
#ifndef SONDE_SESSION_READS_H
#define SONDE_SESSION_READS_H

#include "core/index.h"
#include "core/status.h"
#include "session/session.h"

/* The periods of a record: periods[first] up to those of the next record. */
struct reads_record {
	uint64_t place; /* of the record: stream and sequence */
	uint64_t first;
};

/* Empty when zero-initialised. */
struct session_reads {
	struct reads_record *records; /* by place */
	size_t nrecords, records_cap;
	uint64_t *periods; /* one for each count; 0: no sample */
	size_t nperiods, periods_cap;
};

void session_reads_fini(struct session_reads *reads);

/*
 * Returns the periods of a record, in the order of its counts, and their number; NULL: its sample
 * is not changed. *hint is the caller's, zero at first: it speeds up look-ups in rising order.
 */
const uint64_t *session_reads_find(
        const struct session_reads *reads, size_t *hint, uint64_t place, size_t *n);

/* The last count of an event instance. */
struct reads_last {
	uint64_t id, value;
	uint64_t time; /* of its sample, ns */
	uint32_t tid; /* of inherited events, which have a count for each thread; else 0 */
};

struct reads_total {
	uint64_t samples, period;
};

/* State of the walk; zero-initialised except for the first three members. */
struct reads_walk {
	const struct sonde_session *session;
	struct session_reads *out;
	struct diag_sink *diags; /* NULL: nothing is reported */
	struct reads_last *last; /* by (id, tid) */
	size_t nlast, last_cap;
	struct index index; /* index of last */
	struct reads_total *totals; /* by event; NULL: no counts yet */
	bool disorder; /* counts of an instance are not in time order */
};

/* 1: the sample becomes several; 0: it has no counts and is not changed; SONDE_ENOMEM. */
int reads_walk_add(struct reads_walk *w, const struct session_source *src,
        const struct session_event *e, const struct record *r);

/* Sorts counts that were not in time order; after it totals are final. 0 or SONDE_ENOMEM. */
int reads_walk_end(struct reads_walk *w);
void reads_walk_fini(struct reads_walk *w);

#endif
