/* SPDX-License-Identifier: MIT */
/* Distinct frames, chains of frames, and whom they belong to: each is stored once and has a number.
 */
#include "profile/profile.h"

#include "core/array.h"
#include "core/hash.h"

#include <stdlib.h>

#define IDS_MAX (UINT32_MAX / 2 - 1) /* a bit of the number is used by rows.c */

void profile_counts_drop_indexes(struct profile_counts *c)
{
	index_fini(&c->vectors);
	index_fini(&c->whos);
	index_fini(&c->places);
	index_fini(&c->symbols);
	index_fini(&c->known);
}

void profile_counts_fini(struct profile_counts *c)
{
	profile_counts_drop_indexes(c);
	free(c->keys);
	free(c->who);
	free(c->frames);
	free(c->chains);
	free(c->words);
	*c = (struct profile_counts){0};
}

int profile_key_add(
        const struct profile *p, struct profile_counts *c, const uint32_t *words, uint32_t *id)
{
	size_t n = p->options.keys.words;
	size_t size = n * sizeof(*words);
	uint32_t hash = (uint32_t)hash_bytes(words, size);
	size_t at = hash;

	*id = 0;
	if (n == 0) {
		return 0;
	}
	TRY(index_room(&c->vectors));
	for (*id = index_next(&c->vectors, hash, &at); *id != INDEX_NONE;
	        at++, *id = index_next(&c->vectors, hash, &at)) {
		if (memcmp(c->keys + *id * n, words, size) == 0) {
			return 0;
		}
	}
	if (c->nkeys >= IDS_MAX ||
	        !array_reserve(&c->keys, &c->keys_cap, (c->nkeys + 1) * n, sizeof(*c->keys))) {
		return SONDE_ENOMEM;
	}
	*id = (uint32_t)c->nkeys;
	memcpy(c->keys + c->nkeys++ * n, words, size);
	index_put(&c->vectors, hash, at, *id);
	return 0;
}

int profile_who_add(struct profile_counts *c, const struct profile_who *key, uint32_t *id)
{
	uint32_t hash = (uint32_t)hash_bytes(key, sizeof(*key));
	size_t at = hash;

	TRY(index_room(&c->whos));
	for (*id = index_next(&c->whos, hash, &at); *id != INDEX_NONE;
	        at++, *id = index_next(&c->whos, hash, &at)) {
		if (memcmp(&c->who[*id], key, sizeof(*key)) == 0) {
			return 0;
		}
	}
	if (c->nwho >= IDS_MAX || !array_reserve(&c->who, &c->who_cap, c->nwho + 1, sizeof(*key))) {
		return SONDE_ENOMEM;
	}
	*id = (uint32_t)c->nwho;
	c->who[c->nwho++] = *key;
	index_put(&c->whos, hash, at, *id);
	return 0;
}

/* The frame that stands for the symbol of frame `id`, which may be the first to have it. */
static int symbol_add(struct profile_counts *c, uint32_t id, bool by_address, uint32_t *same)
{
	const struct profile_frame *f = &c->frames[id];
	uint32_t hash =
	        (uint32_t)(hash_u64((uintptr_t)f->symbol ^ (uint64_t)f->object << 48) >> 32);
	size_t at = hash;

	TRY(index_room(&c->symbols));
	for (*same = index_next(&c->symbols, hash, &at); *same != INDEX_NONE;
	        at++, *same = index_next(&c->symbols, hash, &at)) {
		if (c->frames[*same].symbol == f->symbol && c->frames[*same].object == f->object &&
		        (!by_address || c->frames[*same].address == f->address)) {
			return 0;
		}
	}
	*same = id;
	index_put(&c->symbols, hash, at, id);
	return 0;
}

uint32_t profile_frame_hash(const struct profile_frame *f)
{
	return (uint32_t)(hash_step(hash_u64(f->ip), f->address ^ (uint64_t)f->object << 40) >> 32);
}

int profile_frame_add(
        struct profile *p, struct profile_counts *c, struct profile_frame key, uint32_t *id)
{
	uint32_t hash = profile_frame_hash(&key);
	size_t at = hash;

	TRY(index_room(&c->places));
	for (*id = index_next(&c->places, hash, &at); *id != INDEX_NONE;
	        at++, *id = index_next(&c->places, hash, &at)) {
		const struct profile_frame *f = &c->frames[*id];

		if (f->ip == key.ip && f->address == key.address && f->object == key.object) {
			*id = f->same;
			return 0;
		}
	}
	if (c->nframes >= IDS_MAX ||
	        !array_reserve(&c->frames, &c->frames_cap, c->nframes + 1, sizeof(key))) {
		return SONDE_ENOMEM;
	}
	if (key.symbol == NULL && key.object != PROFILE_NONE) {
		const struct symbol_table *table =
		        frame_symbols(session_frames(p->session), key.object);

		if (table == NULL) {
			return SONDE_ENOMEM;
		}
		key.symbol = symbol_table_find(table, key.address);
	}
	key.same = (uint32_t)c->nframes;
	key.row_key = PROFILE_NONE;
	c->frames[c->nframes] = key;
	index_put(&c->places, hash, at, key.same);
	if (key.symbol != NULL) {
		TRY(symbol_add(c, key.same, p->options.by_address, &c->frames[key.same].same));
	}
	*id = c->frames[c->nframes++].same;
	return 0;
}

