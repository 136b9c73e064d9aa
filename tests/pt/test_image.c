/* SPDX-License-Identifier: MIT */
/* Code by address, space and generation; files; moves of flows; contents of errors. */
#include "pt/image.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <pthread.h>
#include <sonde/pt.h>
#include <stdlib.h>
#include <unistd.h>

/* The bytes at an address as text; "" if there are none. */
static const char *at(const struct sonde_pt_image *image, uint32_t space, uint32_t generation,
        uint64_t address, char text[2 * PT_INSN_MAX + 1])
{
	uint8_t room[PT_INSN_MAX];
	size_t n;
	const uint8_t *p =
	        pt_image_fetch(image, pt_image_view(image, space, generation), address, room, &n);

	text[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		(void)snprintf(text + 2 * i, 3, "%02x", p[i]);
	}
	return text;
}

static size_t reader(void *arg, uint32_t space, uint64_t address, uint8_t *to, size_t n)
{
	const uint64_t *end = arg;
	size_t i = 0;

	for (; i < n && address + i < *end; i++) {
		to[i] = (uint8_t)(0xe0 | space);
	}
	return i;
}

static void test_sections(void)
{
	static const uint8_t a[] = {1, 2, 3, 4, 5, 6, 7, 8}, b[] = {0xaa, 0xbb};
	struct sonde_pt_image *image = sonde_pt_image_new();
	uint64_t end = 0x100c;
	char text[2 * PT_INSN_MAX + 1];

	eq_u64(sonde_pt_image_add(image, 0, 0x1000, a, 8), SONDE_OK, "a section is added");
	eq_u64(sonde_pt_image_add(image, 0, 0x1003, b, 2), SONDE_OK,
	        "a section inside another is added");
	eq_str(at(image, 0, 0, 0x1000, text), "010203aabb060708",
	        "the later section replaces the earlier bytes");
	eq_str(at(image, 0, 0, 0x1007, text), "08", "the last byte of a section is found");
	eq_str(at(image, 0, 0, 0x1008, text), "", "the address after a section has no code");
	eq_str(at(image, 5, 0, 0x1000, text), "", "another space has no code");
	eq_u64(sonde_pt_image_add(image, 0, UINT64_MAX - 1, a, 2), SONDE_OK,
	        "a section at the end of the address space is added");
	eq_str(at(image, 0, 0, UINT64_MAX, text), "02", "the last address has one byte of code");
	eq_u64(sonde_pt_image_add(image, 0, UINT64_MAX - 1, a, 3), (uint64_t)SONDE_EARG,
	        "a section past the end of the address space is refused");
	sonde_pt_image_set_reader(image, reader, &end);
	eq_str(at(image, 0, 0, 0x1006, text), "0708e0e0e0e0",
	        "the function returns bytes after a section");
	eq_str(at(image, 7, 0, 0x1006, text), "e7e7e7e7e7e7",
	        "the function returns bytes of any space");
	eq_str(at(image, 0, 0, 0xffe, text), "e0e0010203aabb060708e0e0e0e0",
	        "the function returns bytes before a section");
	sonde_pt_image_free(image);
}

static void test_base(void)
{
	static const uint8_t kernel[] = {1, 2, 3, 4, 5, 6}, own[] = {0xaa, 0xbb};
	struct sonde_pt_image *image = sonde_pt_image_new();
	char text[2 * PT_INSN_MAX + 1];

	(void)sonde_pt_image_add(image, 9, 0x1000, kernel, 6);
	(void)sonde_pt_image_add(image, 3, 0x1002, own, 2);
	eq_u64(sonde_pt_image_set_base(image, 3, 9), SONDE_OK, "a space gets a base");
	eq_u64(sonde_pt_image_set_base(image, 4, 9), SONDE_OK, "another space gets the same base");
	eq_str(at(image, 3, 0, 0x1000, text), "0102aabb0506",
	        "bytes missing in a space are those of its base");
	eq_str(at(image, 4, 0, 0x1004, text), "0506",
	        "a space without sections has the bytes of its base");
	eq_str(at(image, 9, 0, 0x1001, text), "0203040506", "the base itself does not change");
	eq_u64(sonde_pt_image_set_base(image, 9, 5), (uint64_t)SONDE_EARG,
	        "a base cannot get a base");
	eq_u64(sonde_pt_image_set_base(image, 5, 3), (uint64_t)SONDE_EARG,
	        "a space with a base cannot be a base");
	eq_u64(sonde_pt_image_set_base(image, 5, 5), (uint64_t)SONDE_EARG,
	        "a space cannot be its own base");
	sonde_pt_image_free(image);
}

