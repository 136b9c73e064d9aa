/* SPDX-License-Identifier: MIT */
/* First pass, on all workers: counts samples by distinct chain of frames. */
#include "profile/worker.h"

#include "abi/abi.h"
#include "core/array.h"
#include "core/hash.h"
#include "core/pool.h"
#include "field/branch.h"

#include <stdlib.h>

#define RECENT_MORE  8u /* slots per hash after the cache of samples grew */
#define BLOCK_MAX    (64u << 10) /* bytes of code without a branch: far above all real blocks */
#define FORGET_AFTER 16u /* chunks */
#define WEIGHT_PARTS (~UINT64_C(0) << 32) /* of a weight with parts: all but its first one */

/* Whether samples need the frames of their addresses, whatever the keys are. */
static bool needs_code(const struct profile *p)
{
	const struct profile_options *o = &p->options;

	return profile_needs_chains(p) || o->branches || o->keys.nlocated != 0 ||
	       o->pick->dsos != NULL || o->pick->by_symbol || o->symbol_part != NULL ||
	       o->hide_unresolved || profile_by_place(o);
}

/* Returns the number of keys that are those of frames. */
static unsigned frame_keys(const struct profile *p)
{
	unsigned n = 0;

	for (unsigned id = 0; id < FIELD_COUNT; id++) {
		n += p->options.keys.chosen[id] && field_at(id)->words == 0;
	}
	return n;
}

/* Returns the first of the w->nslots cache slots of a sample. */
static size_t recent_slot(const struct profile_worker *w, uint64_t hash)
{
	return (hash & (PROFILE_RECENT - 1)) * w->nslots;
}

static uint32_t recent_tag(uint64_t hash)
{
	return (uint32_t)(hash >> 32) | 1;
}

/* Replaces the oldest one of the slots. */
static void recent_put(struct profile_worker *w, const struct recent_sample *key)
{
	uint8_t *next = &w->next[key->hash & (PROFILE_RECENT - 1)];
	size_t slot = recent_slot(w, key->hash) + *next;

	w->samples[slot] = *key;
	w->tags[slot] = recent_tag(key->hash);
	*next = (uint8_t)((*next + 1u) % w->nslots);
}

/* Makes the cache of samples larger if over three quarters of its misses have known chains. */
static void recent_grow(struct profile_worker *w)
{
	struct recent_sample *old = w->samples, *samples = NULL;
	uint32_t *tags = NULL;

	if (w->looked_up < PROFILE_RECENT / 4 || w->nslots != 1) {
		return;
	}
	if (w->forgotten > w->looked_up / 4 * 3) {
		samples = calloc((size_t)PROFILE_RECENT * RECENT_MORE, sizeof(*samples));
		tags = calloc((size_t)PROFILE_RECENT * RECENT_MORE, sizeof(*tags));
	}
	if (samples != NULL && tags != NULL) { /* else the small cache stays in use */
		free(w->tags);
		w->samples = samples;
		w->tags = tags;
		w->nslots = RECENT_MORE;
		for (size_t i = 0; i < PROFILE_RECENT; i++) {
			if (old[i].id != 0) {
				recent_put(w, &old[i]);
			}
		}
		free(old);
	} else {
		free(samples);
		free(tags);
	}
	w->looked_up = w->forgotten = 0;
}