void profile_chain_count(struct profile_chain *to, const struct profile_chain *from)
{
	bool over = __builtin_add_overflow(to->period, from->period, &to->period);

	to->samples += from->samples;
	to->over = to->over || from->over || over;
	if (from->time < to->time || (from->time == to->time && from->first_tid < to->first_tid)) {
		to->time = from->time;
		to->first_pid = from->first_pid;
		to->first_tid = from->first_tid;
	}
}

uint32_t profile_chain_hash(const struct profile_chain *c, const uint32_t *words)
{
	uint64_t h = hash_step((uint64_t)c->leaf << 32 | c->who, c->kernel);

	for (uint32_t i = 0; i < c->n; i++) {
		h = hash_step(h, words[i]);
	}
	return (uint32_t)(hash_u64(h) >> 32);
}

int profile_chain_add(
        struct profile_counts *c, struct profile_chain *key, const uint32_t *words, uint32_t *id)
{
	size_t at = key->hash;

	TRY(index_room(&c->known));
	for (*id = index_next(&c->known, key->hash, &at); *id != INDEX_NONE;
	        at++, *id = index_next(&c->known, key->hash, &at)) {
		struct profile_chain *old = &c->chains[*id];

		if (old->n == key->n && old->leaf == key->leaf && old->who == key->who &&
		        old->kernel == key->kernel &&
		        (key->n == 0 || memcmp(c->words + old->first, words,
		                                key->n * sizeof(*words)) == 0)) {
			profile_chain_count(old, key);
			return 0;
		}
	}
	if (c->nchains >= IDS_MAX ||
	        !array_reserve(&c->chains, &c->chains_cap, c->nchains + 1, sizeof(*key)) ||
	        (key->n != 0 && !array_reserve(&c->words, &c->words_cap, c->nwords + key->n,
	                                sizeof(*words)))) {
		return SONDE_ENOMEM;
	}
	key->first = c->nwords;
	if (key->n != 0) {
		memcpy(c->words + c->nwords, words, key->n * sizeof(*words));
		c->nwords += key->n;
	}
	*id = (uint32_t)c->nchains;
	c->chains[c->nchains++] = *key;
	index_put(&c->known, key->hash, at, *id);
	return 0;
}

/* Numbers in `c` of what has a number in `from`. */
struct merge_ids {
	uint32_t *who, *frames, *keys;
};

static int merge_numbers(struct profile *p, struct profile_counts *c,
        const struct profile_counts *from, struct merge_ids *ids)
{
	size_t words = p->options.keys.words;

	ids->keys = calloc(from->nkeys + 1, sizeof(*ids->keys));
	ids->who = malloc((from->nwho + 1) * sizeof(*ids->who));
	ids->frames = malloc((from->nframes + 1) * sizeof(*ids->frames));
	if (ids->keys == NULL || ids->who == NULL || ids->frames == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < from->nkeys; i++) {
		TRY(profile_key_add(p, c, from->keys + i * words, &ids->keys[i]));
	}
	for (size_t i = 0; i < from->nwho; i++) {
		struct profile_who who = from->who[i];

		who.key = ids->keys[who.key];
		TRY(profile_who_add(c, &who, &ids->who[i]));
	}
	for (size_t i = 0; i < from->nframes; i++) {
		if (from->frames[i].same == i) {
			TRY(profile_frame_add(p, c, from->frames[i], &ids->frames[i]));
		}
	}
	return 0;
}

static int merge_chains(
        struct profile_counts *c, struct profile_counts *from, const struct merge_ids *ids)
{
	for (size_t i = 0; i < from->nwords; i++) {
		from->words[i] = ids->frames[from->words[i]];
	}
	for (size_t i = 0; i < from->nchains; i++) {
		struct profile_chain chain = from->chains[i];
		const uint32_t *words = chain.n != 0 ? from->words + chain.first : NULL;
		uint32_t id;

		chain.who = ids->who[chain.who];
		chain.leaf = ids->frames[chain.leaf];
		chain.hash = profile_chain_hash(&chain, words);
		TRY(profile_chain_add(c, &chain, words, &id));
	}
	return 0;
}

int profile_counts_merge(struct profile *p, struct profile_counts *c, struct profile_counts *from)
{
	struct merge_ids ids = {0};
	int rc = merge_numbers(p, c, from, &ids);

	if (rc >= 0) {
		rc = merge_chains(c, from, &ids);
	}
	free(ids.keys);
	free(ids.who);
	free(ids.frames);
	return rc;
}
