/* SPDX-License-Identifier: MIT */
/* First pass, on all workers: counts samples by distinct chain of frames. */
#include "profile/profile.h"

#include "abi/abi.h"
#include "core/array.h"
#include "core/hash.h"
#include "core/pool.h"
#include "field/branch.h"

#include <stdlib.h>

/*
 * Caches of recent look-ups, as the indexes do not fit the processor's caches: a few hot frames
 * make up most chains, and a few chains most samples. The cache of addresses is direct-mapped. So
 * is the cache of samples at first; it grows if many evicted chains occur again.
 */
#define RECENT        4096u
#define RECENT_MORE   8u /* slots per hash after the cache of samples grew */
#define RECENT_OWNERS 256u

/*
 * Samples that miss this cache wait until a batch is full, so that misses of the processor's caches
 * overlap.
 */
#define BATCH 32u

#define MAP_IS_SHARED 1u /* MAP_SHARED and PROT_EXEC of mmap(2), as recorded on Linux */
#define PROT_IS_EXEC  4u

#define BLOCK_MAX (64u << 10) /* bytes of code without a branch: far above all real blocks */

struct recent_place {
	uint64_t ip;
	uint32_t root, later_root, mode;
	uint32_t frame; /* + 1; 0: free */
};

/* A sample and its chain, which stays in the input. */
struct recent_sample {
	uint64_t hash, ip;
	const uint64_t *chain;
	uint32_t n; /* words of the chain */
	uint32_t root, kernel_root, later_root, who, cpumode;
	uint32_t id; /* number of its profile_chain, + 1; 0: free */
};

/* An owner of samples. */
struct recent_owner {
	struct profile_who who;
	uint32_t id; /* number of the owner, + 1; 0: free */
	uint32_t pid, tid; /* with `from`, the view of a thread: keys may be those of its samples */
	uint64_t from;
	/* Without frames, the chains of its samples in user and in kernel mode, + 1; 0: none. */
	uint32_t chains[2];
};

struct waiting_word {
	struct recent_place place; /* frame 0: must be looked up by address */
	uint64_t address;
	uint64_t size; /* bytes of the mapping; 0: none */
	uint32_t object, hash;
};

struct waiting_sample {
	struct profile_chain chain;
	struct recent_sample key;
	size_t first; /* index in the waiting words: of the leaf, which the chain follows */
	bool stays; /* the words of the key remain valid, so the sample can be cached */
	bool dropped; /* by options.hide_unresolved */
};

struct profile_worker {
	struct session_worker worker;
	struct frame_reader frames_of; /* addresses to objects */
	struct field_source source; /* the profile's, with this worker's texts */
	struct field_texts texts;
	struct profile_counts counts;
	struct recent_place places[RECENT];
	struct recent_sample *samples;
	uint32_t
	        *tags; /* of hashes, by slot of samples, so that most slots are not read; 0: free */
	uint8_t next[RECENT]; /* which slot of a hash is replaced next */
	size_t nslots; /* per hash of a sample */
	size_t forgotten; /* misses whose chain was counted before, since the last check */
	size_t looked_up; /* misses since the last check */
	struct recent_owner owners[RECENT_OWNERS];
	bool by_thread; /* all samples of a thread's view and an event have one owner */
	bool without_frames; /* no sample needs its frame: chains have only their owners */
	struct profile_branches branches;
	bool hides; /* the filters hide the sample whose branches are counted */
	struct waiting_sample waiting[BATCH];
	size_t nwaiting;
	struct waiting_word *words;
	size_t nwords, words_cap;
	uint32_t *frames; /* of the waiting words */
	size_t frames_cap;
	struct profile_hop *hops; /* of the waiting words; NULL without options.history */
	size_t hops_cap;
	uint8_t *ignored; /* enum ignored, by frame; NULL without options.ignore_callees */
	size_t ignored_cap;
};

enum ignored { NOT_MATCHED_YET, KEPT, IGNORED };

static bool needs_chains(const struct profile *p)
{
	const struct profile_options *o = &p->options;

	return o->children || o->graph || o->named || o->parent != NULL ||
	       o->ignore_callees != NULL || o->history;
}

