/* SPDX-License-Identifier: MIT */
/*
 * Keyed hashes in place of names: the same name has the same hash under one key, and without the key
 * nobody can try names out. SipHash-2-4 (Aumasson and Bernstein, 2012).
 */
#ifndef SONDE_EDIT_NAMES_H
#define SONDE_EDIT_NAMES_H

#include "core/arena.h"
#include "core/index.h"
#include "core/text.h"

#define NAMES_KEY   16u /* bytes */
#define NAMES_WIDTH 12u /* hexadecimal digits of a hash: fits into the name of a thread */
#define NAMES_LEAST 3u /* bytes of the shortest name that is looked for in other data */

/* Empty, with a key of zeros, when zero-initialised. */
struct names {
	uint8_t key[NAMES_KEY];
	struct arena arena;
	const char **known; /* names that were hashed */
	size_t nknown, cap;
	struct index index;
};

void names_fini(struct names *n);

uint64_t names_hash(const struct names *n, const void *bytes, size_t size);

/* Remembers a name that may occur elsewhere, and the components of a path. SONDE_ENOMEM. */
int names_learn(struct names *n, const char *name, size_t size);
int names_learn_path(struct names *n, const char *path, size_t size);

/* Appends the hash of a name. */
void names_put(const struct names *n, struct text *out, const char *name, size_t size);
/*
 * Appends a path with a hash for each component. What is no path, such as "[vdso]" and "//anon",
 * stays; so do the endings ".ko" and " (deleted)".
 */
void names_put_path(const struct names *n, struct text *out, const char *path, size_t size);

/*
 * Replaces the remembered names in other bytes, where they stand alone, by hashes of the same length.
 */
void names_blot(const struct names *n, uint8_t *bytes, size_t size);

#endif
