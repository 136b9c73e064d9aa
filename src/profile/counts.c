/* SPDX-License-Identifier: MIT */
/* Distinct frames, chains of frames, and their owners: each is stored once and numbered. */
#include "profile/profile.h"

#include "core/array.h"
#include "core/hash.h"
#include "core/pool.h"

#include <stdlib.h>

#define IDS_MAX        (UINT32_MAX / 2 - 1) /* rows.c uses one bit of the number */
#define CHAINS_AT_ONCE 4096u
#define FRAMES_AT_ONCE 4096u
#define AHEAD          16u /* chains or frames whose index slots are prefetched */

void profile_counts_drop_indexes(struct profile_counts *c)
{
	index_fini(&c->vectors);
	index_fini(&c->whos);
	index_fini(&c->places);
	index_fini(&c->symbols);
	index_fini(&c->known);
	index_fini(&c->located);
}

void profile_counts_fit(struct profile_counts *c)
{
	array_fit(&c->frames, &c->frames_cap, c->nframes, sizeof(*c->frames));
	array_fit(&c->chains, &c->chains_cap, c->nchains, sizeof(*c->chains));
	array_fit(&c->words, &c->words_cap, c->nwords, sizeof(*c->words));
}

void profile_counts_fini(struct profile_counts *c)
{
	profile_counts_drop_indexes(c);
	free(c->keys);
	free(c->who);
	free(c->frames);
	free(c->sizes);
	free(c->chains);
	free(c->words);
	free(c->hops);
	free(c->locations);
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

static uint32_t symbol_hash(const struct profile_frame *f)
{
	return (uint32_t)(hash_u64((uintptr_t)f->symbol ^ (uint64_t)f->object << 48) >> 32);
}

/*
 * Returns the frame that represents the symbol of f, INDEX_NONE if there is none, and where the
 * search ended in *at. size: of the mapping of f.
 */
static uint32_t symbol_find(const struct profile_counts *c, const struct profile_frame *f,
        uint64_t size, bool by_address, uint32_t hash, size_t *at)
{
	uint32_t id;

	*at = hash;
	while ((id = index_next(&c->symbols, hash, at)) != INDEX_NONE) {
		if (c->frames[id].symbol == f->symbol && c->frames[id].object == f->object &&
		        (!by_address || c->frames[id].address == f->address) &&
		        (c->sizes == NULL || c->sizes[id] == size)) {
			break;
		}
		++*at;
	}
	return id;
}

/* Sets *same to the frame that represents the symbol of frame `id`: `id` itself if it is new. */
static int symbol_add(struct profile_counts *c, uint32_t id, bool by_address, uint32_t *same)
{
	const struct profile_frame *f = &c->frames[id];
	uint32_t hash = symbol_hash(f);
	size_t at;

	TRY(index_room(&c->symbols));
	*same = symbol_find(c, f, c->sizes != NULL ? c->sizes[id] : 0, by_address, hash, &at);
	if (*same == INDEX_NONE) {
		*same = id;
		index_put(&c->symbols, hash, at, id);
	}
	return 0;
}

uint32_t profile_frame_hash(const struct profile_frame *f)
{
	return (uint32_t)(hash_step(hash_u64(f->ip), f->address ^ (uint64_t)f->object << 40) >> 32);
}

/* Stores the size of the next frame's mapping, if sizes distinguish frames. */
static int size_add(const struct profile *p, struct profile_counts *c, uint64_t size)
{
	if (!p->options.keys.chosen[FIELD_DSO_SIZE]) {
		return 0;
	}
	if (!array_reserve(&c->sizes, &c->sizes_cap, c->nframes + 1, sizeof(size))) {
		return SONDE_ENOMEM;
	}
	c->sizes[c->nframes] = size;
	return 0;
}

/* Returns the frame with an address, or INDEX_NONE, and where the search ended in *at. */
static uint32_t frame_find_at(const struct profile_counts *c, const struct profile_frame *key,
        uint64_t size, uint32_t hash, size_t *at)
{
	uint32_t id;

	*at = hash;
	while ((id = index_next(&c->places, hash, at)) != INDEX_NONE) {
		const struct profile_frame *f = &c->frames[id];

		if (f->ip == key->ip && f->address == key->address && f->object == key->object &&
		        (c->sizes == NULL || c->sizes[id] == size)) {
			break;
		}
		++*at;
	}
	return id;
}

/* Stores a frame that represents itself. */
static int frame_append(struct profile *p, struct profile_counts *c, struct profile_frame key,
        uint64_t size, uint32_t *id)
{
	if (c->nframes >= IDS_MAX ||
	        !array_reserve(&c->frames, &c->frames_cap, c->nframes + 1, sizeof(key))) {
		return SONDE_ENOMEM;
	}
	TRY(size_add(p, c, size));
	*id = key.same = (uint32_t)c->nframes;
	c->frames[c->nframes++] = key;
	return 0;
}

int profile_frame_add(struct profile *p, struct profile_counts *c, struct profile_frame key,
        uint64_t size, uint32_t *id)
{
	uint32_t hash = profile_frame_hash(&key);
	size_t at;

	TRY(index_room(&c->places));
	*id = frame_find_at(c, &key, size, hash, &at);
	if (*id != INDEX_NONE) {
		*id = c->frames[*id].same;
		return 0;
	}
	if (key.symbol == NULL && key.object != PROFILE_NONE && !p->by_object) {
		const struct symbol_table *table =
		        frame_symbols(session_frames(p->session), key.object);

		if (table == NULL) {
			return SONDE_ENOMEM;
		}
		key.symbol = symbol_table_find(table, key.address);
	}
	TRY(frame_append(p, c, key, size, id));
	index_put(&c->places, hash, at, *id);
	if (key.symbol != NULL && !p->options.verbose) { /* else run-time addresses differ too */
		TRY(symbol_add(c, *id, profile_by_place(&p->options), &c->frames[*id].same));
	}
	*id = c->frames[*id].same;
	return 0;
}

int profile_location_add(
        struct profile *p, struct profile_counts *c, struct profile_location key, uint32_t *id)
{
	uint64_t place = key.address ^ (uint64_t)key.object << 40;
	uint32_t hash = (uint32_t)(hash_step(hash_u64(key.ip), place) >> 32);
	size_t at = hash;

	TRY(index_room(&c->located));
	for (*id = index_next(&c->located, hash, &at); *id != INDEX_NONE;
	        at++, *id = index_next(&c->located, hash, &at)) {
		const struct profile_location *l = &c->locations[*id];

		if (l->ip == key.ip && l->address == key.address && l->object == key.object &&
		        l->pid == key.pid && l->mode == key.mode && l->shared == key.shared) {
			return 0;
		}
	}
	if (c->nlocations >= IDS_MAX ||
	        !array_reserve(&c->locations, &c->locations_cap, c->nlocations + 1, sizeof(key))) {
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
	*id = (uint32_t)c->nlocations;
	c->locations[c->nlocations++] = key;
	index_put(&c->located, hash, at, *id);
	return 0;
}

/* Whether the first sample of x came before that of y. With the same time, by address. */
static bool first_before(const struct profile_chain *x, const struct profile_chain *y)
{
	if (x->time != y->time) {
		return x->time < y->time;
	}
	if (x->first_tid != y->first_tid) {
		return x->first_tid < y->first_tid;
	}
	return x->n == 0 && x->address < y->address;
}

void profile_chain_count(struct profile_chain *to, const struct profile_chain *from)
{
	bool over = __builtin_add_overflow(to->period, from->period, &to->period);

	to->samples += from->samples;
	to->over = to->over || from->over || over;
	if (first_before(from, to)) {
		to->address = to->n == 0 ? from->address : to->address;
		to->time = from->time;
		to->first_pid = from->first_pid;
		to->first_comm = from->first_comm;
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

/* Whether two chains with equal hashes differ only in their counts. words: of b; NULL if it has none. */
static bool chain_same(const struct profile_counts *c, const struct profile_chain *a,
        const struct profile_chain *b, const uint32_t *words)
{
	return a->n == b->n && a->leaf == b->leaf && a->who == b->who && a->kernel == b->kernel &&
	       (b->n == 0 || words == NULL ||
	               memcmp(c->words + a->first, words, b->n * sizeof(*words)) == 0);
}

/* Adds the hops of a chain to those of an equal one. */
static void hops_add(struct profile_counts *c, const struct profile_chain *to,
        const struct profile_hop *hops, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		profile_hop_add(&c->hops[to->first + i], &hops[i]);
	}
}

int profile_chain_add(struct profile_counts *c, struct profile_chain *key, const uint32_t *words,
        const struct profile_hop *hops, uint32_t *id)
{
	size_t at = key->hash;

	TRY(index_room(&c->known));
	for (*id = index_next(&c->known, key->hash, &at); *id != INDEX_NONE;
	        at++, *id = index_next(&c->known, key->hash, &at)) {
		if (chain_same(c, &c->chains[*id], key, words)) {
			profile_chain_count(&c->chains[*id], key);
			hops_add(c, &c->chains[*id], hops, hops != NULL ? key->n : 0);
			return 0;
		}
	}
	if (c->nchains >= IDS_MAX ||
	        !array_reserve(&c->chains, &c->chains_cap, c->nchains + 1, sizeof(*key)) ||
	        (key->n != 0 && !array_reserve(&c->words, &c->words_cap, c->nwords + key->n,
	                                sizeof(*words))) ||
	        (hops != NULL && !array_reserve(&c->hops, &c->hops_cap, c->nwords + key->n + 1,
	                                 sizeof(*hops)))) {
		return SONDE_ENOMEM;
	}
	if (hops != NULL && key->n != 0) {
		memcpy(c->hops + c->nwords, hops, key->n * sizeof(*hops));
	}
	if (key->n != 0) {
		key->first = c->nwords;
		memcpy(c->words + c->nwords, words, key->n * sizeof(*words));
		c->nwords += key->n;
	}
	*id = (uint32_t)c->nchains;
	c->chains[c->nchains++] = *key;
	index_put(&c->known, key->hash, at, *id);
	return 0;
}

/*
 * Joins the counts of workers. Keys and owners are few: one thread adds those of each worker to
 * those of the first. The frames of a worker are looked up by all workers, and one thread appends
 * the new ones. Chains are many: all workers copy pieces of them with the new numbers, then each
 * merges equal chains in its share of all hashes.
 */
struct joined { /* a worker's counts */
	struct profile_counts *from;
	uint32_t *who, *frames, *keys, *locations; /* numbers in the joined counts */
	size_t chains, words; /* index of its first ones in the joined counts */
	size_t pieces; /* sum of its own and of all workers before it */
};

struct join {
	struct profile *p;
	struct profile_counts *to;
	struct joined *workers;
	unsigned n;
};

/* Adds the vectors of keys of a worker, with the new numbers of their locations. */
static int join_keys(const struct join *x, struct joined *j)
{
	const struct profile_counts *from = j->from;
	const struct field_key_choice *choice = &x->p->options.keys;

	for (size_t i = 0; i < from->nlocations; i++) {
		TRY(profile_location_add(x->p, x->to, from->locations[i], &j->locations[i]));
	}
	for (size_t i = 0; i < from->nkeys; i++) {
		uint32_t *words = from->keys + i * choice->words;

		for (unsigned k = 0; k < choice->nlocated; k++) {
			uint32_t *word = &words[choice->at[choice->located[k]]];

			*word = j->locations[*word];
		}
		TRY(profile_key_add(x->p, x->to, words, &j->keys[i]));
	}
	return 0;
}

/* Allocates the numbers, and adds keys and owners. */
static int join_owners(const struct join *x, struct joined *j)
{
	const struct profile_counts *from = j->from;

	j->keys = calloc(from->nkeys + 1, sizeof(*j->keys));
	j->who = malloc((from->nwho + 1) * sizeof(*j->who));
	j->frames = malloc((from->nframes + 1) * sizeof(*j->frames));
	j->locations = malloc((from->nlocations + 1) * sizeof(*j->locations));
	if (j->keys == NULL || j->who == NULL || j->frames == NULL || j->locations == NULL) {
		return SONDE_ENOMEM;
	}
	TRY(join_keys(x, j));
	for (size_t i = 0; i < from->nwho; i++) {
		struct profile_who who = from->who[i];

		who.key = j->keys[who.key];
		TRY(profile_who_add(x->to, &who, &j->who[i]));
	}
	return 0;
}

/* Returns the frame of the joined counts for frame i of a worker; PROFILE_NONE: there is none. */
static uint32_t frame_known(const struct join *x, const struct profile_counts *from, size_t i)
{
	const struct profile_counts *to = x->to;
	const struct profile_frame *f = &from->frames[i];
	uint64_t size = from->sizes != NULL ? from->sizes[i] : 0;
	uint32_t id = INDEX_NONE;
	size_t at;

	if (to->places.nslots != 0) {
		id = frame_find_at(to, f, size, profile_frame_hash(f), &at);
	}
	if (id == INDEX_NONE && f->symbol != NULL && to->symbols.nslots != 0) {
		id = symbol_find(
		        to, f, size, profile_by_place(&x->p->options), symbol_hash(f), &at);
	}
	return id != INDEX_NONE ? to->frames[id].same : PROFILE_NONE;
}

struct frame_join {
	const struct join *x;
	const struct joined *j;
};

/* Looks up a piece of the frames of a worker. */
static int join_frames_find(void *arg, unsigned worker, size_t piece)
{
	const struct frame_join *y = arg;
	const struct profile_counts *from = y->j->from;
	size_t i = piece * FRAMES_AT_ONCE;
	size_t end = from->nframes - i < FRAMES_AT_ONCE ? from->nframes : i + FRAMES_AT_ONCE;

	(void)worker;
	for (; i < end; i++) {
		if (i + AHEAD < end) {
			index_prefetch(
			        &y->x->to->places, profile_frame_hash(&from->frames[i + AHEAD]));
		}
		if (from->frames[i].same == i) {
			y->j->frames[i] = frame_known(y->x, from, i);
		}
	}
	return 0;
}

/* Adds the frames of a worker; indexed: the frames of another one will be looked up. */
static int join_frames(const struct join *x, struct joined *j, bool indexed)
{
	const struct profile_counts *from = j->from;
	struct frame_join y = {.x = x, .j = j};
	size_t pieces = (from->nframes + FRAMES_AT_ONCE - 1) / FRAMES_AT_ONCE;

	TRY(pool_run(x->n, pieces, join_frames_find, &y));
	for (size_t i = 0; i < from->nframes; i++) {
		uint64_t size = from->sizes != NULL ? from->sizes[i] : 0;

		if (from->frames[i].same == i && j->frames[i] == PROFILE_NONE) {
			TRY((indexed ? profile_frame_add : frame_append)(
			        x->p, x->to, from->frames[i], size, &j->frames[i]));
		}
	}
	return 0;
}

static int join_piece(void *arg, unsigned worker, size_t piece)
{
	const struct join *x = arg;
	const struct joined *j = &x->workers[1];
	size_t i, end;

	(void)worker;
	while (piece >= j->pieces) {
		j++;
	}
	i = (piece - j[-1].pieces) * CHAINS_AT_ONCE;
	end = j->from->nchains - i < CHAINS_AT_ONCE ? j->from->nchains : i + CHAINS_AT_ONCE;
	for (; i < end; i++) {
		struct profile_chain chain = j->from->chains[i];
		const uint32_t *words = chain.n != 0 ? j->from->words + chain.first : NULL;

		chain.first += chain.n != 0 ? j->words : 0;
		for (uint32_t k = 0; k < chain.n; k++) {
			x->to->words[chain.first + k] = j->frames[words[k]];
		}
		if (j->from->hops != NULL && chain.n != 0) {
			memcpy(x->to->hops + chain.first, j->from->hops + (chain.first - j->words),
			        chain.n * sizeof(*x->to->hops));
		}
		chain.who = j->who[chain.who];
		chain.leaf = j->frames[chain.leaf];
		chain.hash = profile_chain_hash(
		        &chain, chain.n != 0 ? x->to->words + chain.first : NULL);
		x->to->chains[j->chains + i] = chain;
	}
	return 0;
}

/* Adds the counts of equal chains to the first one, and sets those of the others to 0. */
static int join_equal(void *arg, unsigned worker, size_t part)
{
	const struct join *x = arg;
	struct profile_counts *c = x->to;
	struct index known = {0};
	int rc = 0;

	(void)worker;
	for (size_t i = 0; i < c->nchains && rc >= 0; i++) {
		struct profile_chain *chain = &c->chains[i];
		size_t at = chain->hash;
		uint32_t id;

		if (i + AHEAD < c->nchains) {
			index_prefetch(&known, c->chains[i + AHEAD].hash);
		}
		if ((chain->hash >> 24) % x->n != part) {
			continue;
		}
		rc = index_room(&known);
		while (rc >= 0 && (id = index_next(&known, chain->hash, &at)) != INDEX_NONE &&
		        !chain_same(c, &c->chains[id], chain,
		                chain->n != 0 ? c->words + chain->first : NULL)) {
			at++;
		}
		if (rc >= 0 && id == INDEX_NONE) {
			index_put(&known, chain->hash, at, (uint32_t)i);
		} else if (rc >= 0) {
			profile_chain_count(&c->chains[id], chain);
			if (c->hops != NULL) {
				hops_add(c, &c->chains[id], c->hops + chain->first, chain->n);
			}
			chain->samples = chain->period = 0;
		}
	}
	index_fini(&known);
	return rc;
}

static int join_all(struct join *x)
{
	struct profile_counts *c = x->to;
	size_t chains = c->nchains, words = c->nwords;

	for (unsigned i = 1; i < x->n; i++) {
		struct joined *j = &x->workers[i];

		TRY(join_owners(x, j));
		TRY(join_frames(x, j, i + 1 < x->n));
		j->chains = chains;
		j->words = words;
		j->pieces = j[-1].pieces + (j->from->nchains + CHAINS_AT_ONCE - 1) / CHAINS_AT_ONCE;
		chains += j->from->nchains;
		words += j->from->nwords;
	}
	profile_counts_drop_indexes(c);
	if (chains >= IDS_MAX ||
	        !array_reserve(&c->chains, &c->chains_cap, chains, sizeof(*c->chains)) ||
	        !array_reserve(&c->words, &c->words_cap, words + 1, sizeof(*c->words)) ||
	        (x->p->options.history &&
	                !array_reserve(&c->hops, &c->hops_cap, words + 1, sizeof(*c->hops)))) {
		return SONDE_ENOMEM;
	}
	c->nchains = chains;
	c->nwords = words;
	TRY(pool_run(x->n, x->workers[x->n - 1].pieces, join_piece, x));
	for (unsigned i = 1; i < x->n; i++) {
		profile_counts_fini(x->workers[i].from);
	}
	return pool_run(x->n, x->n, join_equal, x);
}

int profile_counts_join(struct profile *p, struct profile_counts **workers, unsigned n)
{
	struct join x = {.p = p, .to = workers[0], .n = n};
	int rc = SONDE_ENOMEM;

	if (n == 1) {
		return 0;
	}
	x.workers = calloc(n, sizeof(*x.workers));
	for (unsigned i = 0; i < n && x.workers != NULL; i++) {
		x.workers[i].from = workers[i];
	}
	if (x.workers != NULL) {
		rc = join_all(&x);
	}
	for (unsigned i = 0; i < n && x.workers != NULL; i++) {
		free(x.workers[i].keys);
		free(x.workers[i].who);
		free(x.workers[i].frames);
		free(x.workers[i].locations);
	}
	free(x.workers);
	return rc;
}
