/* SPDX-License-Identifier: MIT */
/*
 * Cost of counting a trace inside one process: pt_speed CODE ADDRESS TRACE TURNS.
 *
 * Each turn runs in order: a loop of additions and multiplications on one thread, and its halves on
 * two; counting by one thread, and by two; counting the whole trace by each of two threads that
 * share nothing ("apart": the limit of this machine, whose caches are not larger for two);
 * reading the packets; searching the PSBs. The code is decoded anew each time.
 *
 * Prints, in ms, median and best of all turns and the median of the CPU time of all threads;
 * then the scaling from one thread to two by each of these. Other work on the machine slows the loop and
 * counting alike; CPU time does not include waiting.
 */
#include "pt/packet.h"

#include <pthread.h>
#include <sonde/pt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOP_ROUNDS 40000000u
#define TURNS_MAX   1000u

enum what { LOOP_1, LOOP_2, COUNT_1, COUNT_2, APART, WALK, SEARCH, WHATS };

struct bytes {
	uint8_t *p;
	size_t n;
};

struct bench {
	struct bytes code, trace;
	uint64_t address;
	uint64_t insns; /* counted instructions: must be equal in all runs */
	double ms[WHATS][TURNS_MAX], cpu[WHATS][TURNS_MAX]; /* cpu: sum of all threads */
};

