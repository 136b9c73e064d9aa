/* SPDX-License-Identifier: MIT */
/* Inside symbol/: the kernel's symbols kept on disk between runs. The format stands in cache.c. */
#ifndef SONDE_SYMBOL_CACHE_H
#define SONDE_SYMBOL_CACHE_H

#include "core/text.h"
#include "symbol/builder.h"

/* What the symbols of the running kernel depend on; no padding. */
struct symbol_cache_key {
	uint64_t head; /* digest of how kallsyms begins for this user */
	uint8_t boot[36]; /* its id, as text */
	uint8_t id[20]; /* build id */
	uint32_t id_size;
	uint32_t zero;
};

/* false: something is not known, nothing can be cached. */
bool symbol_cache_key_make(struct symbol_cache_key *key);

/* The table that was saved in the folder under this very key; NULL: none of use. */
struct symbol_table *symbol_cache_load(const char *folder, const struct symbol_cache_key *key);

/* Saves a table for later runs, in place of what is there; when that fails nothing happens. */
void symbol_cache_save(
        const char *folder, const struct symbol_cache_key *key, const struct symbol_table *t);

/* Parts of it, for tests. Decoding: SONDE_EFORMAT: not such a file, not of this key, or damaged. */
int symbol_cache_decode(
        struct span bytes, const struct symbol_cache_key *key, struct symbol_table **out);
int symbol_cache_encode(
        const struct symbol_table *t, const struct symbol_cache_key *key, struct text *out);
uint64_t symbol_cache_checksum(struct span bytes);

#endif
