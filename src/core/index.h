/* SPDX-License-Identifier: MIT */
/*
 * The hash table of this library: an open-addressing index of elements that the caller stores in an
 * array. Hashes are stored, so growing needs no keys and most look-ups compare one key.
 *
 *	size_t at = hash;
 *	while ((id = index_next(x, hash, &at)) != INDEX_NONE) {
 *		if (element id is equal) return id;
 *		at++;
 *	}
 *	index_put(x, hash, at, new id);
 */
#ifndef SONDE_CORE_INDEX_H
#define SONDE_CORE_INDEX_H

#include "core/hash.h"

#define INDEX_NONE UINT32_MAX

struct index_slot {
	uint32_t hash, id; /* id + 1; 0: free */
};

/* Empty when zero-initialised. */
struct index {
	struct index_slot *slots;
	size_t nslots; /* a power of two, or 0 */
	size_t n;
};

void index_fini(struct index *x);
int index_grow(struct index *x);

/* Makes room for one more element; call it before the search. Negative: out of memory. */
static inline int index_room(struct index *x)
{
	return x->n * 3 >= x->nslots * 2 ? index_grow(x) : 0;
}

/*
 * Returns the next element with this hash from slot *at on (first: the hash itself); *at becomes
 * its slot, or the free slot where the search ends. The index must have room or not be empty.
 */
static inline uint32_t index_next(const struct index *x, uint32_t hash, size_t *at)
{
	for (;; ++*at) {
		struct index_slot s = x->slots[*at & (x->nslots - 1)];

		if (s.id == 0) {
			return INDEX_NONE;
		}
		if (s.hash == hash) {
			return s.id - 1;
		}
	}
}

/*
 * For look-ups in batches, so that cache misses overlap: index_prefetch loads a slot. Later,
 * index_guess returns the first element with this hash, or INDEX_NONE, so that the caller can
 * prefetch it.
 */
static inline void index_prefetch(const struct index *x, uint32_t hash)
{
	if (x->nslots != 0) {
		__builtin_prefetch(&x->slots[hash & (x->nslots - 1)]);
	}
}

static inline uint32_t index_guess(const struct index *x, uint32_t hash)
{
	size_t at = hash;

	return x->nslots != 0 ? index_next(x, hash, &at) : INDEX_NONE;
}

/* Fills the free slot where a search ended. */
static inline void index_put(struct index *x, uint32_t hash, size_t at, uint32_t id)
{
	x->slots[at & (x->nslots - 1)] = (struct index_slot){hash, id + 1};
	x->n++;
}

/*
 * For elements with a number of 32 bits of their own: no two numbers have the same hash, so keys need
 * not be compared. Returns the id, or INDEX_NONE; *at: its slot, or the one for index_put_u32. An
 * empty index is searched without room too.
 */
static inline uint32_t index_find_u32(const struct index *x, uint32_t number, size_t *at)
{
	uint32_t hash = hash_u32(number);

	*at = hash;
	return x->nslots != 0 ? index_next(x, hash, at) : INDEX_NONE;
}

static inline void index_put_u32(struct index *x, uint32_t number, size_t at, uint32_t id)
{
	index_put(x, hash_u32(number), at, id);
}

/* Changes the id in the slot that a search found. */
static inline void index_replace(struct index *x, size_t at, uint32_t id)
{
	x->slots[at & (x->nslots - 1)].id = id + 1;
}

#endif