/* Whether samples need the frames of their addresses, not only their owners. */
static bool needs_frames(const struct profile *p)
{
	const struct profile_options *o = &p->options;
	bool of_frame = false; /* a key is the frame's */

	for (unsigned id = 0; id < FIELD_COUNT; id++) {
		of_frame = of_frame || (o->keys.chosen[id] && field_at(id)->words == 0);
	}
	return of_frame || needs_chains(p) || o->branches || o->keys.nlocated != 0 ||
	       o->pick->dsos != NULL || o->pick->by_symbol || o->symbol_part != NULL ||
	       o->hide_unresolved;
}

/* Whether run-time addresses distinguish frames: those of callers, and of targets of branches. */
static bool needs_ip(const struct profile *p)
{
	return needs_chains(p) || p->options.branches || p->options.keys.chosen[FIELD_CODE_ADDR];
}

static struct recent_place *recent_place(struct profile_worker *w, uint32_t root, uint64_t ip)
{
	return &w->places[hash_u64(ip ^ (uint64_t)root << 40) & (RECENT - 1)];
}

/* Appends an address to the waiting words, which have room for it. */
static void word_add(struct profile *p, struct profile_worker *w, const struct timeline_view *v,
        uint32_t mode, uint64_t ip)
{
	struct recent_place place = {.ip = ip,
	        .root = frame_root(v, mode),
	        .later_root = mode == MISC_KERNEL ? 0 : v->later_root,
	        .mode = mode};
	const struct recent_place *r = recent_place(w, place.root, ip);
	struct waiting_word *word = &w->words[w->nwords++];
	struct profile_frame key;
	struct frame at;

	if (r->ip == ip && r->root == place.root && r->mode == mode &&
	        r->later_root == place.later_root && r->frame != 0) {
		word->place = *r;
		return;
	}
	at = frame_locate(&w->frames_of, v, mode, ip);
	key = (struct profile_frame){
	        .ip = needs_ip(p) ? ip : at.address, .address = at.address, .object = at.object};
	*word = (struct waiting_word){.place = place,
	        .address = key.address,
	        .size = at.mapping != NULL ? at.mapping->end - at.mapping->start : 0,
	        .object = key.object,
	        .hash = profile_frame_hash(&key)};
	index_prefetch(&w->counts.places, word->hash);
}

/* Looks up the frames of the waiting words. */
static int words_resolve(struct profile *p, struct profile_worker *w)
{
	if (!array_reserve(&w->frames, &w->frames_cap, w->nwords, sizeof(*w->frames))) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < w->nwords; i++) {
		if (w->words[i].place.frame == 0) {
			uint32_t id = index_guess(&w->counts.places, w->words[i].hash);

			if (id != INDEX_NONE) {
				profile_frame_prefetch(&w->counts.frames[id]);
			}
		}
	}
	for (size_t i = 0; i < w->nwords; i++) {
		struct waiting_word *word = &w->words[i];
		struct profile_frame key = {
		        .ip = word->place.ip, .address = word->address, .object = word->object};

		if (word->place.frame == 0) {
			key.ip = needs_ip(p) ? key.ip : key.address;
			TRY(profile_frame_add(p, &w->counts, key, word->size, &word->place.frame));
			word->place.frame++;
			*recent_place(w, word->place.root, word->place.ip) = word->place;
		}
		w->frames[i] = word->place.frame - 1;
	}
	return 0;
}

/* The target of a branch can be in another mode than the sample. */
static uint32_t leaf_mode(
        const struct profile *p, struct profile_worker *w, const struct session_sample *s)
{
	return p->options.branches ? frame_mode_of(&w->frames_of, s->view, MISC_USER, s->s.ip)
	                           : s->cpumode;
}