/* Counts the waiting samples. */
static int waiting_count(struct profile *p, struct profile_worker *w)
{
	size_t known = w->counts.nchains;

	TRY(profile_words_resolve(p, w));
	for (size_t i = 0; i < w->nwaiting; i++) {
		const struct waiting_sample *s = &w->waiting[i];

		__builtin_prefetch(&w->counts.frames[w->frames[s->first]].object);
		__builtin_prefetch(&w->samples[recent_slot(w, s->key.hash)], 1);
	}
	for (size_t i = 0; i < w->nwaiting; i++) {
		struct waiting_sample *s = &w->waiting[i];
		struct profile_chain *c = &s->chain;
		uint32_t object;

		if (p->options.hide_unresolved) {
			profile_unresolved_hide(w, s);
		}
		if (p->options.ignore_callees != NULL) {
			TRY(profile_callees_ignore(p, w, s));
		}
		c->leaf = w->frames[s->first];
		object = w->counts.frames[c->leaf].object;
		c->kernel = object == PROFILE_NONE || p->options.branches
		                    ? s->key.cpumode == MISC_KERNEL
		                    : profile_is_kernel(p, object);
		c->hash = profile_chain_hash(c, w->frames + s->first + 1);
		index_prefetch(&w->counts.known, c->hash);
	}
	for (size_t i = 0; i < w->nwaiting; i++) {
		uint32_t id = index_guess(&w->counts.known, w->waiting[i].chain.hash);

		__builtin_prefetch(id != INDEX_NONE ? (void *)&w->counts.chains[id] : w);
	}
	for (size_t i = 0; i < w->nwaiting; i++) {
		struct waiting_sample *s = &w->waiting[i];

		if (s->dropped) {
			continue;
		}
		TRY(profile_chain_add(&w->counts, &s->chain, w->frames + s->first + 1,
		        w->hops != NULL ? w->hops + s->first + 1 : NULL, &s->key.id));
		if (s->stays) {
			s->key.id++;
			recent_put(w, &s->key);
		}
	}
	w->looked_up += w->nwaiting;
	w->forgotten += w->nwaiting - (w->counts.nchains - known);
	w->nwaiting = 0;
	w->nwords = 0;
	if (profile_needs_chains(p)) { /* without chains, look-ups cost less than a larger cache */
		recent_grow(w);
	}
	return 0;
}

/*
 * Makes the cache key of a sample; false: its words are in a buffer that is reused, as all samples that
 * are made of traces.
 */
static bool recent_key(const struct profile_worker *w, const struct session_sample *s,
        const struct frame_chain *chain, uint32_t who, struct recent_sample *out)
{
	const struct record_scratch *scratch = &w->worker.scratch;
	const uint64_t *words = chain->words;
	uint64_t h = hash_step(s->s.ip, (uint64_t)who << 32 | s->view->root);

	*out = (struct recent_sample){.ip = s->s.ip,
	        .root = s->view->root,
	        .kernel_root = s->view->kernel_root,
	        .later_root = s->view->later_root,
	        .who = who,
	        .cpumode = s->cpumode};
	if (chain->n != 0) {
		if (s->extra != NULL || words == w->frames_of.joined ||
		        (scratch->words != NULL && words >= scratch->words &&
		                words < scratch->words + scratch->cap)) {
			return false;
		}
		out->chain = words;
		out->n = (uint32_t)chain->n;
	}
	for (uint32_t i = 0; i < out->n; i++) {
		h = hash_step(h, out->chain[i]);
	}
	out->hash = hash_u64(h);
	return true;
}

static bool recent_same(const struct recent_sample *a, const struct recent_sample *b)
{
	return a->hash == b->hash && a->ip == b->ip && a->n == b->n && a->who == b->who &&
	       a->root == b->root && a->kernel_root == b->kernel_root &&
	       a->later_root == b->later_root && a->cpumode == b->cpumode && a->id != 0 &&
	       (a->n == 0 || memcmp(a->chain, b->chain, a->n * sizeof(*a->chain)) == 0);
}

static uint64_t sample_period(const struct profile *p, const struct session_sample *s)
{
	uint64_t weight;

	if (!p->options.by_weight) {
		return s->s.period;
	}
	weight = field_at(FIELD_WEIGHT)->get(&p->source, s);
	return weight != 0 ? weight : 1;
}

/* Counts a sample of which only the owner is needed: its chain has a frame without a location. */
static int owner_count(struct profile *p, struct profile_worker *w, struct recent_owner *r,
        struct profile_chain *c, uint32_t cpumode)
{
	uint32_t *id;

	c->kernel = cpumode == MISC_KERNEL;
	id = &r->chains[c->kernel];
	if (*id != 0) {
		profile_chain_count(&w->counts.chains[*id - 1], c);
		return 0;
	}
	TRY(profile_frame_add(
	        p, &w->counts, (struct profile_frame){.object = PROFILE_NONE}, 0, &c->leaf));
	c->hash = profile_chain_hash(c, NULL);
	TRY(profile_chain_add(&w->counts, c, NULL, NULL, id));
	++*id;
	return 0;
}

/* Counts a sample whose frame is its object. */
static int object_count(struct profile *p, struct profile_worker *w, const struct session_sample *s,
        struct profile_chain *c)
{
	struct frame at = frame_locate(&w->frames_of, s->view, s->cpumode, s->s.ip);
	struct profile_frame frame = {.object = at.object};
	struct recent_object *r;
	uint32_t id;

