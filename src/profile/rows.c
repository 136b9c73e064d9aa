/* SPDX-License-Identifier: MIT */
/*
 * Second pass, on all workers: folds distinct chains into rows. Each worker reads all chains and
 * makes the rows of its share of all (frame, owner) pairs, so that rows need no merging.
 */
#include "profile/profile.h"

#include "core/array.h"
#include "core/hash.h"
#include "core/pool.h"

#include <stdlib.h>

#define BATCH        64u /* visits whose memory is prefetched together */
#define NEAR_FRAMES  4096u /* with at most so many, all memory stays in the caches */
#define FRAMES_BLOCK 16384u
#define ROWS_AT_ONCE 65536u

/* The part of a row is the sum of its frame's and its owner's part, modulo the number of parts. */
struct profile_split {
	unsigned parts;
	uint8_t *who;
	uint8_t *callers, *leaves; /* by frame: as a leaf, it may belong to another row */
};

/* The last row that was found for a frame: the next look-up is often for the same owner. */
struct known_row {
	uint32_t owner; /* see profile_row_owner */
	uint32_t row;
};

/* Rows that were found are looked up in `direct`, or else in `known`. */
struct folder {
	struct profile *p;
	struct profile_part *part;
	struct index rows;
	uint32_t *direct; /* row + 1, by frame and owner; NULL: it would be too large */
	size_t owners; /* of each frame in `direct` */
	struct known_row *known; /* by frame; NULL with `direct` */
};

/* Returns the id of the short name of the object that contains the row's symbol; 0: no symbol. */
static uint32_t row_file(const struct profile *p, const struct profile_row *row)
{
	return row->has_symbol ? p->dso[profile_row_object(p, row)] : 0;
}

/* Inlined functions differ by their names, and by the functions around them. */
static bool inlined_same(const struct symbol *a, const struct symbol *b)
{
	return a->type == b->type && a->start == b->start && a->end == b->end &&
	       strcmp(((const struct profile_inlined *)a)->name,
	               ((const struct profile_inlined *)b)->name) == 0;
}

bool profile_symbol_same(
        const struct profile *p, const struct profile_row *a, const struct profile_row *b)
{
	const struct symbol *x = profile_row_symbol(a), *y = profile_row_symbol(b);

	if (x == NULL || y == NULL) {
		return x == y;
	}
	if (x->type == PROFILE_INLINED || y->type == PROFILE_INLINED) {
		return inlined_same(x, y) && row_file(p, a) == row_file(p, b);
	}
	return row_file(p, a) == row_file(p, b) && x->start == y->start && x->end == y->end;
}

static uint32_t row_source(const struct profile *p, const struct profile_row *row)
{
	return p->sources != NULL ? p->sources[row->first_frame].row : 0;
}

static uint32_t row_place(const struct profile *p, const struct profile_row *row)
{
	return p->place_of != NULL ? p->place_of[row->first_frame] : 0;
}

static uint32_t row_parent(const struct profile *p, const struct profile_row *row)
{
	return p->parent_of != NULL ? p->parent_of[row->first_chain] : 0;
}

bool profile_row_same(
        const struct profile *p, const struct profile_row *a, const struct profile_row *b)
{
	return profile_row_address(a) == profile_row_address(b) && a->key == b->key &&
	       a->dso == b->dso && a->event == b->event && row_parent(p, a) == row_parent(p, b) &&
	       row_place(p, a) == row_place(p, b) && profile_symbol_same(p, a, b) &&
	       row_source(p, a) == row_source(p, b);
}

/*
 * A row of a frame, for any owner. Without a symbol, a leaf has its address in the object as key, a
 * caller (step not 0) its ip.
 */
static inline __attribute__((always_inline)) struct profile_row frame_key(
        const struct profile *p, uint32_t frame, uint32_t step)
{
	const struct profile_frame *f = &p->counts.frames[frame];
	bool sym = p->options.keys.chosen[FIELD_SYM];
	/* All of a word at once: what was stored in parts is slow to load. */
	struct profile_row key = {.first_frame = frame,
	        .step = step & ((1u << PROFILE_STEP_BITS) - 1),
	        .unknown = f->symbol == NULL,
	        .has_symbol = sym && f->symbol != NULL};

	if (p->options.keys.chosen[FIELD_DSO]) {
		key.dso = f->object != PROFILE_NONE ? p->dso[f->object] : p->unknown;
	}
	if (key.has_symbol) {
		key.code.symbol = f->symbol;
	} else if (sym) { /* as perf: by address only */
		key.code.address = step == 0 && !p->options.branches ? f->address : f->ip;
	}
	return key;
}

