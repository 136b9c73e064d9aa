/* SPDX-License-Identifier: MIT */
/* Intel PT: packets, steps, counts, edges; on one thread and on two. */
#include "cases.h"

#include <sonde/pt.h>

#include <stdio.h>

#define CODE_ADDRESS 0x401000u
#define TRACE_MAX    (256u << 10)

/* The trace is read once: it is no part of what fails. */
static size_t trace_bytes(const struct input *in, uint8_t *to, size_t n)
{
	FILE *f = fopen(in->trace, "rbe");
	size_t got = f != NULL ? fread(to, 1, n, f) : 0;

	if (f != NULL) {
		(void)fclose(f);
	}
	return got;
}

typedef int (*flow_fn)(struct outcome *out, struct sonde_pt_flow *flow);

static int with_flow(
        struct outcome *out, const struct input *in, struct sonde_pt_flow_options o, flow_fn fn)
{
	static uint8_t trace[TRACE_MAX];
	size_t n = trace_bytes(in, trace, sizeof(trace));
	struct sonde_pt_image *image = sonde_pt_image_new();
	struct sonde_pt_graph *graph = image != NULL ? sonde_pt_graph_new(image) : NULL;
	struct sonde_pt_flow *flow = NULL;
	int rc = SONDE_ENOMEM;

	o.size = sizeof(o);
	o.part = 1;
	if (graph != NULL) {
		rc = sonde_pt_image_add_file(image, 0, CODE_ADDRESS, in->code, 0, UINT64_MAX);
	}
	if (rc >= 0) {
		flow = sonde_pt_flow_new(graph, trace, n, &o);
		rc = flow != NULL ? fn(out, flow) : SONDE_ENOMEM;
	}
	sonde_pt_flow_free(flow);
	sonde_pt_graph_free(graph);
	sonde_pt_image_free(image);
	return rc;
}

static int steps(struct outcome *out, struct sonde_pt_flow *flow)
{
	const struct sonde_pt_step *step;
	int rc;

	while ((rc = sonde_pt_flow_next(flow, &step)) > 0) {
		outcome_number(out, step->ip ^ step->kind);
	}
	return rc;
}

static int case_steps(struct outcome *out, const struct input *in)
{
	return with_flow(
	        out, in, (struct sonde_pt_flow_options){.time = true, .ticks = true}, steps);
}

static int count(struct outcome *out, struct sonde_pt_flow *flow)
{
	const struct sonde_pt_totals *totals;
	const struct sonde_pt_edge *edge;
	int rc = sonde_pt_flow_count(flow, &totals);
	uint64_t sum = 0;

	if (rc >= 0) {
		outcome_number(out, totals->insns);
		outcome_number(out, totals->errors);
		while ((rc = sonde_pt_flow_next_edge(flow, &edge)) > 0) {
			sum += edge->from * edge->count;
		}
		outcome_number(out, sum);
	}
	return rc;
}

static int case_count(struct outcome *out, const struct input *in)
{
	return with_flow(out, in, (struct sonde_pt_flow_options){.jobs = 1}, count);
}

static int case_count_jobs(struct outcome *out, const struct input *in)
{
	return with_flow(out, in, (struct sonde_pt_flow_options){.jobs = 2}, count);
}

static int part_work(void *arg, unsigned worker, struct sonde_pt_flow *part)
{
	const struct sonde_pt_step *step;
	uint64_t *sums = arg;
	int rc;

	while ((rc = sonde_pt_flow_next(part, &step)) > 0) {
		sums[worker] += step->ip;
	}
	return rc;
}

static int parts(struct outcome *out, struct sonde_pt_flow *flow)
{
	uint64_t sums[2] = {0};
	int rc = sonde_pt_flow_parts(flow, part_work, NULL, sums);

	outcome_number(out, sums[0] + sums[1]);
	return rc;
}

static int case_parts(struct outcome *out, const struct input *in)
{
	return with_flow(out, in, (struct sonde_pt_flow_options){.jobs = 2}, parts);
}

/* Code that changes, a base, and moves to it. */
static int move_code(struct outcome *out, struct sonde_pt_image *image, const struct input *in)
{
	static const uint8_t code[16] = {0xc3};
	static uint8_t trace[TRACE_MAX];
	struct sonde_pt_flow_options o = {.size = sizeof(o), .space = 1};
	struct sonde_pt_move move = {.at = 4000, .space = 1};
	struct sonde_pt_graph *graph;
	struct sonde_pt_flow *flow;
	int rc = sonde_pt_image_add_file(image, 0, CODE_ADDRESS, in->code, 0, UINT64_MAX);

	rc = rc >= 0 ? sonde_pt_image_add(image, 1, 0x1000, code, sizeof(code)) : rc;
	rc = rc >= 0 ? sonde_pt_image_set_base(image, 1, 0) : rc;
	rc = rc >= 0 ? sonde_pt_image_change(
	                       image, 1, CODE_ADDRESS, code, sizeof(code), &move.generation)
	             : rc;
	if (rc < 0) {
		return rc;
	}
	graph = sonde_pt_graph_new(image);
	flow = graph != NULL
	               ? sonde_pt_flow_new(graph, trace, trace_bytes(in, trace, sizeof(trace)), &o)
	               : NULL;
	rc = flow != NULL ? sonde_pt_flow_move(flow, &move) : SONDE_ENOMEM;
	rc = rc >= 0 ? steps(out, flow) : rc;
	sonde_pt_flow_free(flow);
	sonde_pt_graph_free(graph);
	return rc;
}

static int case_moves(struct outcome *out, const struct input *in)
{
	struct sonde_pt_image *image = sonde_pt_image_new();
	int rc = image != NULL ? move_code(out, image, in) : SONDE_ENOMEM;

	sonde_pt_image_free(image);
	return rc;
}

static int case_packets(struct outcome *out, const struct input *in)
{
	static uint8_t trace[TRACE_MAX];
	size_t n = trace_bytes(in, trace, sizeof(trace));
	struct sonde_pt_packets *packets = sonde_pt_packets_new(trace, n, NULL);
	struct sonde_pt_encoder *encoder = sonde_pt_encoder_new(true);
	struct sonde_pt_packet packet;
	int rc = packets != NULL && encoder != NULL ? 0 : SONDE_ENOMEM;

	while (rc >= 0 && (rc = sonde_pt_packets_next(packets, &packet)) > 0) {
		outcome_number(out, packet.offset);
		rc = sonde_pt_encoder_packet(encoder, &packet);
	}
	sonde_pt_encoder_free(encoder);
	sonde_pt_packets_free(packets);
	return rc;
}

const struct alloc_case pt_cases[] = {
        {"Intel PT packets, read and written", case_packets, false},
        {"Intel PT steps with time", case_steps, false},
        {"Intel PT counts and edges", case_count, false},
        {"Intel PT counts on two threads", case_count_jobs, false},
        {"Intel PT steps on two threads", case_parts, false},
        {"Intel PT code that changes", case_moves, false},
        {NULL, NULL, false},
};