	c->address = at.address;
	c->kernel = at.object == PROFILE_NONE ? s->cpumode == MISC_KERNEL
	                                      : profile_is_kernel(p, at.object);
	r = &w->objects[hash_u64((uint64_t)c->who << 32 | at.object) % PROFILE_RECENT_OBJECTS];
	if (r->who == c->who && r->object == at.object && r->kernel == c->kernel && r->chain != 0) {
		profile_chain_count(&w->counts.chains[r->chain - 1], c);
		return 0;
	}
	TRY(profile_frame_add(p, &w->counts, frame, 0, &c->leaf));
	c->hash = profile_chain_hash(c, NULL);
	TRY(profile_chain_add(&w->counts, c, NULL, NULL, &id));
	*r = (struct recent_object){c->who, at.object, id + 1, c->kernel};
	return 0;
}

static int sample_count(struct profile *p, struct profile_worker *w, const struct session_sample *s)
{
	struct waiting_sample *new = &w->waiting[w->nwaiting];
	struct profile_chain *c = &new->chain;
	struct frame_chain chain = {0};
	struct recent_owner *owner = profile_thread_owner(w, s);
	size_t slot;

	*c = (struct profile_chain){.samples = 1, .period = sample_period(p, s), .time = s->s.time};
	if (!w->by_thread || !profile_thread_owns(owner, s)) {
		TRY(profile_owner_find(p, w, s, &owner));
	}
	c->who = owner->id - 1;
	c->first_pid = s->view->pid;
	c->first_comm = s->view->last_comm;
	c->first_tid = s->view->tid;
	if (w->without_frames) {
		return owner_count(p, w, owner, c, s->cpumode);
	}
	if (p->by_object) {
		return object_count(p, w, s, c);
	}
	if (profile_needs_chains(p)) {
		const struct sonde_attr *attr = &session_events(p->session)[s->event].attr;

		TRY(frame_chain_open(&w->frames_of, &s->s, s->view, s->cpumode, attr, &chain));
		c->unwound = chain.unwound != 0;
	}
	new->stays = recent_key(w, s, &chain, c->who, &new->key) && !p->options.history &&
	             !p->options.reference_chains;
	slot = recent_slot(w, new->key.hash);
	for (size_t end = slot + w->nslots; slot < end && new->stays; slot++) {
		if (w->tags[slot] == recent_tag(new->key.hash) &&
		        recent_same(&w->samples[slot], &new->key)) {
			profile_chain_count(&w->counts.chains[w->samples[slot].id - 1], c);
			return 0;
		}
	}
	new->first = w->nwords;
	TRY(profile_words_add(p, w, s, &chain, &c->n));
	if (p->options.reference_chains) {
		TRY(profile_reference_add(p, w, s, new));
	}
	return ++w->nwaiting == PROFILE_BATCH ? waiting_count(p, w) : 0;
}

static bool socket_takes(const struct profile *p, const struct session_sample *s)
{
	uint64_t socket = field_at(FIELD_SOCKET)->get(&p->source, s);

	return socket == p->options.socket - 1;
}

/*
 * Fills in the first two words of the block before the i-th branch: its last instruction, that of
 * the branch, and its first one, the target of the branch before. Leaves them 0 if these are not in
 * one function, or if the cycles of the block were not recorded.
 */
static int block_find(
        struct profile_worker *w, const struct session_sample *s, uint64_t i, uint64_t *block)
{
	struct branch_entry last = branch_at(s, i), before;
	const struct frame *at;
	struct frame first;
	uint32_t mode;

	if (last.cycles == 0 || i + 1 == s->s.branch_len) {
		return 0;
	}
	before = branch_at(s, i + 1);
	if (before.to > last.from || last.from - before.to > BLOCK_MAX) {
		return 0;
	}
	mode = frame_mode_of(&w->frames_of, s->view, MISC_USER, before.to);
	at = frame_find(&w->frames_of, s->view, mode, before.to);
	if (at == NULL) {
		return SONDE_ENOMEM;
	}
	first = *at;
	at = frame_find(&w->frames_of, s->view, mode, last.from);
	if (at == NULL) {
		return SONDE_ENOMEM;
	}
	if (first.mapping != NULL && first.object == at->object && first.symbol == at->symbol) {
		block[0] = last.from;
		block[1] = before.to;
	}
	return 0;
}

