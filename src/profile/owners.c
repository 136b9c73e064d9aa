/* SPDX-License-Identifier: MIT */
/* Owners of samples: events and vectors of keys. */
#include "profile/worker.h"

#define MAP_IS_SHARED 1u /* MAP_SHARED and PROT_EXEC of mmap(2), as recorded on Linux */
#define PROT_IS_EXEC  4u

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
	return &w->owners[h % PROFILE_RECENT_OWNERS];
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

bool profile_owners_by_thread(const struct profile *p)
{
	const struct field_key_choice *keys = &p->options.keys;
	bool by_thread = !p->options.modes && !p->options.latency && !p->options.branches;

	for (unsigned i = 0; i < keys->ngot; i++) {
		by_thread = by_thread && (field_at(keys->got[i])->style & FIELD_OF_THREAD) != 0;
	}
	return by_thread;
}

int profile_owner_find(struct profile *p, struct profile_worker *w, const struct session_sample *s,
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
	*out = r =
	        w->by_thread ? profile_thread_owner(w, s) : recent_owner(w, s->event, keys, words);
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
