/* SPDX-License-Identifier: MIT */
/*
 * The code of a recording for the PT engine: an address space is a view of the timeline, and its
 * bytes are those of the objects that are mapped there. A mapping of a file is a unit of the engine,
 * and so is the kernel.
 */
#include "aux/inside.h"

#include "core/array.h"

#include <stdlib.h>

#define KERNEL_START (UINT64_C(1) << 63)

static uint32_t mode_of(uint64_t address, bool guest)
{
	if (guest) {
		return address >> 63 != 0 ? MISC_GUEST_KERNEL : MISC_GUEST_USER;
	}
	return address >> 63 != 0 ? MISC_KERNEL : MISC_USER;
}

/* Reads code; called on any thread. */
static size_t read_code(void *arg, uint32_t space, uint64_t address, uint8_t *to, size_t n)
{
	struct aux_code *c = arg;
	bool guest = (space & SONDE_PT_GUEST) != 0;
	const struct aux_space *s = &c->spaces[space & ~SONDE_PT_GUEST];
	const struct timeline_view *view = guest ? &s->guest : &s->view;
	struct timeline_range range;
	uint32_t mode = mode_of(address, guest);
	const struct timeline_mapping *m =
	        view->track != NULL ? timeline_find(view, mode, address, &range) : NULL;
	struct frame frame = frame_at(c->frames, m, mode, address);
	struct frame_code_kind kind;
	struct span bytes;

	if (m == NULL || frame_code_at(c->code, &frame, n, &kind, &bytes) < 0) {
		return 0;
	}
	if (range.end > address && range.end - address < bytes.n) {
		bytes.n = (size_t)(range.end - address);
	}
	if (bytes.n != 0) {
		memcpy(to, bytes.p, bytes.n);
	}
	if (mode == MISC_KERNEL) {
		return frame_pokes_apply(&c->frames->pokes, s->pokes, address, to, n, bytes.n);
	}
	return bytes.n;
}

static bool same_unit(const struct aux_unit *a, const struct aux_unit *b)
{
	return a->kernel == b->kernel && a->object == b->object && a->epoch == b->epoch &&
	       a->first == b->first && a->last == b->last;
}

/* Returns the number of a unit, adding it if new; UINT32_MAX: out of memory. */
static uint32_t add_unit(struct aux_code *c, const struct aux_unit *unit)
{
	uint32_t hash = (uint32_t)hash_u64(
	        unit->first ^ unit->last << 20 ^ (uint64_t)unit->object << 32 ^ unit->epoch);
	size_t at = hash;
	uint32_t number;

	if (index_room(&c->by_unit) < 0 ||
	        !array_reserve(&c->units, &c->units_cap, c->nunits + 1, sizeof(*c->units))) {
		return UINT32_MAX;
	}
	while ((number = index_next(&c->by_unit, hash, &at)) != INDEX_NONE) {
		if (same_unit(&c->units[number], unit)) {
			return number;
		}
		at++;
	}
	number = (uint32_t)c->nunits++;
	c->units[number] = *unit;
	index_put(&c->by_unit, hash, at, number);
	return number;
}

static bool number_unit(struct aux_code *c, const struct aux_unit *unit, uint32_t *number)
{
	pthread_mutex_lock(&c->finding);
	*number = add_unit(c, unit);
	pthread_mutex_unlock(&c->finding);
	return *number != UINT32_MAX;
}

static bool find_kernel(struct aux_code *c, uint32_t space, struct pt_unit_at *out)
{
	const struct aux_space *s = &c->spaces[space];
	const struct aux_unit unit = {.kernel = true,
	        .object = s->view.kernel_root,
	        .epoch = s->view.epoch,
	        .first = s->pokes,
	        .space = space};

	*out = (struct pt_unit_at){.first = KERNEL_START, .last = UINT64_MAX};
	return number_unit(c, &unit, &out->unit);
}

