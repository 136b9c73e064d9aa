/* SPDX-License-Identifier: MIT */
/*
 * Steps from many threads, as TAP: parts CODE ADDRESS TRACE [SEEDS]. For each seed the trace is
 * damaged in one to three places. For several kinds of steps, the steps of 2, 3 and 5 threads with
 * the smallest parts must equal those of one thread, field by field; so must those of one thread
 * part by part.
 */
#include "tests/pt/steps.h"
#include "tests/tap.h"

#include <sonde/pt.h>
#include <stdlib.h>
#include <string.h>

#define JOBS_MAX 5

struct parts {
	struct steps of[JOBS_MAX]; /* by worker: steps of its part */
	struct steps all;
};

static int take(void *arg, unsigned worker, struct sonde_pt_flow *part)
{
	struct parts *parts = arg;
	const struct sonde_pt_step *step;
	int rc;

	parts->of[worker].n = 0;
	while ((rc = sonde_pt_flow_next(part, &step)) > 0) {
		add(&parts->of[worker], step);
	}
	return rc;
}

static int append(void *arg, unsigned worker, struct sonde_pt_flow *part)
{
	struct parts *parts = arg;

	(void)part;
	for (size_t i = 0; i < parts->of[worker].n; i++) {
		add(&parts->all, &parts->of[worker].p[i]);
	}
	return 0;
}

static struct steps decode_parts(struct sonde_pt_graph *graph, const struct bytes *trace,
        const struct sonde_pt_flow_options *options, unsigned jobs)
{
	struct sonde_pt_flow_options o = *options;
	struct parts parts = {.all = {NULL, 0, 0}};
	struct sonde_pt_flow *flow;

	o.jobs = jobs;
	o.part = 1;
	flow = sonde_pt_flow_new(graph, trace->p, trace->n, &o);
	if (flow == NULL || sonde_pt_flow_parts(flow, take, append, &parts) != 0) {
		abort();
	}
	sonde_pt_flow_free(flow);
	for (unsigned i = 0; i < JOBS_MAX; i++) {
		free(parts.of[i].p);
	}
	return parts.all;
}

static const struct kind {
	const char *what;
	struct sonde_pt_flow_options options;
} kinds[] = {
        {"instructions and events", {.want = 0}},
        {"the time too", {.time = true}},
        {"each 7th", {.want = SONDE_PT_WANT_INSNS, .every = 7}},
        {"blocks, at the next IP behind an error",
                {.want = SONDE_PT_WANT_BLOCKS | SONDE_PT_WANT_EVENTS, .keep_position = true}},
        {"branches and the time, at the next IP behind an error",
                {.want = SONDE_PT_WANT_TAKEN | SONDE_PT_WANT_NOT_TAKEN,
                        .time = true,
                        .keep_position = true}},
        {"calls, on a processor with errata",
                {.want = SONDE_PT_WANT_CALLS, .clock = {.cpu = {6, 61}}}},
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static unsigned differences(
        struct sonde_pt_graph *graph, const struct bytes *trace, const struct kind *kind)
{
	static const unsigned jobs[] = {1, 2, 3, 5};
	struct sonde_pt_flow_options o = kind->options;
	struct steps want;
	unsigned bad = 0;

	o.size = sizeof(o);
	o.clock.tsc_ratio_numerator = 84;
	o.clock.tsc_ratio_denominator = 1;
	o.clock.nominal_ratio = 20;
	o.clock.mtc_shift = 3;
	want = decode(graph, trace, &o);
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		struct steps got = decode_parts(graph, trace, &o, jobs[i]);
		size_t place = difference(&want, &got);

		if (place != SIZE_MAX) {
			printf("# %s, %u threads: step %zu of %zu and %zu\n", kind->what, jobs[i],
			        place, want.n, got.n);
			bad++;
		}
		free(got.p);
	}
	free(want.p);
	return bad;
}

int main(int argc, char **argv)
{
	struct bytes code = argc > 3 ? load(argv[1]) : (struct bytes){NULL, 0};
	struct bytes trace = argc > 3 ? load(argv[3]) : (struct bytes){NULL, 0};
	struct bytes copy = {calloc(1, FILE_MAX + 4096), 0};
	unsigned seeds = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 100;
	struct sonde_pt_image *image = sonde_pt_image_new();
	struct sonde_pt_graph *graph = sonde_pt_graph_new(image);
	uint64_t random = 88172645463325252ULL;
	unsigned bad[KINDS] = {0};

	ok(copy.p != NULL && trace.n >= 1024 &&
	                sonde_pt_image_add(image, 0, strtoull(argv[2], NULL, 0), code.p, code.n) ==
	                        0,
	        "the trace and its code are loaded");
	for (unsigned i = 0; i <= seeds && trace.n >= 1024; i++) {
		copy.n = trace.n;
		memcpy(copy.p, trace.p, trace.n);
		for (uint64_t n = i == 0 ? 0 : 1 + pick(&random, 3); n > 0; n--) {
			damage(&copy, &random);
		}
		for (size_t k = 0; k < KINDS; k++) {
			bad[k] += differences(graph, &copy, &kinds[k]);
		}
	}
	for (size_t k = 0; k < KINDS; k++) {
		eq_u64(bad[k], 0, kinds[k].what);
	}
	sonde_pt_graph_free(graph);
	sonde_pt_image_free(image);
	free(code.p);
	free(trace.p);
	free(copy.p);
	return tap_done();
}
