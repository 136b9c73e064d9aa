/* SPDX-License-Identifier: MIT */
/*
 * Rows of events, objects, symbols and call paths. As in perf, an address of an object without a
 * symbol is a symbol "unknown" of no size, which for callers starts at the run-time address unless a
 * sample or branch was at the same address; and call paths are made of symbols, with the address only
 * where nothing is mapped.
 */
#include "export/export.h"

#include "core/array.h"
#include "core/hash.h"

#include <stdlib.h>

#define CHAIN_MAX 127u /* as in perf */

int export_names_init(struct export *x)
{
	size_t nobjects = timeline_objects(session_timeline(x->session));

	x->events = calloc(sonde_session_events(x->session) + 1, sizeof(*x->events));
	x->objects = calloc(nobjects + 1, sizeof(*x->objects));
	return x->events != NULL && x->objects != NULL ? 0 : SONDE_ENOMEM;
}

void export_names_fini(struct export *x)
{
	free(x->events);
	free(x->objects);
	free(x->symbols);
	free(x->paths);
	free(x->chain);
	index_fini(&x->symbol_index);
	index_fini(&x->path_index);
}

int export_event(struct export *x, uint32_t event, uint64_t *id)
{
	if (x->events[event] == 0) {
		x->events[event] = export_id(x, EXPORT_EVENTS);
		TRY(export_row(x, EXPORT_EVENTS,
		        (struct sonde_export_value[]){EXPORT_NUMBER(x->events[event]),
		                export_text(x, 0, session_events(x->session)[event].name)}));
	}
	*id = x->events[event];
	return 0;
}

static int object_row(struct export *x, uint32_t object)
{
	const struct timeline *t = session_timeline(x->session);
	const struct timeline_object *o = timeline_object(t, object);
	struct text build_id = {0};
	const struct frame_options *frames = &session_frames(x->session)->options;
	uint8_t id[BUILD_ID_MAX];
	int rc;

	if (o->build_id_size != 0) {
		text_hex_bytes(&build_id, o->build_id, o->build_id_size);
	} else if (frames->roots.n == 0) { /* as in perf, that of the file */
		rc = frame_object_build_id(session_frames(x->session), o, id);
		TRY(rc);
		text_hex_bytes(&build_id, id, (size_t)rc);
	}
	text_char(&build_id, '\0');
	if (build_id.failed) {
		text_fini(&build_id);
		return SONDE_ENOMEM;
	}
	x->objects[object] = export_id(x, EXPORT_DSOS);
	rc = export_row(x, EXPORT_DSOS,
	        (struct sonde_export_value[]){EXPORT_NUMBER(x->objects[object]),
	                EXPORT_NUMBER(x->ids[EXPORT_MACHINES]),
	                export_text(x, 0, timeline_text(t, o->short_name)),
	                export_text(x, 1, timeline_text(t, o->name)),
	                export_text(x, 2, build_id.p)});
	text_fini(&build_id);
	return rc;
}

/* address: of a symbol "unknown" */
static int symbol_row(struct export *x, uint32_t object, const struct symbol *symbol,
        uint64_t address, uint64_t id)
{
	const struct timeline_object *o = timeline_object(session_timeline(x->session), object);
	const char *name = "unknown";
	bool code = o->kind == TIMELINE_CODE; /* whose symbol has no binding, as in perf */

	if (symbol != NULL) {
		name = frame_symbol_name(session_frames(x->session), object, symbol);
	}
	return export_row(x, EXPORT_SYMBOLS,
	        (struct sonde_export_value[]){EXPORT_NUMBER(id), EXPORT_NUMBER(x->objects[object]),
	                EXPORT_NUMBER(symbol != NULL ? symbol->start : address),
	                EXPORT_NUMBER(symbol != NULL ? symbol->end : address),
	                EXPORT_NUMBER(symbol != NULL && !code ? symbol->binding : 0),
	                export_text(x, 0, name)});
}

static uint32_t symbol_hash(uint32_t object, const struct symbol *symbol, uint64_t address)
{
	uint64_t key = symbol != NULL ? (uint64_t)(uintptr_t)symbol : address;

	return (uint32_t)hash_u64(key ^ (uint64_t)object << 40);
}

