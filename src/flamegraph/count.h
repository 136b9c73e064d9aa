/* SPDX-License-Identifier: MIT */
/* One worker's part of a flame graph: counts samples into a tree of its own. */
#ifndef SONDE_FLAMEGRAPH_COUNT_H
#define SONDE_FLAMEGRAPH_COUNT_H

#include "flamegraph/map.h"
#include "flamegraph/tree.h"

/* What a frame is, before its texts are asked for. */
struct flame_place {
	enum flame_kind kind;
	uint32_t object; /* of the timeline; FLAME_NONE: nothing is mapped there */
	uint32_t comm; /* FLAME_COMM only */
	const char *symbol; /* NULL: unknown; lives as long as the session */
};

struct flame_step {
	uint32_t parent; /* FLAME_NONE: the root */
	uint32_t place;
	uint64_t weight, samples;
};

/* A chain that was met before, so that it costs one look-up. */
struct flame_chain {
	uint64_t hash;
	size_t start, count; /* words */
	uint32_t node;
};

struct flame_worker {
	struct session_worker samples;
	struct frame_reader frames;
	struct sonde_session *session;
	uint32_t event;
	/* address, in a kernel or user address space -> place */
	struct flame_map kernel_places, user_places, other_places;
	struct flame_map place_ids; /* (symbol, object and kind) -> place */
	struct flame_place *places;
	size_t nplaces, places_cap;
	struct flame_map node_ids; /* (parent, place) -> node */
	struct flame_step *nodes; /* parents before children */
	size_t nnodes, nodes_cap;
	struct flame_chain *chains;
	size_t nchains, chains_cap;
	uint32_t *chain_slots; /* chain + 1; 0: free */
	size_t nslots; /* a power of two, or 0 */
	uint64_t *words; /* of all chains */
	size_t nwords, words_cap;
	uint32_t *path; /* places of the chain at hand, leaf first */
	size_t path_cap;
};

int flame_worker_init(struct flame_worker *w, struct sonde_session *s, uint32_t event);
void flame_worker_fini(struct flame_worker *w);

/* Counts all samples of a chunk; negative: no memory, or the session failed. */
int flame_worker_count(struct flame_worker *w, size_t chunk);

#endif
