/* SPDX-License-Identifier: MIT */
/*
 * Damage in good traces, as TAP: damage CODE ADDRESS TRACE [SEEDS].
 *
 * For each seed some bytes of the trace are changed, taken out or put in. What was decided before
 * the damage must stay; behind the next PSB all must be as it was; parts on three threads must
 * count the same.
 */
#include "tests/tap.h"

#include <sonde/pt_flow.h>
#include <stdlib.h>

#define FILE_MAX (16u << 20)

struct bytes {
	uint8_t *p;
	size_t n;
};

struct pairs {
	uint64_t (*p)[2];
	size_t n, cap;
	unsigned errors;
};

static struct bytes load(const char *path)
{
	FILE *in = fopen(path, "rb");
	struct bytes b = {calloc(1, FILE_MAX), 0};

	b.n = in != NULL && b.p != NULL ? fread(b.p, 1, FILE_MAX, in) : 0;
	if (in != NULL) {
		(void)fclose(in);
	}
	return b;
}

static void add(struct pairs *list, uint64_t from, uint64_t to)
{
	if (list->n == list->cap) {
		list->cap = list->cap * 2 + 1024;
		list->p = realloc(list->p, list->cap * sizeof(*list->p));
		if (list->p == NULL) {
			abort();
		}
	}
	list->p[list->n][0] = from;
	list->p[list->n++][1] = to;
}

static void decode(struct sonde_pt_graph *graph, const uint8_t *trace, size_t n, struct pairs *list)
{
	const struct sonde_pt_flow_options options = {
	        .size = sizeof(options), .want = SONDE_PT_WANT_TAKEN | SONDE_PT_WANT_NOT_TAKEN};
	struct sonde_pt_flow *flow = sonde_pt_flow_new(graph, trace, n, &options);
	const struct sonde_pt_step *step;

	list->n = 0;
	list->errors = 0;
	while (flow != NULL && sonde_pt_flow_next(flow, &step) > 0) {
		list->errors += step->kind == SONDE_PT_STEP_ERROR;
		if (step->kind == SONDE_PT_STEP_INSN && step->to != 0) {
			add(list, step->ip, step->to);
		}
	}
	sonde_pt_flow_free(flow);
}

static struct sonde_pt_totals count(
        struct sonde_pt_graph *graph, const uint8_t *trace, size_t n, unsigned jobs)
{
	const struct sonde_pt_flow_options options = {
	        .size = sizeof(options), .jobs = jobs, .part = 300};
	struct sonde_pt_flow *flow = sonde_pt_flow_new(graph, trace, n, &options);
	struct sonde_pt_totals totals = {0};

	if (flow == NULL || sonde_pt_flow_count(flow, &totals) != 0) {
		abort();
	}
	totals.nodes = 0;
	sonde_pt_flow_free(flow);
	return totals;
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state >> 11;
}

/* The damaged copy; *at and *behind: where the damage begins and what follows it in the original.
 */
static struct bytes damage(const struct bytes *trace, uint64_t *random, size_t *at, size_t *behind)
{
	size_t length = 1 + next_random(random) % 16;
	unsigned how = (unsigned)(next_random(random) % 3); /* change, take out, put in */
	struct bytes out = {malloc(trace->n + 16), 0};

	*at = 64 + next_random(random) % (trace->n - 128);
	*behind = *at + (how == 2 ? 0 : length);
	if (out.p == NULL) {
		abort();
	}
	memcpy(out.p, trace->p, *at);
	out.n = *at;
	for (size_t i = 0; how != 1 && i < length; i++) {
		out.p[out.n++] = (uint8_t)next_random(random);
	}
	memcpy(out.p + out.n, trace->p + *behind, trace->n - *behind);
	out.n += trace->n - *behind;
	return out;
}

struct tally {
	unsigned prefix, suffix, jobs, errors;
};

static void try_seed(struct sonde_pt_graph *graph, const struct bytes *trace, uint64_t *random,
        struct tally *bad)
{
	static const uint8_t psb[16] = {
	        2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82};
	struct pairs got = {0}, before = {0}, after = {0};
	size_t at, behind;
	struct bytes broken = damage(trace, random, &at, &behind);
	struct sonde_pt_totals three = count(graph, broken.p, broken.n, 3);
	struct sonde_pt_totals one = count(graph, broken.p, broken.n, 1);

	decode(graph, broken.p, broken.n, &got);
	decode(graph, broken.p, at, &before);
	while (behind + 16 < trace->n && memcmp(trace->p + behind, psb, 16) != 0) {
		behind++;
	}
	decode(graph, trace->p + behind, trace->n - behind, &after);
	bad->prefix += before.n > got.n ||
	               (before.n != 0 && memcmp(before.p, got.p, before.n * sizeof(*got.p)) != 0);
	bad->suffix += after.n > got.n || (after.n != 0 && memcmp(after.p, got.p + got.n - after.n,
	                                                           after.n * sizeof(*got.p)) != 0);
	bad->jobs += memcmp(&one, &three, sizeof(one)) != 0;
	bad->errors += got.errors != 0;
	free(got.p);
	free(before.p);
	free(after.p);
	free(broken.p);
}

int main(int argc, char **argv)
{
	struct bytes code = argc > 3 ? load(argv[1]) : (struct bytes){NULL, 0};
	struct bytes trace = argc > 3 ? load(argv[3]) : (struct bytes){NULL, 0};
	unsigned seeds = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 300;
	struct sonde_pt_image *image = sonde_pt_image_new();
	struct sonde_pt_graph *graph = sonde_pt_graph_new(image);
	uint64_t random = 88172645463325252ULL;
	struct tally bad = {0};

	ok(trace.n >= 1024 && sonde_pt_image_add(
	                              image, 0, strtoull(argv[2], NULL, 0), code.p, code.n) == 0,
	        "there is a trace and its code");
	for (unsigned i = 0; i < seeds && trace.n >= 1024; i++) {
		try_seed(graph, &trace, &random, &bad);
	}
	printf("# %u seeds, %u with an error\n", seeds, bad.errors);
	eq_u64(bad.prefix, 0, "what was decided before the damage stays");
	eq_u64(bad.suffix, 0, "behind the next PSB all is as it was");
	eq_u64(bad.jobs, 0, "three threads count the same");
	sonde_pt_graph_free(graph);
	sonde_pt_image_free(image);
	free(code.p);
	free(trace.p);
	return tap_done();
}
