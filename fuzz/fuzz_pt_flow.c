/* SPDX-License-Identifier: MIT */
/*
 * Half of the input is code, half is a trace after a PSB that leads into the code. Steps and counts
 * give the same numbers, both end, and two threads give the same. Code in a unit gives the same steps
 * as code of the space alone; code in two units is followed, too, although instructions may be cut.
 */
#include "pt/image.h"

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
	const struct sonde_pt_totals *got;

	o.jobs = 2;
	o.part = 1;
	flow = sonde_pt_flow_new(graph, trace, n, &o);
	if (flow == NULL || sonde_pt_flow_count(flow, &got) != 0 || got->insns != want->insns ||
	        got->branches != want->branches || got->taken != want->taken ||
	        got->events != want->events || got->errors != want->errors ||
	        got->gaps != want->gaps || got->gap_bytes != want->gap_bytes) {
		abort();
	}
	sonde_pt_flow_free(flow);
}

/* Changes of the code and back; and steps of which only some are wanted. */
struct variant {
	const struct sonde_pt_flow_options *options;
	bool moves;
	uint32_t generations[2];
	uint64_t at;
};

static struct sonde_pt_flow *new_flow(
        struct sonde_pt_graph *graph, const uint8_t *trace, size_t n, const struct variant *v)
{
	struct sonde_pt_flow *flow = sonde_pt_flow_new(graph, trace, n, v->options);

	for (unsigned i = 0; i < 2 && v->moves && flow != NULL; i++) {
		const struct sonde_pt_move move = {.at = v->at + 9 * (uint64_t)i,
		        .keep_space = true,
		        .generation = v->generations[i]};

		if (sonde_pt_flow_move(flow, &move) != 0) {
			abort();
		}
	}
	return flow;
}

/* Selects from all instructions what a flow returns that is asked only for that. */
static uint64_t check_wanted(struct sonde_pt_graph *graph, const uint8_t *trace, size_t n,
        const struct variant *variant, const struct sonde_pt_totals *want)
{
	bool branches = variant->options->want != SONDE_PT_WANT_INSNS;
	struct sonde_pt_flow_options options = *variant->options;
	struct variant v = *variant;
	struct sonde_pt_flow *flow;
	const struct sonde_pt_step *step;
	uint64_t taken = 0, other = 0, sampled = 0, last = 0, errors = 0, done = 0, sum = 0;
	int rc = 1;

	options.every = 5;
	v.options = &options;
	flow = new_flow(graph, trace, n, &v);
	while (flow != NULL && done++ < STEPS_MAX && (rc = sonde_pt_flow_next(flow, &step)) > 0) {
		if (step->kind == SONDE_PT_STEP_ERROR) {
			errors++;
		}
		if (step->kind != SONDE_PT_STEP_INSN) {
			continue;
		}
		if (step->insns <= last || (step->sampled && step->insns % 5 != 0) ||
		        !(step->sampled || step->branch)) {
			abort();
		}
		last = step->insns;
		sampled += step->sampled;
		sum = step->sampled ? sum * 31 + step->ip : sum;
		taken += step->taken;
		other += step->conditional && !step->taken && step->to != 0;
	}
	if (flow == NULL || rc < 0 ||
	        (rc == 0 && (sampled != want->insns / 5 ||
	                            (branches && errors == 0 &&
	                                    (taken != want->taken ||
	                                            taken + other > want->branches))))) {
		abort();
	}
	sonde_pt_flow_free(flow);
	return rc == 0 ? sum : 0;
}

static void check_ticks(
        struct sonde_pt_graph *graph, const uint8_t *trace, size_t n, const struct variant *variant)
{
	struct sonde_pt_flow *flow = new_flow(graph, trace, n, variant);
	const struct sonde_pt_step *step;
	uint64_t last = 0, done = 0;
	int rc = 1;

	while (flow != NULL && done++ < STEPS_MAX && (rc = sonde_pt_flow_next(flow, &step)) > 0) {
		if (step->kind == SONDE_PT_STEP_INSN) {
			if (step->insns <= last || !step->sampled) {
				abort();
			}
			last = step->insns;
		}
	}
	if (flow == NULL || rc < 0) {
		abort();
	}
	sonde_pt_flow_free(flow);
}

/* The selected instructions are the same whatever else is wanted. */
static void check_sampled(struct sonde_pt_graph *graph, const uint8_t *trace, size_t n,
        const struct variant *variant, const struct sonde_pt_totals *want)
{
	struct sonde_pt_flow_options options = *variant->options;
	struct variant v = *variant;
	uint64_t among, alone;

	v.options = &options;
	options.want = SONDE_PT_WANT_INSNS | SONDE_PT_WANT_TAKEN | SONDE_PT_WANT_NOT_TAKEN;
	among = check_wanted(graph, trace, n, &v, want);
	options.want = SONDE_PT_WANT_INSNS;
	alone = check_wanted(graph, trace, n, &v, want);
	if (among != 0 && among != alone) {
		abort();
	}
	options.every_ticks = 7;
	check_ticks(graph, trace, n, &v);
}

