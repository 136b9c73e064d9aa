/* SPDX-License-Identifier: MIT */
/*
 * Names of events that mean the same on every machine, and the name of an attr. A cache event is
 *
 *	config = cache | operation << 8 | result << 16	(perf_event_open(2))
 *
 * and its name CACHE[-OPERATION][-RESULT]; without an operation it counts loads, without a result
 * all accesses. perf 6.1 accepts the same names.
 */
#ifndef SONDE_RECORD_EVENT_NAME_H
#define SONDE_RECORD_EVENT_NAME_H

#include "core/arena.h"

#include <sonde/attr.h>
#include <stdbool.h>

struct record_event_name {
	const char *name;
	uint32_t type, config;
	const char *alias_of; /* NULL: its first name; aliases follow it */
	bool preferred; /* perf uses this name for an attr, not the first one */
};

const struct record_event_name *record_event_names(size_t *n);

#define RECORD_CACHES           7
#define RECORD_CACHE_OPERATIONS 3
#define RECORD_CACHE_RESULTS    2

/* The names of one value of a part, the usual one first. */
struct record_cache_word {
	const char *names[5]; /* unused entries are NULL */
};

extern const struct record_cache_word record_caches[RECORD_CACHES];
extern const struct record_cache_word record_cache_operations[RECORD_CACHE_OPERATIONS];
extern const struct record_cache_word record_cache_results[RECORD_CACHE_RESULTS];

bool record_cache_allowed(unsigned cache, unsigned operation);
/* The suffix of a cache's name as perf writes it, such as "load-misses". */
const char *record_cache_usual(unsigned operation, unsigned result);

/* Makes the name that perf gives an attr, in the arena; NULL: out of memory. */
const char *record_attr_name(struct arena *arena, const struct sonde_attr *attr);

#endif
