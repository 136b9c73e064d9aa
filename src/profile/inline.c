/* SPDX-License-Identifier: MIT */
/*
 * Inlined functions as frames of chains. Each address is expanded once, as a leaf or as a caller:
 *
 *	chain:     leaf 0x11be              caller 0x1208
 *	expanded:  mix, twice, leaf         middle, outer        (inlined ones, then the function)
 *
 * Then all chains are written anew. An inlined function is identified by its name and by the
 * function around it, as in perf.
 */
#include "profile/profile.h"

#include "core/array.h"
#include "core/hash.h"
#include "core/text.h"

#include <stdlib.h>

/* Frames of an address: list[first .. first + n); n 0: not expanded yet. */
struct expansion {
	size_t first;
	uint32_t n;
};

struct inliner {
	struct profile *p;
	struct expansion *known; /* two for each frame: as a leaf, as a caller */
	uint32_t *list;
	size_t n, cap;
	struct intern names;
	struct profile_inlined **symbols;
	size_t nsymbols, symbols_cap;
	struct index index; /* of symbols */
	struct text text;
};

/* The symbol of a function that was inlined into that of a frame; NULL: out of memory. */
static const struct symbol *symbol_of(
        struct inliner *x, const struct profile_frame *f, const char *function)
{
	struct profile_inlined *s;
	uint32_t name, id, hash;
	size_t at;

	x->text.n = 0;
	if (frame_function_text(session_frames(x->p->session), function, &x->text) < 0) {
		return NULL;
	}
	text_str(&x->text, PROFILE_INLINED_TEXT);
	name = x->text.failed ? INTERN_NONE : intern_add(&x->names, x->text.p, x->text.n);
	if (name == INTERN_NONE || index_room(&x->index) < 0) {
		return NULL;
	}
	hash = (uint32_t)hash_u64(hash_step((uintptr_t)f->symbol, name));
	for (at = hash; (id = index_next(&x->index, hash, &at)) != INDEX_NONE; at++) {
		s = x->symbols[id];
		if (s->symbol.name == name && s->symbol.start == f->symbol->start &&
		        s->symbol.end == f->symbol->end) {
			return &s->symbol;
		}
	}
	s = arena_zalloc(&x->p->inlined, sizeof(*s));
	if (s == NULL || !array_reserve(&x->symbols, &x->symbols_cap, x->nsymbols + 1,
	                         sizeof(struct profile_inlined *))) {
		return NULL;
	}
	s->symbol = *f->symbol;
	s->symbol.name = name;
	s->symbol.type = PROFILE_INLINED;
	s->name = arena_text(&x->p->inlined, x->text.p, x->text.n);
	index_put(&x->index, hash, at, (uint32_t)x->nsymbols);
	x->symbols[x->nsymbols++] = s;
	return s->name != NULL ? &s->symbol : NULL;
}

static int list_add(struct inliner *x, uint32_t id)
{
	if (!array_reserve(&x->list, &x->cap, x->n + 1, sizeof(*x->list))) {
		return SONDE_ENOMEM;
	}
	x->list[x->n++] = id;
	return 0;
}

/* Adds a frame for place->frames[at], which was found at frame `id`. */
static int frame_add(struct inliner *x, uint32_t id, const struct lines_place *place, unsigned at)
{
	struct profile_counts *c = &x->p->counts;
	struct profile_frame frame = c->frames[id];
	uint32_t new = (uint32_t)c->nframes;

	if (c->nframes >= PROFILE_NONE / 2 - 1 ||
	        !array_reserve(&c->frames, &c->frames_cap, c->nframes + 1, sizeof(frame))) {
		return SONDE_ENOMEM;
	}
	if (at + 1 < place->n) {
		frame.symbol = symbol_of(x, &frame, place->frames[at].function);
		if (frame.symbol == NULL) {
			return SONDE_ENOMEM;
		}
	}
	if (c->sizes != NULL &&
	        !array_reserve(&c->sizes, &c->sizes_cap, c->nframes + 1, sizeof(*c->sizes))) {
		return SONDE_ENOMEM;
	}
	if (c->sizes != NULL) {
		c->sizes[new] = c->sizes[id];
	}
	frame.same = new;
	c->frames[c->nframes++] = frame;
	TRY(profile_source_add(x->p, new, place, at));
	return list_add(x, new);
}

