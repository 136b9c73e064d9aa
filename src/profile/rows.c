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

struct place { /* an address in an object, and as it was sampled */
	uint64_t ip, address;
	uint32_t object, frame;
};

/*
 * A chain's frames, leaf first, and how they came from its words. Neighbours in time share their
 * callers: what follows a common tail of two chains is taken over instead of being looked up.
 */
struct flow {
	const struct profile_count *count; /* NULL: nothing to take over */
	uint32_t *frames;
	uint32_t *rows; /* of the frames, with children */
	uint32_t *at; /* by word of the chain: frames before it, */
	uint32_t *mode; /* and the cpumode there */
	size_t n; /* frames */
	size_t known; /* frames from here on have their rows already */
	size_t cap; /* of each array */
};

/*
 * Recent look-ups in front of the two large indexes, which do not fit the processor's caches: a few
 * hot frames make most of all chains. Direct-mapped; an entry with frame PROFILE_NONE is free.
 */
#define RECENT 4096u

struct recent_place {
	uint64_t ip;
	uint32_t root, later_root, mode, frame;
};

struct recent_range { /* of an address space: all of it in one mapping */
	struct timeline_range range;
	uint32_t root, mode;
	const struct timeline_mapping *mapping;
};

struct recent_row {
	uint32_t frame, comm, tid, cpu, event, row;
	bool self;
};

struct folder {
	struct recent_place *recent_places; /* [RECENT] */
	struct recent_range *recent_ranges; /* [RECENT] */
	struct recent_row *recent_rows; /* [RECENT] */
	struct profile *p;
	struct index places, frames, rows;
	struct place *place;
	size_t nplaces, places_cap;
	struct flow flow, before; /* of the chain at hand, and of the one before it */
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

/* The mapping of an address, NULL: none. */
static const struct timeline_mapping *place_mapping(
        struct folder *f, const struct profile_count *c, uint32_t mode, uint64_t ip)
{
	uint32_t root = mode == MISC_KERNEL ? c->kernel_root : c->root;
	uint64_t hash = hash_u64(ip >> 12 ^ (uint64_t)root << 40);
	struct recent_range *r = &f->recent_ranges[hash & (RECENT - 1)];
	struct timeline_view view = {
	        .root = c->root, .kernel_root = c->kernel_root, .later_root = c->later_root};

	if (ip < r->range.start || ip >= r->range.end || r->root != root || r->mode != mode) {
		r->mapping = timeline_find_range(
		        session_timeline(f->p->session), &view, mode, ip, &r->range);
		r->root = root;
		r->mode = mode;
	}
	return r->mapping;
}

static int place_resolve(struct folder *f, struct place *new)
{
	struct profile *p = f->p;
	struct profile_frame frame = {
	        .ip = new->ip, .address = new->address, .object = new->object, .dso = p->unknown};

	if (new->object != PROFILE_NONE) {
		enum timeline_object_kind kind =
		        timeline_object(session_timeline(p->session), new->object)->kind;

		frame.dso = p->dso[new->object];
		frame.kernel = kind == TIMELINE_KERNEL || kind == TIMELINE_MODULE;
		frame.symbol =
		        symbol_table_find(session_symbols(p->session, new->object), new->address);
	}
	return frame_add(f, &frame, &new->frame);
}

static int place_index(
        struct folder *f, const struct profile_count *c, uint32_t mode, uint64_t ip, uint32_t *id)
{
	const struct timeline_mapping *m = place_mapping(f, c, mode, ip);
	struct place key = {.ip = ip, .address = ip, .object = PROFILE_NONE};
	uint32_t hash;
	size_t at;

	if (m != NULL) {
		key.object = m->object;
		key.address = timeline_object_address(session_timeline(f->p->session), m, ip);
	}
	hash = (uint32_t)(hash_step(hash_u64(ip), key.address ^ (uint64_t)key.object << 40) >> 32);
	TRY(index_room(&f->places));
	for (at = hash & (f->places.nslots - 1); f->places.slots[at].id != 0;
	        at = (at + 1) & (f->places.nslots - 1)) {
		const struct place *old = &f->place[f->places.slots[at].id - 1];

		if (f->places.slots[at].hash == hash && old->ip == ip &&
		        old->address == key.address && old->object == key.object) {
			*id = old->frame;
			return 0;
		}
	}
	if (!array_reserve(&f->place, &f->places_cap, f->nplaces + 1, sizeof(key))) {
		return SONDE_ENOMEM;
	}
	TRY(place_resolve(f, &key));
	f->place[f->nplaces++] = key;
	f->places.slots[at] = (struct index_slot){hash, (uint32_t)f->nplaces};
	f->places.n++;
	*id = key.frame;
	return 0;
}

static int place_find(
        struct folder *f, const struct profile_count *c, uint32_t mode, uint64_t ip, uint32_t *id)
{
	bool kernel = mode == MISC_KERNEL;
	uint32_t root = kernel ? c->kernel_root : c->root;
	uint32_t later_root = kernel ? 0 : c->later_root;
	struct recent_place *r =
	        &f->recent_places[hash_u64(ip ^ (uint64_t)root << 40) & (RECENT - 1)];

