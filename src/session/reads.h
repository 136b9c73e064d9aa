/* SPDX-License-Identifier: MIT */
/*
 * Samples that carry counts (PERF_SAMPLE_READ): each stands for one sample of every event whose
 * count it has, and what that event counted since the last such sample is the period. The walk at
 * opening finds the periods, workers look them up by record. `reads.c` has an example.
 */
#ifndef SONDE_SESSION_READS_H
#define SONDE_SESSION_READS_H

#include "core/index.h"
#include "core/status.h"
#include "session/session.h"

/* The periods of one record are periods[first] up to those of the next record. */
struct reads_record {
	uint64_t place; /* stream and sequence */
	uint64_t first;
};

/* Zero-initialised: no record has counts. */
struct session_reads {
	struct reads_record *records; /* by place */
	size_t nrecords, records_cap;
	uint64_t *periods; /* one a count; 0: no sample comes of it */
	size_t nperiods, periods_cap;
};

void session_reads_fini(struct session_reads *reads);

/*
 * The periods of a record, in the order of its counts, and their number; NULL: its sample stays as
 * it is. *hint is the caller's, zero at first: it makes look-ups in rising order quick.
 */
const uint64_t *session_reads_find(
        const struct session_reads *reads, size_t *hint, uint64_t place, size_t *n);

/* The last count of an event instance. */
struct reads_last {
	uint64_t id, value;
	uint64_t time; /* of its sample, ns */
	uint32_t tid; /* of inherited events, which count each thread for itself; else 0 */
};

struct reads_total {
	uint64_t samples, period;
};

/* What is needed while the records are walked; zero-initialised but for the first three. */
struct reads_walk {
	const struct sonde_session *session;
	struct session_reads *out;
	struct diag_sink *diags; /* NULL: nothing is reported */
	struct reads_last *last; /* by (id, tid) */
	size_t nlast, last_cap;
	struct index index; /* of them */
	struct reads_total *totals; /* by event; NULL until there is a count */
	bool disorder; /* an instance's counts do not come by time */
};

/* 1: the sample is taken apart; 0: it has no such counts and stays as it is; SONDE_ENOMEM. */
int reads_walk_add(struct reads_walk *w, const struct session_source *src,
        const struct session_event *e, const struct record *r);

/* Puts right what came in disorder; after it totals are final. 0 or SONDE_ENOMEM. */
int reads_walk_end(struct reads_walk *w);
void reads_walk_fini(struct reads_walk *w);

#endif
