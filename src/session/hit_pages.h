/* SPDX-License-Identifier: MIT */
/*
 * Pages of code that samples hit, by thread, mode and time: collected while a recording is opened, so
 * that its objects can be found without reading all samples again.
 */
#ifndef SONDE_SESSION_HIT_PAGES_H
#define SONDE_SESSION_HIT_PAGES_H

#include "core/hash.h"
#include "timeline/timeline.h"

#define HIT_PAGES_SLOTS 1024u

/* Samples of a thread in a page. */
struct hit_page {
	uint64_t thread; /* pid and tid */
	uint64_t page; /* address >> 12 */
	uint64_t first_ip, last_ip;
	uint64_t from, to; /* first and last time */
	uint32_t mode;
	bool used;
};

struct hit_pages {
	struct hit_page slots[HIT_PAGES_SLOTS]; /* by hash; a new page replaces the old one */
	struct hit_page *past; /* that were replaced */
	size_t npast, past_cap;
	bool given_up; /* out of memory, too many, or samples that need more than their address */
};

/* Ends the collection: the samples must be read again. */
void hit_pages_give_up(struct hit_pages *p);
void hit_pages_free(struct hit_pages *p); /* accepts NULL */

/* Begins a page in a slot. */
void hit_pages_begin(struct hit_pages *p, struct hit_page *slot, const struct hit_page *page);

static inline void hit_pages_add(
        struct hit_pages *p, uint64_t thread, uint32_t mode, uint64_t ip, uint64_t time)
{
	uint64_t hash = hash_u64(ip >> 12 ^ thread << 20 ^ mode);
	struct hit_page *at = &p->slots[hash & (HIT_PAGES_SLOTS - 1)];

	if (!at->used || at->page != ip >> 12 || at->thread != thread || at->mode != mode) {
		hit_pages_begin(p, at,
		        &(struct hit_page){thread, ip >> 12, ip, ip, time, time, mode, true});
		return;
	}
	at->first_ip = ip < at->first_ip ? ip : at->first_ip;
	at->last_ip = ip > at->last_ip ? ip : at->last_ip;
	at->from = time < at->from ? time : at->from;
	at->to = time > at->to ? time : at->to;
}

/*
 * Sets hit[i] for the objects of all pages. 1; 0: unknown, because several objects had addresses of a
 * page while its samples were taken; negative: failure.
 */
int hit_pages_find(struct hit_pages *p, const struct timeline *t, bool *hit);

#endif