/* Finds the mapping of a file. */
static bool find_mapping(struct aux_code *c, uint32_t space, uint64_t ip, struct pt_unit_at *out)
{
	const struct timeline_view *view = &c->spaces[space].view;
	const struct timeline *t = c->frames->timeline;
	struct timeline_range range;
	const struct timeline_mapping *m = timeline_find(view, MISC_USER, ip, &range);
	enum timeline_object_kind kind =
	        m != NULL ? timeline_object(t, m->object)->kind : TIMELINE_NONE;
	struct aux_unit unit;

	if (range.end <= range.start) {
		return false;
	}
	out->first = range.start;
	out->last = range.end - 1 < KERNEL_START ? range.end - 1 : KERNEL_START - 1;
	if (kind != TIMELINE_USER && kind != TIMELINE_VDSO && kind != TIMELINE_JIT) {
		return false;
	}
	unit = (struct aux_unit){.object = m->object,
	        .first = timeline_object_address(t, m, out->first),
	        .last = timeline_object_address(t, m, out->last)};
	out->bias = out->first - unit.first;
	return number_unit(c, &unit, &out->unit);
}

/* The code of guests has no units. */
static bool find_unit(void *arg, uint32_t space, uint64_t ip, struct pt_unit_at *out)
{
	struct aux_code *c = arg;

	if ((space & SONDE_PT_GUEST) != 0) {
		out->first = 0;
		out->last = UINT64_MAX;
		return false;
	}
	if (c->spaces[space].view.track == NULL) {
		return false;
	}
	return ip >= KERNEL_START ? find_kernel(c, space, out) : find_mapping(c, space, ip, out);
}

static size_t read_unit(void *arg, uint32_t number, uint64_t address, uint8_t *to, size_t n)
{
	struct aux_code *c = arg;
	struct frame_code_place place = {.address = address};
	struct frame_code_kind kind;
	struct aux_unit unit;
	struct span bytes;

	pthread_mutex_lock(&c->finding);
	unit = c->units[number];
	pthread_mutex_unlock(&c->finding);
	if (unit.kernel) {
		return read_code(arg, unit.space, address, to, n);
	}
	place.object = unit.object;
	if (frame_code_of(c->code, &place, n, &kind, &bytes) < 0 || bytes.n == 0) {
		return 0;
	}
	memcpy(to, bytes.p, bytes.n);
	return bytes.n;
}

int aux_code_init(struct aux_code *c, const struct frame_resolver *frames)
{
	*c = (struct aux_code){.frames = frames, .code = frame_code_new(frames)};
	pthread_mutex_init(&c->finding, NULL);
	c->image = sonde_pt_image_new();
	if (c->code == NULL || c->image == NULL) {
		return SONDE_ENOMEM;
	}
	sonde_pt_image_set_reader(c->image, read_code, c);
	pt_image_set_units(c->image, find_unit, read_unit, c);
	c->graph = sonde_pt_graph_new(c->image);
	return c->graph != NULL ? 0 : SONDE_ENOMEM;
}

void aux_code_fini(struct aux_code *c)
{
	sonde_pt_graph_free(c->graph);
	sonde_pt_image_free(c->image);
	frame_code_free(c->code);
	free(c->spaces);
	if (c->frames != NULL) { /* it was made */
		pthread_mutex_destroy(&c->finding);
	}
	free(c->units);
	index_fini(&c->by_unit);
}

static bool same_space(const struct aux_space *a, const struct aux_space *b)
{
	const struct timeline_view *v = &a->view, *w = &b->view;

	return v->root == w->root && v->kernel_root == w->kernel_root &&
	       v->later_root == w->later_root && v->epoch == w->epoch && a->pokes == b->pokes &&
	       a->guest.kernel_root == b->guest.kernel_root;
}

int aux_code_space(struct aux_code *c, const struct aux_space *key, uint32_t *space)
{
	for (size_t i = c->nspaces; i-- > 0;) {
		if (same_space(&c->spaces[i], key)) {
			*space = (uint32_t)i;
			return 0;
		}
	}
	if (!array_reserve(&c->spaces, &c->cap, c->nspaces + 1, sizeof(*key))) {
		return SONDE_ENOMEM;
	}
	*space = (uint32_t)c->nspaces;
	c->spaces[c->nspaces++] = *key;
	return 0;
}
