/* SPDX-License-Identifier: MIT */
/*
 * Half of the input is code, half is a trace behind a PSB that leads into it. Following it by steps
 * and only counting must give the same numbers; both come to an end.
 */
#include <sonde/pt_flow.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CODE_AT   0x1000
#define STEPS_MAX 200000

/* Many small parts give the same totals. */
static void check_jobs(struct sonde_pt_graph *graph, const uint8_t *trace, size_t n,
        const struct sonde_pt_flow_options *options, const struct sonde_pt_totals *want)
{
	struct sonde_pt_flow_options o = *options;
	struct sonde_pt_flow *flow;
	struct sonde_pt_totals got;

	o.jobs = 2;
	o.part = 1;
	flow = sonde_pt_flow_new(graph, trace, n, &o);
	if (flow == NULL || sonde_pt_flow_count(flow, &got) != 0 || got.insns != want->insns ||
	        got.branches != want->branches || got.taken != want->taken ||
	        got.events != want->events || got.errors != want->errors ||
	        got.gaps != want->gaps || got.gap_bytes != want->gap_bytes) {
		abort();
	}
	sonde_pt_flow_free(flow);
}

static void follow(const struct sonde_pt_image *image, const uint8_t *trace, size_t n,
        const struct sonde_pt_flow_options *options)
{
	struct sonde_pt_graph *graph = sonde_pt_graph_new(image);
	struct sonde_pt_flow *steps = sonde_pt_flow_new(graph, trace, n, options);
	struct sonde_pt_flow *counts = sonde_pt_flow_new(graph, trace, n, options);
	struct sonde_pt_totals totals;
	const struct sonde_pt_step *step;
	uint64_t insns = 0, events = 0, errors = 0, gaps = 0, lost = 0, last = 0, done = 0;
	int rc = 1;

	if (graph == NULL || steps == NULL || counts == NULL ||
	        sonde_pt_flow_count(counts, &totals) != 0) {
		abort();
	}
	while (done++ < STEPS_MAX && (rc = sonde_pt_flow_next(steps, &step)) > 0) {
		insns += step->kind == SONDE_PT_STEP_INSN;
		events += step->kind == SONDE_PT_STEP_EVENT;
		errors += step->kind == SONDE_PT_STEP_ERROR;
		if (step->kind == SONDE_PT_STEP_GAP) {
			if (step->offset < last || step->end < step->offset || step->end > n) {
				abort(); /* gaps lie behind one another */
			}
			last = step->end;
			lost += step->end - step->offset;
			gaps++;
		}
	}
	if (rc < 0 || (rc == 0 && (insns != totals.insns || events != totals.events ||
	                                  errors != totals.errors || gaps != totals.gaps ||
	                                  lost != totals.gap_bytes))) {
		abort();
	}
	check_jobs(graph, trace, n, options, &totals);
	sonde_pt_flow_free(steps);
	sonde_pt_flow_free(counts);
	sonde_pt_graph_free(graph);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t head[] = {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2,
	        0x82, 2, 0x82, 0x3d, 0x00, 0x10, 0x99, 1, 2, 0x23};
	struct sonde_pt_flow_options options = {.size = sizeof(options)};
	struct sonde_pt_image *image = sonde_pt_image_new();
	size_t code;
	uint8_t *trace;

	if (size < 2 || size > 4096 || image == NULL) {
		sonde_pt_image_free(image);
		return 0;
	}
	options.keep_position = data[0] & 1;
	options.clock.cpu = (struct sonde_pt_cpu){6, data[0] & 2 ? 78 : data[0] & 4 ? 61 : 0};
	data++;
	size--;
	code = size / 2;
	trace = malloc(sizeof(head) + size - code);
	if (trace == NULL || sonde_pt_image_add(image, 0, CODE_AT, data, code) != 0) {
		abort();
	}
	memcpy(trace, head, sizeof(head));
	memcpy(trace + sizeof(head), data + code, size - code);
	follow(image, trace, sizeof(head) + size - code, &options);
	free(trace);
	sonde_pt_image_free(image);
	return 0;
}
