/* SPDX-License-Identifier: MIT */
/*
 * Steps of a generated trace, as TAP: steps CODE ADDRESS TRACE. Steps for some of the instructions
 * must be those selected from all of them.
 */
#include "tests/pt/steps.h"
#include "tests/tap.h"

#include <sonde/pt.h>
#include <stdlib.h>

typedef bool (*pick_fn)(const struct sonde_pt_step *step, uint64_t arg);

static bool same(const struct sonde_pt_step *a, const struct sonde_pt_step *b)
{
	return a->ip == b->ip && a->to == b->to && a->insns == b->insns && a->size == b->size &&
	       a->last == b->last && a->branch == b->branch && a->calls == b->calls &&
	       a->returns == b->returns && a->conditional == b->conditional &&
	       a->taken == b->taken && a->call == b->call && a->jump == b->jump;
}

static bool is_multiple(const struct sonde_pt_step *step, uint64_t n)
{
	return step->insns % n == 0;
}

static bool is_branch(const struct sonde_pt_step *step, uint64_t want)
{
	return (step->taken && (want & SONDE_PT_WANT_TAKEN)) ||
	       (step->conditional && !step->taken && step->to != 0 &&
	               (want & SONDE_PT_WANT_NOT_TAKEN)) ||
	       (step->calls && step->taken && (want & SONDE_PT_WANT_CALLS)) ||
	       (step->returns && step->taken && (want & SONDE_PT_WANT_RETURNS));
}

struct test {
	const char *what;
	unsigned want;
	uint64_t every;
	pick_fn pick;
	uint64_t arg;
};

static void try(struct sonde_pt_graph *graph, const struct bytes *trace, const struct steps *all,
        const struct test *test)
{
	const struct sonde_pt_flow_options options = {
	        .size = sizeof(options), .want = test->want, .every = test->every};
	struct steps got = decode(graph, trace, &options);
	size_t next = 0;
	bool good = true;

	for (size_t i = 0; i < all->n && good; i++) {
		if (all->p[i].kind == SONDE_PT_STEP_INSN && test->pick(&all->p[i], test->arg)) {
			good = next < got.n && same(&got.p[next], &all->p[i]) &&
			       got.p[next].sampled == (test->every != 0);
			next++;
		}
	}
	ok(good && next == got.n && next != 0, test->what);
	free(got.p);
}

/* Blocks are the instructions between branches. */
static void try_blocks(
        struct sonde_pt_graph *graph, const struct bytes *trace, const struct steps *all)
{
	const struct sonde_pt_flow_options options = {
	        .size = sizeof(options), .want = SONDE_PT_WANT_BLOCKS};
	struct steps got = decode(graph, trace, &options);
	size_t at = 0;
	bool good = true;

	for (size_t i = 0; i < got.n && good; i++) {
		const struct sonde_pt_step *block = &got.p[i];
		const struct sonde_pt_step *first, *last;

		while (at < all->n && all->p[at].kind != SONDE_PT_STEP_INSN) {
			at++;
		}
		if (block->kind != SONDE_PT_STEP_BLOCK || at + block->count > all->n) {
			good = false;
			break;
		}
		first = &all->p[at];
		at += block->count;
		last = &all->p[at - 1];
		good = block->ip == first->ip && block->last == last->ip &&
		       block->size == last->size && block->to == last->to &&
		       block->taken == last->taken && block->branch == last->branch &&
		       block->insns == last->insns;
		for (const struct sonde_pt_step *s = first; s < last && good; s++) {
			good = !s->branch && s[1].ip == s->ip + s->size;
		}
	}
	ok(good && got.n > 1000, "blocks cover the instructions");
	free(got.p);
}

static int by_pair(const void *a, const void *b)
{
	const struct sonde_pt_step *x = a, *y = b;

	if (x->ip != y->ip) {
		return x->ip < y->ip ? -1 : 1;
	}
	return x->to < y->to ? -1 : x->to > y->to;
}

/* Number of occurrences of a pair in a sorted list. */
static uint64_t times(const struct steps *list, const struct sonde_pt_edge *edge)
{
	const struct sonde_pt_step key = {.ip = edge->from, .to = edge->to};
	const struct sonde_pt_step *end = list->p + list->n;
	const struct sonde_pt_step *s = bsearch(&key, list->p, list->n, sizeof(key), by_pair);
	uint64_t n = 0;

	while (s != NULL && s > list->p && by_pair(s - 1, &key) == 0) {
		s--;
	}
	for (; s != NULL && s < end && by_pair(s, &key) == 0; s++) {
		n++;
	}
	return n;
}

