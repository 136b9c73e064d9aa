/* SPDX-License-Identifier: MIT */
/* Second pass: each distinct chain is resolved once and folded into rows. */
#include "profile/profile.h"

#include "abi/abi.h"
#include "core/array.h"
#include "core/hash.h"
#include "symbol/symbol.h"

#include <stdio.h>
#include <stdlib.h>

/* An open-addressing index over numbered things; hashes are kept so that growing needs no keys. */
struct index {
	struct index_slot {
		uint32_t hash, id; /* id + 1; 0: free */
	} * slots;
	size_t nslots, n;
};

struct place { /* an address in an address space */
	uint64_t ip;
	uint32_t root, later_root;
	uint32_t frame;
	bool kernel;
};

struct folder {
	struct profile *p;
	struct index places, frames, rows;
	struct place *place;
	size_t nplaces, places_cap;
	uint32_t *flow; /* of the chain at hand, leaf first */
	size_t flow_cap;
	uint32_t *flow_rows; /* their rows */
	size_t flow_rows_cap;
};

static int index_grow(struct index *x)
{
	size_t n = x->nslots == 0 ? 1024 : x->nslots * 2;
	struct index_slot *slots = calloc(n, sizeof(*slots));

	if (slots == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < x->nslots; i++) {
		size_t at = x->slots[i].hash & (n - 1);

		if (x->slots[i].id == 0) {
			continue;
		}
		while (slots[at].id != 0) {
			at = (at + 1) & (n - 1);
		}
		slots[at] = x->slots[i];
	}
	free(x->slots);
	x->slots = slots;
	x->nslots = n;
	return 0;
}

static int index_room(struct index *x)
{
	return x->n * 2 >= x->nslots ? index_grow(x) : 0;
}

static int frame_add(struct folder *f, const struct profile_frame *new, uint32_t *id)
{
	struct profile *p = f->p;
	uint64_t h = hash_step((uintptr_t) new->symbol, new->object);
	uint32_t hash = (uint32_t)(hash_u64(new->symbol ? h : hash_step(h, new->ip)) >> 32);
	size_t at;

	TRY(index_room(&f->frames));
	for (at = hash & (f->frames.nslots - 1); f->frames.slots[at].id != 0;
	        at = (at + 1) & (f->frames.nslots - 1)) {
		const struct profile_frame *old = &p->frames[f->frames.slots[at].id - 1];

		if (f->frames.slots[at].hash == hash && old->symbol == new->symbol &&
		        old->object == new->object &&
		        (new->symbol != NULL ||
		                (old->ip == new->ip && old->address == new->address))) {
			*id = f->frames.slots[at].id - 1;
			return 0;
		}
	}
	if (!array_reserve(&p->frames, &p->frames_cap, p->nframes + 1, sizeof(*new))) {
		return SONDE_ENOMEM;
	}
	p->frames[p->nframes++] = *new;
	f->frames.slots[at] = (struct index_slot){hash, (uint32_t)p->nframes};
	f->frames.n++;
	*id = (uint32_t)p->nframes - 1;
	return 0;
}

static int place_resolve(
        struct folder *f, const struct profile_count *c, uint32_t mode, uint64_t ip, uint32_t *id)
{
	struct profile *p = f->p;
	const struct timeline *t = session_timeline(p->session);
	struct timeline_view view = {
	        .root = c->root, .kernel_root = c->kernel_root, .later_root = c->later_root};
	struct profile_frame frame = {
	        .ip = ip, .address = ip, .object = PROFILE_NONE, .dso = p->unknown};
	const struct timeline_mapping *m = timeline_find(t, &view, mode, ip);

	if (m != NULL) {
		enum timeline_object_kind kind = timeline_object(t, m->object)->kind;

		frame.object = m->object;
		frame.dso = p->dso[m->object];
		frame.kernel = kind == TIMELINE_KERNEL || kind == TIMELINE_MODULE;
		frame.address = timeline_object_address(t, m, ip);
		frame.symbol =
		        symbol_table_find(session_symbols(p->session, m->object), frame.address);
	}
	return frame_add(f, &frame, id);
}

static int place_find(
        struct folder *f, const struct profile_count *c, uint32_t mode, uint64_t ip, uint32_t *id)
{
	bool kernel = mode == MISC_KERNEL;
	struct place key = {.ip = ip, .root = kernel ? c->kernel_root : c->root, .kernel = kernel};
	uint32_t hash;
	size_t at;