static inline __attribute__((always_inline)) struct profile_row visit_key(
        const struct profile *p, const struct profile_visit *v)
{
	const struct profile_who *who = &p->counts.who[p->counts.chains[v->chain].who];
	struct profile_row key = frame_key(p, v->frame, v->step);

	key.first_chain = v->chain;
	key.event = who->event;
	key.key = who->key;
	return key;
}

struct profile_row profile_row_key(const struct profile *p, const struct profile_visit *v)
{
	return visit_key(p, v);
}

/* Hashes what a row has from its frame. */
static uint32_t place_hash(const struct profile *p, uint32_t frame, uint32_t step)
{
	struct profile_row key = frame_key(p, frame, step);
	uint64_t place = key.has_symbol ? key.code.symbol->start : key.code.address;

	place ^= (uint64_t)(row_source(p, &key) ^ row_place(p, &key)) << 32;
	place = hash_step(place, (uint64_t)key.dso << 32 | row_file(p, &key));
	return (uint32_t)(hash_u64(place) >> 32);
}

static uint32_t owner_hash(const struct profile_who *who)
{
	return (uint32_t)(hash_u64((uint64_t)who->event << 32 | who->key) >> 32);
}

/*
 * Mixes the hash again: if a bit of it was the part, all rows of a part with one owner would have the
 * same bit in their hashes, and use half of the slots of an index.
 */
static uint8_t hash_part(uint32_t hash, unsigned parts)
{
	return (uint8_t)((hash_u32(hash) >> 16) % parts);
}

static int frames_hash(void *arg, unsigned worker, size_t block)
{
	struct profile *p = arg;
	struct profile_hashes *h = &p->hashes;
	struct profile_split *split = p->split;
	size_t i = block * FRAMES_BLOCK;
	size_t end = p->counts.nframes - i < FRAMES_BLOCK ? p->counts.nframes : i + FRAMES_BLOCK;

	(void)worker;
	for (; i < end; i++) {
		const struct profile_frame *f = &p->counts.frames[i];

		h->callers[i] = place_hash(p, (uint32_t)i, 1);
		h->leaves[i] = f->symbol != NULL || f->ip == f->address
		                       ? h->callers[i]
		                       : place_hash(p, (uint32_t)i, 0);
		if (split != NULL) {
			split->callers[i] = hash_part(h->callers[i], split->parts);
			split->leaves[i] = hash_part(h->leaves[i], split->parts);
		}
	}
	return 0;
}

/* Allocates what assigns owners and frames to parts; not needed with one worker. */
static int split_make(struct profile *p)
{
	const struct profile_counts *c = &p->counts;
	struct profile_split *s;

	if (p->nparts == 1) {
		return 0;
	}
	s = p->split = calloc(1, sizeof(*s));
	if (s == NULL) {
		return SONDE_ENOMEM;
	}
	s->parts = p->nparts;
	s->who = malloc(c->nwho + 1);
	s->callers = malloc(c->nframes + 1);
	s->leaves = malloc(c->nframes + 1);
	return s->who != NULL && s->callers != NULL && s->leaves != NULL ? 0 : SONDE_ENOMEM;
}

/* Hashes all owners and frames, and assigns them to parts. */
static int hashes_make(struct profile *p)
{
	const struct profile_counts *c = &p->counts;
	struct profile_hashes *h = &p->hashes;

	TRY(split_make(p));
	h->who = malloc((c->nwho + 1) * sizeof(*h->who));
	h->callers = malloc((c->nframes + 1) * sizeof(*h->callers));
	h->leaves = malloc((c->nframes + 1) * sizeof(*h->leaves));
	if (h->who == NULL || h->callers == NULL || h->leaves == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < c->nwho; i++) {
		h->who[i] = owner_hash(&c->who[i]);
		if (p->split != NULL) {
			p->split->who[i] = hash_part(h->who[i], p->split->parts);
		}
	}
	return pool_run(p->nparts, (c->nframes + FRAMES_BLOCK - 1) / FRAMES_BLOCK, frames_hash, p);
}