/* Appends the chain to the waiting words, without those in its first `skip` words. */
static uint32_t chain_add(struct profile *p, struct profile_worker *w,
        const struct session_sample *s, struct frame_chain *chain, size_t skip)
{
	uint32_t max = p->options.max_stack;
	uint64_t left =
	        p->options.caller ? UINT64_MAX : max; /* keeps the outermost frames, see below */
	size_t first = w->nwords, n;
	uint64_t ip;
	int rc = 0;

	while (left > 0 && (rc = frame_chain_next(chain, &ip)) > 0) {
		if (chain->next > skip) {
			word_add(p, w, s->view, chain->mode, ip);
			left--;
		}
	}
	n = rc < 0 ? 0 : w->nwords - first;
	if (n > max) {
		memmove(w->words + first, w->words + first + (n - max), max * sizeof(*w->words));
		n = max;
	}
	w->nwords = first + n;
	return (uint32_t)n;
}

/* Appends an end of a branch to the waiting words. */
static void jump_add(struct profile *p, struct profile_worker *w, const struct session_sample *s,
        const struct profile_jump *jump, bool source)
{
	uint64_t ip = source ? jump->branch.from : jump->branch.to;

	w->hops[w->nwords] = profile_hop_of(jump, source, s->s.time);
	word_add(p, w, s->view, frame_mode_of(&w->frames_of, s->view, MISC_USER, ip), ip);
}

/* As chain_add, for a chain with branches: see history.c. */
static int history_add(struct profile *p, struct profile_worker *w, const struct session_sample *s,
        struct frame_chain *chain, uint32_t *n)
{
	bool caller = p->options.caller;
	struct profile_jump jumps[PROFILE_JUMPS];
	size_t njumps = profile_jumps(s, &p->options, jumps);
	size_t all = w->nwords + 2 * njumps + chain->n;
	size_t skip = njumps < chain->n ? njumps : chain->n;

	if (!array_reserve(&w->words, &w->words_cap, all, sizeof(*w->words)) ||
	        !array_reserve(&w->hops, &w->hops_cap, all + 1, sizeof(*w->hops))) {
		return SONDE_ENOMEM;
	}
	memset(w->hops + w->nwords, 0, (all - w->nwords) * sizeof(*w->hops));
	for (size_t i = 0; i < njumps && !caller; i++) {
		jump_add(p, w, s, &jumps[i], false);
		jump_add(p, w, s, &jumps[i], true);
	}
	chain->n -= caller ? 0 : skip;
	*n = chain_add(p, w, s, chain, caller ? skip : 0);
	for (size_t i = njumps; i-- > 0 && caller;) {
		jump_add(p, w, s, &jumps[i], true);
		jump_add(p, w, s, &jumps[i], false);
	}
	*n += (uint32_t)(2 * njumps);
	return 0;
}

/* Appends the leaf and the chain to the waiting words. */
static int words_add(struct profile *p, struct profile_worker *w, const struct session_sample *s,
        struct frame_chain *chain, uint32_t *n)
{
	if (!array_reserve(&w->words, &w->words_cap, w->nwords + 1 + chain->n, sizeof(*w->words))) {
		return SONDE_ENOMEM;
	}
	word_add(p, w, s->view, leaf_mode(p, w, s), s->s.ip);
	if (p->options.history) {
		return history_add(p, w, s, chain, n);
	}
	*n = chain_add(p, w, s, chain, 0);
	return 0;
}

/* Sets the members of a location that only a line of the cache has. As in perf. */
static void line_set(struct profile_location *key, const struct session_sample *s,
        const struct timeline *t, const struct timeline_mapping *m)
{
	bool file = m != NULL && timeline_object(t, m->object)->kind == TIMELINE_USER;
	bool user = s->cpumode != MISC_KERNEL,
	     shared = m != NULL && (m->flags & MAP_IS_SHARED) != 0;

	key->mode = (uint8_t)s->cpumode;
	key->pid = user && m != NULL && !shared && !file ? s->view->pid : UINT32_MAX;
	key->shared = user && file && shared && (m->prot & PROT_IS_EXEC) == 0;
	key->address -= key->address % PROFILE_LINE;
	key->ip -= key->ip % PROFILE_LINE;
}

/*
 * Fills in the words of keys that are locations. As in perf, ends of branches are user code if
 * there is any, and data is of the sample's mode.
 */
