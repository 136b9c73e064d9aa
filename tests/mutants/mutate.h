/* SPDX-License-Identifier: MIT */
/* Reproducible damage: the same bytes and the same number give the same mutant. */
#ifndef MUTATE_H
#define MUTATE_H

#include <stddef.h>
#include <stdint.h>

struct mutant {
	uint8_t *bytes; /* capacity: `room` */
	size_t n;
	size_t room;
};

struct rng {
	uint64_t state;
};

/* Returns the random generator for mutant `number` of the seed with this name. */
struct rng rng_make(const char *name, uint64_t number);
/* Returns a number from 0 to below - 1; below is not 0. */
uint64_t rng_below(struct rng *rng, uint64_t below);

/* Returns the largest size of a mutant of n bytes. */
size_t mutant_room(size_t n);

/*
 * Damages the recording in m: flips bits, truncates, replaces sizes, offsets and other numbers by
 * values at the edge of their range, and duplicates, removes, exchanges or retypes records.
 */
void mutate(struct mutant *m, struct rng *rng);

#endif
