/* SPDX-License-Identifier: MIT */
/* Tests of recordings, symbols and Intel PT. */
#define _GNU_SOURCE
#include "cmd/caches.h"
#include "cmd/test.h"

#include <sonde/file.h>
#include <sonde/preview/recorder.h>
#include <sonde/pt.h>
#include <sonde/session.h>
#include <sonde/write.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct place { /* a file that is removed when the test ends */
	char folder[64];
	char path[96];
};

static bool place_make(struct place *p)
{
	const char *tmp = getenv("TMPDIR");

	(void)snprintf(p->folder, sizeof(p->folder), "%s/sonde-test-XXXXXX",
	        tmp != NULL && strlen(tmp) < 32 ? tmp : "/tmp");
	if (mkdtemp(p->folder) == NULL) {
		return false;
	}
	(void)snprintf(p->path, sizeof(p->path), "%s/perf.data", p->folder);
	return true;
}

static void place_remove(const struct place *p)
{
	(void)unlink(p->path);
	(void)rmdir(p->folder);
}

/* Records this program while it runs test_spin; TEST_OK: the file was written. */
static enum test_outcome record_spin(const struct place *p, struct test_reason *why)
{
	static char exe[] = "/proc/self/exe", test[] = "test", spin[] = "--spin";
	static char *const words[] = {exe, test, spin, NULL};
	static const char *const events[] = {"cpu-clock:u"};
	struct sonde_recorder_options o = {.size = sizeof(o),
	        .targets.workload = words,
	        .events.strings = events,
	        .events.n = 1,
	        .events.frequency = 1000,
	        .output.path = p->path,
	        .output.command_line = words,
	        .buffers.pages = 16};
	struct sonde_recorder *r = sonde_recorder_new(&o);
	enum test_outcome outcome = TEST_OK;
	int rc = r != NULL ? sonde_recorder_start(r) : SONDE_ENOMEM;

	rc = rc >= 0 ? sonde_recorder_run(r) : rc;
	if (rc < 0) {
		outcome = test_status(
		        why, rc, r != NULL ? sonde_recorder_error(r)->text : "no memory");
	}
	sonde_recorder_free(r);
	return outcome;
}

struct samples {
	unsigned count, in_us, in_spin, named;
	char symbol[64]; /* of the first sample with a symbol */
};

static int read_samples(const char *path, struct samples *out)
{
	struct sonde_session_options o = {.size = sizeof(o)};
	const struct sonde_frame *at;
	const struct sonde_event *e;
	struct sonde_session *s;
	struct caches caches;
	int rc;

	caches_set(&caches, &o);
	s = sonde_session_new(&o);
	rc = s != NULL ? sonde_session_open(s, path) : SONDE_ENOMEM;

	memset(out, 0, sizeof(*out));
	while (rc >= 0 && (rc = sonde_session_next(s, &e)) > 0) {
		out->count++;
		if (sonde_session_resolve(s, e, e->cpumode, e->sample->ip, &at) != 1) {
			continue;
		}
		out->in_us += strstr(at->dso, "sonde") != NULL;
		out->named += at->symbol != NULL;
		out->in_spin += at->symbol != NULL && strcmp(at->symbol, "test_spin") == 0;
		if (at->symbol != NULL && out->symbol[0] == '\0') {
			(void)snprintf(out->symbol, sizeof(out->symbol), "%s", at->symbol);
		}
	}
	sonde_session_free(s);
	return rc;
}

static enum test_outcome record_and_read(struct samples *s, struct test_reason *why)
{
	enum test_outcome outcome;
	struct place p;

	if (!place_make(&p)) {
		return test_say(why, TEST_FAIL, "no folder for temporary files");
	}
	outcome = record_spin(&p, why);
	if (outcome == TEST_OK && read_samples(p.path, s) < 0) {
		outcome = test_say(why, TEST_FAIL, "the recording cannot be read");
	}
	place_remove(&p);
	return outcome;
}

enum test_outcome test_record(struct test_reason *why)
{
	struct samples s = {0};
	enum test_outcome outcome = record_and_read(&s, why);

	if (outcome != TEST_OK) {
		return outcome;
	}
	/* 200 ms of CPU time at 1000 Hz are 200 samples; a virtual machine may lose some */
	if (s.count < 20 || s.in_us < s.count / 2) {
		return test_say(
		        why, TEST_FAIL, "%u samples, %u of them in the program", s.count, s.in_us);
	}
	return test_say(why, TEST_OK, "%u samples", s.count);
}

enum test_outcome test_symbols(struct test_reason *why)
{
	struct samples s = {0};
	enum test_outcome outcome = record_and_read(&s, why);

	if (outcome != TEST_OK) {
		return outcome;
	}
	if (s.named == 0) {
		return test_say(why, TEST_SKIP, "this program has no symbols: it was stripped");
	}
	return s.in_spin * 2 > s.count
	               ? TEST_OK
	               : test_say(why, TEST_FAIL, "%u of %u samples are in test_spin, one in %s",
	                         s.in_spin, s.count, s.symbol);
}

/* A program that starts and ends must leave COMM with the exec bit, MMAP2 and EXIT records. */
enum test_outcome test_side_band(struct test_reason *why)
{
	static const struct {
		uint32_t type;
		const char *name;
	} needed[] = {{3, "COMM"}, {10, "MMAP2"}, {4, "EXIT"}};
	struct sonde_file *f;
	const struct sonde_raw_record *raw;
	unsigned seen[128] = {0};
	enum test_outcome outcome;
	struct place p;
	int rc;

