/* SPDX-License-Identifier: MIT */
/*
 * wordmill [SECONDS]: four threads with their own names and different work, for SECONDS (default
 * 3). Prints how much each did.
 */
#define _GNU_SOURCE
#include "mill.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WORDS = 60000, OBJECTS = 9000, MATRIX = 150, NUMBERS = 120000 };

struct worker {
	pthread_t thread;
	const char *name;
	void (*step)(struct worker *w);
	struct rng rng;
	double deadline; /* seconds of CLOCK_MONOTONIC */
	double result;
	unsigned long steps;
};

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

uint64_t rng_next(struct rng *r)
{
	r->state ^= r->state << 13;
	r->state ^= r->state >> 7;
	r->state ^= r->state << 17;
	return r->state;
}

static void step_count(struct worker *w)
{
	char *text = corpus_words(&w->rng, WORDS);

	if (text != NULL) {
		w->result += (double)count_words(text);
	}
	free(text);
}

static void step_parse(struct worker *w)
{
	char *text = corpus_json(&w->rng, OBJECTS);

	if (text != NULL) {
		w->result += json_sum(text);
	}
	free(text);
}

static void step_matrix(struct worker *w)
{
	w->result += matrix_trace(&w->rng, MATRIX);
}

static void step_sort(struct worker *w)
{
	w->result += (double)(sort_numbers(&w->rng, NUMBERS) % 1000);
}

static void *run(void *arg)
{
	struct worker *w = arg;

	(void)pthread_setname_np(w->thread, w->name);
	while (now() < w->deadline) {
		w->step(w);
		w->steps++;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct worker workers[] = {
	        {.name = "count", .step = step_count},
	        {.name = "parse", .step = step_parse},
	        {.name = "matrix", .step = step_matrix},
	        {.name = "sort", .step = step_sort},
	};
	const size_t n = sizeof(workers) / sizeof(workers[0]);
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 3.0;
	double deadline = now() + seconds;

	for (size_t i = 0; i < n; i++) {
		workers[i].rng.state = 88172645463325252u + i;
		workers[i].deadline = deadline;
		if (pthread_create(&workers[i].thread, NULL, run, &workers[i]) != 0) {
			(void)fprintf(stderr, "wordmill: no thread for %s\n", workers[i].name);
			return 1;
		}
	}
	for (size_t i = 0; i < n; i++) {
		(void)pthread_join(workers[i].thread, NULL);
		printf("%-8s %6lu steps, result %.0f\n", workers[i].name, workers[i].steps,
		        workers[i].result);
	}
	return 0;
}
