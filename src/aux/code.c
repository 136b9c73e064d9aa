/* SPDX-License-Identifier: MIT */
/*
 * The code of a recording for the PT engine: an address space is a view of the timeline, and its
 * bytes are those of the objects that are mapped there.
 */
#include "aux/inside.h"

#include "core/array.h"

#include <stdlib.h>

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
		return aux_pokes_apply(c->pokes, s->pokes, address, to, n, bytes.n);
	}
	return bytes.n;
}

int aux_code_init(
        struct aux_code *c, const struct frame_resolver *frames, const struct aux_pokes *pokes)
{
	*c = (struct aux_code){.frames = frames, .pokes = pokes, .code = frame_code_new(frames)};
	c->image = sonde_pt_image_new();
	if (c->code == NULL || c->image == NULL) {
		return SONDE_ENOMEM;
	}
	sonde_pt_image_set_reader(c->image, read_code, c);
	c->graph = sonde_pt_graph_new(c->image);
	return c->graph != NULL ? 0 : SONDE_ENOMEM;
}

void aux_code_fini(struct aux_code *c)
{
	sonde_pt_graph_free(c->graph);
	sonde_pt_image_free(c->image);
	frame_code_free(c->code);
	free(c->spaces);
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