static void test_generations(void)
{
	static const uint8_t a[] = {1, 2, 3, 4}, b[] = {0xbb}, c[] = {0xcc, 0xcd}, k[] = {9, 9};
	struct sonde_pt_image *image = sonde_pt_image_new();
	char text[2 * PT_INSN_MAX + 1];
	uint32_t g[4], first;

	(void)sonde_pt_image_add(image, 1, 0x1000, a, 4);
	(void)sonde_pt_image_add(image, 2, 0x1000, a, 4);
	(void)sonde_pt_image_add(image, 9, 0x2000, k, 2);
	(void)sonde_pt_image_set_base(image, 1, 9);
	first = pt_image_view(image, 1, 0);
	eq_u64(sonde_pt_image_change(image, 1, 0x1001, b, 1, &g[0]), SONDE_OK,
	        "a space is changed");
	eq_u64(sonde_pt_image_change(image, 2, 0x1000, c, 2, &g[1]), SONDE_OK,
	        "another space is changed");
	eq_u64(sonde_pt_image_change(image, 1, 0x1002, c, 2, &g[2]), SONDE_OK,
	        "the first space is changed again");
	eq_u64(sonde_pt_image_change(image, 9, 0x2001, b, 1, &g[3]), SONDE_OK,
	        "the base is changed");
	ok(g[0] == 1 && g[1] == 2 && g[2] == 3 && g[3] == 4, "generations are numbered from 1");
	eq_str(at(image, 1, 3, 0x1000, text), "01bbcccd", "the third generation has both changes");
	eq_str(at(image, 1, 3, 0x2000, text), "0909",
	        "the third generation has the unchanged base");
	eq_str(at(image, 1, 1, 0x1000, text), "01bb0304",
	        "the first generation has the first change");
	eq_str(at(image, 1, 2, 0x1000, text), "01bb0304",
	        "the second generation has the first change");
	eq_u64(pt_image_view(image, 1, 2), pt_image_view(image, 1, 1),
	        "the second generation shares the view of the first");
	eq_str(at(image, 1, 4, 0x2000, text), "09bb", "the fourth generation has the changed base");
	eq_str(at(image, 1, 4, 0x1000, text), "01bbcccd",
	        "the fourth generation has the space's own changes");
	eq_str(at(image, 1, 0, 0x1000, text), "01020304", "generation 0 is unchanged");
	eq_u64(pt_image_view(image, 1, 0), first, "generation 0 has its original view");
	eq_str(at(image, 2, 4, 0x1000, text), "cccd0304", "the other space has its change");
	eq_u64(pt_image_view(image, 1, 77), pt_image_view(image, 1, 4),
	        "a later generation has the newest view");
	eq_u64(sonde_pt_image_add(image, 1, 0x3000, a, 4), (uint64_t)SONDE_EARG,
	        "a changed space refuses further sections");
	eq_u64(sonde_pt_image_change(image, 2, 0x1001, NULL, 2, &first), SONDE_OK,
	        "code is removed");
	eq_str(at(image, 2, first, 0x1000, text), "cc", "removed code is not found");
	eq_str(at(image, 2, first, 0x1003, text), "04", "code after removed code is found");
	eq_u64(sonde_pt_image_change(image, 2, 0x1001, a, 0, &first), (uint64_t)SONDE_EARG,
	        "a change of no bytes is refused");
	sonde_pt_image_free(image);
}

