/* SPDX-License-Identifier: MIT */
/* The letters of --itrace: which samples are made of a trace. */
#ifndef SONDE_AUX_ITRACE_H
#define SONDE_AUX_ITRACE_H

#include "core/status.h"

/* What a number after the letter i counts. */
enum itrace_unit {
	ITRACE_NS, /* time */
	ITRACE_TICKS,
	ITRACE_INSNS
};

struct itrace {
	bool instructions, branches, transactions, ptwrites, power, errors;
	bool calls, returns; /* only branches that are calls, or returns */
	bool cycles; /* of the core, since the sample before */
	uint64_t period; /* of instructions and cycles, in `unit`; 0: each instruction */
	enum itrace_unit unit;
	bool timeless; /* ignore times */
	bool ticks; /* times are ticks of the TSC, which was the clock of the recording */
	bool approximate; /* cycles at each change of the time, not only where they are exact */
	bool events; /* of Event Trace */
	bool outputs; /* of events whose samples are in the trace (PEBS) */
	bool depth; /* count the calls around each branch; no letter */
	unsigned quick; /* without code (1), and only PSB+ (2 and more) */
	unsigned chain; /* entries of call chains; 0: none */
	unsigned last; /* entries of branch stacks; 0: none */
	unsigned other_chain, other_last; /* the same for the samples of the recording */
	uint64_t skip; /* events at the start that make no sample */
	bool no_overflow_errors, no_lost_errors; /* e-o, e-l */
	struct {
		bool wanted; /* d */
		bool no_records; /* -a: no records of the recording */
		bool on_errors; /* +e: only what leads to an error */
		bool to_output; /* +o: to standard output */
	} log;
};

/* Whether calls or branches of threads must be remembered. */
static inline bool itrace_has_trails(const struct itrace *w)
{
	return w->chain != 0 || w->last != 0 || w->other_chain != 0 || w->other_last != 0 ||
	       w->depth;
}

/*
 * Parses the letters; an empty text selects all kinds, as in perf. SONDE_EARG: a letter is unknown,
 * or its number is not valid.
 */
int itrace_parse(struct itrace *out, const char *text, struct error *err);

#endif