/* Returns the number of a symbol, or of an address without one, from 0; INDEX_NONE: none yet. */
static uint32_t search_symbol(const struct export *x, uint32_t object, const struct symbol *symbol,
        uint64_t address, size_t *at)
{
	uint32_t hash = symbol_hash(object, symbol, address);
	uint32_t i;

	*at = hash;
	while ((i = index_next(&x->symbol_index, hash, at)) != INDEX_NONE) {
		const struct export_symbol *s = &x->symbols[i];

		if (s->symbol == symbol && s->object == object &&
		        (symbol != NULL || s->address == address)) {
			break;
		}
		++*at;
	}
	return i;
}

/* Sets *id to that of a symbol, or of an address without one. */
static int find_symbol(struct export *x, uint32_t object, const struct symbol *symbol,
        uint64_t address, uint64_t *id)
{
	size_t at;
	uint32_t i;

	TRY(index_room(&x->symbol_index));
	i = search_symbol(x, object, symbol, address, &at);
	if (i != INDEX_NONE) {
		*id = x->bases[EXPORT_SYMBOLS] + i + 1;
		return 0;
	}
	if (!array_reserve(&x->symbols, &x->symbols_cap, x->nsymbols + 1, sizeof(*x->symbols))) {
		return SONDE_ENOMEM;
	}
	x->symbols[x->nsymbols] = (struct export_symbol){
	        .address = symbol != NULL ? 0 : address, .symbol = symbol, .object = object};
	index_put(&x->symbol_index, symbol_hash(object, symbol, address), at,
	        (uint32_t)x->nsymbols++);
	*id = export_id(x, EXPORT_SYMBOLS);
	return symbol_row(x, object, symbol, address, *id);
}

/* unnamed: the address of a new symbol "unknown" */
static int place_of(
        struct export *x, const struct frame *f, uint64_t unnamed, struct export_place *out)
{
	size_t at;

	*out = (struct export_place){0};
	if (f->object == FRAME_NOWHERE) {
		return 0;
	}
	if (x->objects[f->object] == 0) {
		TRY(object_row(x, f->object));
	}
	out->object = x->objects[f->object];
	out->offset = f->symbol != NULL ? f->address - f->symbol->start : 0;
	out->start = out->offset == 0;
	TRY(index_room(&x->symbol_index));
	if (f->symbol == NULL && search_symbol(x, f->object, NULL, f->address, &at) != INDEX_NONE) {
		unnamed = f->address;
	}
	return find_symbol(x, f->object, f->symbol, unnamed, &out->symbol);
}

int export_place(struct export *x, const struct timeline_view *view, uint32_t mode, uint64_t ip,
        struct export_place *out)
{
	const struct frame *f = frame_find(&x->frames, view, mode, ip);

	return f != NULL ? place_of(x, f, f->address, out) : SONDE_ENOMEM;
}

static int path_row(struct export *x, uint64_t id, const struct export_path *p)
{
	return export_row(x, EXPORT_PATHS,
	        (struct sonde_export_value[]){EXPORT_NUMBER(id), EXPORT_NUMBER(p->parent),
	                EXPORT_NUMBER(p->symbol), EXPORT_NUMBER(p->ip)});
}

/*
 * The hash of a path is made of that of its parent, not of the parent's id, so that those of all paths
 * of a chain are known before any is found, and cache misses overlap.
 */
static uint32_t path_hash(uint32_t parent_hash, uint64_t symbol, uint64_t ip)
{
	return (uint32_t)hash_step(hash_step(hash_u64(parent_hash), symbol), ip);
}

static uint32_t parent_hash(const struct export *x, uint64_t parent)
{
	uint64_t i = parent - x->bases[EXPORT_PATHS] - 1;

	return i < x->npaths ? x->paths[i].hash : 0; /* the root may be of another recording */
}

