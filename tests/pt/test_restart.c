/* SPDX-License-Identifier: MIT */
/* A flow that follows one part of a trace and then another, as a worker of several threads does. */
#include "pt/edge.h"
#include "pt/flow.h"
#include "pt/place.h"
#include "pt/sync.h"
#include "tests/tap.h"

#include <sonde/pt_flow.h>

#define BASE  0x1000u
#define OTHER 0x1010u
#define NONE  0x900000u /* there is no code */

/*
 * At BASE an indirect jump. At OTHER a return after one instruction of 64 bits (48 is a prefix of
 * 90), which are two in 32 bits.
 */
static const uint8_t code[] = {0xff, 0xe0, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
        0x90, 0x90, 0x90, 0x90, 0x90, 0x48, 0x90, 0xc3};

static void put(struct sonde_pt_encoder *e, int kind, uint64_t value)
{
	const struct sonde_pt_packet packet = {.kind = (uint8_t)kind, .value = value};

	(void)sonde_pt_encoder_packet(e, &packet);
}

/* A PSB+ with a mode, and branches from BASE to OTHER and back. */
static void put_part(struct sonde_pt_encoder *e, uint64_t mode)
{
	put(e, SONDE_PT_PSB, 0);
	put(e, SONDE_PT_MODE_EXEC, mode);
	(void)sonde_pt_encoder_ip(e, SONDE_PT_FUP, BASE);
	put(e, SONDE_PT_PSBEND, 0);
	(void)sonde_pt_encoder_ip(e, SONDE_PT_TIP, OTHER);
	(void)sonde_pt_encoder_ip(e, SONDE_PT_TIP, BASE);
}

/*
 * The part in 32 bits ends with an error, so that the flow finds the next PSB without reading the
 * mode there; sets its offset.
 */
static void put_trace(struct sonde_pt_encoder *e, uint64_t *second)
{
	const uint8_t *bytes;
	size_t n = 0;

	put_part(e, SONDE_PT_EXEC_CS_D);
	(void)sonde_pt_encoder_ip(e, SONDE_PT_TIP, NONE);
	(void)sonde_pt_encoder_ip(e, SONDE_PT_TIP, BASE);
	(void)sonde_pt_encoder_bytes(e, &bytes, &n);
	*second = n;
	put_part(e, SONDE_PT_EXEC_CS_L);
}

/* Instructions counted by one flow, part after part. */
static uint64_t count_parts(struct sonde_pt_flow *f, uint64_t second)
{
	const struct sonde_pt_totals *totals = NULL;

	ok(pt_counts_new(f), "a flow can count");
	pt_sync_restart(f, 0, second);
	(void)pt_flow_run(f);
	eq_u64(f->part.ended_at, second, "the first part ends at the second PSB");
	pt_sync_restart(f, second, UINT64_MAX);
	return sonde_pt_flow_count(f, &totals) == 0 ? totals->insns : 0;
}

/* Follows the trace up to the end of the PSB+ at `offset`. */
static struct pt_place go_to(struct sonde_pt_flow *f, uint64_t offset)
{
	f->part.pause_at = offset;
	while (!f->part.paused && !f->done && !f->failed) {
		pt_flow_packet(f);
		f->queue.head = 0;
		f->queue.tail = 0;
	}
	return pt_place_of(f);
}

/* The number of instructions from a place on. */
static unsigned insns_from(struct sonde_pt_flow *f, const struct pt_place *place)
{
	const struct sonde_pt_step *step;
	unsigned n = 0;

	pt_place_goto(f, place);
	f->part.pause_at = UINT64_MAX;
	while (sonde_pt_flow_next(f, &step) > 0) {
		n += step->kind == SONDE_PT_STEP_INSN;
	}
	return n;
}

/* Two parts in 64 bits, and a third one in 32 bits. */
static void test_steps(struct sonde_pt_graph *graph)
{
	struct sonde_pt_encoder *e = sonde_pt_encoder_new(false);
	const struct sonde_pt_flow_options options = {.size = sizeof(options)};
	struct sonde_pt_flow *whole, *part;
	const uint8_t *trace = NULL;
	size_t second = 0, third = 0, n = 0;
	struct pt_place place;

	put_part(e, SONDE_PT_EXEC_CS_L);
	(void)sonde_pt_encoder_bytes(e, &trace, &second);
	put_part(e, SONDE_PT_EXEC_CS_L);
	(void)sonde_pt_encoder_ip(e, SONDE_PT_TIP_PGD, OTHER);
	(void)sonde_pt_encoder_bytes(e, &trace, &third);
	put_part(e, SONDE_PT_EXEC_CS_D);
	ok(sonde_pt_encoder_bytes(e, &trace, &n) == 0, "a trace of three parts is made");
	whole = sonde_pt_flow_new(graph, trace, n, &options);
	part = sonde_pt_flow_new(graph, trace, n, &options);
	place = go_to(whole, third);
	(void)go_to(part, second);
	eq_u64(insns_from(part, &place), 1 + 3,
	        "a flow that goes from 64 to 32 bits follows the code of 32 bits");
	sonde_pt_flow_free(part);
	sonde_pt_flow_free(whole);
	sonde_pt_encoder_free(e);
}

int main(void)
{
	struct sonde_pt_image *image = sonde_pt_image_new();
	struct sonde_pt_graph *graph = sonde_pt_graph_new(image);
	struct sonde_pt_encoder *e = sonde_pt_encoder_new(false);
	const struct sonde_pt_flow_options options = {.size = sizeof(options)};
	struct sonde_pt_flow *whole, *parts;
	const struct sonde_pt_totals *totals = NULL;
	const uint8_t *trace = NULL;
	uint64_t second = 0;
	size_t n = 0;

	put_trace(e, &second);
	ok(sonde_pt_encoder_bytes(e, &trace, &n) == 0 &&
	                sonde_pt_image_add(image, 0, BASE, code, sizeof(code)) == 0,
	        "the trace and its code are made");
	whole = sonde_pt_flow_new(graph, trace, n, &options);
	parts = sonde_pt_flow_new(graph, trace, n, &options);
	ok(sonde_pt_flow_count(whole, &totals) == 0 && totals->errors == 1,
	        "the trace has one error");
	eq_u64(totals->insns, 1 + 3 + 1 + 1 + 2, "instructions of the whole trace");
	eq_u64(count_parts(parts, second), totals->insns,
	        "a flow that comes from a part in another mode counts the same instructions");
	sonde_pt_flow_free(parts);
	sonde_pt_flow_free(whole);
	sonde_pt_encoder_free(e);
	test_steps(graph);
	sonde_pt_graph_free(graph);
	sonde_pt_image_free(image);
	return tap_done();
}
