/* SPDX-License-Identifier: MIT */
/* Second pass: distinct chains are folded into rows. */
#include "profile/profile.h"

#include "core/array.h"
#include "core/hash.h"
#include "symbol/symbol.h"

#include <stdio.h>
#include <stdlib.h>

#define BATCH 32u /* chains whose memory is asked for at once */

struct folder {
	struct profile *p;
	struct index rows;
};

/* As in perf copies of one file, in containers for example, have one row for a function. */
static bool symbol_same(const struct profile_row *a, const struct profile_row *b)
{
	if (a->symbol == NULL || b->symbol == NULL) {
		return a->symbol == b->symbol;
	}
	return a->file == b->file && a->symbol->start == b->symbol->start &&
	       a->symbol->end == b->symbol->end;
}

static bool row_same(const struct profile_row *a, const struct profile_row *b)
{
	return a->address == b->address && a->key == b->key && a->dso == b->dso &&
	       a->event == b->event && symbol_same(a, b);
}

/* self: unknown symbols go by their address in the object, callers by the ip. */
static struct profile_row row_key(
        const struct profile *p, uint32_t who, const struct profile_frame *f, bool self)
{
	const struct profile_who *w = &p->counts.who[who];
	struct profile_row key = {.event = w->event, .key = w->key, .object = PROFILE_NONE};

	if (p->options.keys.chosen[FIELD_DSO]) {
		key.dso = f->object != PROFILE_NONE ? p->dso[f->object] : p->unknown;
	}
	if (p->options.keys.chosen[FIELD_SYM] && f->symbol != NULL) {
		key.object = f->object;
		key.symbol = f->symbol;
		key.file = p->dso[f->object];
	} else if (p->options.keys.chosen[FIELD_SYM]) { /* as perf: by address only */
		key.address = self ? f->address : f->ip;
	}
	return key;
}

static uint32_t row_hash(const struct profile_row *key)
{
	uint64_t place = key->symbol != NULL ? key->symbol->start : key->address;
	uint64_t h = hash_step(place, (uint64_t)key->key << 32 | key->dso);

	return (uint32_t)(hash_u64(hash_step(h, (uint64_t)key->event << 32 | key->file)) >> 32);
}

static int row_index(struct folder *f, const struct profile_row *key, uint32_t *id)
{
	struct profile *p = f->p;
	uint32_t hash = row_hash(key);
	size_t at = hash;

	TRY(index_room(&f->rows));
	for (*id = index_next(&f->rows, hash, &at); *id != INDEX_NONE;
	        at++, *id = index_next(&f->rows, hash, &at)) {
		if (row_same(&p->rows[*id], key)) {
			return 0;
		}
	}
	if (p->nrows >= UINT32_MAX - 1 ||
	        !array_reserve(&p->rows, &p->rows_cap, p->nrows + 1, sizeof(*key))) {
		return SONDE_ENOMEM;
	}
	*id = (uint32_t)p->nrows;
	p->rows[p->nrows] = *key;
	p->rows[p->nrows].time = UINT64_MAX;
	p->rows[p->nrows++].first_tid = UINT32_MAX;
	index_put(&f->rows, hash, at, *id);
	if (!p->options.modes) {
		return 0;
	}
	if (!array_reserve(&p->modes, &p->modes_cap, p->nrows * PROFILE_MODES, sizeof(*p->modes))) {
		return SONDE_ENOMEM;
	}
	memset(p->modes + *id * (size_t)PROFILE_MODES, 0, PROFILE_MODES * sizeof(*p->modes));
	return 0;
}

/* Whom a frame's row is for: as leaf it may be another one than as caller. */
static uint32_t row_for(const struct profile_frame *f, uint32_t who, bool self)
{
	return who << 1 | (self && f->symbol == NULL && f->ip != f->address);
}

/* A frame keeps the row that it was in last: mostly it is asked for the same again. */
static int row_find(struct folder *f, uint32_t who, uint32_t frame, bool self, uint32_t *id)
{
	struct profile_frame *fr = &f->p->counts.frames[frame];
	uint32_t wanted = row_for(fr, who, self);

	if (fr->row_key != wanted) {
		struct profile_row key = row_key(f->p, who, fr, self);

		TRY(row_index(f, &key, &fr->row));
		fr->row_key = wanted;
	}
	*id = fr->row;
	return 0;
}

/* A chain as one of its rows sees it. */
struct met {
	const struct profile_chain *chain;
	uint32_t mark; /* no other chain's */
	uint32_t frame, step, depth; /* see struct profile_row */
	bool kernel; /* what the row's level shows when this is its first sample */
	bool unknown; /* the frame has no symbol */
};

