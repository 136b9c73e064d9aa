/* SPDX-License-Identifier: MIT */
/* A worker of the first pass: its caches, and the samples that wait to be counted. */
#ifndef SONDE_PROFILE_WORKER_H
#define SONDE_PROFILE_WORKER_H

#include "core/hash.h"
#include "profile/profile.h"

/*
 * Caches of recent look-ups, as the indexes do not fit the processor's caches: a few hot frames
 * make up most chains, and a few chains most samples. The cache of addresses is direct-mapped. So
 * is the cache of samples at first; it grows if many evicted chains occur again.
 */
#define PROFILE_RECENT         4096u
#define PROFILE_RECENT_OWNERS  256u
#define PROFILE_RECENT_OBJECTS 1024u

/*
 * Samples that miss this cache wait until a batch is full, so that misses of the processor's caches
 * overlap.
 */
#define PROFILE_BATCH 32u

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

/* An owner, an object and a mode, which make a chain if frames are objects. */
struct recent_object {
	uint32_t who, object;
	uint32_t chain; /* number of the chain, + 1; 0: free */
	bool kernel;
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
	struct recent_place places[PROFILE_RECENT];
	struct recent_sample *samples;
	uint32_t
	        *tags; /* of hashes, by slot of samples, so that most slots are not read; 0: free */
	uint8_t next[PROFILE_RECENT]; /* which slot of a hash is replaced next */
	size_t nslots; /* per hash of a sample */
	size_t forgotten; /* misses whose chain was counted before, since the last check */
	size_t looked_up; /* misses since the last check */
	struct recent_owner owners[PROFILE_RECENT_OWNERS];
	struct recent_object objects[PROFILE_RECENT_OBJECTS];
	bool by_thread; /* all samples of a thread's view and an event have one owner */
	bool without_frames; /* no sample needs its frame: chains have only their owners */
	struct profile_branches branches;
	bool hides; /* the filters hide the sample whose branches are counted */
	struct waiting_sample waiting[PROFILE_BATCH];
	size_t nwaiting;
	struct waiting_word *words;
	size_t nwords, words_cap;
	struct waiting_word *reference; /* the newest chain, with options.reference_chains */
	size_t nreference, reference_cap;
	uint32_t *frames; /* of the waiting words */
	size_t frames_cap;
	struct profile_hop *hops; /* of the waiting words; NULL without options.history */
	size_t hops_cap;
	uint8_t *ignored; /* enum ignored, by frame; NULL without options.ignore_callees */
	size_t ignored_cap;
};

static inline bool profile_needs_chains(const struct profile *p)
{
	const struct profile_options *o = &p->options;

	return o->children || o->graph || o->named || o->parent != NULL ||
	       o->ignore_callees != NULL || o->history;
}

/* Returns the cache slot of a thread and an event. */
static inline struct recent_owner *profile_thread_owner(
        struct profile_worker *w, const struct session_sample *s)
{
	return &w->owners[hash_step((uint64_t)s->event << 32, s->view->tid) %
	                  PROFILE_RECENT_OWNERS];
}

static inline bool profile_thread_owns(const struct recent_owner *r, const struct session_sample *s)
{
	return r->tid == s->view->tid && r->from == s->view->from && r->pid == s->view->pid &&
	       r->who.event == s->event && r->id != 0;
}

/* owners.c: the owner of a sample is its event and its keys. */

/* Whether the owners of samples depend only on their event and their thread's view. */
bool profile_owners_by_thread(const struct profile *p);
/* Sets *out to the owner of a sample, in the cache. SONDE_ENOMEM. */
int profile_owner_find(struct profile *p, struct profile_worker *w, const struct session_sample *s,
        struct recent_owner **out);

/* words.c: the addresses of waiting samples, and their frames. */

/* Appends the leaf and the chain to the waiting words; *n: words of the chain. SONDE_ENOMEM. */
int profile_words_add(struct profile *p, struct profile_worker *w, const struct session_sample *s,
        struct frame_chain *chain, uint32_t *n);
/*
 * options.reference_chains: appends the newest chain to the words of a sample that was added last, if
 * its event was recorded without chains, and keeps those of others. SONDE_ENOMEM.
 */
int profile_reference_add(struct profile *p, struct profile_worker *w,
        const struct session_sample *s, struct waiting_sample *new);
/* Looks up the frames of the waiting words. SONDE_ENOMEM. */
int profile_words_resolve(struct profile *p, struct profile_worker *w);
/*
 * Cuts off what was called by a function that options.ignore_callees matches, which becomes the
 * leaf. As in perf, the last match in the order of graphs counts, and graphs of callers lose what
 * is above it. SONDE_ENOMEM.
 */
int profile_callees_ignore(struct profile *p, struct profile_worker *w, struct waiting_sample *s);
/* Drops a sample whose code has no symbol, and the entries of its chain without symbols. */
void profile_unresolved_hide(struct profile_worker *w, struct waiting_sample *s);

#endif
