/* SPDX-License-Identifier: MIT */
/*
 * Code by address space and generation. A view is the code of one space in consecutive generations:
 * its sorted, disjoint sections, then those of its base, then bytes from the caller's function.
 *
 *	space 7:  view of generations 0..3 <- of 4..8 <- of 9..
 *
 * Views are made when a flow first needs them, from the view before; a generation has a view of its
 * own only if the space, or its base, changed in it. A view in use is never freed or changed, so
 * readers take no lock. The view of a unit has no sections: its code comes from the caller.
 */
#include "pt/image.h"

#include "core/array.h"
#include "pt/memory.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct section {
	uint64_t first, last; /* both inclusive */
	const uint8_t *data;
};

struct sections {
	struct section *p;
	size_t count, cap;
};

struct pt_view {
	struct sections code;
	const struct pt_view *base; /* NULL: none */
	struct pt_view *older; /* of the same space */
	uint32_t space, index;
	uint32_t from, to; /* generations for which it is known to hold, both inclusive */
	bool is_unit; /* `space` is its number */
	struct pt_bounds bounds;
};

struct space {
	uint32_t space, base;
	bool has_base, is_base;
	struct pt_view *newest;
};

struct change {
	struct section section; /* data NULL: the range is removed */
	uint32_t space;
};

/* State that may grow while flows use the image. */
struct state {
	struct pt_view **views; /* reserved once, so that it never moves */
	uint32_t count;
	struct space *spaces; /* sorted by number */
	size_t nspaces, spaces_cap;
	struct change *changes; /* the first starts generation 1 */
	size_t nchanges, changes_cap;
	struct pt_mapping *mappings;
	size_t nmappings, mappings_cap;
	uint32_t *units; /* views by number; PT_VIEW_NONE: not made yet */
	size_t nunits, units_cap;
	atomic_flag busy;
};

struct sonde_pt_image {
	struct state *state;
	sonde_pt_read_fn read;
	void *read_arg;
	pt_unit_find_fn find_unit; /* NULL: there are no units */
	pt_unit_read_fn read_unit;
	void *unit_arg;
};

struct sonde_pt_image *sonde_pt_image_new(void)
{
	struct sonde_pt_image *image = calloc(1, sizeof(*image));

	if (image == NULL) {
		return NULL;
	}
	image->state = calloc(1, sizeof(*image->state));
	if (image->state == NULL) {
		free(image);
		return NULL;
	}
	atomic_flag_clear(&image->state->busy);
	image->state->views = pt_reserve(PT_VIEWS_MAX * sizeof(struct pt_view *));
	if (image->state->views == NULL) {
		sonde_pt_image_free(image);
		return NULL;
	}
	return image;
}

void sonde_pt_image_free(struct sonde_pt_image *image)
{
	struct state *s;

	if (image == NULL) {
		return;
	}
	s = image->state;
	for (uint32_t i = 0; s->views != NULL && i < s->count; i++) {
		free(s->views[i]->code.p);
		free(s->views[i]);
	}
	for (size_t i = 0; i < s->nmappings; i++) {
		pt_release(s->mappings[i].p, s->mappings[i].n);
	}
	pt_release(s->views, PT_VIEWS_MAX * sizeof(struct pt_view *));
	free(s->mappings);
	free(s->changes);
	free(s->units);
	free(s->spaces);
	free(s);
	free(image);
}

static void lock(struct state *s)
{
	while (atomic_flag_test_and_set_explicit(&s->busy, memory_order_acquire)) {
		(void)sched_yield();
	}
}

static void unlock(struct state *s)
{
	atomic_flag_clear_explicit(&s->busy, memory_order_release);
}

bool pt_image_keep(struct sonde_pt_image *image, const struct pt_mapping *mapping)
{
	struct state *s = image->state;
	bool good;

	lock(s);
	good = array_reserve(
	        &s->mappings, &s->mappings_cap, s->nmappings + 1, sizeof(*s->mappings));
	if (good) {
		s->mappings[s->nmappings++] = *mapping;
	}
	unlock(s);
	return good;
}

void sonde_pt_image_set_reader(struct sonde_pt_image *image, sonde_pt_read_fn read, void *arg)
{
	image->read = read;
	image->read_arg = arg;
}