/* Hash of the steps, in their order. */
static uint64_t hash(uint64_t h, const struct sonde_pt_step *step)
{
	const uint64_t words[] = {step->kind, step->ip, step->to, step->insns, step->offset,
	        step->end, (uint64_t)step->error, step->taken, step->first, step->event.kind,
	        step->event.value, step->event.ip};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		h = (h ^ words[i]) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 32;
	}
	return h;
}

struct seen {
	struct sonde_pt_step steps[2][4096]; /* by worker */
	size_t n[2];
	uint64_t hash;
};

static int take(void *arg, unsigned worker, struct sonde_pt_flow *part)
{
	struct seen *seen = arg;
	const struct sonde_pt_step *step;

	seen->n[worker] = 0;
	while (sonde_pt_flow_next(part, &step) > 0) {
		if (seen->n[worker] == 4096) {
			return SONDE_ELIMIT;
		}
		seen->steps[worker][seen->n[worker]++] = *step;
	}
	return 0;
}

static int append(void *arg, unsigned worker, struct sonde_pt_flow *part)
{
	struct seen *seen = arg;

	(void)part;
	for (size_t i = 0; i < seen->n[worker]; i++) {
		seen->hash = hash(seen->hash, &seen->steps[worker][i]);
	}
	return 0;
}

/* Many small parts give the same steps. */
static void check_parts(struct sonde_pt_graph *graph, const uint8_t *trace, size_t n,
        const struct sonde_pt_flow_options *options, uint64_t want)
{
	static struct seen seen;
	struct sonde_pt_flow_options o = *options;
	struct sonde_pt_flow *flow;
	int rc;

	o.jobs = 2;
	o.part = 1;
	seen.hash = 0;
	flow = sonde_pt_flow_new(graph, trace, n, &o);
	rc = flow != NULL ? sonde_pt_flow_parts(flow, take, append, &seen) : -1;
	if (rc != SONDE_ELIMIT && (rc != 0 || seen.hash != want)) {
		abort();
	}
	sonde_pt_flow_free(flow);
}

/* Returns the hash of all steps; 0: too many. */
static uint64_t follow(const struct sonde_pt_image *image, const uint8_t *trace, size_t n,
        const struct variant *variant)
{
	struct sonde_pt_graph *graph = sonde_pt_graph_new(image);
	struct sonde_pt_flow *steps = new_flow(graph, trace, n, variant);
	struct sonde_pt_flow *counts = new_flow(graph, trace, n, variant);
	const struct sonde_pt_totals *totals;
	const struct sonde_pt_step *step;
	uint64_t insns = 0, events = 0, errors = 0, gaps = 0, lost = 0, last = 0, done = 0, h = 0;
	bool loop = false;
	int rc = 1;

	if (graph == NULL || steps == NULL || counts == NULL ||
	        sonde_pt_flow_count(counts, &totals) != 0) {
		abort();
	}
	while (done++ < STEPS_MAX && (rc = sonde_pt_flow_next(steps, &step)) > 0) {
		h = hash(h, step);
		insns += step->kind == SONDE_PT_STEP_INSN;
		events += step->kind == SONDE_PT_STEP_EVENT;
		errors += step->kind == SONDE_PT_STEP_ERROR;
		loop = loop || step->error == SONDE_PT_ERROR_LOOP;
		if (step->kind == SONDE_PT_STEP_GAP) {
			if (step->offset < last || step->end < step->offset || step->end > n) {
				abort(); /* gaps must be in order */
			}
			last = step->end;
			lost += step->end - step->offset;
			gaps++;
		}
	}
	/* counting finds that code which leaves a unit loops for ever sooner than steps do */
	loop = loop && pt_image_has_units(image);
	if (rc < 0 || (rc == 0 && !loop &&
	                      (insns != totals->insns || events != totals->events ||
	                              errors != totals->errors || gaps != totals->gaps ||
	                              lost != totals->gap_bytes))) {
		abort();
	}
	if (!loop && !variant->moves) {
		check_jobs(graph, trace, n, variant->options, totals);
	}
	if (!loop) {
		check_sampled(graph, trace, n, variant, totals);
	}
	if (!loop && rc == 0 && !variant->moves) {
		check_parts(graph, trace, n, variant->options, h);
	}
	sonde_pt_flow_free(steps);
	sonde_pt_flow_free(counts);
	sonde_pt_graph_free(graph);
	return rc == 0 && !loop ? h : 0;
}

