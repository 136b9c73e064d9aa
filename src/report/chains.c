/* SPDX-License-Identifier: MIT */
/*
 * The call graph of a row as whole chains: equal chains are merged, and the heaviest are printed
 * first. Chains are sorted by frames first, so that equal ones are neighbours and longer chains
 * come before the chains they begin with; as in perf, chains of equal weight keep this order.
 */
#define _GNU_SOURCE /* qsort_r */
#include "report/report.h"

#include <stdlib.h>

struct run { /* chains that are equal from the row on */
	size_t first;
	uint64_t periods, samples; /* of chains that end there */
	uint64_t all_periods, all_samples; /* of these, and of longer chains that begin alike */
	size_t refs; /* number of chains, from the first on */
	uint32_t n; /* number of frames */
};

static int frame_order(const struct profile *p, uint32_t x, uint32_t y)
{
	const struct profile_frame *frames = p->counts.frames;

	if (x == PROFILE_NONE || y == PROFILE_NONE) {
		return x == PROFILE_NONE ? 1 : -1;
	}
	if (profile_frame_before(p, &frames[x], &frames[y])) {
		return -1;
	}
	return profile_frame_before(p, &frames[y], &frames[x]) || x > y ? 1 : -1;
}

static int ref_order(const void *a, const void *b, void *arg)
{
	const struct profile *p = arg;

	for (uint32_t depth = 0;; depth++) {
		uint32_t x = profile_graph_step(p, *(const struct profile_ref *)a, depth);
		uint32_t y = profile_graph_step(p, *(const struct profile_ref *)b, depth);

		if (x != y) {
			return frame_order(p, x, y);
		}
		if (x == PROFILE_NONE) {
			return 0;
		}
	}
}

static int run_order(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	if (x->periods != y->periods) {
		return x->periods > y->periods ? -1 : 1;
	}
	return x->first < y->first ? -1 : x->first > y->first;
}

static uint32_t ref_length(const struct profile *p, struct profile_ref ref)
{
	uint32_t n = 0;

	while (profile_graph_step(p, ref, n) != PROFILE_NONE) {
		n++;
	}
	return n;
}

static bool goes_on(
        const struct profile *p, const struct profile_ref *refs, const struct run *run, size_t i)
{
	for (uint32_t depth = 0; depth < run->n; depth++) {
		if (profile_graph_step(p, refs[i], depth) !=
		        profile_graph_step(p, refs[run->first], depth)) {
			return false;
		}
	}
	return true;
}

static size_t runs_make(
        struct profile *p, const struct profile_ref *refs, size_t n, struct run *runs)
{
	size_t nruns = 0;

	for (size_t i = 0; i < n; i++) {
		const struct profile_chain *c = &p->counts.chains[refs[i].chain];

		if (nruns == 0 || ref_order(&refs[i], &refs[runs[nruns - 1].first], p) != 0) {
			runs[nruns++] = (struct run){.first = i, .n = ref_length(p, refs[i])};
		}
		runs[nruns - 1].periods += c->period;
		runs[nruns - 1].samples += c->samples;
		runs[nruns - 1].refs++;
	}
	return nruns;
}

/* Adds the longer chains that begin with the frames of a run; they come before it. */
static void run_add_all(const struct profile *p, const struct profile_ref *refs, struct run *run)
{
	run->all_periods = run->periods;
	run->all_samples = run->samples;
	for (size_t i = run->first; i-- > 0 && goes_on(p, refs, run, i);) {
		run->all_periods += p->counts.chains[refs[i].chain].period;
		run->all_samples += p->counts.chains[refs[i].chain].samples;
	}
}

static const struct profile_frame *run_frame(
        const struct profile *p, const struct profile_ref *refs, const struct run *run, uint32_t i)
{
	return profile_graph_shown(p, refs + run->first, run->refs, i);
}

/* A separator of one character is between names, not in one. */
static void put_no_separator(struct text *t, size_t start, const char *separator)
{
	for (size_t i = start; separator[0] != '\0' && separator[1] == '\0' && i < t->n; i++) {
		t->p[i] = (char)(t->p[i] == separator[0] ? '.' : t->p[i]);
	}
}

static void put_folded(
        struct report *r, const struct profile_ref *refs, const struct run *run, uint64_t total)
{
	const char *separator = r->options.separator != NULL ? r->options.separator : ";";

	report_graph_value(r, run->periods, run->samples, total);
	for (uint32_t i = 0; i < run->n; i++) {
		size_t start = r->text.n + (i == 0 ? 1 : strlen(separator));

		text_str(&r->text, i == 0 ? " " : separator);
		report_graph_name(r, run_frame(&r->profile, refs, run, i));
		put_no_separator(&r->text, start, separator);
	}
	text_char(&r->text, '\n');
}

static void put_flat(
        struct report *r, const struct profile_ref *refs, const struct run *run, uint64_t total)
{
	text_fill(&r->text, ' ', 11);
	report_graph_value(r, run->all_periods, run->all_samples, total);
	text_char(&r->text, '\n');
	for (uint32_t i = 0; i < run->n; i++) {
		text_fill(&r->text, ' ', 16);
		report_graph_name(r, run_frame(&r->profile, refs, run, i));
		text_char(&r->text, '\n');
	}
	text_char(&r->text, '\n');
}

int report_chains(struct report *r, const struct profile_row *row)
{
	struct profile *p = &r->profile;
	const struct profile_graph *graph = &p->graphs[row->graph];
	struct profile_ref *refs = p->refs + graph->first;
	uint64_t total = p->totals[row->event];
	uint64_t limit =
	        (uint64_t)((double)p->shown_totals[row->event] * p->options.graph_limit / 100.0);
	struct run *runs = malloc((graph->n + (size_t)1) * sizeof(*runs));
	size_t n, shown = 0;

	if (runs == NULL) {
		return SONDE_ENOMEM;
	}
	qsort_r(refs, graph->n, sizeof(*refs), ref_order, p);
	n = runs_make(p, refs, graph->n, runs);
	qsort(runs, n, sizeof(*runs), run_order);
	for (size_t i = 0; i < n && runs[i].periods != 0 && runs[i].periods >= limit; i++) {
		if (r->options.graph_branches != 0 && shown++ == r->options.graph_branches) {
			break;
		}
		if (r->options.graph_kind == SONDE_REPORT_GRAPH_FOLDED) {
			put_folded(r, refs, &runs[i], total);
		} else {
			run_add_all(p, refs, &runs[i]);
			put_flat(r, refs, &runs[i], total);
		}
	}
	free(runs);
	return 0;
}
