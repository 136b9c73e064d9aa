/* SPDX-License-Identifier: MIT */
/* The words of waiting samples: addresses, which become frames together. */
#include "core/array.h"
#include "profile/worker.h"

enum ignored { NOT_MATCHED_YET, KEPT, IGNORED };

/* Whether run-time addresses distinguish frames: those of callers, and of targets of branches. */
static bool needs_ip(const struct profile *p)
{
	return profile_needs_chains(p) || p->options.branches ||
	       p->options.keys.chosen[FIELD_CODE_ADDR];
}

static struct recent_place *recent_place(struct profile_worker *w, uint32_t root, uint64_t ip)
{
	return &w->places[hash_u64(ip ^ (uint64_t)root << 40) & (PROFILE_RECENT - 1)];
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

int profile_words_resolve(struct profile *p, struct profile_worker *w)
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

/*
 * Appends a part of a chain to the waiting words, without those in its first `skip` words. Of more
 * than options.max_stack frames, keeps the outermost or the innermost ones.
 */
static uint32_t part_add(struct profile *p, struct profile_worker *w,
        const struct session_sample *s, struct frame_chain *chain, size_t skip, bool outermost)
{
	uint32_t max = p->options.max_stack;
	uint64_t left = outermost ? UINT64_MAX : max;
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

/*
 * Appends the chain to the waiting words, without those in its first `skip` words. As in perf, the
 * maximum is one of each part, and an unwound one keeps its innermost frames.
 */
static uint32_t chain_add(struct profile *p, struct profile_worker *w,
        const struct session_sample *s, struct frame_chain *chain, size_t skip)
{
	struct frame_chain unwound = *chain;
	uint32_t n;

	if (chain->unwound != 0 && chain->unwound < chain->n) {
		chain->n = chain->unwound;
	}
	n = part_add(p, w, s, chain, skip, p->options.caller);
	if (chain->n == unwound.n) {
		return n;
	}
	unwound.next = unwound.unwound;
	unwound.mode = MISC_USER;
	return n + part_add(p, w, s, &unwound, 0, false);
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

int profile_words_add(struct profile *p, struct profile_worker *w, const struct session_sample *s,
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

int profile_reference_add(struct profile *p, struct profile_worker *w,
        const struct session_sample *s, struct waiting_sample *new)
{
	size_t n = new->chain.n;

	if (!session_event_lacks_chains(p->session, s->event)) {
		if (!array_reserve(
		            &w->reference, &w->reference_cap, n + 1, sizeof(*w->reference))) {
			return SONDE_ENOMEM;
		}
		memcpy(w->reference, w->words + new->first + 1, n * sizeof(*w->reference));
		w->nreference = n;
		return 0;
	}
	n = w->nreference;
	if (n == 0) {
		return 0;
	}
	if (!array_reserve(&w->words, &w->words_cap, w->nwords + n, sizeof(*w->words)) ||
	        (w->hops != NULL && !array_reserve(&w->hops, &w->hops_cap, w->nwords + n + 1,
	                                    sizeof(*w->hops)))) {
		return SONDE_ENOMEM;
	}
	if (w->hops != NULL) {
		memset(w->hops + w->nwords, 0, n * sizeof(*w->hops));
	}
	memcpy(w->words + w->nwords, w->reference, n * sizeof(*w->words));
	w->nwords += n;
	new->chain.n = (uint32_t)n;
	return 0;
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

int profile_callees_ignore(struct profile *p, struct profile_worker *w, struct waiting_sample *s)
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

void profile_unresolved_hide(struct profile_worker *w, struct waiting_sample *s)
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
