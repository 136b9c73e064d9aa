/* SPDX-License-Identifier: MIT */
/*
 * The hash table of this library: an open-addressing index over numbered elements that the caller
 * keeps in an array. Hashes are stored, so growing needs no keys and most look-ups compare one.
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

#include <stddef.h>
#include <stdint.h>

#define INDEX_NONE UINT32_MAX

struct index_slot {
	uint32_t hash, id; /* id + 1; 0: free */
};

/* Zero-initialised is a valid empty one. */
struct index {
	struct index_slot *slots;
	size_t nslots; /* a power of two, or 0 */
	size_t n;
};

void index_fini(struct index *x);
int index_grow(struct index *x);

/* Makes room for one more element, before the search for it; negative: no memory. */
static inline int index_room(struct index *x)
{
	return x->n * 2 >= x->nslots ? index_grow(x) : 0;
}

/*
 * The next element with this hash from slot *at on (first: the hash itself); *at is its slot, or
 * the free one where the search ends. The index has room or is not empty.
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
 * For look-ups in batches, so that the misses of the processor's caches overlap: asks for a slot,
 * and later for the element that it names. The second is a guess: the id where the look-up will
 * begin, or INDEX_NONE.
 */
static inline void index_prefetch(const struct index *x, uint32_t hash)
{
	if (x->nslots != 0) {
		__builtin_prefetch(&x->slots[hash & (x->nslots - 1)]);
	}
}

static inline uint32_t index_guess(const struct index *x, uint32_t hash)
{
	struct index_slot s = {0};

	if (x->nslots != 0) {
		s = x->slots[hash & (x->nslots - 1)];
	}
	return s.hash == hash ? s.id - 1 : INDEX_NONE;
}

/* Fills the free slot where a search ended. */
static inline void index_put(struct index *x, uint32_t hash, size_t at, uint32_t id)
{
	x->slots[at & (x->nslots - 1)] = (struct index_slot){hash, id + 1};
	x->n++;
}

/* The element in the slot where a search found one gets another number. */
static inline void index_replace(struct index *x, size_t at, uint32_t id)
{
	x->slots[at & (x->nslots - 1)].id = id + 1;
}

#endif