void profile_parts_free(struct profile *p)
{
	if (p->split != NULL) {
		free(p->split->who);
		free(p->split->callers);
		free(p->split->leaves);
		free(p->split);
	}
	for (unsigned i = 0; i < p->nparts && p->parts != NULL; i++) {
		free(p->parts[i].rows);
		free(p->parts[i].modes);
	}
	free(p->parts);
	free(p->hashes.who);
	free(p->hashes.callers);
	free(p->hashes.leaves);
	p->hashes = (struct profile_hashes){0};
	p->split = NULL;
	p->parts = NULL;
	p->nparts = 0;
}

size_t profile_visits(const struct profile *p, unsigned part, struct profile_visit *at,
        struct profile_visit *out, size_t room)
{
	const struct profile_split *split = p->split;
	struct profile_visit v = *at; /* copies: `out` could overlap the originals */
	const uint32_t *words = p->counts.words;
	size_t n = 0;

	for (; v.chain < p->counts.nchains; v.chain++, v.step = 0) {
		const struct profile_chain *c = &p->counts.chains[v.chain];
		uint32_t last = p->options.children ? c->n : 0;
		size_t first = profile_chain_word(p, c, 1);
		ptrdiff_t next = p->options.caller ? -1 : 1;
		unsigned wanted = 0;

		if (!profile_chain_counts(p, c)) {
			continue;
		}
		if (split != NULL) {
			wanted = (part + split->parts - split->who[c->who]) % split->parts;
		}
		for (; v.step <= last; v.step++) {
			if (n == room) {
				*at = v;
				return n;
			}
			v.frame = v.step == 0
			                  ? c->leaf
			                  : words[first + (size_t)((ptrdiff_t)(v.step - 1) * next)];
			out[n] = v; /* without a branch, which would often be mispredicted */
			n += split == NULL ||
			     (v.step == 0 ? split->leaves : split->callers)[v.frame] == wanted;
		}
	}
	*at = v;
	return n;
}

/*
 * Sets the level of a new row. As in perf, a frame without a mapping has the level (kernel or user)
 * of the frame before it, in graph order; the leaf has the level of the sample.
 */
static bool row_is_kernel(const struct profile *p, const struct profile_row *r)
{
	const struct profile_chain *c = profile_row_first(p, r);

	for (uint32_t step = r->step; step > 0; step--) {
		uint32_t frame = p->counts.words[profile_chain_word(p, c, step)];
		uint32_t object = p->counts.frames[frame].object;

		if (object != PROFILE_NONE) {
			return profile_is_kernel(p, object);
		}
	}
	return c->kernel;
}

static int row_add(struct folder *f, const struct profile_row *key, uint32_t hash, uint32_t *id)
{
	struct profile_part *part = f->part;
	struct profile_row *new;
	size_t at = hash;

	TRY(index_room(&f->rows));
	for (*id = index_next(&f->rows, hash, &at); *id != INDEX_NONE;
	        at++, *id = index_next(&f->rows, hash, &at)) {
		if (profile_row_same(f->p, &part->rows[*id], key)) {
			return 0;
		}
	}
	if (part->n >= UINT32_MAX - 1 ||
	        !array_reserve(&part->rows, &part->cap, part->n + 1, sizeof(*key))) {
		return SONDE_ENOMEM;
	}
	*id = (uint32_t)part->n;
	new = &part->rows[part->n++];
	*new = *key;
	new->kernel = row_is_kernel(f->p, key);
	new->hidden = profile_row_first(f->p, key)->hidden;
	index_put(&f->rows, hash, at, *id);
	if (!f->p->options.modes) {
		return 0;
	}
	if (!array_reserve(&part->modes, &part->modes_cap, part->n * PROFILE_MODES,
	            sizeof(*part->modes))) {
		return SONDE_ENOMEM;
	}
	memset(part->modes + *id * (size_t)PROFILE_MODES, 0, PROFILE_MODES * sizeof(*part->modes));
	return 0;
}