	key.later_root = kernel ? 0 : c->later_root;
	hash = (uint32_t)(hash_u64(hash_step(
	                          ip ^ mode, (uint64_t)key.root << 32 | key.later_root)) >>
	                  32);
	TRY(index_room(&f->places));
	for (at = hash & (f->places.nslots - 1); f->places.slots[at].id != 0;
	        at = (at + 1) & (f->places.nslots - 1)) {
		const struct place *old = &f->place[f->places.slots[at].id - 1];

		if (f->places.slots[at].hash == hash && old->ip == ip && old->root == key.root &&
		        old->later_root == key.later_root && old->kernel == kernel) {
			*id = old->frame;
			return 0;
		}
	}
	if (!array_reserve(&f->place, &f->places_cap, f->nplaces + 1, sizeof(key))) {
		return SONDE_ENOMEM;
	}
	TRY(place_resolve(f, c, mode, ip, &key.frame));
	f->place[f->nplaces++] = key;
	f->places.slots[at] = (struct index_slot){hash, (uint32_t)f->nplaces};
	f->places.n++;
	*id = key.frame;
	return 0;
}

/* The row of a frame; self: unknown symbols go by their address in the object, callers by the ip.
 */
static int row_find(
        struct folder *f, const struct profile_count *c, uint32_t frame, bool self, uint32_t *id)
{
	struct profile *p = f->p;
	const struct profile_options *o = &p->options;
	const struct profile_frame *fr = &p->frames[frame];
	struct profile_row key = {.event = c->event, .object = PROFILE_NONE};
	uint32_t hash;
	uint64_t h;
	size_t at;

	key.comm = o->key[PROFILE_COMM] ? c->comm : 0;
	key.pid = c->pid;
	key.tid = c->tid;
	key.cpu = c->cpu;
	key.dso = o->key[PROFILE_DSO] ? fr->dso : 0;
	if (o->key[PROFILE_SYM]) {
		key.object = fr->object;
		key.symbol = fr->symbol;
		key.address = fr->symbol != NULL ? 0 : self ? fr->address : fr->ip;
	}
	h = hash_step((uintptr_t)key.symbol ^ key.address, (uint64_t)key.comm << 32 | key.dso);
	h = hash_step(h, (uint64_t)key.tid << 32 | key.cpu);
	hash = (uint32_t)(hash_u64(hash_step(h, (uint64_t)key.event << 32 | key.object)) >> 32);
	TRY(index_room(&f->rows));
	for (at = hash & (f->rows.nslots - 1); f->rows.slots[at].id != 0;
	        at = (at + 1) & (f->rows.nslots - 1)) {
		const struct profile_row *r = &p->rows[f->rows.slots[at].id - 1];

		if (f->rows.slots[at].hash == hash && r->symbol == key.symbol &&
		        r->address == key.address && r->comm == key.comm && r->dso == key.dso &&
		        r->tid == key.tid && r->cpu == key.cpu && r->event == key.event &&
		        r->object == key.object) {
			*id = f->rows.slots[at].id - 1;
			return 0;
		}
	}
	if (!array_reserve(&p->rows, &p->rows_cap, p->nrows + 1, sizeof(key))) {
		return SONDE_ENOMEM;
	}
	key.time = UINT64_MAX;
	key.first_tid = UINT32_MAX;
	p->rows[p->nrows++] = key;
	f->rows.slots[at] = (struct index_slot){hash, (uint32_t)p->nrows};
	f->rows.n++;
	*id = (uint32_t)p->nrows - 1;
	return 0;
}

/* Frames of the chain at hand to f->flow, leaf first; *n is their number. */
static int chain_resolve(struct folder *f, const struct profile_count *c, size_t *n)
{
	uint32_t mode = c->cpumode;
	uint32_t left = f->p->options.max_stack;

	*n = 0;
	if (!array_reserve(&f->flow, &f->flow_cap, (size_t)c->n + 1, sizeof(*f->flow)) ||
	        !array_reserve(&f->flow_rows, &f->flow_rows_cap, (size_t)c->n + 1,
	                sizeof(*f->flow_rows))) {
		return SONDE_ENOMEM;
	}
	for (uint32_t i = 0; i < c->n && left > 0; i++) {
		uint64_t ip = c->chain[i];

		if (ip >= CALLCHAIN_MARKS) {
			mode = ip == CALLCHAIN_KERNEL ? MISC_KERNEL
			       : ip == CALLCHAIN_USER ? MISC_USER
			       : ip == CALLCHAIN_HV   ? MISC_HYPERVISOR
			                              : mode;
			continue;
		}
		TRY(place_find(f, c, mode, ip, &f->flow[*n]));
		++*n;
		left--;
	}
	return 0;
}

static void row_count(
        struct profile *p, const struct profile_count *c, uint32_t row, bool self, uint32_t frame)
{
	struct profile_row *r = &p->rows[row];
	const struct profile_frame *fr = &p->frames[frame];