static double now(clockid_t clock)
{
	struct timespec t;

	(void)clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static struct bytes load(const char *path)
{
	FILE *in = fopen(path, "rb");
	struct bytes b = {NULL, 0};
	long n = -1;

	if (in != NULL && fseek(in, 0, SEEK_END) == 0) {
		n = ftell(in);
	}
	if (n > 0 && fseek(in, 0, SEEK_SET) == 0) {
		b.p = malloc((size_t)n);
		b.n = b.p != NULL ? fread(b.p, 1, (size_t)n, in) : 0;
	}
	if (in != NULL) {
		(void)fclose(in);
	}
	return b;
}

static void *loop(void *arg)
{
	uint64_t *x = arg;
	uint64_t a = *x;
	uint64_t b = a + 1;

	for (unsigned i = 0; i < LOOP_ROUNDS / 2; i++) {
		a = a * 6364136223846793005u + b;
		b = b * 2862933555777941757u + a;
	}
	*x = a ^ b;
	return NULL;
}

static bool run_loop(unsigned threads)
{
	uint64_t x[2] = {1, 2};
	pthread_t other;

	if (threads == 1) {
		(void)loop(&x[0]);
		(void)loop(&x[1]);
		return (x[0] ^ x[1]) != 0;
	}
	if (pthread_create(&other, NULL, loop, &x[1]) != 0) {
		return false;
	}
	(void)loop(&x[0]);
	(void)pthread_join(other, NULL);
	return (x[0] ^ x[1]) != 0;
}

/* Returns the number of instructions in the trace; 0: an error. */
static uint64_t counted(const struct bench *b, unsigned jobs)
{
	const struct sonde_pt_flow_options options = {.size = sizeof(options), .jobs = jobs};
	struct sonde_pt_image *image = sonde_pt_image_new();
	struct sonde_pt_graph *graph = sonde_pt_graph_new(image);
	struct sonde_pt_flow *flow = NULL;
	const struct sonde_pt_totals *totals;
	uint64_t insns = 0;

	if (graph != NULL && sonde_pt_image_add(image, 0, b->address, b->code.p, b->code.n) == 0) {
		flow = sonde_pt_flow_new(graph, b->trace.p, b->trace.n, &options);
		if (flow != NULL && sonde_pt_flow_count(flow, &totals) == 0 &&
		        totals->errors == 0) {
			insns = totals->insns;
		}
	}
	sonde_pt_flow_free(flow);
	sonde_pt_graph_free(graph);
	sonde_pt_image_free(image);
	return insns;
}

static bool count(struct bench *b, unsigned jobs)
{
	uint64_t insns = counted(b, jobs);
	bool good = insns != 0 && (b->insns == 0 || b->insns == insns);

	b->insns = insns;
	return good;
}

struct whole {
	const struct bench *b;
	uint64_t insns;
};

static void *count_whole(void *arg)
{
	struct whole *whole = arg;

	whole->insns = counted(whole->b, 1);
	return NULL;
}

/* Two threads that share no graph, each of which counts the whole trace. */
static bool count_apart(const struct bench *b)
{
	struct whole wholes[2] = {{.b = b}, {.b = b}};
	pthread_t other;

	if (pthread_create(&other, NULL, count_whole, &wholes[1]) != 0) {
		return false;
	}
	(void)count_whole(&wholes[0]);
	(void)pthread_join(other, NULL);
	return wholes[0].insns == b->insns && wholes[1].insns == b->insns;
}

static bool walk(const struct bench *b)
{
	uint64_t counts[SONDE_PT_KINDS] = {0};

	return pt_packet_walk(b->trace.p, b->trace.n, counts) == 0 && counts[SONDE_PT_TNT8] != 0;
}

/* Finds all PSBs. */
static bool search(const struct bench *b)
{
	const uint8_t *end = b->trace.p + b->trace.n;
	const uint8_t *psb = pt_find_psb(b->trace.p, end);
	unsigned n = 0;

	for (; psb != NULL; n++) {
		psb = pt_find_psb(psb + 16, end);
	}
	return n != 0;
}

static bool run(struct bench *b, enum what what)
{
	switch (what) {
	case LOOP_1: return run_loop(1);
	case LOOP_2: return run_loop(2);
	case COUNT_1: return count(b, 1);
	case COUNT_2: return count(b, 2);
	case APART: return count_apart(b);
	case WALK: return walk(b);
	case SEARCH: return search(b);
	case WHATS: break;
	}
	return false;
}

static int by_size(const void *a, const void *b)
{
	const double *x = a;
	const double *y = b;

	return (*x > *y) - (*x < *y);
}

static const char *const names[WHATS] = {
        "loop 1", "loop 2", "count 1", "count 2", "apart", "packets", "search"};

static bool measure(struct bench *b, unsigned turns)
{
	for (unsigned i = 0; i < turns; i++) {
		for (unsigned what = 0; what < WHATS; what++) {
			double begin = now(CLOCK_MONOTONIC);
			double spent = now(CLOCK_PROCESS_CPUTIME_ID);

			if (!run(b, what)) {
				(void)fprintf(stderr, "pt_speed: %s failed\n", names[what]);
				return false;
			}
			b->ms[what][i] = now(CLOCK_MONOTONIC) - begin;
			b->cpu[what][i] = now(CLOCK_PROCESS_CPUTIME_ID) - spent;
		}
	}
	return true;
}

static void print_rates(const char *name, const double *of, const double *by)
{
	(void)printf("%s:\t%.3f\t%.3f\t%.3f\n", name, of[0] / by[0], of[1] / by[1], of[2] / by[2]);
}

static void print(struct bench *b, unsigned turns)
{
	double gb = (double)b->trace.n / 1e6; /* divided by ms: GB/s */
	const double size[3] = {gb, gb, gb};
	double found[WHATS][3]; /* median, best, CPU */
	double halves[3][3];

	for (unsigned what = 0; what < WHATS; what++) {
		qsort(b->ms[what], turns, sizeof(double), by_size);
		qsort(b->cpu[what], turns, sizeof(double), by_size);
		found[what][0] = b->ms[what][turns / 2];
		found[what][1] = b->ms[what][0];
		found[what][2] = b->cpu[what][turns / 2];
		(void)printf("%s:\t%.2f\t%.2f\t%.2f\n", names[what], found[what][0], found[what][1],
		        found[what][2]);
	}
	/* The wall time of two threads that never wait is half of their CPU time. */
	memcpy(halves[0], found[LOOP_2], sizeof(halves[0]));
	memcpy(halves[1], found[COUNT_2], sizeof(halves[1]));
	halves[0][2] /= 2;
	halves[1][2] /= 2;
	for (unsigned k = 0; k < 3; k++) { /* two threads do twice the work */
		halves[2][k] = found[APART][k] / (k < 2 ? 2 : 4);
	}
	print_rates("scaling of the loop", found[LOOP_1], halves[0]);
	print_rates("scaling of counting", found[COUNT_1], halves[1]);
	print_rates("scaling of two that share nothing", found[COUNT_1], halves[2]);
	print_rates("GB/s of packets", size, found[WALK]);
	print_rates("GB/s of the search for PSBs", size, found[SEARCH]);
}

int main(int argc, char **argv)
{
	struct bench *b = calloc(1, sizeof(*b));
	unsigned turns = argc > 4 ? (unsigned)strtoul(argv[4], NULL, 10) : 0;
	bool good = b != NULL && turns != 0 && turns <= TURNS_MAX;

	if (!good) {
		(void)fprintf(stderr, "usage: pt_speed CODE ADDRESS TRACE TURNS\n");
		free(b);
		return 1;
	}
	b->code = load(argv[1]);
	b->address = strtoull(argv[2], NULL, 0);
	b->trace = load(argv[3]);
	good = measure(b, turns);
	if (good) {
		print(b, turns);
	}
	free(b->code.p);
	free(b->trace.p);
	free(b);
	return good ? 0 : 1;
}
