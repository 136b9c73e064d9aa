/* SPDX-License-Identifier: MIT */
/*
 * Rows by address. Most addresses of a program share a few hundred different rows, so that a slot is
 * small, and a look-up seldom misses the processor's caches.
 *
 *	slots, direct-mapped: table, address -> number of a row -> rows, each of them once
 */
#include "core/hash.h"
#include "unwind/unwind.h"

#include <stdlib.h>

#define INDEX_SLOTS ((size_t)2 * UNWIND_CACHE_ROWS)

int unwind_cache_init(struct unwind_cache *c)
{
	c->slots = calloc(UNWIND_CACHE_SLOTS, sizeof(*c->slots));
	c->rows = malloc(UNWIND_CACHE_ROWS * sizeof(*c->rows));
	c->index = calloc(INDEX_SLOTS, sizeof(*c->index));
	c->nrows = 0;
	if (c->slots == NULL || c->rows == NULL || c->index == NULL) {
		unwind_cache_fini(c);
		return SONDE_ENOMEM;
	}
	return 0;
}

void unwind_cache_fini(struct unwind_cache *c)
{
	free(c->slots);
	free(c->rows);
	free(c->index);
	*c = (struct unwind_cache){0};
}

static void forget_all(struct unwind_cache *c)
{
	memset(c->slots, 0, (size_t)UNWIND_CACHE_SLOTS * sizeof(*c->slots));
	memset(c->index, 0, INDEX_SLOTS * sizeof(*c->index));
	c->nrows = 0;
}

static uint64_t saved_bits(const struct unwind_saved *s)
{
	return (uint64_t)s->reg | (uint64_t)s->rule << 8 | (uint64_t)(uint32_t)s->value << 16;
}

/* All members but cfa_value and saved. */
static uint64_t row_bits(const struct unwind_row *r)
{
	return (uint64_t)r->cfa_reg | (uint64_t)r->return_reg << 8 | (uint64_t)r->n << 16 |
	       (uint64_t)r->cfa_expression << 24 | (uint64_t)r->debug_frame << 25 |
	       (uint64_t)r->signal << 26 | (uint64_t)r->signed_return << 27;
}

static uint64_t row_hash(const struct unwind_row *r)
{
	uint64_t hash = hash_u64(row_bits(r) ^ (uint64_t)(uint32_t)r->cfa_value << 32);

	for (unsigned i = 0; i < r->n; i++) {
		hash = hash_u64(hash ^ saved_bits(&r->saved[i]));
	}
	return hash;
}

static bool same_row(const struct unwind_row *a, const struct unwind_row *b)
{
	if (a->cfa_value != b->cfa_value || row_bits(a) != row_bits(b)) {
		return false;
	}
	for (unsigned i = 0; i < a->n; i++) {
		if (saved_bits(&a->saved[i]) != saved_bits(&b->saved[i])) {
			return false;
		}
	}
	return true;
}

/* Returns the number of a row + 1, after adding it if it is new. */
static uint16_t row_number(struct unwind_cache *c, const struct unwind_row *row)
{
	size_t at = row_hash(row) & (INDEX_SLOTS - 1);

	for (; c->index[at] != 0; at = (at + 1) & (INDEX_SLOTS - 1)) {
		if (same_row(&c->rows[c->index[at] - 1], row)) {
			return c->index[at];
		}
	}
	c->rows[c->nrows++] = *row;
	c->index[at] = (uint16_t)c->nrows;
	return c->index[at];
}

const struct unwind_row *unwind_cache_row(
        struct unwind_cache *c, const struct unwind_table *t, uint64_t address)
{
	uint64_t hash = hash_u64(address ^ (uint64_t)(uintptr_t)t << 20);
	struct unwind_cached *slot = &c->slots[hash & (UNWIND_CACHE_SLOTS - 1)];
	struct unwind_row row;

	if (slot->table != t || slot->address != address) {
		if (c->nrows == UNWIND_CACHE_ROWS) {
			forget_all(c);
		}
		slot->table = t;
		slot->address = address;
		slot->row = unwind_table_row(t, address, &row) ? row_number(c, &row) : 0;
	}
	return slot->row != 0 ? &c->rows[slot->row - 1] : NULL;
}
