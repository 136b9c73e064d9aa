/* SPDX-License-Identifier: MIT */
/* wordmill: a small program with several threads, for trying a profiler. */
#ifndef MILL_H
#define MILL_H

#include <stddef.h>
#include <stdint.h>

/* Random numbers that are the same in every run. */
struct rng {
	uint64_t state;
};

uint64_t rng_next(struct rng *r);

/* corpus.c: texts to work on; free() them. NULL: out of memory. */
char *corpus_words(struct rng *r, size_t nwords);
char *corpus_json(struct rng *r, size_t nobjects);

/* count.c: the number of distinct words in a text, through a hash table. */
size_t count_words(const char *text);

/* json.c: the sum of all numbers in a JSON text; -1 if the text is not JSON. */
double json_sum(const char *text);

/* matrix.c: multiplies two n x n matrices filled from r; returns the trace of the product. */
double matrix_trace(struct rng *r, size_t n);

/*
 * sort.c: sorts n numbers in two ways and returns a checksum; 0: results differ, or out of memory.
 */
uint64_t sort_numbers(struct rng *r, size_t n);

#endif