/* Counted edges are the sums of the branches, also on three threads. */
static void try_edges(struct sonde_pt_graph *graph, const struct bytes *trace, unsigned jobs)
{
	const struct sonde_pt_flow_options steps = {
	        .size = sizeof(steps), .want = SONDE_PT_WANT_TAKEN | SONDE_PT_WANT_NOT_TAKEN};
	const struct sonde_pt_flow_options options = {
	        .size = sizeof(options), .jobs = jobs, .part = 300};
	struct steps list = decode(graph, trace, &steps);
	struct sonde_pt_flow *flow = sonde_pt_flow_new(graph, trace->p, trace->n, &options);
	const struct sonde_pt_edge *edge;
	const struct sonde_pt_totals *totals;
	uint64_t edges = 0, all = 0;
	bool good = sonde_pt_flow_count(flow, &totals) == 0;

	qsort(list.p, list.n, sizeof(*list.p), by_pair);
	while (good && sonde_pt_flow_next_edge(flow, &edge) > 0) {
		good = edge->space == 0 && times(&list, edge) == edge->count;
		all += edge->count;
		edges++;
	}
	ok(good && edges > 100, "counted edges are branches");
	eq_u64(all, list.n, "counted edges are all branches");
	eq_u64(good ? totals->branches : 0, list.n, "totals have as many branches");
	sonde_pt_flow_free(flow);
	free(list.p);
}

static void try_all(struct sonde_pt_graph *graph, const struct bytes *trace)
{
	static const struct test tests[] = {
	        {"every 2nd instruction", SONDE_PT_WANT_INSNS, 2, is_multiple, 2},
	        {"every 7th instruction", SONDE_PT_WANT_INSNS, 7, is_multiple, 7},
	        {"every 1000th instruction", SONDE_PT_WANT_INSNS, 1000, is_multiple, 1000},
	        {"taken branches", SONDE_PT_WANT_TAKEN, 0, is_branch, SONDE_PT_WANT_TAKEN},
	        {"branches not taken", SONDE_PT_WANT_NOT_TAKEN, 0, is_branch,
	                SONDE_PT_WANT_NOT_TAKEN},
	        {"branches", SONDE_PT_WANT_TAKEN | SONDE_PT_WANT_NOT_TAKEN, 0, is_branch,
	                SONDE_PT_WANT_TAKEN | SONDE_PT_WANT_NOT_TAKEN},
	        {"calls", SONDE_PT_WANT_CALLS, 0, is_branch, SONDE_PT_WANT_CALLS},
	        {"returns", SONDE_PT_WANT_RETURNS, 0, is_branch, SONDE_PT_WANT_RETURNS},
	};
	const struct sonde_pt_flow_options insns = {
	        .size = sizeof(insns), .want = SONDE_PT_WANT_INSNS};
	struct steps all = decode(graph, trace, &insns);
	bool numbered = all.n > 1000;

	for (size_t i = 0; i < all.n && numbered; i++) {
		numbered = all.p[i].insns == i + 1 && all.p[i].count == 1;
	}
	ok(numbered, "every instruction is a step with its number");
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		try(graph, trace, &all, &tests[i]);
	}
	try_blocks(graph, trace, &all);
	try_edges(graph, trace, 1);
	try_edges(graph, trace, 3);
	free(all.p);
}

int main(int argc, char **argv)
{
	struct bytes code = argc > 3 ? load(argv[1]) : (struct bytes){NULL, 0};
	struct bytes trace = argc > 3 ? load(argv[3]) : (struct bytes){NULL, 0};
	struct sonde_pt_image *image = sonde_pt_image_new();
	struct sonde_pt_graph *graph = sonde_pt_graph_new(image);

	ok(trace.n >= 1024 && sonde_pt_image_add(
	                              image, 0, strtoull(argv[2], NULL, 0), code.p, code.n) == 0,
	        "the trace and its code are loaded");
	if (trace.n >= 1024) {
		try_all(graph, &trace);
	}
	sonde_pt_graph_free(graph);
	sonde_pt_image_free(image);
	free(code.p);
	free(trace.p);
	return tap_done();
}