static void row_count(struct profile_row *r, const struct met *met)
{
	const struct profile_chain *c = met->chain;

	if (c->time < r->time || (c->time == r->time && c->first_tid < r->first_tid)) {
		r->time = c->time;
		r->first_pid = c->first_pid;
		r->first_tid = c->first_tid;
		r->first_frame = met->frame;
		r->step = met->step;
		r->kernel = met->kernel;
		r->unknown = met->unknown;
		r->hidden = c->hidden;
	}
	if (r->mark != met->mark) {
		r->children += c->period;
		r->depth = met->depth > r->depth ? met->depth : r->depth;
		r->mark = met->mark;
	}
}

/*
 * Counts a chain for its callers. The level of a frame where nothing is mapped is that of the frame
 * before it, in the order of the graph, beginning with the sample's own: so does perf.
 */
static int callers_count(struct folder *f, const struct profile_chain *c, uint32_t mark)
{
	struct profile *p = f->p;
	struct met met = {.chain = c, .mark = mark, .kernel = c->kernel};

	for (uint32_t k = 0; k < c->n; k++) {
		size_t word = c->first + (p->options.caller ? c->n - 1 - k : k);
		uint32_t frame = p->counts.words[word];
		uint32_t object = p->counts.frames[frame].object;
		uint32_t row;

		if (object != PROFILE_NONE) {
			met.kernel = profile_is_kernel(p, object);
		}
		TRY(row_find(f, c->who, frame, false, &row));
		met.frame = frame;
		met.unknown = p->counts.frames[frame].symbol == NULL;
		met.step = k + 1;
		met.depth = c->n - k;
		row_count(&p->rows[row], &met);
		if (p->rows_of != NULL) {
			p->rows_of[word] = row;
		}
	}
	return 0;
}

/* Whether the filters hide the samples of a chain. */
static bool chain_hidden(const struct profile *p, const struct profile_chain *c)
{
	const struct profile_frame *leaf = &p->counts.frames[c->leaf];
	const struct pick *pick = p->options.pick;
	uint64_t start = leaf->symbol != NULL ? leaf->symbol->start : 0;

	if (p->counts.who[c->who].hidden || !pick_object(pick, leaf->object)) {
		return true;
	}
	return pick->by_symbol &&
	       !pick_symbol(pick, profile_symbol(p, leaf->object, leaf->symbol), start, start);
}

static int chain_fold(struct folder *f, uint32_t chain)
{
	struct profile *p = f->p;
	struct profile_chain *c = &p->counts.chains[chain];
	uint32_t event = p->counts.who[c->who].event;
	struct profile_row *r;
	struct met met;

	c->hidden = chain_hidden(p, c);
	if (c->hidden && p->options.named) {
		return 0;
	}
	p->totals[event] += c->period;
	p->samples[event] += c->samples;
	TRY(row_find(f, c->who, c->leaf, true, &c->row));
	r = &p->rows[c->row];
	r->samples += c->samples;
	r->period += c->period;
	if (p->modes != NULL) {
		p->modes[c->row * (size_t)PROFILE_MODES + p->counts.who[c->who].mode] += c->period;
	}
	met = (struct met){.chain = c,
	        .mark = chain + 1,
	        .frame = c->leaf,
	        .depth = c->n,
	        .kernel = c->kernel,
	        .unknown = p->counts.frames[c->leaf].symbol == NULL};
	row_count(r, &met);
	return p->options.children ? callers_count(f, c, chain + 1) : 0;
}

/*
 * Asking for the memory that a batch of chains will touch, so that the misses of the processor's
 * caches overlap. Inline, because GCC leaves out calls of functions that do nothing but prefetch.
 */
#define ASKING static inline __attribute__((always_inline)) void

ASKING frames_prefetch(const struct folder *f, const struct profile_chain *c, size_t n)
{
	const struct profile *p = f->p;
	const struct profile_frame *frames = p->counts.frames;

	for (size_t i = 0; i < n; i++) {
		__builtin_prefetch(&frames[c[i].leaf]);
		for (uint32_t k = 0; k < c[i].n && p->options.children; k++) {
			__builtin_prefetch(&frames[p->counts.words[c[i].first + k]]);
		}
	}
}

ASKING row_prefetch(const struct folder *f, uint32_t who, uint32_t frame, bool self)
{
	const struct profile_frame *fr = &f->p->counts.frames[frame];

	if (fr->row_key == row_for(fr, who, self)) {
		__builtin_prefetch(&f->p->rows[fr->row]);
	} else {
		struct profile_row key = row_key(f->p, who, fr, self);

		index_prefetch(&f->rows, row_hash(&key));
	}
}