static void test_files(const char *path)
{
	struct sonde_pt_image *image = sonde_pt_image_new();
	char text[2 * PT_INSN_MAX + 1];
	FILE *out = fopen(path, "wb");
	int fd;

	for (unsigned i = 0; i < 10000 && out != NULL; i++) {
		(void)fputc((int)(i & 0xff), out);
	}
	ok(out != NULL && fclose(out) == 0, "a file is written");
	eq_u64(sonde_pt_image_add_file(image, 0, 0x1000, path, 5000, 3), SONDE_OK,
	        "a part of a file is added");
	eq_str(at(image, 0, 0, 0x1000, text), "88898a", "the part of the file has its bytes");
	eq_u64(sonde_pt_image_add_file(image, 0, 0x2000, path, 9998, UINT64_MAX), SONDE_OK,
	        "a part up to the end of a file is added");
	eq_str(at(image, 0, 0, 0x2000, text), "0e0f", "the part up to the end has two bytes");
	eq_u64(sonde_pt_image_add_file(image, 0, 0x2000, path, 10000, 1), SONDE_OK,
	        "a part past the end of a file adds nothing");
	eq_u64(sonde_pt_image_add_file(image, 0, 0x2000, "/nowhere/at/all", 0, 1),
	        (uint64_t)SONDE_ENOENT, "a missing file is refused");
	fd = open(path, O_RDONLY);
	eq_u64(sonde_pt_image_add_fd(image, 1, 0x1000, fd, 256, 2), SONDE_OK,
	        "a part of an open file is added");
	(void)close(fd);
	(void)remove(path);
	eq_str(at(image, 1, 0, 0x1000, text), "0001", "the file may be closed afterwards");
	sonde_pt_image_free(image);
}

static const uint8_t *bytes_of(struct sonde_pt_encoder *encoder, size_t *n)
{
	const uint8_t *bytes;

	return sonde_pt_encoder_bytes(encoder, &bytes, n) == 0 ? bytes : NULL;
}

static void packet(struct sonde_pt_encoder *encoder, uint8_t kind, uint64_t value)
{
	const struct sonde_pt_packet p = {.kind = kind, .value = value};

	(void)sonde_pt_encoder_packet(encoder, &p);
}

/*
 * An error has the offset of the packet, the code address, and the last PSB that was read
 * completely.
 */
static void test_errors(void)
{
	static const uint8_t code[] = {0x90, 0xff, 0xe0};
	struct sonde_pt_encoder *encoder = sonde_pt_encoder_new(false);
	struct sonde_pt_image *image = sonde_pt_image_new();
	struct sonde_pt_graph *graph = sonde_pt_graph_new(image);
	const struct sonde_pt_move by_tsc = {.at = 1, .by_tsc = true};
	const struct sonde_pt_step *step;
	struct sonde_pt_flow *flow;
	const uint8_t *trace;
	unsigned found = 0;
	size_t n;

	(void)sonde_pt_image_add(image, 0, 0x1000, code, sizeof(code));
	packet(encoder, SONDE_PT_PAD, 0);
	packet(encoder, SONDE_PT_PSB, 0); /* 1 */
	packet(encoder, SONDE_PT_TIP, 0); /* 17: not allowed in a PSB+ */
	packet(encoder, SONDE_PT_PSB, 0); /* 18 */
	packet(encoder, SONDE_PT_PSBEND, 0);
	(void)sonde_pt_encoder_ip(encoder, SONDE_PT_TIP_PGE, 0x1000); /* 36 */
	(void)sonde_pt_encoder_tnt(encoder, true); /* 39: but the code needs a TIP */
	trace = bytes_of(encoder, &n);
	flow = sonde_pt_flow_new(graph, trace, n, NULL);
	while (sonde_pt_flow_next(flow, &step) > 0) {
		if (step->kind == SONDE_PT_STEP_ERROR && found++ == 0) {
			ok(step->offset == 17 && step->psb == UINT64_MAX &&
			                step->error == SONDE_PT_ERROR_CONTEXT,
			        "an error inside the first PSB+ has its offset and no PSB");
		} else if (step->kind == SONDE_PT_STEP_ERROR) {
			ok(step->offset == 40 && step->psb == 18 && step->ip == 0x1001 &&
			                step->error == SONDE_PT_ERROR_QUERY,
			        "an error after the second PSB has its offset, PSB and IP");
		}
	}
	eq_u64(found, 2, "there are no other errors");
	eq_u64(sonde_pt_flow_move(flow, &by_tsc), (uint64_t)SONDE_EARG,
	        "a move by time is refused without time");
	sonde_pt_flow_free(flow);
	sonde_pt_graph_free(graph);
	sonde_pt_image_free(image);
	sonde_pt_encoder_free(encoder);
}