static int locations_find(struct profile *p, struct profile_worker *w,
        const struct session_sample *s, uint32_t *words)
{
	const struct field_key_choice *c = &p->options.keys;

	for (unsigned i = 0; i < c->nlocated; i++) {
		uint64_t ip = field_at(c->located[i])->get(&p->source, s);
		uint32_t mode = p->options.branches
		                        ? frame_mode_of(&w->frames_of, s->view, MISC_USER, ip)
		                        : s->cpumode;
		struct frame at = frame_locate(&w->frames_of, s->view, mode, ip);
		struct profile_location key = {
		        .ip = ip, .address = at.address, .object = at.object};

		if (field_at(c->located[i])->location == FIELD_LOCATION_LINE) {
			line_set(&key, s, session_timeline(p->session), at.mapping);
		}
		TRY(profile_location_add(p, &w->counts, key, &words[c->at[c->located[i]]]));
	}
	return 0;
}

/* Returns the cache slot of an event and a vector of keys. */
static struct recent_owner *recent_owner(struct profile_worker *w, uint32_t event,
        const struct field_key_choice *keys, const uint32_t *words)
{
	uint64_t h = (uint64_t)event << 32;

	for (unsigned i = 0; i < keys->words; i++) {
		h = hash_step(h, words[i]);
	}
	return &w->owners[h % RECENT_OWNERS];
}

static bool owner_has_keys(const struct profile_worker *w, const struct recent_owner *r,
        const struct field_key_choice *keys, const uint32_t *words)
{
	size_t first = (size_t)r->who.key * keys->words;

	for (unsigned i = 0; i < keys->words; i++) {
		if (w->counts.keys[first + i] != words[i]) {
			return false;
		}
	}
	return true;
}

/* By members: memcmp would wait until the stores of the key's members are complete. */
static bool who_same(const struct profile_who *a, const struct profile_who *b)
{
	return a->event == b->event && a->key == b->key && a->hidden == b->hidden &&
	       a->mode == b->mode;
}

/* Whether the owners of samples depend only on their event and their thread's view. */
static bool owners_by_thread(const struct profile *p)
{
	const struct field_key_choice *keys = &p->options.keys;
	bool by_thread = !p->options.modes && !p->options.latency && !p->options.branches;

	for (unsigned i = 0; i < keys->ngot; i++) {
		by_thread = by_thread && (field_at(keys->got[i])->style & FIELD_OF_THREAD) != 0;
	}
	return by_thread;
}

/* Returns the cache slot of a thread and an event. */
static struct recent_owner *thread_owner(struct profile_worker *w, const struct session_sample *s)
{
	return &w->owners[hash_step((uint64_t)s->event << 32, s->view->tid) % RECENT_OWNERS];
}

static bool thread_owns(const struct recent_owner *r, const struct session_sample *s)
{
	return r->tid == s->view->tid && r->from == s->view->from && r->pid == s->view->pid &&
	       r->who.event == s->event && r->id != 0;
}

/* Sets *out to the owner of a sample, in the cache. */
static int owner_find(struct profile *p, struct profile_worker *w, const struct session_sample *s,
        struct recent_owner **out)
{
	const struct field_key_choice *keys = &p->options.keys;
	struct profile_who key = {.event = s->event};
	uint32_t words[FIELD_KEY_WORDS_MAX];
	struct recent_owner *r;

	field_keys_get(keys, &w->source, s, words);
	if (w->texts.failed) {
		return SONDE_ENOMEM;
	}
	TRY(locations_find(p, w, s, words));
	*out = r = w->by_thread ? thread_owner(w, s) : recent_owner(w, s->event, keys, words);
	key.key = r->who.key;
	if (r->id == 0 || !owner_has_keys(w, r, keys, words)) {
		TRY(profile_key_add(p, &w->counts, words, &key.key));
	}
	key.hidden = w->hides || !pick_comm(p->options.pick, s->view->comm) ||
	             !pick_thread(p->options.pick, s->view->pid, s->view->tid);
	key.mode = p->options.modes ? s->cpumode : 0;
	if (p->options.latency) {
		key.mode |= field_parallelism(&p->steps, s->s.time) << PROFILE_MODE_BITS;
	}
	if (r->id == 0 || !who_same(&key, &r->who)) {
		*r = (struct recent_owner){.who = key};
		TRY(profile_who_add(&w->counts, &key, &r->id));
		r->id++;
	}
	r->pid = s->view->pid;
	r->tid = s->view->tid;
	r->from = s->view->from;
	return 0;
}