ASKING rows_prefetch(const struct folder *f, const struct profile_chain *c, size_t n)
{
	const struct profile *p = f->p;

	for (size_t i = 0; i < n; i++) {
		row_prefetch(f, c[i].who, c[i].leaf, true);
		for (uint32_t k = 0; k < c[i].n && p->options.children; k++) {
			row_prefetch(f, c[i].who, p->counts.words[c[i].first + k], false);
		}
	}
}

int profile_fold(struct profile *p)
{
	struct folder f = {.p = p};
	size_t n = p->counts.nchains;
	int rc = 0;

	if (p->options.children && (p->options.graph || p->options.named)) {
		p->rows_of = malloc((p->counts.nwords + 1) * sizeof(*p->rows_of));
		if (p->rows_of == NULL) {
			return SONDE_ENOMEM;
		}
	}
	for (size_t i = 0; i < n && rc >= 0; i++) {
		if (i % BATCH == 0) {
			size_t batch = n - i < BATCH ? n - i : BATCH;

			frames_prefetch(&f, &p->counts.chains[i], batch);
			rows_prefetch(&f, &p->counts.chains[i], batch);
		}
		rc = chain_fold(&f, (uint32_t)i);
	}
	index_fini(&f.rows);
	return rc;
}

/* What depends on whole rows: names of symbols that are wanted in part, totals of what is left. */
static void rows_hide(struct profile *p)
{
	const struct profile_options *o = &p->options;

	for (size_t e = 0; e < sonde_session_events(p->session); e++) {
		p->shown_totals[e] = o->relative ? 0 : p->totals[e];
		p->shown_samples[e] = o->relative ? 0 : p->samples[e];
	}
	for (size_t i = 0; i < p->nrows; i++) {
		struct profile_row *r = &p->rows[i];

		if (o->symbol_part != NULL && !r->hidden) {
			const char *name = profile_symbol(p, r->object, r->symbol);

			r->hidden = name == NULL || strstr(name, o->symbol_part) == NULL;
		}
		if (o->relative && !r->hidden) {
			p->shown_totals[r->event] += r->period;
			p->shown_samples[r->event] += r->samples;
		}
	}
}

static int names_make(struct profile *p)
{
	const struct timeline *t = session_timeline(p->session);
	size_t n = timeline_objects(t);

	p->dso = calloc(n + 1, sizeof(*p->dso));
	if (p->dso == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < n; i++) {
		const struct timeline_object *o = timeline_object(t, (uint32_t)i);
		const char *name = timeline_text(t, o->short_name);

		p->dso[i] = intern_add(&p->names, name, strlen(name));
		if (p->dso[i] == INTERN_NONE) {
			return SONDE_ENOMEM;
		}
	}
	p->unknown = intern_add(&p->names, "[unknown]", 9);
	return p->unknown == INTERN_NONE ? SONDE_ENOMEM : 0;
}

void profile_init(struct profile *p, struct sonde_session *s, const struct profile_options *o)
{
	memset(p, 0, sizeof(*p));
	p->session = s;
	p->options = *o;
}

int profile_run(struct profile *p)
{
	size_t events = sonde_session_events(p->session);

	p->totals = calloc(events + 1, sizeof(*p->totals));
	p->samples = calloc(events + 1, sizeof(*p->samples));
	p->shown_totals = calloc(events + 1, sizeof(*p->totals));
	p->shown_samples = calloc(events + 1, sizeof(*p->samples));
	if (p->totals == NULL || p->samples == NULL || p->shown_totals == NULL ||
	        p->shown_samples == NULL) {
		return SONDE_ENOMEM;
	}
	TRY(field_source_init(&p->source, p->session));
	p->source.comm_of_sample = p->options.named;
	if (p->options.time_quantum != 0) {
		p->source.time_quantum = p->options.time_quantum;
	}
	TRY(names_make(p));
	TRY(profile_collect(p));
	TRY(profile_fold(p));
	rows_hide(p);
	return p->options.graph ? profile_graph_prepare(p) : 0;
}

void profile_fini(struct profile *p)
{
	profile_workers_free(p);
	field_source_fini(&p->source);
	profile_counts_fini(&p->counts);
	intern_fini(&p->names);
	free(p->dso);
	free(p->totals);
	free(p->samples);
	free(p->shown_totals);
	free(p->shown_samples);
	free(p->rows_of);
	free(p->rows);
	free(p->modes);
	free(p->refs);
	free(p->spare);
	free(p->sums);
	free(p->buckets);
	free(p->order);
}

const char *profile_symbol(const struct profile *p, uint32_t object, const struct symbol *sym)
{
	return frame_symbol_name(session_frames(p->session), object, sym);
}
