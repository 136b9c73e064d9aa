/* SPDX-License-Identifier: MIT */
/*
 * An open-addressing index over numbered things that stand in an array of the caller. Hashes are
 * kept, so that growing needs no keys.
 *
 *	for (id = index_next(x, hash, &at); id != INDEX_NONE; at++, id = index_next(x, hash, &at))
 *		if (thing id is the one) return id;
 *	index_put(x, hash, at, new id);
 */
#ifndef SONDE_PROFILE_INDEX_H
#define SONDE_PROFILE_INDEX_H

#include <stddef.h>
#include <stdint.h>

#define INDEX_NONE UINT32_MAX

struct index_slot {
	uint32_t hash, id; /* id + 1; 0: free */
};

/* Zero-initialised is a valid empty one; index_room comes first, before each search. */
struct index {
	struct index_slot *slots;
	size_t nslots; /* a power of two, or 0 */
	size_t n;
};

void index_fini(struct index *x);
int index_grow(struct index *x);

/* Makes room for one more; negative: no memory. */
static inline int index_room(struct index *x)
{
	return x->n * 2 >= x->nslots ? index_grow(x) : 0;
}

/* The next thing with this hash from slot *at on (first: the hash itself); *at is its slot, or the
 * free one where it ends. */
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
 * and later for what it names. The second is a guess: the id where the look-up will begin, or
 * INDEX_NONE.
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

static inline void index_put(struct index *x, uint32_t hash, size_t at, uint32_t id)
{
	x->slots[at & (x->nslots - 1)] = (struct index_slot){hash, id + 1};
	x->n++;
}

#endif