static int expand(struct inliner *x, uint32_t id, bool caller, struct expansion *out)
{
	const struct profile_frame *f = &x->p->counts.frames[id];
	struct frame at = {
	        .ip = f->ip, .address = f->address, .object = f->object, .symbol = f->symbol};
	struct lines_place place;

	out->first = x->n;
	TRY(frame_inlined(session_frames(x->p->session), &at, caller, &place));
	if (place.n > 1) {
		for (unsigned i = 0; i < place.n; i++) {
			TRY(frame_add(x, id, &place, i));
		}
	} else {
		TRY(list_add(x, id));
	}
	out->n = (uint32_t)(x->n - out->first);
	return 0;
}

static bool is_kernel(const struct profile *p, uint32_t frame)
{
	uint32_t object = p->counts.frames[frame].object;

	return object != PROFILE_NONE && profile_is_kernel(p, object);
}

/* Whether the address of entry i of a chain is the one after a call. */
static bool is_caller(
        const struct profile *p, const struct profile_chain *c, const uint32_t *words, uint32_t i)
{
	bool kernel = is_kernel(p, words[i]);

	/* the first entry of user code after the kernel was interrupted, it did not call */
	return i > 0 && kernel == is_kernel(p, words[i - 1]) && (kernel || !c->unwound);
}

/* Finds the frames of each entry of a chain, and adds their number to *n. */
static int chain_expand(struct inliner *x, const struct profile_chain *c, size_t *n)
{
	const uint32_t *words = c->n != 0 ? x->p->counts.words + c->first : NULL;

	for (uint32_t i = 0; i < c->n; i++) {
		bool caller = is_caller(x->p, c, words, i);
		struct expansion *e = &x->known[2 * (size_t)words[i] + caller];

		if (e->n == 0) {
			TRY(expand(x, words[i], caller, e));
		}
		*n += e->n;
	}
	return 0;
}

/* Writes the frames of a chain, in the order of its entries. */
static void chain_write(
        const struct inliner *x, struct profile_chain *c, uint32_t *to, size_t first)
{
	const uint32_t *words = c->n != 0 ? x->p->counts.words + c->first : NULL;
	size_t n = 0;

	for (uint32_t i = 0; i < c->n && x->list != NULL; i++) {
		bool caller = is_caller(x->p, c, words, i);
		const struct expansion *e = &x->known[2 * (size_t)words[i] + caller];

		for (uint32_t k = 0; k < e->n; k++) {
			to[first + n++] = x->list[e->first + k];
		}
	}
	c->first = first;
	c->n = (uint32_t)n;
}

static int chains_expand(struct inliner *x)
{
	struct profile_counts *c = &x->p->counts;
	size_t n = 0, first = 0;
	uint32_t *words;

	x->known = calloc(c->nframes + 1, 2 * sizeof(*x->known));
	if (x->known == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < c->nchains; i++) {
		TRY(chain_expand(x, &c->chains[i], &n));
	}
	words = malloc((n + 1) * sizeof(*words));
	if (words == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < c->nchains; i++) {
		chain_write(x, &c->chains[i], words, first);
		first += c->chains[i].n;
	}
	free(c->words);
	c->words = words;
	c->nwords = n;
	c->words_cap = n + 1;
	return 0;
}

int profile_inline(struct profile *p)
{
	struct inliner x = {.p = p};
	int rc = chains_expand(&x);

	free(x.known);
	free(x.list);
	free(x.symbols);
	intern_fini(&x.names);
	index_fini(&x.index);
	text_fini(&x.text);
	return rc;
}
