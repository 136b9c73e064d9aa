/* SPDX-License-Identifier: MIT */
#include "flamegraph/count.h"

#include "core/array.h"
#include "core/hash.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 1024u
#define CHAIN_HEAD  3u /* words in front of a chain's addresses: see intern_chain */

int flame_worker_init(struct flame_worker *w, struct sonde_session *s, uint32_t event)
{
	*w = (struct flame_worker){.session = s, .event = event};
	session_worker_init(&w->samples, s);
	TRY(frame_reader_init(&w->frames, session_frames(s)));
	if (!array_reserve(&w->nodes, &w->nodes_cap, 1, sizeof(*w->nodes))) {
		return SONDE_ENOMEM;
	}
	w->nodes[0] = (struct flame_step){.parent = FLAME_NONE, .place = FLAME_NONE};
	w->nnodes = 1;
	return 0;
}

void flame_worker_fini(struct flame_worker *w)
{
	session_worker_fini(&w->samples);
	frame_reader_fini(&w->frames);
	flame_map_fini(&w->kernel_places);
	flame_map_fini(&w->user_places);
	flame_map_fini(&w->other_places);
	flame_map_fini(&w->place_ids);
	flame_map_fini(&w->node_ids);
	free(w->places);
	free(w->nodes);
	free(w->chains);
	free(w->chain_slots);
	free(w->words);
	free(w->path);
}

/* The number of a place, new or old; FLAME_NONE: no memory. */
static uint32_t add_place(struct flame_worker *w, const struct flame_place *place)
{
	uint32_t what = place->kind == FLAME_COMM ? place->comm : place->object;
	uint64_t a = (uint64_t)place->kind << 32 | what;
	uint64_t b = (uintptr_t)place->symbol;
	uint32_t id = flame_map_get(&w->place_ids, a, b);

	if (id != FLAME_NONE) {
		return id;
	}
	id = (uint32_t)w->nplaces;
	if (id == FLAME_NONE ||
	        !array_reserve(&w->places, &w->places_cap, w->nplaces + 1, sizeof(*w->places)) ||
	        flame_map_put(&w->place_ids, a, b, id) < 0) {
		return FLAME_NONE;
	}
	w->places[w->nplaces++] = *place;
	return id;
}

static struct flame_place place_of(
        const struct flame_worker *w, const struct frame *f, uint32_t cpumode)
{
	struct flame_place place = {.kind = FLAME_UNRESOLVED, .object = FLAME_NONE};

	if (f->object != FRAME_NOWHERE) {
		place.object = f->object;
	}
	if (f->symbol != NULL) {
		place.kind = cpumode == MISC_KERNEL ? FLAME_KERNEL : FLAME_USER;
		place.symbol = frame_symbol_name(w->frames.resolver, f->object, f->symbol);
	}
	return place;
}

/* As place_of, once for each distinct address of an address space. */
static uint32_t place_at(
        struct flame_worker *w, const struct timeline_view *view, uint32_t cpumode, uint64_t addr)
{
	struct flame_map *map = cpumode == MISC_KERNEL ? &w->kernel_places
	                        : cpumode == MISC_USER ? &w->user_places
	                                               : &w->other_places;
	uint64_t space = cpumode == MISC_KERNEL ? view->kernel_root
	                 : cpumode == MISC_USER ? (uint64_t)view->root << 32 | view->later_root
	                                        : 0;
	uint32_t id = flame_map_get(map, space, addr);
	struct flame_place place;
	const struct frame *f;

	if (id != FLAME_NONE) {
		return id;
	}
	f = frame_find(&w->frames, view, cpumode, addr);
	if (f == NULL) {
		return FLAME_NONE;
	}
	place = place_of(w, f, cpumode);
	id = add_place(w, &place);
	if (id == FLAME_NONE || flame_map_put(map, space, addr, id) < 0) {
		return FLAME_NONE;
	}
	return id;
}

static bool push_place(struct flame_worker *w, size_t *n, uint32_t place)
{
	if (place == FLAME_NONE ||
	        !array_reserve(&w->path, &w->path_cap, *n + 1, sizeof(*w->path))) {
		return false;
	}
	w->path[(*n)++] = place;
	return true;
}

/* Fills w->path, leaf first and the command last; its length, or 0: no memory. */
static size_t resolve_path(
        struct flame_worker *w, const struct session_sample *s, struct frame_chain chain)
{
	struct flame_place comm = {.kind = FLAME_COMM, .object = FLAME_NONE, .comm = s->view->comm};
	size_t n = 0;
	uint64_t ip;

	while (frame_chain_next(&chain, &ip) > 0) {
		if (!push_place(w, &n, place_at(w, s->view, chain.mode, ip))) {
			return 0;
		}
	}
	return push_place(w, &n, add_place(w, &comm)) ? n : 0;
}

static uint32_t child_of(struct flame_worker *w, uint32_t parent, uint32_t place)
{
	uint32_t id = flame_map_get(&w->node_ids, parent, place);

	if (id != FLAME_NONE) {
		return id;
	}
	id = (uint32_t)w->nnodes;
	if (id == FLAME_NONE ||
	        !array_reserve(&w->nodes, &w->nodes_cap, w->nnodes + 1, sizeof(*w->nodes)) ||
	        flame_map_put(&w->node_ids, parent, place, id) < 0) {
		return FLAME_NONE;
	}
	w->nodes[w->nnodes++] = (struct flame_step){.parent = parent, .place = place};
	return id;
}