/* Returns the first section that ends at or after address. */
static size_t find(const struct sections *code, uint64_t address)
{
	size_t low = 0;
	size_t high = code->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (code->p[middle].last < address) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

static void insert(struct sections *code, size_t at, const struct section *section)
{
	memmove(code->p + at + 1, code->p + at, (code->count - at) * sizeof(*section));
	code->p[at] = *section;
	code->count++;
}

/* Removes first..last; a section that extends past both ends becomes two. */
static void clear(struct sections *code, uint64_t first, uint64_t last)
{
	size_t i = find(code, first);

	while (i < code->count && code->p[i].first <= last) {
		struct section *s = &code->p[i];
		struct section behind = *s;

		if (s->last > last) {
			behind.data += last + 1 - behind.first;
			behind.first = last + 1;
			if (s->first >= first) {
				*s = behind;
				return;
			}
			s->last = first - 1;
			insert(code, i + 1, &behind);
			return;
		}
		if (s->first < first) {
			s->last = first - 1;
			i++;
			continue;
		}
		memmove(s, s + 1, (code->count - i - 1) * sizeof(*s));
		code->count--;
	}
}

static bool put(struct sections *code, const struct section *section)
{
	if (!array_reserve(&code->p, &code->cap, code->count + 2, sizeof(*section))) {
		return false;
	}
	clear(code, section->first, section->last);
	if (section->data != NULL) {
		insert(code, find(code, section->first), section);
	}
	return true;
}

/* Adds a view from generation `from` on; the caller holds the lock. */
static struct pt_view *new_view(struct state *s, uint32_t space, uint32_t from)
{
	struct pt_view *v = s->count < PT_VIEWS_MAX ? calloc(1, sizeof(*v)) : NULL;

	if (v != NULL) {
		v->space = space;
		v->from = from;
		v->to = from;
		v->index = s->count;
		v->bounds = (struct pt_bounds){0, UINT64_MAX};
		s->views[s->count++] = v;
	}
	return v;
}

static size_t find_space(const struct state *s, uint32_t space)
{
	size_t low = 0;
	size_t high = s->nspaces;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->spaces[middle].space < space) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

/* Returns the space, adding it if new; adding may move others. NULL: out of memory, or too many. */
static struct space *get_space(struct state *s, uint32_t space)
{
	size_t at = find_space(s, space);
	struct pt_view *v;

	if (at < s->nspaces && s->spaces[at].space == space) {
		return &s->spaces[at];
	}
	if (!array_reserve(&s->spaces, &s->spaces_cap, s->nspaces + 1, sizeof(*s->spaces))) {
		return NULL;
	}
	v = new_view(s, space, 0);
	if (v == NULL) {
		return NULL;
	}
	memmove(s->spaces + at + 1, s->spaces + at, (s->nspaces - at) * sizeof(*s->spaces));
	s->spaces[at] = (struct space){.space = space, .newest = v};
	s->nspaces++;
	return &s->spaces[at];
}

static int add(struct state *s, uint32_t space, const struct section *section)
{
	struct space *to = get_space(s, space);

	if (to == NULL) {
		return s->count == PT_VIEWS_MAX ? SONDE_ELIMIT : SONDE_ENOMEM;
	}
	if (to->newest->from != 0) {
		return SONDE_EARG;
	}
	return put(&to->newest->code, section) ? SONDE_OK : SONDE_ENOMEM;
}

int sonde_pt_image_add(
        struct sonde_pt_image *image, uint32_t space, uint64_t address, const void *data, size_t n)
{
	const struct section section = {.first = address, .last = address + n - 1, .data = data};
	int rc;

	if (n == 0) {
		return SONDE_OK;
	}
	if (section.last < address) {
		return SONDE_EARG;
	}
	lock(image->state);
	rc = add(image->state, space, &section);
	unlock(image->state);
	return rc;
}

static int set_base(struct state *s, uint32_t space, uint32_t base)
{
	struct space *from = get_space(s, base);
	struct pt_view *v = from != NULL ? from->newest : NULL;
	struct space *to = v != NULL ? get_space(s, space) : NULL;

	if (to == NULL) {
		return s->count == PT_VIEWS_MAX ? SONDE_ELIMIT : SONDE_ENOMEM;
	}
	from = get_space(s, base);
	if (space == base || from->has_base || to->is_base || to->newest->from != 0) {
		return SONDE_EARG;
	}
	while (v->older != NULL) {
		v = v->older;
	}
	from->is_base = true;
	to->has_base = true;
	to->base = base;
	to->newest->base = v;
	return SONDE_OK;
}

int sonde_pt_image_set_base(struct sonde_pt_image *image, uint32_t space, uint32_t base)
{
	int rc;

	lock(image->state);
	rc = set_base(image->state, space, base);
	unlock(image->state);
	return rc;
}

int sonde_pt_image_change(struct sonde_pt_image *image, uint32_t space, uint64_t address,
        const void *data, size_t n, uint32_t *generation)
{
	const struct change change = {
	        .section = {.first = address, .last = address + n - 1, .data = data},
	        .space = space};
	struct state *s = image->state;
	bool good;

	if (n == 0 || change.section.last < address) {
		return SONDE_EARG;
	}
	lock(s);
	good = s->nchanges < UINT32_MAX - 1 &&
	       array_reserve(&s->changes, &s->changes_cap, s->nchanges + 1, sizeof(change));
	if (good) {
		s->changes[s->nchanges++] = change;
		*generation = (uint32_t)s->nchanges;
	}
	unlock(s);
	return good ? SONDE_OK : SONDE_ENOMEM;
}

/* Returns the last generation in first..last that changes the space or its base; 0: none. */
static uint32_t last_change(
        const struct state *s, const struct space *space, uint32_t first, uint32_t last)
{
	for (uint32_t g = last; g >= first; g--) {
		const struct change *c = &s->changes[g - 1];

		if (c->space == space->space || (space->has_base && c->space == space->base)) {
			return g;
		}
	}
	return 0;
}

/* Derives a view from v for a generation; `changed`: the last change up to it. */
static struct pt_view *derive(
        struct state *s, const struct pt_view *v, uint32_t changed, uint32_t generation)
{
	struct pt_view *made = new_view(s, v->space, changed);

	if (made == NULL || !array_reserve(&made->code.p, &made->code.cap, v->code.count + 1,
	                            sizeof(*made->code.p))) {
		return NULL;
	}
	if (v->code.count != 0) {
		memcpy(made->code.p, v->code.p, v->code.count * sizeof(*v->code.p));
	}
	made->code.count = v->code.count;
	made->to = generation;
	for (uint32_t g = v->to + 1; g <= changed; g++) {
		const struct change *c = &s->changes[g - 1];

		if (c->space == v->space && !put(&made->code, &c->section)) {
			return NULL;
		}
	}
	return made;
}

/* Returns the view of a space in a generation, without its base; the caller holds the lock. */
static struct pt_view *view_at(
        struct state *s, struct space *space, uint32_t generation, const struct pt_view *base)
{
	struct pt_view **place = &space->newest;
	struct pt_view *v, *made;
	uint32_t changed;

	while ((*place)->from > generation) {
		place = &(*place)->older;
	}
	v = *place;
	if (generation <= v->to) {
		return v;
	}
	changed = last_change(s, space, v->to + 1, generation);
	if (changed == 0) {
		v->to = generation;
		return v;
	}
	made = derive(s, v, changed, generation);
	if (made != NULL) {
		made->base = base;
		made->older = v;
		*place = made;
	}
	return made;
}

static const struct pt_view *get_view(struct state *s, uint32_t number, uint32_t generation)
{
	struct space *space = get_space(s, number);
	const struct pt_view *base = NULL;

	if (space == NULL) {
		return NULL;
	}
	generation = generation < s->nchanges ? generation : (uint32_t)s->nchanges;
	if (space->has_base) {
		base = view_at(s, &s->spaces[find_space(s, space->base)], generation, NULL);
		if (base == NULL) {
			return NULL;
		}
	}
	return view_at(s, space, generation, base);
}

uint32_t pt_image_view(const struct sonde_pt_image *image, uint32_t space, uint32_t generation)
{
	const struct pt_view *v;
	uint32_t index;

	lock(image->state);
	v = get_view(image->state, space, generation);
	index = v != NULL ? v->index : PT_VIEW_NONE;
	unlock(image->state);
	return index;
}

uint32_t pt_image_space(const struct sonde_pt_image *image, uint32_t view)
{
	return image->state->views[view]->space;
}

void pt_image_set_units(
        struct sonde_pt_image *image, pt_unit_find_fn find_unit, pt_unit_read_fn read, void *arg)
{
	image->find_unit = find_unit;
	image->read_unit = read;
	image->unit_arg = arg;
}

bool pt_image_has_units(const struct sonde_pt_image *image)
{
	return image->find_unit != NULL;
}

/* Returns the view of a unit, making it if new; the caller holds the lock. */
static uint32_t get_unit(struct state *s, const struct pt_unit_at *at)
{
	struct pt_view *v;

	if (!array_reserve(&s->units, &s->units_cap, (size_t)at->unit + 1, sizeof(*s->units))) {
		return PT_VIEW_NONE;
	}
	while (s->nunits <= at->unit) {
		s->units[s->nunits++] = PT_VIEW_NONE;
	}
	if (s->units[at->unit] != PT_VIEW_NONE) {
		return s->units[at->unit];
	}
	v = new_view(s, at->unit, 0);
	if (v == NULL) {
		return PT_VIEW_NONE;
	}
	v->is_unit = true;
	v->bounds = (struct pt_bounds){at->first - at->bias, at->last - at->bias};
	s->units[at->unit] = v->index;
	return v->index;
}

uint32_t pt_image_unit(
        const struct sonde_pt_image *image, uint32_t view, uint64_t address, struct pt_unit_at *out)
{
	uint32_t index;

	if (image->find_unit == NULL || !image->find_unit(image->unit_arg,
	                                        image->state->views[view]->space, address, out)) {
		return PT_VIEW_NONE;
	}
	lock(image->state);
	index = get_unit(image->state, out);
	unlock(image->state);
	return index;
}

struct pt_bounds pt_image_bounds(const struct sonde_pt_image *image, uint32_t view)
{
	return image->state->views[view]->bounds;
}

/* Copies bytes at address from the sections; *left shrinks where a section begins after address. */
static size_t copy(const struct sections *code, uint64_t address, uint8_t *to, size_t *left)
{
	size_t i = find(code, address);
	const struct section *s;
	size_t n = *left;

	if (i == code->count) { /* no section; p may be NULL */
		return 0;
	}
	s = &code->p[i];
	if (s->first > address) {
		*left = s->first - address < n ? (size_t)(s->first - address) : n;
		return 0;
	}
	n = s->last - address < n - 1 ? (size_t)(s->last - address) + 1 : n;
	memcpy(to, s->data + (address - s->first), n);
	return n;
}

/* Collects up to n bytes from sections, the base and the caller's function. */
static size_t gather(const struct sonde_pt_image *image, const struct pt_view *v, uint64_t address,
        uint8_t *to, size_t n)
{
	size_t done = 0;

	if (v->is_unit) {
		uint64_t left = v->bounds.last - address;

		n = left < n - 1 ? (size_t)left + 1 : n;
		return address >= v->bounds.first && address <= v->bounds.last
		               ? image->read_unit(image->unit_arg, v->space, address, to, n)
		               : 0;
	}
	while (done < n && address + done >= address) {
		size_t left = n - done;
		size_t got = copy(&v->code, address + done, to + done, &left);

		if (got == 0 && v->base != NULL) {
			got = copy(&v->base->code, address + done, to + done, &left);
		}
		if (got == 0 && image->read != NULL) {
			got = image->read(
			        image->read_arg, v->space, address + done, to + done, left);
		}
		if (got == 0) {
			break;
		}
		done += got;
	}
	return done;
}

const uint8_t *pt_image_fetch(const struct sonde_pt_image *image, uint32_t view, uint64_t address,
        uint8_t room[PT_INSN_MAX], size_t *n)
{
	const struct pt_view *v = image->state->views[view];
	size_t i = find(&v->code, address);

	if (i < v->code.count) {
		const struct section *s = &v->code.p[i];

		if (s->first <= address && s->last - address >= PT_INSN_MAX - 1) {
			*n = PT_INSN_MAX;
			return s->data + (address - s->first);
		}
	}
	*n = gather(image, v, address, room, PT_INSN_MAX);
	return room;
}

int pt_image_insn(
        const struct sonde_pt_image *image, uint32_t context, uint64_t address, struct pt_insn *out)
{
	uint8_t room[PT_INSN_MAX];
	size_t n;
	const uint8_t *code = pt_image_fetch(image, context >> 2, address, room, &n);
	int rc;

	if (n == 0) {
		return SONDE_PT_ERROR_NO_MEMORY;
	}
	rc = pt_insn_decode(code, n, pt_context_mode(context), out);
	if (rc == PT_INSN_OK) {
		return SONDE_PT_ERROR_NONE;
	}
	return rc == PT_INSN_BAD ? SONDE_PT_ERROR_INSN : SONDE_PT_ERROR_NO_MEMORY;
}