uint32_t profile_row_owner(const struct profile *p, const struct profile_visit *v)
{
	const struct profile_frame *f = &p->counts.frames[v->frame];
	uint32_t who = p->counts.chains[v->chain].who;

	return (who << 1 | (v->step == 0 && f->symbol == NULL && f->ip != f->address)) + 1;
}

static void owners_find(
        const struct profile *p, const struct profile_visit *v, size_t n, uint32_t *owners)
{
	for (size_t i = 0; i < n; i++) {
		owners[i] = profile_row_owner(p, &v[i]);
	}
}

static void modes_count(const struct folder *f, const struct profile_chain *c, uint64_t *modes)
{
	uint32_t mode = f->p->counts.who[c->who].mode;
	uint32_t parallelism = mode >> PROFILE_MODE_BITS;

	modes[mode % (1u << PROFILE_MODE_BITS)] += c->period;
	modes[FIELD_MODE_LATENCY] += parallelism != 0 ? c->period / parallelism : 0;
}

/* Counts a chain in the row of its leaf: samples, periods and modes. */
static void leaf_count(struct folder *f, struct profile_chain *c, uint32_t row)
{
	struct profile_row *r = &f->part->rows[row];

	if (f->p->options.named) {
		c->row = row;
	}
	r->samples += c->samples;
	r->period += c->period;
	if (f->part->modes != NULL) {
		modes_count(f, c, &f->part->modes[row * (size_t)PROFILE_MODES]);
	}
}

/* Returns the row that was found for a frame and an owner, or INDEX_NONE. */
static inline uint32_t row_known(const struct folder *f, uint32_t frame, uint32_t owner)
{
	if (f->direct != NULL) {
		return f->direct[frame * f->owners + owner] - 1;
	}
	return f->known[frame].owner == owner ? f->known[frame].row : INDEX_NONE;
}

static inline void row_learn(const struct folder *f, uint32_t frame, uint32_t owner, uint32_t row)
{
	if (f->direct != NULL) {
		f->direct[frame * f->owners + owner] = row + 1;
	} else {
		f->known[frame] = (struct known_row){owner, row};
	}
}

static int visit_count(struct folder *f, const struct profile_visit *v, uint32_t owner)
{
	struct profile *p = f->p;
	struct profile_chain *c = &p->counts.chains[v->chain];
	uint32_t row = row_known(f, v->frame, owner);
	uint32_t depth = v->step == 0 ? c->n : c->n - v->step + 1;
	struct profile_row *r;

	if (row == INDEX_NONE || p->parent_of != NULL) { /* parents depend on the chain */
		struct profile_row key = visit_key(p, v);

		TRY(row_add(f, &key, profile_visit_hash(p, v), &row));
		row_learn(f, v->frame, owner, row);
	}
	r = &f->part->rows[row];
	if (v->step == 0) {
		leaf_count(f, c, row);
	} else if (p->rows_of != NULL) {
		p->rows_of[profile_chain_word(p, c, v->step)] = row;
	}
	if (r->mark != v->chain + 1) {
		r->mark = v->chain + 1;
		r->children += c->period;
		r->depth = depth > r->depth ? depth : r->depth;
	}
	return 0;
}

/* Returns the index in f->direct for a visit of a caller; that for a leaf can be the next one. */
static inline size_t slot_first(const struct folder *f, const struct profile_visit *v)
{
	return v->frame * f->owners + ((f->p->counts.chains[v->chain].who << 1) + 1);
}

/* As owners_find, and prefetches the memory of a batch, so that misses of the caches overlap. */
static void visits_prefetch(
        const struct folder *f, const struct profile_visit *v, size_t n, uint32_t *owners)
{
	struct {
		uint32_t visit, hash;
	} new[BATCH];
	size_t nnew = 0;

	for (size_t i = 0; i < n; i++) {
		__builtin_prefetch(f->direct != NULL ? (void *)&f->direct[slot_first(f, &v[i])]
		                                     : (void *)&f->known[v[i].frame]);
		if (v[i].step == 0) {
			profile_frame_prefetch(&f->p->counts.frames[v[i].frame]);
		}
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t row;

		owners[i] = profile_row_owner(f->p, &v[i]);
		row = row_known(f, v[i].frame, owners[i]);
		if (row != INDEX_NONE) {
			profile_row_prefetch(&f->part->rows[row]);
		} else {
			new[nnew++].visit = (uint32_t)i;
			profile_frame_prefetch(&f->p->counts.frames[v[i].frame]);
		}
	}
	for (size_t i = 0; i < nnew; i++) {
		new[i].hash = profile_visit_hash(f->p, &v[new[i].visit]);
		index_prefetch(&f->rows, new[i].hash);
	}
	for (size_t i = 0; i < nnew; i++) {
		uint32_t row = index_guess(&f->rows, new[i].hash);

		if (row != INDEX_NONE) {
			profile_row_prefetch(&f->part->rows[row]);
		}
	}
}