/* The node where a chain ends; FLAME_NONE: no memory. */
static uint32_t walk_chain(
        struct flame_worker *w, const struct session_sample *s, const struct frame_chain *chain)
{
	size_t n = resolve_path(w, s, *chain);
	uint32_t node = n == 0 ? FLAME_NONE : 0;

	while (n > 0 && node != FLAME_NONE) {
		node = child_of(w, node, w->path[--n]);
	}
	return node;
}

static bool grow_chain_slots(struct flame_worker *w)
{
	size_t nslots = w->nslots == 0 ? FIRST_SLOTS : w->nslots * 2;
	uint32_t *slots = calloc(nslots, sizeof(*slots));
	size_t c, i;

	if (slots == NULL) {
		return false;
	}
	for (c = 0; c < w->nchains; c++) {
		i = (size_t)w->chains[c].hash & (nslots - 1);
		while (slots[i] != 0) {
			i = (i + 1) & (nslots - 1);
		}
		slots[i] = (uint32_t)c + 1;
	}
	free(w->chain_slots);
	w->chain_slots = slots;
	w->nslots = nslots;
	return true;
}

/* The slot of the chain that was put behind w->words. */
static uint32_t *find_chain(struct flame_worker *w, uint64_t hash, size_t count)
{
	const uint64_t *words = w->words + w->nwords;
	size_t i = (size_t)hash & (w->nslots - 1);
	const struct flame_chain *c;

	while (w->chain_slots[i] != 0) {
		c = &w->chains[w->chain_slots[i] - 1];
		if (c->hash == hash && c->count == count &&
		        memcmp(w->words + c->start, words, count * sizeof(*words)) == 0) {
			break;
		}
		i = (i + 1) & (w->nslots - 1);
	}
	return &w->chain_slots[i];
}

/* The node where a sample ends. Everything that the path depends on is in the words. */
static uint32_t intern_chain(
        struct flame_worker *w, const struct session_sample *s, const struct frame_chain *chain)
{
	const struct timeline_view *view = s->view;
	size_t total = CHAIN_HEAD + chain->n;
	uint64_t *words, hash;
	uint32_t *slot;
	uint32_t node;

	if (!array_reserve(&w->words, &w->words_cap, w->nwords + total, sizeof(*w->words)) ||
	        !array_reserve(&w->chains, &w->chains_cap, w->nchains + 1, sizeof(*w->chains)) ||
	        (w->nchains >= w->nslots / 2 && !grow_chain_slots(w))) {
		return FLAME_NONE;
	}
	words = w->words + w->nwords;
	words[0] = (uint64_t)view->comm << 32 | s->cpumode;
	words[1] = (uint64_t)view->root << 32 | view->later_root;
	words[2] = view->kernel_root;
	memcpy(words + CHAIN_HEAD, chain->words, chain->n * sizeof(*words));
	hash = hash_bytes(words, total * sizeof(*words));
	slot = find_chain(w, hash, total);
	if (*slot != 0) {
		return w->chains[*slot - 1].node;
	}
	node = walk_chain(w, s, chain);
	if (node == FLAME_NONE || w->nchains == FLAME_NONE - 1) {
		return FLAME_NONE;
	}
	w->chains[w->nchains++] = (struct flame_chain){
	        .hash = hash, .start = w->nwords, .count = total, .node = node};
	w->nwords += total;
	*slot = (uint32_t)w->nchains;
	return node;
}

/* Whether a chain has an address, and no mark that voids it: the unwinder ran into data. */
static bool chain_usable(struct frame_chain chain)
{
	bool any = false;
	uint64_t ip;
	int rc;

	while ((rc = frame_chain_next(&chain, &ip)) > 0) {
		any = true;
	}
	return any && rc == 0;
}

static int count_sample(struct flame_worker *w, const struct session_sample *s)
{
	struct flame_step *step;
	struct frame_chain chain;
	uint32_t node;

	TRY(frame_chain_open(&w->frames, &s->s, s->cpumode, &chain));
	if (!chain_usable(chain)) {
		chain = (struct frame_chain){.words = &s->s.ip, .n = 1, .mode = s->cpumode};
	}
	node = intern_chain(w, s, &chain);
	if (node == FLAME_NONE) {
		return SONDE_ENOMEM;
	}
	step = &w->nodes[node];
	step->samples++;
	if (__builtin_add_overflow(step->weight, s->s.period, &step->weight)) {
		step->weight = UINT64_MAX;
	}
	return 0;
}

int flame_worker_count(struct flame_worker *w, size_t chunk)
{
	struct session_sample s;
	int rc;

	session_chunk_open(&w->samples, chunk);
	while ((rc = session_worker_next(&w->samples, &s)) > 0) {
		if (s.event == w->event) {
			TRY(count_sample(w, &s));
		}
	}
	return rc;
}