	if (!place_make(&p)) {
		return test_say(why, TEST_FAIL, "no folder for temporary files");
	}
	outcome = record_spin(&p, why);
	if (outcome != TEST_OK) {
		place_remove(&p);
		return outcome;
	}
	f = sonde_file_new(NULL);
	rc = f != NULL ? sonde_file_open(f, p.path) : SONDE_ENOMEM;
	while (rc >= 0 && (rc = sonde_file_next(f, &raw)) > 0) {
		seen[raw->type < 128 ? raw->type : 0]++;
	}
	sonde_file_free(f);
	place_remove(&p);
	for (size_t i = 0; rc >= 0 && i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (seen[needed[i].type] == 0) {
			return test_say(why, TEST_FAIL, "there is no %s record", needed[i].name);
		}
	}
	return rc < 0 ? test_say(why, TEST_FAIL, "the recording cannot be read") : TEST_OK;
}

enum test_outcome test_write_read(struct test_reason *why)
{
	const struct sonde_attr attr = {.type = SONDE_TYPE_SOFTWARE,
	        .sample_type = SONDE_SAMPLE_IP | SONDE_SAMPLE_TID | SONDE_SAMPLE_TIME};
	struct sonde_writer *w = sonde_writer_new(NULL);
	struct samples got;
	struct place p;
	int rc = w != NULL ? sonde_writer_event(w, &attr, NULL, 0, "written") : SONDE_ENOMEM;

	if (!place_make(&p)) {
		sonde_writer_free(w);
		return test_say(why, TEST_FAIL, "no folder for temporary files");
	}
	rc = rc >= 0 ? sonde_writer_open(w, p.path) : rc;
	rc = rc >= 0 ? sonde_writer_comm(w, 7, 7, "writer", 1) : rc;
	for (unsigned i = 0; rc >= 0 && i < 1000; i++) {
		const struct sonde_sample s = {
		        .ip = 0x1000 + i, .pid = 7, .tid = 7, .time = 10 + i};

		rc = sonde_writer_sample(w, 0, &s);
	}
	rc = rc >= 0 ? sonde_writer_close(w) : rc;
	sonde_writer_free(w);
	rc = rc >= 0 ? read_samples(p.path, &got) : rc;
	place_remove(&p);
	if (rc < 0) {
		return test_say(why, TEST_FAIL, "%s", sonde_status_text(rc));
	}
	return got.count == 1000 ? TEST_OK : test_say(why, TEST_FAIL, "%u of 1000", got.count);
}

/*
 * A loop of five iterations, a call, its return, and the end:
 *
 *	1000 mov ecx,5; 1005 dec ecx; 1007 jnz 1005; 1009 call 100f; 100e nop; 100f ret
 */
static const uint8_t code[] = {
        0xb9, 5, 0, 0, 0, 0xff, 0xc9, 0x75, 0xfc, 0xe8, 1, 0, 0, 0, 0x90, 0xc3};

#define CODE_AT 0x1000u
#define INSNS   15u /* mov, 5 * (dec, jnz), call, ret, nop, ret */

static int encode_trace(struct sonde_pt_encoder *e)
{
	const struct sonde_pt_packet psb = {.kind = SONDE_PT_PSB}, end = {.kind = SONDE_PT_PSBEND};
	const struct sonde_pt_packet mode = {
	        .kind = SONDE_PT_MODE_EXEC, .value = SONDE_PT_EXEC_CS_L};
	static const bool taken[] = {true, true, true, true, false, true /* the return */};
	int rc = sonde_pt_encoder_packet(e, &psb);

	rc = rc >= 0 ? sonde_pt_encoder_packet(e, &end) : rc;
	rc = rc >= 0 ? sonde_pt_encoder_packet(e, &mode) : rc;
	rc = rc >= 0 ? sonde_pt_encoder_ip(e, SONDE_PT_TIP_PGE, CODE_AT) : rc;
	for (size_t i = 0; rc >= 0 && i < sizeof(taken); i++) {
		rc = sonde_pt_encoder_tnt(e, taken[i]);
	}
	return rc >= 0 ? sonde_pt_encoder_ip(e, SONDE_PT_TIP_PGD, 0x2000) : rc;
}

enum test_outcome test_intel_pt(struct test_reason *why)
{
	const struct sonde_pt_flow_options options = {
	        .size = sizeof(options), .want = SONDE_PT_WANT_INSNS};
	struct sonde_pt_encoder *encoder = sonde_pt_encoder_new(false);
	struct sonde_pt_image *image = sonde_pt_image_new();
	struct sonde_pt_graph *graph = image != NULL ? sonde_pt_graph_new(image) : NULL;
	struct sonde_pt_flow *flow = NULL;
	const struct sonde_pt_step *step;
	unsigned insns = 0, errors = 0;
	const uint8_t *bytes;
	uint64_t last = 0;
	size_t n;

	if (encoder != NULL && graph != NULL && encode_trace(encoder) >= 0 &&
	        sonde_pt_encoder_bytes(encoder, &bytes, &n) >= 0 &&
	        sonde_pt_image_add(image, 0, CODE_AT, code, sizeof(code)) >= 0) {
		flow = sonde_pt_flow_new(graph, bytes, n, &options);
	}
	while (flow != NULL && sonde_pt_flow_next(flow, &step) > 0) {
		errors += step->kind == SONDE_PT_STEP_ERROR;
		insns += step->kind == SONDE_PT_STEP_INSN;
		last = step->kind == SONDE_PT_STEP_INSN ? step->ip : last;
	}
	sonde_pt_flow_free(flow);
	sonde_pt_graph_free(graph);
	sonde_pt_image_free(image);
	sonde_pt_encoder_free(encoder);
	return insns == INSNS && errors == 0 && last == CODE_AT + 15
	               ? TEST_OK
	               : test_say(why, TEST_FAIL, "%u instructions, the last at %llx, %u errors",
	                         insns, (unsigned long long)last, errors);
}
