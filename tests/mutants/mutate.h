/* SPDX-License-Identifier: MIT */
/* Damage that can be repeated: the same bytes and the same number give the same mutant. */
#ifndef MUTATE_H
#define MUTATE_H

#include <stddef.h>
#include <stdint.h>

struct mutant {
	uint8_t *bytes; /* room for `room` of them */
	size_t n;
	size_t room;
};

struct rng {
	uint64_t state;
};

/* A generator for mutant `number` of the input with this name. */
struct rng rng_make(const char *name, uint64_t number);
/* 0 .. below - 1; below is not 0. */
uint64_t rng_below(struct rng *rng, uint64_t below);

/* The room that a mutant of n bytes may need. */
size_t mutant_room(size_t n);

/*
 * Changes the recording in m: flipped bits, cuts, numbers at the edge of their range in sizes,
 * offsets and anywhere else, records doubled, cut out, exchanged and given another type.
 */
void mutate(struct mutant *m, struct rng *rng);

#endif
