/* SPDX-License-Identifier: MIT */
/* Sums of calls by function, and calls that took much longer than others of their function. */
#include "ptview/ptview.h"

#include "core/array.h"

#include <stdlib.h>

#define OUTLIER_CALLS  8u /* complete calls that a function needs to have outliers */
#define OUTLIER_SPREAD 3u /* interquartile ranges above the third quartile */

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int by_excess(const void *a, const void *b)
{
	const struct ptview_outlier *x = a, *y = b;

	if (x->excess != y->excess) {
		return x->excess < y->excess ? 1 : -1;
	}
	if (x->thread != y->thread) {
		return x->thread < y->thread ? -1 : 1;
	}
	return (x->call > y->call) - (x->call < y->call);
}

static void add_call(struct ptview_function *f, const struct ptview_call *c)
{
	f->count++;
	f->complete += ptview_is_complete(c);
	f->total += c->outer ? ptview_duration(c) : 0;
	f->self += ptview_duration(c) > c->inner ? ptview_duration(c) - c->inner : 0;
}

static void set_quantiles(struct ptview_function *f, uint64_t *d)
{
	size_t n = (size_t)f->complete;

	if (n == 0) {
		return;
	}
	qsort(d, n, sizeof(*d), by_number);
	f->min = d[0];
	f->median = d[(n - 1) / 2];
	f->max = d[n - 1];
	f->quartile[0] = d[(n - 1) / 4];
	f->quartile[1] = d[n - 1 - (n - 1) / 4];
}

/* Sorts durations by function; next[f] is the end of those of function f. */
static int set_all_quantiles(struct ptview *v, uint64_t *durations, size_t *next)
{
	size_t n = 0;

	for (size_t i = 0; i < v->nfunctions; i++) {
		next[i] = n;
		n += (size_t)v->functions[i].complete;
	}
	for (size_t i = 0; i < v->nthreads; i++) {
		const struct ptview_thread *t = &v->threads[i];

		for (size_t j = 0; j < t->ncalls; j++) {
			if (ptview_is_complete(&t->calls[j])) {
				durations[next[t->calls[j].function]++] =
				        ptview_duration(&t->calls[j]);
			}
		}
	}
	for (size_t i = 0; i < v->nfunctions; i++) {
		set_quantiles(
		        &v->functions[i], durations + next[i] - (size_t)v->functions[i].complete);
	}
	return 0;
}

static int add_outlier(struct ptview *v, size_t thread, size_t call)
{
	const struct ptview_call *c = &v->threads[thread].calls[call];
	const struct ptview_function *f = &v->functions[c->function];
	uint64_t spread = f->quartile[1] - f->quartile[0];
	uint64_t limit;

	if (!ptview_is_complete(c) || f->complete < OUTLIER_CALLS ||
	        __builtin_mul_overflow(spread, OUTLIER_SPREAD, &limit) ||
	        __builtin_add_overflow(limit, f->quartile[1], &limit) ||
	        ptview_duration(c) <= limit) {
		return 0;
	}
	if (!array_reserve(
	            &v->outliers, &v->outliers_cap, v->noutliers + 1, sizeof(*v->outliers))) {
		return SONDE_ENOMEM;
	}
	v->outliers[v->noutliers++] = (struct ptview_outlier){
	        .thread = thread, .call = call, .excess = ptview_duration(c) - f->median};
	return 0;
}

static int make_functions(struct ptview *v)
{
	v->functions = calloc(v->names.n + 1, sizeof(*v->functions));
	if (v->functions == NULL) {
		return SONDE_ENOMEM;
	}
	v->nfunctions = v->names.n;
	for (size_t i = 0; i < v->nfunctions; i++) {
		v->functions[i].name = v->names.list[i].name;
		v->functions[i].object = v->names.list[i].object;
	}
	return 0;
}

static int sum_calls(struct ptview *v)
{
	uint64_t *durations;
	size_t *next = calloc(v->nfunctions + 1, sizeof(*next));
	size_t n = 0;
	int rc = 0;

	for (size_t i = 0; i < v->nthreads; i++) {
		for (size_t j = 0; j < v->threads[i].ncalls; j++) {
			const struct ptview_call *c = &v->threads[i].calls[j];

			add_call(&v->functions[c->function], c);
			n += ptview_is_complete(c);
		}
	}
	durations = calloc(n + 1, sizeof(*durations));
	rc = durations != NULL && next != NULL ? set_all_quantiles(v, durations, next)
	                                       : SONDE_ENOMEM;
	for (size_t i = 0; i < v->nthreads; i++) {
		for (size_t j = 0; j < v->threads[i].ncalls && rc >= 0; j++) {
			rc = add_outlier(v, i, j);
		}
	}
	if (v->noutliers != 0) {
		qsort(v->outliers, v->noutliers, sizeof(*v->outliers), by_excess);
	}
	free(durations);
	free(next);
	return rc;
}

int ptview_sum(struct ptview *v)
{
	TRY(make_functions(v));
	return sum_calls(v);
}