	if (self) {
		r->samples += c->samples;
		r->period += c->period;
	}
	if (c->time < r->time || (c->time == r->time && c->first_tid < r->first_tid)) {
		r->time = c->time;
		r->first_pid = c->first_pid;
		r->first_tid = c->first_tid;
		r->kernel = fr->object == PROFILE_NONE ? c->cpumode == MISC_KERNEL : fr->kernel;
	}
	if (r->mark != p->nchains) {
		r->children += c->period;
		r->mark = (uint32_t)p->nchains;
	}
}

static int chain_keep(struct folder *f, const struct profile_count *c, uint32_t row, size_t n)
{
	struct profile *p = f->p;
	struct profile_chain chain = {.first = p->nchain, .samples = c->samples, .row = row};

	chain.period = c->period;
	chain.n = (uint32_t)n;
	if (!array_reserve(&p->chains, &p->chains_cap, p->nchains + 1, sizeof(chain)) ||
	        !array_reserve(&p->chain, &p->chain_cap, p->nchain + n, sizeof(*p->chain))) {
		return SONDE_ENOMEM;
	}
	if (p->options.children && !array_reserve(&p->chain_rows, &p->chain_rows_cap, p->nchain + n,
	                                   sizeof(*p->chain_rows))) {
		return SONDE_ENOMEM;
	}
	p->chains[p->nchains - 1] = chain;
	if (n != 0) {
		memcpy(p->chain + p->nchain, f->flow, n * sizeof(*p->chain));
		if (p->options.children) {
			memcpy(p->chain_rows + p->nchain, f->flow_rows, n * sizeof(*p->chain));
		}
	}
	p->nchain += n;
	return 0;
}

static int count_fold(struct folder *f, const struct profile_count *c)
{
	struct profile *p = f->p;
	uint32_t leaf, row, other;
	size_t n = 0;

	p->totals[c->event] += c->period;
	p->samples[c->event] += c->samples;
	TRY(place_find(f, c, c->cpumode, c->ip, &leaf));
	TRY(row_find(f, c, leaf, true, &row));
	p->nchains++; /* marks are chain numbers from 1 */
	row_count(p, c, row, true, leaf);
	if (c->n == 0) {
		return p->options.graph ? chain_keep(f, c, row, 0) : 0;
	}
	TRY(chain_resolve(f, c, &n));
	for (size_t i = 0; i < n && p->options.children; i++) {
		TRY(row_find(f, c, f->flow[i], false, &other));
		row_count(p, c, other, false, f->flow[i]);
		f->flow_rows[i] = other;
	}
	return p->options.graph ? chain_keep(f, c, row, n) : 0;
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
		const char *name = timeline_text(t, o->name);
		const char *slash = strrchr(name, '/');
		char text[64];

		if (o->kind == TIMELINE_ANON) {
			(void)snprintf(text, sizeof(text), "[JIT] tid %u", o->pid);
			name = text;
		} else if (slash != NULL && slash[1] != 0) {
			name = slash + 1;
		}
		p->dso[i] = intern_add(&p->names, name, strlen(name));
		if (p->dso[i] == INTERN_NONE) {
			return SONDE_ENOMEM;
		}
	}
	p->unknown = intern_add(&p->names, "[unknown]", 9);
	return p->unknown == INTERN_NONE ? SONDE_ENOMEM : 0;
}

int profile_fold(struct profile *p)
{
	struct folder f = {.p = p};
	int rc = 0;

	for (unsigned i = 0; i < p->ntables && rc >= 0; i++) {
		struct profile_table *t = &p->tables[i];

		for (size_t k = 0; k < t->n && rc >= 0; k++) {
			rc = count_fold(&f, &t->counts[k]);
		}
		free(t->counts);
		t->counts = NULL;
		t->n = t->cap = 0;
	}
	free(f.places.slots);
	free(f.frames.slots);
	free(f.rows.slots);
	free(f.place);
	free(f.flow);
	free(f.flow_rows);
	return rc;
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
	if (p->totals == NULL || p->samples == NULL) {
		return SONDE_ENOMEM;
	}
	TRY(names_make(p));
	TRY(profile_collect(p));
	TRY(profile_fold(p));
	return p->options.graph ? profile_graph_prepare(p) : 0;
}

void profile_fini(struct profile *p)
{
	for (unsigned i = 0; i < p->ntables; i++) {
		session_worker_fini(&p->tables[i].worker);
		arena_fini(&p->tables[i].arena);
		free(p->tables[i].counts);
		free(p->tables[i].slots);
	}
	free(p->tables);
	intern_fini(&p->names);
	free(p->dso);
	free(p->totals);
	free(p->samples);
	free(p->frames);
	free(p->chains);
	free(p->chain);
	free(p->chain_rows);
	free(p->rows);
	free(p->refs);
	free(p->spare);
	free(p->sums);
	free(p->buckets);
	free(p->order);
}

const char *profile_symbol(const struct profile *p, uint32_t object, const struct symbol *sym)
{
	return sym == NULL ? NULL : symbol_name(session_symbols(p->session, object), sym);
}
