/* SPDX-License-Identifier: MIT */
#include "session/hit_pages.h"

#include "core/array.h"

#include <stdlib.h>

#define NOWHERE   UINT32_MAX /* no mapping */
#define PAGES_MAX ((size_t)1 << 16) /* 4 MB: more pages cost as much as reading samples again */
#define VIEWS_MAX 256u /* changes of an address space between the first and last sample of a page */

void hit_pages_give_up(struct hit_pages *p)
{
	p->given_up = true;
	p->npast = 0;
}

void hit_pages_free(struct hit_pages *p)
{
	if (p != NULL) {
		free(p->past);
		free(p);
	}
}

static void past_add(struct hit_pages *p, const struct hit_page *page)
{
	if (p->npast == PAGES_MAX ||
	        !array_reserve(&p->past, &p->past_cap, p->npast + 1, sizeof(*p->past))) {
		hit_pages_give_up(p);
		return;
	}
	p->past[p->npast++] = *page;
}

void hit_pages_begin(struct hit_pages *p, struct hit_page *slot, const struct hit_page *page)
{
	if (slot->used && !p->given_up) {
		past_add(p, slot);
	}
	*slot = *page;
}

/* Finds the object of a page in a view; false: its samples may be in several. */
static bool object_in(const struct timeline_view *v, const struct hit_page *page, uint32_t *object)
{
	struct timeline_range range;
	const struct timeline_mapping *m = timeline_find(v, page->mode, page->first_ip, &range);

	*object = m != NULL ? m->object : NOWHERE;
	return page->last_ip == page->first_ip || page->last_ip < range.end;
}

static int page_find(
        const struct timeline *t, struct timeline_cursor *c, const struct hit_page *page, bool *hit)
{
	uint32_t pid = (uint32_t)(page->thread >> 32), tid = (uint32_t)page->thread;
	uint32_t first = NOWHERE, object;
	uint64_t time = page->from;

	for (unsigned i = 0; i < VIEWS_MAX; i++) {
		const struct timeline_view *v = timeline_at(t, c, pid, tid, time);

		TRY(c->failed);
		if (!object_in(v, page, &object) || (i != 0 && object != first)) {
			return 0;
		}
		if (page->to < v->until) {
			if (object != NOWHERE) {
				hit[object] = true;
			}
			return 1;
		}
		first = object;
		time = v->until;
	}
	return 0;
}

/* In the order of time, as epochs of the timeline are read again one after the other. */
static int by_time(const void *a, const void *b)
{
	const struct hit_page *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

int hit_pages_find(struct hit_pages *p, const struct timeline *t, bool *hit)
{
	struct timeline_cursor *c;
	int rc = 1;

	for (size_t i = 0; i < HIT_PAGES_SLOTS && !p->given_up; i++) {
		if (p->slots[i].used) {
			past_add(p, &p->slots[i]);
		}
	}
	if (p->given_up) {
		return 0;
	}
	if (p->npast == 0) {
		return 1;
	}
	qsort(p->past, p->npast, sizeof(*p->past), by_time);
	c = calloc(1, sizeof(*c));
	if (c == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < p->npast && rc > 0; i++) {
		rc = page_find(t, c, &p->past[i], hit);
	}
	timeline_cursor_fini(t, c);
	free(c);
	return rc;
}