#define THREADS 4
#define CHANGES 200

struct shared {
	struct sonde_pt_image *image;
	struct sonde_pt_graph *graph;
	const uint8_t *trace;
	size_t n;
};

/* Follows the trace through the generations as they are made, and counts its instructions. */
static void *follow(void *arg)
{
	const struct shared *s = arg;
	for (uint32_t g = 0; g < CHANGES; g += 3) {
		const struct sonde_pt_flow_options options = {
		        .size = sizeof(options), .generation = g};
		const struct sonde_pt_move move = {.at = 200, .generation = g + 2};
		struct sonde_pt_flow *flow = sonde_pt_flow_new(s->graph, s->trace, s->n, &options);
		const struct sonde_pt_totals *totals;
		bool good = flow != NULL && sonde_pt_flow_move(flow, &move) == 0 &&
		            sonde_pt_flow_count(flow, &totals) == 0 && totals->errors == 0 &&
		            totals->branches == 3000;

		sonde_pt_flow_free(flow);
		if (!good) {
			return NULL;
		}
	}
	return arg;
}

/* Code changes while flows on other threads execute it. */
static void test_threads(void)
{
	static const uint8_t code[] = {0x90, 0x90, 0x75, 0xfc, 0x75, 0xfa}; /* two loops to 1000 */
	struct sonde_pt_encoder *encoder = sonde_pt_encoder_new(false);
	struct shared s = {.image = sonde_pt_image_new()};
	pthread_t threads[THREADS];
	void *results[THREADS];
	uint32_t generation;
	bool good = true;

	s.graph = sonde_pt_graph_new(s.image);
	(void)sonde_pt_image_add(s.image, 0, 0x1000, code, sizeof(code));
	packet(encoder, SONDE_PT_PSB, 0);
	packet(encoder, SONDE_PT_PSBEND, 0);
	(void)sonde_pt_encoder_ip(encoder, SONDE_PT_TIP_PGE, 0x1000);
	for (unsigned i = 0; i < 3000; i++) {
		(void)sonde_pt_encoder_tnt(encoder, true);
	}
	s.trace = bytes_of(encoder, &s.n);
	for (unsigned i = 0; i < THREADS; i++) {
		good = good && pthread_create(&threads[i], NULL, follow, &s) == 0;
	}
	for (unsigned i = 0; i < CHANGES; i++) {
		/* The first loop's branch, and no branch, in turns. */
		good = good && sonde_pt_image_change(s.image, 0, 0x1002, code + (i & 1 ? 2 : 0), 2,
		                       &generation) == 0;
	}
	for (unsigned i = 0; i < THREADS; i++) {
		good = good && pthread_join(threads[i], &results[i]) == 0 && results[i] != NULL;
	}
	ok(good && generation == CHANGES, "threads that follow changing code all find its bytes");
	sonde_pt_graph_free(s.graph);
	sonde_pt_image_free(s.image);
	sonde_pt_encoder_free(encoder);
}

static void test_texts(void)
{
	bool good = true;

	for (int i = 0; i < SONDE_PT_ERRORS; i++) {
		good = good && strlen(sonde_pt_error_text(i)) > 4;
		for (int k = 0; k < i; k++) {
			good = good && strcmp(sonde_pt_error_text(i), sonde_pt_error_text(k)) != 0;
		}
	}
	ok(good, "every error has its own text");
	eq_str(sonde_pt_error_text(SONDE_PT_ERRORS), "?", "an unknown error has the text ?");
	eq_str(sonde_pt_error_text(-1), "?", "a negative error has the text ?");
}

int main(void)
{
	char path[] = "/tmp/sonde-test-image-XXXXXX";
	int fd = mkstemp(path);

	(void)close(fd);
	test_sections();
	test_base();
	test_generations();
	test_files(path);
	test_errors();
	test_threads();
	test_texts();
	return tap_done();
}