/* Whether code has a symbol: 1, 0, or SONDE_ENOMEM. */
static int code_named(
        struct profile_worker *w, const struct session_sample *s, uint32_t mode, uint64_t ip)
{
	const struct frame *f = frame_find(&w->frames_of, s->view, mode, ip);

	return f != NULL ? f->symbol != NULL : SONDE_ENOMEM;
}

/* Whether options.hide_unresolved keeps a branch: both of its ends have a symbol. */
static int branch_named(
        struct profile_worker *w, const struct session_sample *s, const struct branch_entry *b)
{
	uint32_t mode = frame_mode_of(&w->frames_of, s->view, MISC_USER, b->from);
	int named = code_named(w, s, mode, b->from);

	if (named <= 0) {
		return named;
	}
	mode = frame_mode_of(&w->frames_of, s->view, MISC_USER, b->to);
	return code_named(w, s, mode, b->to);
}

/*
 * Counts each branch of a sample. As in perf, filters select samples by their own location, and
 * options.hide_unresolved hides all branches of a sample in code without a symbol. Their weight is the
 * number of cycles of the sample's newest branch, at least 1.
 */
static int branches_count(
        struct profile *p, struct profile_worker *w, const struct session_sample *s)
{
	int wanted = pick_wanted(p->options.pick, &w->frames_of, s);
	bool hide = p->options.hide_unresolved;
	uint64_t weight = s->s.branch_len != 0 ? branch_at(s, 0).cycles : 0;
	uint64_t parts =
	        (s->s.present & SONDE_SAMPLE_WEIGHT_STRUCT) != 0 ? s->s.weight & WEIGHT_PARTS : 0;
	int named;

	if (wanted < 0) {
		return wanted;
	}
	w->hides = wanted == 0;
	if (hide && (named = code_named(w, s, s->cpumode, s->s.ip)) <= 0) {
		return named;
	}
	for (uint64_t i = 0; i < s->s.branch_len; i++) {
		struct branch_entry b = branch_at(s, i);
		uint64_t block[BRANCH_WORDS] = {0};
		struct session_sample alone = *s;

		if (hide && (named = branch_named(w, s, &b)) <= 0) {
			TRY(named);
			continue;
		}
		alone.s.branches += i * BRANCH_WORDS;
		alone.s.branch_len = 1;
		alone.s.ip = b.to;
		alone.s.period = 1;
		alone.s.weight = parts | (weight != 0 ? weight : 1);
		profile_branch_count(&w->branches, &b);
		if (p->options.blocks) {
			TRY(block_find(w, s, i, block));
			alone.s.branches = block;
			alone.s.ip = block[1];
			alone.s.period = block[1] != 0 ? b.cycles : 0;
		}
		TRY(sample_count(p, w, &alone));
	}
	return 0;
}

/* Whether chains depend on earlier samples, so that one worker reads all in order of time. */
static bool is_ordered(const struct profile *p)
{
	return session_frames(p->session)->options.stitch_slots != 0 || p->options.reference_chains;
}

static int collect_chunk(void *arg, unsigned worker, size_t chunk)
{
	struct profile *p = arg;
	struct profile_worker *w = &p->workers[worker];
	uint32_t one = p->options.one_event;
	struct session_sample s;
	int rc;

	if (chunk % FORGET_AFTER == 0) { /* the pages of a whole file would be half of the memory */
		session_forget(p->session);
	}
	if (is_ordered(p)) {
		TRY(session_window_open(&w->worker, chunk));
	} else {
		session_chunk_open(&w->worker, chunk);
	}
	while ((rc = session_worker_next(&w->worker, &s)) > 0) {
		if (pick_takes(p->options.pick, s.s.cpu, s.s.time) &&
		        (one == 0 || s.event == one - 1) &&
		        (p->options.socket == 0 || socket_takes(p, &s)) &&
		        (p->switches == NULL || profile_switches_take(p->switches, &s))) {
			TRY(p->options.branches ? branches_count(p, w, &s)
			                        : sample_count(p, w, &s));
		}
	}
	return rc < 0 ? rc : waiting_count(p, w);
}