	if (r->ip != ip || r->root != root || r->mode != mode || r->frame == PROFILE_NONE ||
	        r->later_root != later_root) {
		TRY(place_index(f, c, mode, ip, id));
		*r = (struct recent_place){ip, root, later_root, mode, *id};
	}
	*id = r->frame;
	return 0;
}

/* The row of a frame; self: unknown symbols go by their address in the object, callers by the ip.
 */
static int row_index(
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
		key.object =
		        fr->symbol != NULL ? fr->object : PROFILE_NONE; /* perf: by address only */
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

static int row_find(
        struct folder *f, const struct profile_count *c, uint32_t frame, bool self, uint32_t *id)
{
	uint64_t hash = hash_step((uint64_t)frame << 32 | c->comm, (uint64_t)c->tid << 32 | c->cpu);
	struct recent_row *r = &f->recent_rows[hash & (RECENT - 1)];

	if (r->frame != frame || r->comm != c->comm || r->tid != c->tid || r->cpu != c->cpu ||
	        r->event != c->event || r->self != self) {
		TRY(row_index(f, c, frame, self, id));
		*r = (struct recent_row){frame, c->comm, c->tid, c->cpu, c->event, *id, self};
	}
	*id = r->row;
	return 0;
}

static bool flow_reserve(struct flow *w, size_t need)
{
	size_t cap = need * 2;
	uint32_t *p;

	if (need <= w->cap) {
		return true;
	}
	p = malloc(cap * 4 * sizeof(*p));
	if (p == NULL) {
		return false;
	}
	free(w->frames);
	*w = (struct flow){
	        .frames = p, .rows = p + cap, .at = p + cap * 2, .mode = p + cap * 3, .cap = cap};
	return true;
}

/* Words that the ends of two chains of the same thread, name and address space have in common. */
static uint32_t common_tail(
        const struct profile_count *a, const struct profile_count *b, uint32_t max_stack)
{
	uint32_t n = 0;

	if (b == NULL || a->root != b->root || a->later_root != b->later_root ||
	        a->kernel_root != b->kernel_root || a->comm != b->comm || a->tid != b->tid ||
	        a->cpu != b->cpu || a->event != b->event || a->n > max_stack || b->n > max_stack) {
		return 0;
	}
	while (n < a->n && n < b->n && a->chain[a->n - 1 - n] == b->chain[b->n - 1 - n]) {
		n++;
	}
	return n;
}

/* Takes the frames of the last `tail` words over from the chain before, when the mode is the same
 * there. */
static bool take_tail(struct folder *f, uint32_t tail, uint32_t word, uint32_t mode)
{
	const struct flow *old = &f->before;
	struct flow *w = &f->flow;
	uint32_t from = old->count->n - tail;
	uint32_t first = old->at[from];
	size_t n = old->n - first;

	if (old->mode[from] != mode) {
		return false;
	}
	memcpy(w->frames + w->n, old->frames + first, n * sizeof(*w->frames));
	memcpy(w->rows + w->n, old->rows + first, n * sizeof(*w->rows));
	for (uint32_t i = 0; i < tail; i++) {
		w->at[word + i] = old->at[from + i] - first + (uint32_t)w->n;
		w->mode[word + i] = old->mode[from + i];
	}
	w->known = w->n;
	w->n += n;
	return true;
}

/* The mode that a context mark switches to; MISC_CPUMODE_MASK: not a mark that we know. */
static uint32_t mark_mode(uint64_t mark)
{
	return mark == CALLCHAIN_KERNEL ? MISC_KERNEL
	       : mark == CALLCHAIN_USER ? MISC_USER
	       : mark == CALLCHAIN_HV   ? MISC_HYPERVISOR
	                                : MISC_CPUMODE_MASK;
}

/* Frames of the chain to f->flow, leaf first. As in perf, an unknown mark voids the whole chain. */
static int chain_resolve(struct folder *f, const struct profile_count *c)
{
	uint32_t left = f->p->options.max_stack;
	uint32_t tail = common_tail(c, f->before.count, left);
	struct flow *w = &f->flow;
	uint32_t mode = c->cpumode;

	w->count = NULL;
	w->n = 0;
	w->known = SIZE_MAX;
	if (!flow_reserve(w, (size_t)c->n + 1)) {
		return SONDE_ENOMEM;
	}
	w->known = SIZE_MAX;
	for (uint32_t i = 0; i < c->n && left > 0; i++) {
		uint64_t ip = c->chain[i];

		if (tail != 0 && c->n - i == tail && take_tail(f, tail, i, mode)) {
			break;
		}
		w->at[i] = (uint32_t)w->n;
		w->mode[i] = mode;
		if (ip >= CALLCHAIN_MARKS) {
			mode = mark_mode(ip);
			if (mode == MISC_CPUMODE_MASK) {
				w->n = 0;
				return 0;
			}
			continue;
		}
		TRY(place_find(f, c, mode, ip, &w->frames[w->n]));
		w->n++;
		left--;
	}
	w->count = c;
	return 0;
}

/* Adds a count to a row; kernel: what the row's level shows when this is its first sample. */
static void row_count(
        struct profile *p, const struct profile_count *c, uint32_t row, bool self, bool kernel)
{
	struct profile_row *r = &p->rows[row];

	if (self) {
		r->samples += c->samples;
		r->period += c->period;
	}
	if (c->time < r->time || (c->time == r->time && c->first_tid < r->first_tid)) {
		r->time = c->time;
		r->first_pid = c->first_pid;
		r->first_tid = c->first_tid;
		r->kernel = kernel;
	}
	if (r->mark != p->nchains) {
		r->children += c->period;
		r->mark = (uint32_t)p->nchains;
	}
}

/*
 * Counts the chain at hand for its callers. The level of a frame where nothing is mapped is that of
 * the frame before it, in the order of the graph, beginning with the sample's own: so does perf.
 */
static int callers_count(struct folder *f, const struct profile_count *c, bool kernel)
{
	struct profile *p = f->p;
	struct flow *w = &f->flow;

	for (size_t k = 0; k < w->n; k++) {
		size_t i = p->options.caller ? w->n - 1 - k : k;
		const struct profile_frame *fr = &p->frames[w->frames[i]];

		if (fr->object != PROFILE_NONE) {
			kernel = fr->kernel;
		}
		if (i < w->known) {
			TRY(row_find(f, c, w->frames[i], false, &w->rows[i]));
		}
		row_count(p, c, w->rows[i], false, kernel);
	}
	return 0;
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
		memcpy(p->chain + p->nchain, f->flow.frames, n * sizeof(*p->chain));
		if (p->options.children) {
			memcpy(p->chain_rows + p->nchain, f->flow.rows, n * sizeof(*p->chain));
		}
	}
	p->nchain += n;
	return 0;
}

static int count_fold(struct folder *f, const struct profile_count *c)
{
	struct profile *p = f->p;
	struct flow spare;
	uint32_t leaf, row;
	size_t n;
	bool kernel;

	p->totals[c->event] += c->period;
	p->samples[c->event] += c->samples;
	TRY(place_find(f, c, c->cpumode, c->ip, &leaf));
	TRY(row_find(f, c, leaf, true, &row));
	p->nchains++; /* marks are chain numbers from 1 */
	kernel = p->frames[leaf].object == PROFILE_NONE ? c->cpumode == MISC_KERNEL
	                                                : p->frames[leaf].kernel;
	row_count(p, c, row, true, kernel);
	if (c->n == 0) {
		return p->options.graph ? chain_keep(f, c, row, 0) : 0;
	}
	TRY(chain_resolve(f, c));
	n = f->flow.n;
	if (p->options.children) {
		TRY(callers_count(f, c, kernel));
	}
	if (p->options.graph) {
		TRY(chain_keep(f, c, row, n));
	}
	spare = f->before;
	f->before = f->flow;
	f->flow = spare;
	return 0;
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

static int recent_make(struct folder *f)
{
	f->recent_places = malloc(RECENT * sizeof(*f->recent_places));
	f->recent_rows = malloc(RECENT * sizeof(*f->recent_rows));
	f->recent_ranges = calloc(RECENT, sizeof(*f->recent_ranges));
	if (f->recent_places == NULL || f->recent_rows == NULL || f->recent_ranges == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < RECENT; i++) {
		f->recent_places[i] = (struct recent_place){.frame = PROFILE_NONE};
		f->recent_rows[i] = (struct recent_row){.frame = PROFILE_NONE};
	}
	return 0;
}

int profile_fold(struct profile *p)
{
	struct folder f = {.p = p};
	int rc = recent_make(&f);

	for (unsigned i = 0; i < p->ntables && rc >= 0; i++) {
		struct profile_table *t = &p->tables[i];

		for (size_t k = 0; k < t->n && rc >= 0; k++) {
			rc = count_fold(&f, &t->counts[k]);
		}
		f.before.count = NULL;
		free(t->counts);
		t->counts = NULL;
		t->n = t->cap = 0;
	}
	free(f.places.slots);
	free(f.frames.slots);
	free(f.rows.slots);
	free(f.place);
	free(f.recent_places);
	free(f.recent_rows);
	free(f.recent_ranges);
	free(f.flow.frames);
	free(f.before.frames);
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
