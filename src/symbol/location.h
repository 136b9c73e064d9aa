/* SPDX-License-Identifier: MIT */
/* Locations of sonde/preview/symbol.h, made of what was found at an address; for symbol and session. */
#ifndef SONDE_SYMBOL_LOCATION_H
#define SONDE_SYMBOL_LOCATION_H

#include "core/arena.h"
#include "symbol/lines.h"

#include <sonde/preview/symbol.h>

/* The result of one call. Empty when zero-initialised. */
struct locations {
	struct sonde_location *v;
	size_t cap;
	struct arena texts; /* and functions */
};

/* Forgets the last result, and makes room for n locations. SONDE_ENOMEM. */
int locations_begin(struct locations *l, size_t n);
void locations_fini(struct locations *l);

/*
 * Completes a location whose symbol is set, by the lines at its address. before: the function before
 * it, which names code that nothing else names; or NULL. SONDE_ENOMEM.
 */
int location_functions(struct locations *l, struct sonde_location *at,
        const struct lines_place *place, const char *before, bool demangle);

#endif