/*
 * Allocates `direct` if it needs at most as much memory as the words of all chains, so that frames
 * which many owners share are found without a search; else `known`.
 */
static int known_make(struct folder *f)
{
	const struct profile_counts *c = &f->p->counts;
	size_t owners = c->nwho * 2 + 1; /* 0 is no owner: see profile_row_owner */
	size_t visits = c->nwords + c->nchains, n = c->nframes + 1;

	if (n <= visits / owners && f->p->parent_of == NULL) {
		f->owners = owners;
		f->direct = calloc(n, owners * sizeof(*f->direct));
		array_spread(f->direct, n * owners * sizeof(*f->direct));
		return f->direct != NULL ? 0 : SONDE_ENOMEM;
	}
	f->known = calloc(n, sizeof(*f->known));
	array_spread(f->known, n * sizeof(*f->known));
	return f->known != NULL ? 0 : SONDE_ENOMEM;
}

static int part_fold(void *arg, unsigned worker, size_t part)
{
	struct profile *p = arg;
	struct folder f = {.p = p, .part = &p->parts[part]};
	struct profile_visit visits[BATCH], at = {0};
	uint32_t owners[BATCH];
	size_t n;
	int rc = 0;

	(void)worker;
	TRY(known_make(&f));
	while (rc >= 0 && (n = profile_visits(p, (unsigned)part, &at, visits, BATCH)) > 0) {
		if (p->counts.nframes > NEAR_FRAMES) {
			visits_prefetch(&f, visits, n, owners);
		} else {
			owners_find(p, visits, n, owners);
		}
		for (size_t i = 0; i < n && rc >= 0; i++) {
			rc = visit_count(&f, &visits[i], owners[i]);
		}
	}
	index_fini(&f.rows);
	free(f.direct);
	free(f.known);
	return rc;
}

/*
 * Moves the rows of a part to their position in p->rows, the last ones first, and shrinks the part
 * meanwhile, so that memory is not needed twice.
 */
static void part_move(struct profile *p, struct profile_part *part)
{
	size_t left = part->n;

	while (left > 0) {
		size_t n = left % ROWS_AT_ONCE != 0 ? left % ROWS_AT_ONCE : ROWS_AT_ONCE;
		struct profile_row *rest;

		left -= n;
		memcpy(p->rows + part->first + left, part->rows + left, n * sizeof(*p->rows));
		rest = realloc(part->rows, (left + 1) * sizeof(*p->rows));
		part->rows = rest != NULL ? rest : part->rows;
	}
	free(part->rows);
}

static int part_append(void *arg, unsigned worker, size_t part)
{
	struct profile *p = arg;

	(void)worker;
	part_move(p, &p->parts[part + 1]);
	p->parts[part + 1].rows = NULL;
	return 0;
}

static int modes_join(struct profile *p)
{
	p->modes = malloc((p->nrows + 1) * PROFILE_MODES * sizeof(*p->modes));
	for (unsigned i = 0; i < p->nparts && p->modes != NULL; i++) {
		const struct profile_part *part = &p->parts[i];

		if (part->modes != NULL) {
			memcpy(p->modes + part->first * PROFILE_MODES, part->modes,
			        part->n * PROFILE_MODES * sizeof(*p->modes));
		}
	}
	return p->modes != NULL ? 0 : SONDE_ENOMEM;
}

