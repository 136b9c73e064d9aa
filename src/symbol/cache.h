/* SPDX-License-Identifier: MIT */
/*
 * Private to symbol: the kernel's symbols, stored on disk between runs. The format is in cache.c.
 */
#ifndef SONDE_SYMBOL_CACHE_H
#define SONDE_SYMBOL_CACHE_H

#include "core/text.h"
#include "symbol/builder.h"

/* What the symbols of the running kernel depend on; no padding. */
struct symbol_cache_key {
	uint64_t head; /* digest of the beginning of kallsyms as this user reads it */
	uint8_t boot[36]; /* boot id, as text */
	uint8_t id[20]; /* build id */
	uint32_t id_size;
	uint32_t zero;
};

/* false: a part of the key is unknown, so nothing can be cached. */
bool symbol_cache_key_make(struct symbol_cache_key *key);

/* Loads the table saved in the folder under this key; NULL: none, or invalid. */
struct symbol_table *symbol_cache_load(const char *folder, const struct symbol_cache_key *key);

/* Saves a table for later runs, replacing an older one; failures are ignored. */
void symbol_cache_save(
        const char *folder, const struct symbol_cache_key *key, const struct symbol_table *t);

/* Parts of the above, for tests. Decoding: SONDE_EFORMAT: another format or key, or damaged. */
int symbol_cache_decode(
        struct span bytes, const struct symbol_cache_key *key, struct symbol_table **out);
int symbol_cache_encode(
        const struct symbol_table *t, const struct symbol_cache_key *key, struct text *out);

#endif
