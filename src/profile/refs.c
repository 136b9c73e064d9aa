/* SPDX-License-Identifier: MIT */
/*
 * Finds the chains of the rows with call graphs, once all rows are known: usually few rows are above
 * the limit. All workers read blocks of chains and list what they find; one thread sorts it by graph.
 */
#include "profile/profile.h"

#include "core/array.h"
#include "core/hash.h"
#include "core/pool.h"

#include <stdlib.h>

#define CHAINS_BLOCK 8192u
#define FRAMES_BLOCK 16384u
#define FILTER_BITS  65536u
#define FILTER_MAX   (FILTER_BITS / 4) /* graphs: with more, the filter would pass most frames */

enum { AS_LEAF = 1, AS_CALLER = 2 };

struct found {
	uint32_t graph;
	struct profile_ref ref;
};

/* What was found in a block of chains, in the order of chains. */
struct block {
	struct found *p;
	size_t n, cap;
};

/* The last graph that was found for a frame, as struct known_row in rows.c. */
struct known_graph {
	uint32_t owner;
	uint32_t graph; /* 0: the row has none */
};

struct searcher {
	struct known_graph *known; /* by frame */
	uint32_t *marks; /* by graph: number of the last chain that was found, + 1 */
};

struct search {
	struct profile *p;
	const uint32_t *rows; /* by graph; graphs begin with 1 */
	struct index index; /* of graphs, by their rows */
	uint64_t filter[FILTER_BITS / 64]; /* hashes of the rows' places */
	uint8_t *frames; /* by frame: in which rows it can be, AS_LEAF and AS_CALLER; NULL: all */
	struct searcher *searchers; /* by worker */
	unsigned workers;
	struct block *blocks;
	size_t nblocks;
};

/* Returns the graph of a visit's row; 0: none. */
static uint32_t graph_find(const struct search *s, const struct profile_visit *v)
{
	const struct profile *p = s->p;
	struct profile_row key = profile_row_key(p, v);
	uint32_t hash = profile_visit_hash(p, v), graph;
	size_t at = hash;

	while ((graph = index_next(&s->index, hash, &at)) != INDEX_NONE) {
		if (profile_row_same(p, &p->rows[s->rows[graph]], &key)) {
			return graph;
		}
		at++;
	}
	return 0;
}

static int visit_find(const struct search *s, struct searcher *searcher, struct block *block,
        const struct profile_visit *v)
{
	const struct profile *p = s->p;
	const struct profile_chain *c = &p->counts.chains[v->chain];
	struct known_graph *known = &searcher->known[v->frame];
	uint32_t owner = profile_row_owner(p, v);
	size_t word = profile_chain_word(p, c, v->step != 0 ? v->step : 1);

	if (known->owner != owner || p->parent_of != NULL) { /* parents depend on the chain */
		known->graph = graph_find(s, v);
		known->owner = owner;
	}
	if (known->graph == 0 || searcher->marks[known->graph] == v->chain + 1) {
		return 0;
	}
	searcher->marks[known->graph] = v->chain + 1;
	if (!array_reserve(&block->p, &block->cap, block->n + 1, sizeof(*block->p))) {
		return SONDE_ENOMEM;
	}
	block->p[block->n++] = (struct found){
	        .graph = known->graph, .ref = {v->chain, (uint32_t)(word - c->first)}};
	return 0;
}

static inline bool frame_wanted(const struct search *s, uint32_t frame, unsigned as)
{
	return s->frames == NULL || (s->frames[frame] & as) != 0;
}

static int chain_search(
        const struct search *s, struct searcher *searcher, struct block *block, uint32_t chain)
{
	const struct profile *p = s->p;
	const struct profile_chain *c = &p->counts.chains[chain];
	uint32_t last = p->options.children ? c->n : 0;

	if (c->n == 0 || !profile_chain_counts(p, c)) {
		return 0;
	}
	if (frame_wanted(s, c->leaf, AS_LEAF)) {
		const struct profile_visit v = {.chain = chain, .frame = c->leaf};

		TRY(visit_find(s, searcher, block, &v));
	}
	for (uint32_t step = 1; step <= last; step++) {
		uint32_t frame = p->counts.words[profile_chain_word(p, c, step)];

		if (frame_wanted(s, frame, AS_CALLER)) {
			const struct profile_visit v = {
			        .chain = chain, .frame = frame, .step = step};

			TRY(visit_find(s, searcher, block, &v));
		}
	}
	return 0;
}

static int block_search(void *arg, unsigned worker, size_t block)
{
	const struct search *s = arg;
	size_t n = s->p->counts.nchains, i = block * CHAINS_BLOCK;
	size_t end = n - i < CHAINS_BLOCK ? n : i + CHAINS_BLOCK;

	for (; i < end; i++) {
		TRY(chain_search(s, &s->searchers[worker], &s->blocks[block], (uint32_t)i));
	}
	return 0;
}

static bool filter_passes(const struct search *s, uint32_t hash)
{
	return (s->filter[hash % FILTER_BITS / 64] >> hash % 64 & 1) != 0;
}