/* Extends the memory of the first part's rows, and appends the rows of the other parts. */
static int rows_join(struct profile *p)
{
	struct profile_part *parts = p->parts;
	struct profile_row *rows;

	for (unsigned i = 0; i < p->nparts; i++) {
		parts[i].first = p->nrows;
		p->nrows += parts[i].n;
	}
	if (p->nrows >= UINT32_MAX) {
		return SONDE_ENOMEM;
	}
	rows = parts[0].rows;
	if (p->nparts > 1 || rows == NULL || parts[0].cap > p->nrows + 1) {
		rows = realloc(rows, (p->nrows + 1) * sizeof(*rows));
	}
	if (rows == NULL) {
		return SONDE_ENOMEM;
	}
	p->rows = rows;
	parts[0].rows = NULL;
	TRY(pool_run(p->nparts, p->nparts - 1, part_append, p));
	return p->options.modes ? modes_join(p) : 0;
}

/* Whether the filters hide the samples of a chain: 1, 0, SONDE_ENOMEM. */
static int chain_hidden(const struct profile *p, const struct profile_chain *c)
{
	const struct profile_frame *leaf = &p->counts.frames[c->leaf];
	const struct pick *pick = p->options.pick;
	uint64_t start;
	const char *name;

	if (p->counts.who[c->who].hidden) {
		return 1;
	}
	if (p->options.branches) { /* the sample decided */
		return 0;
	}
	if (pick->dsos != NULL && !pick_object(pick, leaf->object)) {
		return 1;
	}
	if (p->options.exclude_other && p->parent_of[c - p->counts.chains] + 1 == p->nparents) {
		return 1;
	}
	if (!pick->by_symbol) {
		return 0;
	}
	start = leaf->symbol != NULL ? leaf->symbol->start : 0;
	name = profile_symbol(p, leaf->object, leaf->symbol);
	if (name == NULL && leaf->symbol != NULL) {
		return SONDE_ENOMEM;
	}
	return !pick_symbol(pick, name, start, start);
}

/* Adds chains to the totals of their events, and marks the hidden ones. */
static int chains_look(struct profile *p)
{
	for (size_t i = 0; i < p->counts.nchains; i++) {
		struct profile_chain *c = &p->counts.chains[i];
		uint32_t event = p->counts.who[c->who].event;

		int hidden = c->samples == 0 ? 1 : chain_hidden(p, c);

		TRY(hidden);
		c->hidden = hidden != 0;
		if (!c->hidden || !p->options.named) {
			p->totals[event] += c->period;
			p->samples[event] += c->samples;
		}
	}
	return 0;
}

/* For sonde_profile: converts numbers of rows in their parts to indexes in profile.rows. */
static int part_renumber(void *arg, unsigned worker, size_t part)
{
	struct profile *p = arg;
	uint32_t first = (uint32_t)p->parts[part].first;
	struct profile_visit visits[BATCH], at = {0};
	size_t n;

	(void)worker;
	while ((n = profile_visits(p, (unsigned)part, &at, visits, BATCH)) > 0) {
		for (size_t i = 0; i < n; i++) {
			struct profile_chain *c = &p->counts.chains[visits[i].chain];

			if (visits[i].step == 0) {
				c->row += first;
			} else if (p->rows_of != NULL) {
				p->rows_of[profile_chain_word(p, c, visits[i].step)] += first;
			}
		}
	}
	return 0;
}

int profile_fold(struct profile *p)
{
	unsigned jobs = session_jobs(p->session);

	TRY(profile_chains_sort(&p->counts, jobs));
	if (p->options.keys.chosen[FIELD_PARENT] || p->options.exclude_other) {
		TRY(profile_parents_make(p));
	}
	TRY(chains_look(p));
	if (p->options.children && p->options.named) {
		p->rows_of = malloc((p->counts.nwords + 1) * sizeof(*p->rows_of));
		array_spread(p->rows_of, (p->counts.nwords + 1) * sizeof(*p->rows_of));
		if (p->rows_of == NULL) {
			return SONDE_ENOMEM;
		}
	}
	p->parts = calloc(jobs, sizeof(*p->parts));
	if (p->parts == NULL) {
		return SONDE_ENOMEM;
	}
	p->nparts = jobs;
	TRY(hashes_make(p));
	TRY(pool_run(jobs, jobs, part_fold, p));
	TRY(rows_join(p));
	return p->options.named ? pool_run(jobs, jobs, part_renumber, p) : 0;
}
