/* SPDX-License-Identifier: MIT */
/*
 * Calls of the threads of a recording, from the branches of their traces.
 *
 *	walk.c    a session's branches  ->  calls.c  stack of each thread  ->  struct ptview_call
 *	table.c   sums of the calls by function                            ->  print.c
 */
#ifndef SONDE_PTVIEW_H
#define SONDE_PTVIEW_H

#include "ptview/names.h"
#include "ptview/walk.h"

/* How a call began. */
enum ptview_begin {
	PTVIEW_CALLED,
	PTVIEW_TAIL_CALLED, /* by a jump; it returns to the caller of the function before it */
	PTVIEW_INTERRUPTED, /* a signal handler, or an interrupt */
	PTVIEW_BEFORE /* before the trace began, or while it was lost */
};

/* How a call ended. */
enum ptview_end {
	PTVIEW_RETURNED,
	PTVIEW_TAIL_CALL, /* it jumped to another function */
	PTVIEW_UNWOUND, /* control went to an outer call: longjmp, an exception */
	PTVIEW_EXEC,
	PTVIEW_EXIT,
	PTVIEW_LOST, /* a part of the trace is missing or has errors */
	PTVIEW_OPEN /* still running at the end of the trace */
};

struct ptview_call {
	uint64_t entry, exit; /* ns */
	uint64_t inner; /* ns in calls that it made */
	uint32_t function; /* of struct ptview */
	uint32_t depth; /* 0: outermost */
	uint8_t begin, end; /* of enum ptview_begin, ptview_end */
	bool outer; /* no other call of the function was open: it counts for the total */
};

struct ptview_function {
	const char *name, *object; /* object NULL: unknown */
	uint64_t count, complete; /* calls; those with known entry and exit */
	uint64_t total, self; /* ns */
	uint64_t min, median, max; /* ns, of complete calls */
	uint64_t quartile[2]; /* first and third */
};

/* A call that has not ended. */
struct ptview_open {
	size_t call; /* of the thread */
	uint64_t back; /* address after the call instruction; 0: none */
	uint64_t resume[2]; /* where an interrupted function continues */
};

struct ptview_thread {
	uint32_t pid, tid;
	const char *comm; /* valid as long as the session */
	struct ptview_call *calls; /* by entry */
	size_t ncalls, calls_cap;
	struct ptview_open *stack; /* outermost first */
	size_t depth, stack_cap;
	uint32_t *active; /* open calls, by function */
	size_t active_cap;
	bool stopped; /* tracing is off */
	struct ptview_branch last; /* at which it stopped, at t->time */
	uint64_t stop[2]; /* addresses at which it may continue */
	uint64_t time; /* of the last branch, ns */
	bool measuring; /* the first function of a measurement was entered */
	uint64_t measure_start;
};

/* A time from one function to another. */
struct ptview_interval {
	size_t thread;
	uint64_t start, end; /* ns */
};

struct ptview_outlier {
	size_t thread, call;
	uint64_t excess; /* ns above the median of its function */
};

struct ptview {
	struct ptview_walk walk;
	struct ptview_names names;
	struct ptview_function *functions; /* by function, made by ptview_sum */
	size_t nfunctions;
	size_t compared; /* functions whose names were compared with `from` and `to` */
	struct ptview_thread *threads; /* by their first branch */
	size_t nthreads, threads_cap;
	const char *from, *to; /* functions to measure; NULL: none */
	uint32_t from_function, to_function; /* UINT32_MAX: not entered yet */
	struct ptview_interval *intervals;
	size_t nintervals, intervals_cap;
	struct ptview_outlier *outliers; /* the largest excess first */
	size_t noutliers, outliers_cap;
};

/* calls.c: follows the calls of a session; 0 or a negative status */
int ptview_calls(struct ptview *v, struct sonde_session *s);
void ptview_calls_fini(struct ptview *v);

/* table.c */
int ptview_sum(struct ptview *v);

static inline bool ptview_is_complete(const struct ptview_call *c)
{
	return c->begin != PTVIEW_BEFORE && c->end <= PTVIEW_UNWOUND;
}

static inline uint64_t ptview_duration(const struct ptview_call *c)
{
	return c->exit - c->entry;
}

#endif