/* Returns the first of the w->nslots cache slots of a sample. */
static size_t recent_slot(const struct profile_worker *w, uint64_t hash)
{
	return (hash & (RECENT - 1)) * w->nslots;
}

static uint32_t recent_tag(uint64_t hash)
{
	return (uint32_t)(hash >> 32) | 1;
}

/* Replaces the oldest one of the slots. */
static void recent_put(struct profile_worker *w, const struct recent_sample *key)
{
	uint8_t *next = &w->next[key->hash & (RECENT - 1)];
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

	if (w->looked_up < RECENT / 4 || w->nslots != 1) {
		return;
	}
	if (w->forgotten > w->looked_up / 4 * 3) {
		samples = calloc((size_t)RECENT * RECENT_MORE, sizeof(*samples));
		tags = calloc((size_t)RECENT * RECENT_MORE, sizeof(*tags));
	}
	if (samples != NULL && tags != NULL) { /* else the small cache stays in use */
		free(w->tags);
		w->samples = samples;
		w->tags = tags;
		w->nslots = RECENT_MORE;
		for (size_t i = 0; i < RECENT; i++) {
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

/* Whether options.ignore_callees matches the function of a frame: 1, 0, SONDE_ENOMEM. */
static int frame_ignores(const struct profile *p, struct profile_worker *w, uint32_t frame)
{
	const struct profile_frame *f = &w->counts.frames[frame];

	if (w->ignored[frame] == NOT_MATCHED_YET) {
		const char *name = profile_symbol(p, f->object, f->symbol);
		bool found =
		        name != NULL && regexec(p->options.ignore_callees, name, 0, NULL, 0) == 0;

		if (name == NULL && f->symbol != NULL) {
			return SONDE_ENOMEM;
		}
		w->ignored[frame] = found ? IGNORED : KEPT;
	}
	return w->ignored[frame] == IGNORED;
}

/*
 * Cuts off what was called by a matching function, which becomes the leaf. As in perf, the last
 * match in the order of graphs counts, and graphs of callers lose what is above it.
 */
static int callees_ignore(struct profile *p, struct profile_worker *w, struct waiting_sample *s)
{
	uint32_t n = s->chain.n;
	uint32_t *words = w->frames + s->first + 1; /* innermost first */
	uint32_t found = PROFILE_NONE;
	size_t cap = w->ignored_cap;

	if (!array_reserve(&w->ignored, &w->ignored_cap, w->counts.nframes, 1)) {
		return SONDE_ENOMEM;
	}
	if (w->ignored_cap != cap) {
		memset(w->ignored + cap, NOT_MATCHED_YET, w->ignored_cap - cap);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t at = p->options.caller ? n - 1 - i : i;
		int ignores = frame_ignores(p, w, words[at]);

		TRY(ignores);
		found = ignores != 0 ? at : found;
	}
	if (found == PROFILE_NONE) {
		return 0;
	}
	w->frames[s->first] = words[found];
	s->chain.n = p->options.caller ? found + 1 : n - found;
	if (!p->options.caller) {
		memmove(words, words + found, s->chain.n * sizeof(*words));
	}
	if (!p->options.caller && p->options.history) {
		struct profile_hop *hops = w->hops + s->first + 1;

		memmove(hops, hops + found, s->chain.n * sizeof(*hops));
	}
	return 0;
}

/* Drops a sample whose code has no symbol, and the entries of its chain without symbols. */
static void unresolved_hide(struct profile_worker *w, struct waiting_sample *s)
{
	const struct profile_frame *frames = w->counts.frames;
	uint32_t *words = w->frames + s->first + 1;
	uint32_t kept = 0;

	s->dropped = frames[w->frames[s->first]].symbol == NULL;
	for (uint32_t i = 0; i < s->chain.n; i++) {
		if (frames[words[i]].symbol == NULL) {
			continue;
		}
		if (w->hops != NULL) {
			w->hops[s->first + 1 + kept] = w->hops[s->first + 1 + i];
		}
		words[kept++] = words[i];
	}
	s->chain.n = kept;
}

/* Counts the waiting samples. */
static int waiting_count(struct profile *p, struct profile_worker *w)
{
	size_t known = w->counts.nchains;

	TRY(words_resolve(p, w));
	for (size_t i = 0; i < w->nwaiting; i++) {
		struct waiting_sample *s = &w->waiting[i];
		struct profile_chain *c = &s->chain;
		uint32_t object;

		if (p->options.hide_unresolved) {
			unresolved_hide(w, s);
		}
		if (p->options.ignore_callees != NULL) {
			TRY(callees_ignore(p, w, s));
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
	if (needs_chains(p)) { /* without chains, look-ups cost less than a larger cache */
		recent_grow(w);
	}
	return 0;
}

/* Makes the cache key of a sample; false: its words are in a buffer that is reused. */
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
		if (words == w->frames_of.joined ||
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

static int sample_count(struct profile *p, struct profile_worker *w, const struct session_sample *s)
{
	struct waiting_sample *new = &w->waiting[w->nwaiting];
	struct profile_chain *c = &new->chain;
	struct frame_chain chain = {0};
	struct recent_owner *owner = thread_owner(w, s);
	size_t slot;

	*c = (struct profile_chain){.samples = 1, .period = sample_period(p, s), .time = s->s.time};
	if (!w->by_thread || !thread_owns(owner, s)) {
		TRY(owner_find(p, w, s, &owner));
	}
	c->who = owner->id - 1;
	c->first_pid = s->view->pid;
	c->first_comm = s->view->last_comm;
	c->first_tid = s->view->tid;
	if (w->without_frames) {
		return owner_count(p, w, owner, c, s->cpumode);
	}
	if (needs_chains(p)) {
		const struct sonde_attr *attr = &session_events(p->session)[s->event].attr;

		TRY(frame_chain_open(
		        &w->frames_of, &s->s, s->cpumode, frame_call_stacks(attr), &chain));
	}
	new->stays = recent_key(w, s, &chain, c->who, &new->key) && !p->options.history;
	slot = recent_slot(w, new->key.hash);
	for (size_t end = slot + w->nslots; slot < end && new->stays; slot++) {
		if (w->tags[slot] == recent_tag(new->key.hash) &&
		        recent_same(&w->samples[slot], &new->key)) {
			profile_chain_count(&w->counts.chains[w->samples[slot].id - 1], c);
			return 0;
		}
	}
	new->first = w->nwords;
	TRY(words_add(p, w, s, &chain, &c->n));
	return ++w->nwaiting == BATCH ? waiting_count(p, w) : 0;
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

/* Counts each branch of a sample. As in perf, filters select samples by their own location. */
static int branches_count(
        struct profile *p, struct profile_worker *w, const struct session_sample *s)
{
	int wanted = pick_wanted(p->options.pick, &w->frames_of, s);

	if (wanted < 0) {
		return wanted;
	}
	w->hides = wanted == 0;
	for (uint64_t i = 0; i < s->s.branch_len; i++) {
		struct branch_entry b = branch_at(s, i);
		uint64_t block[BRANCH_WORDS] = {0};
		struct session_sample alone = *s;

		alone.s.branches += i * BRANCH_WORDS;
		alone.s.branch_len = 1;
		alone.s.ip = b.to;
		alone.s.period = 1;
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
	return session_frames(p->session)->options.stitch_slots != 0;
}

static int collect_chunk(void *arg, unsigned worker, size_t chunk)
{
	struct profile *p = arg;
	struct profile_worker *w = &p->workers[worker];
	uint32_t one = p->options.one_event;
	struct session_sample s;
	int rc;

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
	w->by_thread = owners_by_thread(p);
	w->without_frames = !needs_frames(p);
	w->nslots = 1;
	w->samples = calloc(RECENT, sizeof(*w->samples));
	w->tags = calloc(RECENT, sizeof(*w->tags));
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
		free(p->workers[i].frames);
		free(p->workers[i].hops);
		free(p->workers[i].ignored);
	}
	free(p->workers);
	p->workers = NULL;
	p->nworkers = 0;
}