static int worker_init(struct profile_worker *w, struct profile *p)
{
	struct sonde_session *s = p->session;

	session_worker_init(&w->worker, s);
	w->source = p->source;
	w->by_thread = profile_owners_by_thread(p);
	w->without_frames = !needs_code(p) && frame_keys(p) == 0;
	w->nslots = 1;
	w->samples = calloc(PROFILE_RECENT, sizeof(*w->samples));
	w->tags = calloc(PROFILE_RECENT, sizeof(*w->tags));
	if (w->samples == NULL || w->tags == NULL) {
		return SONDE_ENOMEM;
	}
	TRY(frame_reader_init(&w->frames_of, session_frames(s)));
	if (!p->options.keys.texts) {
		return 0;
	}
	w->source.texts = &w->texts;
	return field_texts_init(&w->texts, &p->traces, &p->trace_keys, s, &w->frames_of);
}

/* Replaces the number of a text of a worker by that in the texts of the first one. */
static int text_join(struct profile *p, const struct field_texts *from, uint32_t *word)
{
	const char *text = intern_text(&from->texts, *word);

	*word = intern_add(&p->workers[0].texts.texts, text, strlen(text));
	return *word != INTERN_NONE ? 0 : SONDE_ENOMEM;
}

/* Makes all workers' keys refer to the texts of the first one. */
static int texts_join(struct profile *p)
{
	const struct field_key_choice *keys = &p->options.keys;

	for (unsigned i = 1; i < p->nworkers && keys->texts; i++) {
		struct profile_worker *w = &p->workers[i];

		for (unsigned k = 0; k < keys->ngot; k++) {
			bool of_texts = (field_at(keys->got[k])->style & FIELD_OF_TEXTS) != 0;
			size_t at = keys->at[keys->got[k]];

			for (size_t n = 0; n < w->counts.nkeys && of_texts; n++) {
				TRY(text_join(p, &w->texts, &w->counts.keys[n * keys->words + at]));
			}
		}
	}
	return 0;
}

static int workers_join(struct profile *p)
{
	struct profile_counts **counts = malloc(p->nworkers * sizeof(struct profile_counts *));
	int rc = SONDE_ENOMEM;

	for (unsigned i = 0; i < p->nworkers && counts != NULL; i++) {
		counts[i] = &p->workers[i].counts;
		profile_branches_add(&p->branches, &p->workers[i].branches);
	}
	if (counts != NULL && texts_join(p) >= 0) {
		rc = profile_counts_join(p, counts, p->nworkers);
	}
	free(counts);
	return rc;
}

int profile_collect(struct profile *p)
{
	unsigned jobs = session_jobs(p->session);

	p->workers = calloc(jobs, sizeof(*p->workers));
	if (p->workers == NULL) {
		return SONDE_ENOMEM;
	}
	p->nworkers = jobs;
	p->by_object = p->options.keys.chosen[FIELD_DSO] && frame_keys(p) == 1 && !needs_code(p);
	if (p->options.switch_on != NULL || p->options.switch_off != NULL) {
		TRY(profile_switches_make(p));
	}
	for (unsigned i = 0; i < jobs; i++) {
		TRY(worker_init(&p->workers[i], p));
	}
	TRY(pool_run(jobs, is_ordered(p) ? session_windows(p->session) : session_chunks(p->session),
	        collect_chunk, p));
	session_forget(p->session);
	TRY(workers_join(p));
	p->counts = p->workers[0].counts;
	p->texts.texts = p->workers[0].texts.texts;
	p->workers[0].texts.texts = (struct intern){0};
	p->workers[0].counts = (struct profile_counts){0};
	profile_counts_drop_indexes(&p->counts);
	profile_counts_fit(&p->counts);
	profile_workers_free(p);
	return 0;
}

void profile_workers_free(struct profile *p)
{
	for (unsigned i = 0; i < p->nworkers; i++) {
		session_worker_fini(&p->workers[i].worker);
		field_texts_fini(&p->workers[i].texts);
		frame_reader_fini(&p->workers[i].frames_of);
		profile_counts_fini(&p->workers[i].counts);
		free(p->workers[i].samples);
		free(p->workers[i].tags);
		free(p->workers[i].words);
		free(p->workers[i].reference);
		free(p->workers[i].frames);
		free(p->workers[i].hops);
		free(p->workers[i].ignored);
	}
	free(p->workers);
	p->workers = NULL;
	p->nworkers = 0;
}