static int make_path_room(struct export *x)
{
	size_t old = x->paths_cap;

	if (!array_reserve(&x->paths, &x->paths_cap, x->npaths + 1, sizeof(*x->paths))) {
		return SONDE_ENOMEM;
	}
	if (x->paths_cap != old) {
		array_spread(x->paths, x->paths_cap * sizeof(*x->paths));
	}
	return 0;
}

static int find_path(struct export *x, struct export_path *p, uint64_t *id)
{
	uint32_t hash = path_hash(parent_hash(x, p->parent), p->symbol, p->ip);
	size_t at = hash;
	uint32_t i;

	p->hash = hash;
	TRY(index_room(&x->path_index));
	while ((i = index_next(&x->path_index, hash, &at)) != INDEX_NONE) {
		const struct export_path *known = &x->paths[i];

		if (known->parent == p->parent && known->symbol == p->symbol &&
		        known->ip == p->ip) {
			*id = x->bases[EXPORT_PATHS] + i + 1;
			return 0;
		}
		at++;
	}
	TRY(make_path_room(x));
	x->paths[x->npaths] = *p;
	index_put(&x->path_index, hash, at, (uint32_t)x->npaths++);
	*id = export_id(x, EXPORT_PATHS);
	return path_row(x, *id, p);
}

int export_path(struct export *x, uint64_t parent, uint64_t symbol, uint64_t ip, uint64_t *id)
{
	if (x->bases[EXPORT_PATHS] == 0 && x->npaths == 0) { /* the root, which is EXPORT_ROOT */
		TRY(find_path(x, &(struct export_path){0}, id));
	}
	return find_path(x,
	        &(struct export_path){.parent = parent != 0 ? parent : EXPORT_ROOT,
	                .symbol = symbol,
	                .ip = symbol != 0 ? 0 : ip},
	        id);
}

/* Puts the addresses of a chain into x->chain, leaf first; returns their number or a failure. */
static int read_chain(struct export *x, const struct session_sample *s)
{
	const struct session_event *e = &session_events(x->session)[s->event];
	struct frame_chain chain;
	size_t n = 0;
	uint64_t ip;
	int rc;

	TRY(frame_chain_open(&x->frames, &s->s, s->view, s->cpumode, &e->attr, &chain));
	if (!array_reserve(&x->chain, &x->chain_cap, chain.n + 1, sizeof(*x->chain))) {
		return SONDE_ENOMEM;
	}
	while ((rc = frame_chain_next_of(&chain, CHAIN_MAX, &ip)) > 0) {
		x->chain[n++] = (struct export_entry){.ip = ip, .mode = chain.mode};
	}
	return rc < 0 && rc != SONDE_EFORMAT ? rc : rc < 0 ? 0 : (int)n;
}

/* Loads what the look-ups of n paths, of which each is the parent of the one before, will need. */
static void prefetch_paths(struct export *x, size_t n)
{
	uint32_t hash = parent_hash(x, EXPORT_ROOT);

	for (size_t i = n; i-- > 0;) {
		struct export_entry *e = &x->chain[i];

		hash = path_hash(hash, e->symbol, e->symbol != 0 ? 0 : e->ip);
		e->hash = hash;
		index_prefetch(&x->path_index, hash);
	}
	for (size_t i = n; i-- > 0;) {
		uint32_t guess = index_guess(&x->path_index, x->chain[i].hash);

		if (guess == INDEX_NONE) {
			return;
		}
		__builtin_prefetch(&x->paths[guess]);
	}
}

int export_chain(struct export *x, const struct session_sample *s, uint64_t *path)
{
	int n = read_chain(x, s);

	*path = 0;
	TRY(n);
	for (int i = n; i-- > 0;) {
		struct export_entry *e = &x->chain[i];
		const struct frame *f = frame_find(&x->frames, s->view, e->mode, e->ip);
		struct export_place place;

		TRY(f == NULL ? SONDE_ENOMEM : place_of(x, f, e->ip, &place));
		e->symbol = place.symbol;
	}
	prefetch_paths(x, (size_t)n);
	for (int i = n; i-- > 0;) {
		TRY(export_path(x, *path, x->chain[i].symbol, x->chain[i].ip, path));
	}
	return 0;
}
