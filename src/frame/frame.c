/* SPDX-License-Identifier: MIT */
#include "frame/frame.h"

#include "frame/stitch.h"

#include <stdlib.h>

int frame_reader_init(struct frame_reader *r, const struct frame_resolver *f)
{
	*r = (struct frame_reader){
	        .resolver = f, .ranges = calloc(FRAME_RANGES, sizeof(*r->ranges))};
	return r->ranges != NULL ? 0 : SONDE_ENOMEM;
}

void frame_reader_fini(struct frame_reader *r)
{
	free(r->ranges);
	free(r->slots);
	free(r->joined);
	frame_stitch_free(r->stitch);
	frame_unwinder_free(r->unwinder);
	*r = (struct frame_reader){0};
}

void frame_reader_turn(struct frame_reader *r, uint32_t epoch)
{
	memset(r->ranges, 0, FRAME_RANGES * sizeof(*r->ranges));
	r->last = (struct frame_range){0};
	if (r->slots != NULL) {
		memset(r->slots, 0, FRAME_FRAMES * sizeof(*r->slots));
	}
	r->epoch = epoch;
}

const struct frame *frame_find(
        struct frame_reader *r, const struct timeline_view *v, uint32_t mode, uint64_t ip)
{
	uint32_t root = frame_root(v, mode);
	uint32_t later_root = mode == MISC_KERNEL ? 0 : v->later_root;
	struct frame_slot *s;

	if (r->slots == NULL) {
		r->slots = calloc(FRAME_FRAMES, sizeof(*r->slots));
		if (r->slots == NULL) {
			return NULL;
		}
	}
	if (v->epoch != r->epoch) {
		frame_reader_turn(r, v->epoch);
	}
	s = &r->slots[hash_u64(ip ^ (uint64_t)root << 40) & (FRAME_FRAMES - 1)];
	if (s->used && s->frame.ip == ip && s->frame.mode == mode && s->root == root &&
	        s->later_root == later_root) {
		return &s->frame;
	}
	*s = (struct frame_slot){
	        .frame = frame_locate(r, v, mode, ip), .root = root, .later_root = later_root};
	if (frame_name(r->resolver, &s->frame) < 0) {
		return NULL;
	}
	s->used = true;
	return &s->frame;
}

const char *frame_symbol_name(
        const struct frame_resolver *f, uint32_t object, const struct symbol *symbol)
{
	return symbol == NULL ? NULL : symbol_name(frame_symbols(f, object), symbol);
}

const char *frame_object_name(const struct timeline *t, const struct timeline_object *o)
{
	return timeline_text(t, o->kind == TIMELINE_MODULE && !o->listed ? o->short_name : o->name);
}