/* The code of the spaces 0 and 1 as one unit, or two; the spaces themselves have it, too. */
struct units {
	const uint8_t *code;
	size_t n, cut; /* the second unit begins there; n: there is none */
};

static bool find_unit(void *arg, uint32_t space, uint64_t address, struct pt_unit_at *out)
{
	const struct units *u = arg;
	uint64_t at = address - CODE_AT;

	if (space > 1 || at >= u->n) {
		return false;
	}
	out->unit = at >= u->cut;
	out->first = CODE_AT + (out->unit != 0 ? u->cut : 0);
	out->last = CODE_AT + (out->unit != 0 ? u->n : u->cut) - 1;
	out->bias = out->first - 64;
	return true;
}

static size_t read_unit(void *arg, uint32_t unit, uint64_t address, uint8_t *to, size_t n)
{
	const struct units *u = arg;
	uint64_t at = address - 64 + (unit != 0 ? u->cut : 0);
	uint64_t end = unit != 0 ? u->n : u->cut;
	size_t more = at < end ? (size_t)(end - at) : 0;

	more = more < n ? more : n;
	if (more != 0) {
		memcpy(to, u->code + at, more);
	}
	return more;
}

/* want: of the same code without units; 0: not known */
static void follow_units(struct units *u, const uint8_t *trace, size_t n,
        const struct variant *variant, uint64_t want)
{
	struct sonde_pt_image *image = sonde_pt_image_new();
	uint64_t got;

	if (image == NULL || sonde_pt_image_add(image, 0, CODE_AT, u->code, u->n) != 0 ||
	        sonde_pt_image_set_base(image, 1, 0) != 0 ||
	        sonde_pt_image_add(image, 2, CODE_AT, u->code + u->n / 2, u->n - u->n / 2) != 0) {
		abort();
	}
	pt_image_set_units(image, find_unit, read_unit, u);
	got = follow(image, trace, n, variant);
	if (u->cut == u->n && want != 0 && got != 0 && got != want) {
		abort();
	}
	sonde_pt_image_free(image);
}

static uint32_t choose(void *arg, const struct sonde_pt_asid *asid)
{
	(void)arg;
	return (uint32_t)(asid->cr3 >> 12 & 1) + asid->non_root;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t head[] = {2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2,
	        0x82, 2, 0x82, 0x3d, 0x00, 0x10, 0x99, 1, 2, 0x23};
	struct sonde_pt_flow_options options = {.size = sizeof(options)};
	struct variant variant = {.options = &options};
	struct sonde_pt_image *image = sonde_pt_image_new();
	struct units units;
	uint64_t found;
	bool in_units;
	size_t code;
	uint8_t *trace;

	if (size < 2 || size > 4096 || image == NULL) {
		sonde_pt_image_free(image);
		return 0;
	}
	options.keep_position = data[0] & 1;
	options.clock.cpu = (struct sonde_pt_cpu){6, data[0] & 2 ? 78 : data[0] & 4 ? 61 : 0};
	options.choose_space = data[0] & 8 ? choose : NULL;
	options.time = data[0] & 16;
	variant.moves = data[0] & 32;
	in_units = data[0] & 64;
	variant.at = 23 + data[1] % 64;
	data++;
	size--;
	code = size / 2;
	trace = malloc(sizeof(head) + size - code);
	if (trace == NULL || sonde_pt_image_add(image, 0, CODE_AT, data, code) != 0) {
		abort();
	}
	if (sonde_pt_image_set_base(image, 1, 0) != 0 ||
	        sonde_pt_image_add(image, 2, CODE_AT, data + code / 2, code - code / 2) != 0 ||
	        sonde_pt_image_change(image, 0, CODE_AT, data + code / 2, code - code / 2,
	                &variant.generations[0]) != (code - code / 2 != 0 ? 0 : SONDE_EARG) ||
	        sonde_pt_image_change(image, 0, CODE_AT, NULL, 1, &variant.generations[1]) != 0) {
		abort();
	}
	memcpy(trace, head, sizeof(head));
	memcpy(trace + sizeof(head), data + code, size - code);
	found = follow(image, trace, sizeof(head) + size - code, &variant);
	units = (struct units){.code = data, .n = code, .cut = code};
	if (in_units && !variant.moves) {
		follow_units(&units, trace, sizeof(head) + size - code, &variant, found);
		units.cut = code / 2;
		follow_units(&units, trace, sizeof(head) + size - code, &variant, 0);
	}
	free(trace);
	sonde_pt_image_free(image);
	return 0;
}