static int frames_filter(void *arg, unsigned worker, size_t block)
{
	const struct search *s = arg;
	const struct profile_hashes *h = &s->p->hashes;
	size_t n = s->p->counts.nframes, i = block * FRAMES_BLOCK;
	size_t end = n - i < FRAMES_BLOCK ? n : i + FRAMES_BLOCK;

	(void)worker;
	for (; i < end; i++) {
		s->frames[i] = (uint8_t)((filter_passes(s, h->leaves[i]) ? AS_LEAF : 0) |
		                         (filter_passes(s, h->callers[i]) ? AS_CALLER : 0));
	}
	return 0;
}

/* Makes the index and the filter of the rows with graphs. */
static int rows_index(struct search *s)
{
	struct profile *p = s->p;

	for (size_t i = 1; i < p->ngraphs; i++) {
		const struct profile_row *row = &p->rows[s->rows[i]];
		const struct profile_visit first = {
		        .chain = row->first_chain, .frame = row->first_frame, .step = row->step};
		uint32_t hash = profile_visit_hash(p, &first);
		uint32_t place =
		        (row->step == 0 ? p->hashes.leaves : p->hashes.callers)[row->first_frame];
		size_t at = hash;

		TRY(index_room(&s->index));
		while (index_next(&s->index, hash, &at) != INDEX_NONE) {
			at++;
		}
		index_put(&s->index, hash, at, (uint32_t)i);
		s->filter[place % FILTER_BITS / 64] |= UINT64_C(1) << place % 64;
	}
	if (p->ngraphs > FILTER_MAX) {
		return 0;
	}
	s->frames = malloc(p->counts.nframes + 1);
	return s->frames != NULL
	               ? pool_run(s->workers, (p->counts.nframes + FRAMES_BLOCK - 1) / FRAMES_BLOCK,
	                         frames_filter, s)
	               : SONDE_ENOMEM;
}

static int searchers_make(struct search *s)
{
	const struct profile *p = s->p;

	s->searchers = calloc(s->workers, sizeof(*s->searchers));
	s->blocks = calloc(s->nblocks + 1, sizeof(*s->blocks));
	if (s->searchers == NULL || s->blocks == NULL) {
		return SONDE_ENOMEM;
	}
	for (unsigned i = 0; i < s->workers; i++) {
		struct searcher *searcher = &s->searchers[i];

		searcher->known = calloc(p->counts.nframes + 1, sizeof(*searcher->known));
		searcher->marks = calloc(p->ngraphs, sizeof(*searcher->marks));
		if (searcher->known == NULL || searcher->marks == NULL) {
			return SONDE_ENOMEM;
		}
	}
	return 0;
}

/* Sorts what was found by graph. */
static int refs_make(const struct search *s)
{
	struct profile *p = s->p;
	size_t total = 0;

	for (size_t b = 0; b < s->nblocks; b++) {
		for (size_t i = 0; i < s->blocks[b].n; i++) {
			p->graphs[s->blocks[b].p[i].graph].n++;
		}
	}
	for (size_t i = 1; i < p->ngraphs; i++) {
		struct profile_graph *graph = &p->graphs[i];

		graph->first = total;
		total += graph->n;
		p->nrefs = graph->n > p->nrefs ? graph->n : p->nrefs;
		graph->n = 0;
	}
	p->refs = malloc((total + 1) * sizeof(*p->refs));
	array_spread(p->refs, (total + 1) * sizeof(*p->refs));
	for (size_t b = 0; b < s->nblocks && p->refs != NULL; b++) {
		struct block *block = &s->blocks[b];

		for (size_t i = 0; i < block->n; i++) {
			struct profile_graph *graph = &p->graphs[block->p[i].graph];

			p->refs[graph->first + graph->n++] = block->p[i].ref;
		}
		free(block->p);
		*block = (struct block){0};
	}
	return p->refs != NULL ? 0 : SONDE_ENOMEM;
}

static void search_free(struct search *s)
{
	for (unsigned i = 0; i < s->workers && s->searchers != NULL; i++) {
		free(s->searchers[i].known);
		free(s->searchers[i].marks);
	}
	for (size_t b = 0; b < s->nblocks && s->blocks != NULL; b++) {
		free(s->blocks[b].p);
	}
	free(s->searchers);
	free(s->blocks);
	free(s->frames);
	index_fini(&s->index);
	free(s);
}

int profile_refs_find(struct profile *p, const uint32_t *rows)
{
	struct search *s = calloc(1, sizeof(*s));
	int rc;

	if (s == NULL) {
		return SONDE_ENOMEM;
	}
	s->p = p;
	s->rows = rows;
	s->workers = session_jobs(p->session);
	s->nblocks = (p->counts.nchains + CHAINS_BLOCK - 1) / CHAINS_BLOCK;
	rc = searchers_make(s);
	rc = rc < 0 ? rc : rows_index(s);
	rc = rc < 0 ? rc : pool_run(s->workers, s->nblocks, block_search, s);
	rc = rc < 0 ? rc : refs_make(s);
	search_free(s);
	return rc;
}
