/* SPDX-License-Identifier: MIT */
#include "record/layout.h"

#include "abi/abi.h"
#include "record/layout_tables.h"

enum frame_state { FRAME_OPEN, FRAME_ITEM, FRAME_FIELDS, FRAME_CLOSE };

/* ---- numbers ---- */

static const uint8_t widths[] = {
        [LAYOUT_U8] = 1,
        [LAYOUT_U16] = 2,
        [LAYOUT_U32] = 4,
        [LAYOUT_U64] = 8,
        [LAYOUT_S32] = 4,
        [LAYOUT_S64] = 8,
        [LAYOUT_F64] = 8,
        [LAYOUT_BITS] = 8,
        [LAYOUT_MIRRORED] = 8,
        [LAYOUT_CHARS] = 1,
        [LAYOUT_TEXT] = 1,
        [LAYOUT_STRING] = 1,
        [LAYOUT_CSTRING] = 1,
        [LAYOUT_BYTES] = 1,
        [LAYOUT_STRUCT] = 0,
};

unsigned layout_width(enum layout_kind kind)
{
	return widths[kind];
}

uint64_t layout_mirror(uint64_t v, const struct layout_name *parts, bool from_top)
{
	uint64_t out = 0;

	for (; parts->name != NULL; parts++) {
		unsigned end = (unsigned)parts->value + parts->width;
		unsigned width = parts->loose ? 1 : parts->width;
		uint64_t mask = (1ULL << width) - 1;

		for (unsigned low = (unsigned)parts->value; low < end; low += width) {
			unsigned top = 64 - low - width;

			out |= from_top ? (v >> top & mask) << low : (v >> low & mask) << top;
		}
	}
	return out;
}

static uint64_t number_load(
        const uint8_t *p, enum layout_kind kind, const struct layout_name *parts, bool swap)
{
	switch (widths[kind]) {
	case 1: return *p;
	case 2: return load_u16(p, swap);
	case 4:
		return kind == LAYOUT_S32 ? (uint64_t)(int64_t)(int32_t)load_u32(p, swap)
		                          : load_u32(p, swap);
	default: break;
	}
	if (kind == LAYOUT_MIRRORED && swap != HOST_BIG_ENDIAN) {
		return layout_mirror(load_u64(p, swap), parts, true);
	}
	return load_u64(p, swap);
}

uint64_t layout_number(const struct layout_value *v, uint64_t i, bool swap)
{
	return number_load(
	        v->bytes.p + i * widths[v->field->kind], v->field->kind, v->field->names, swap);
}

void layout_put(uint8_t *out, const struct layout_field *f, uint64_t number, bool swap)
{
	switch (widths[f->kind]) {
	case 2: store_u16(out, (uint16_t)number, swap); return;
	case 4: store_u32(out, (uint32_t)number, swap); return;
	case 8:
		if (f->kind == LAYOUT_MIRRORED && swap != HOST_BIG_ENDIAN) {
			number = layout_mirror(number, f->names, false);
		}
		store_u64(out, number, swap);
		return;
	default: *out = (uint8_t)number; return;
	}
}

void layout_turn(const struct layout_value *v, bool swap, uint8_t *out)
{
	enum layout_kind kind = v->field != NULL ? v->field->kind : LAYOUT_BYTES;
	unsigned width = widths[kind];

	if (v->bytes.n == 0) {
		return;
	}
	if (kind == LAYOUT_STRING && v->bytes.n >= 4) {
		memcpy(out, v->bytes.p, v->bytes.n);
		store_u32(out, load_u32(v->bytes.p, swap), !swap);
		return;
	}
	if (width < 2) {
		memcpy(out, v->bytes.p, v->bytes.n);
		return;
	}
	for (size_t i = 0; i < v->bytes.n; i += width) {
		layout_put(out + i, v->field,
		        number_load(v->bytes.p + i, kind, v->field->names, swap), !swap);
	}
}

/* ---- the walk ---- */

void layout_walk_init(struct layout_walk *w, const struct layout *layout, struct span bytes,
        bool swap, const struct record_plan *plan, uint16_t misc)
{
	w->c = cursor_make(bytes, swap);
	w->start = w->c.p;
	w->plan = plan;
	w->misc = misc;
	w->bad = w->done = false;
	memset(w->slots, 0, sizeof(w->slots));
	w->depth = 1;
	w->frames[0] = (struct layout_frame){
	        .layout = layout, .start = w->c.p, .items = 1, .state = FRAME_FIELDS};
}

bool layout_there(const struct layout_walk *w, const struct layout_field *f)
{
	uint64_t value = f->when.value, slot = w->slots[f->when.slot];

	switch (f->when.is) {
	case WHEN_ALWAYS: return true;
	case WHEN_MISC: return (w->misc & value) != 0;
	case WHEN_NOT_MISC: return (w->misc & value) == 0;
	case WHEN_IS: return slot == value;
	case WHEN_NOT: return slot != value;
	case WHEN_MIN: return slot >= value;
	case WHEN_LEFT: return cursor_left(&w->c) >= value;
	case WHEN_LEFT_EACH: return slot != 0 && slot <= cursor_left(&w->c) / value;
	case WHEN_LEFT_ODD: return cursor_left(&w->c) % value != 0;
	case WHEN_SAMPLE: return (w->plan->sample_type & value) != 0;
	case WHEN_READ: return (w->plan->read_format & value) != 0;
	case WHEN_NOT_READ: return (w->plan->read_format & value) == 0;
	case WHEN_BRANCH: return (w->plan->branch_sample_type & value) != 0;
	}
	return false;
}

uint64_t layout_count(const struct layout_walk *w, const struct layout_field *f)
{
	const struct layout_frame *top = &w->frames[w->depth - 1];
	uint64_t slot = w->slots[f->count.n < SLOTS ? f->count.n : 0];
	uint64_t used;

	switch (f->count.is) {
	case COUNT_ONE: return 1;
	case COUNT_FIXED: return f->count.n;
	case COUNT_SLOT: return slot != UINT64_MAX ? slot : slot - 1; /* not a list to the end */
	case COUNT_REST:
		return f->kind == LAYOUT_STRUCT ? UINT64_MAX : cursor_left(&w->c) / widths[f->kind];
	case COUNT_USER_REGS: return w->plan->user_regs;
	case COUNT_INTR_REGS: return w->plan->intr_regs;
	case COUNT_WORDS: return slot / 64 + (slot % 64 != 0);
	case COUNT_STRUCT_REST:
		used = (uint64_t)(w->c.p - top->start);
		return slot > used ? slot - used : 0;
	case COUNT_ALIGN:
		used = (uint64_t)(w->c.p - w->start);
		used = (8 - used % 8) % 8;
		return used < cursor_left(&w->c) ? used : cursor_left(&w->c);
	}
	return 0;
}

/* Closes everything that is open: the rest of the input is LAYOUT_REST. */
static void walk_break(struct layout_walk *w)
{
	w->bad = true;
	for (unsigned i = 0; i < w->depth; i++) {
		w->frames[i].items = 1;
		w->frames[i].next = w->frames[i].layout->nfields;
	}
}

bool layout_keep(struct layout_walk *w, const struct layout_field *f, uint64_t number)
{
	uint64_t room = w->slots[f->within];

	if (f->keep == SLOT_NONE) {
		return true;
	}
	number = number != 0 ? number : f->zero;
	w->slots[f->keep] = room != 0 ? room : number;
	return room == 0 || number <= room;
}

/* Reads one number, which most fields are. */
static bool take_number(
        struct layout_walk *w, const struct layout_field *f, struct layout_value *out)
{
	unsigned width = widths[f->kind];

	if (cursor_left(&w->c) < width) {
		return false;
	}
	out->bytes = (struct span){w->c.p, width};
	w->c.p += width;
	out->count = 1;
	out->number = number_load(out->bytes.p, f->kind, f->names, w->c.swap);
	w->bad |= f->keep != SLOT_NONE && !layout_keep(w, f, out->number);
	return true;
}

static bool take_value(
        struct layout_walk *w, const struct layout_field *f, struct layout_value *out)
{
	unsigned width = widths[f->kind];
	uint64_t n = layout_count(w, f);
	struct cursor saved = w->c;

	if (f->kind == LAYOUT_TEXT) {
		n = cursor_left(&w->c);
	} else if (f->kind == LAYOUT_STRING) {
		n = 4 + (uint64_t)cursor_u32(&w->c);
		w->c.p = saved.p;
	} else if (f->kind == LAYOUT_CSTRING) {
		n = strnlen((const char *)w->c.p, cursor_left(&w->c)) + 1;
	}
	if (w->c.bad || n > cursor_left(&w->c) / width) {
		w->c = saved;
		return false;
	}
	out->bytes = cursor_bytes(&w->c, (size_t)n * width);
	out->count = n;
	out->array = f->count.is != COUNT_ONE && f->kind < LAYOUT_CHARS;
	if (f->kind < LAYOUT_CHARS && n != 0) {
		out->number = number_load(out->bytes.p, f->kind, f->names, w->c.swap);
	}
	w->bad |= !layout_keep(w, f, out->number);
	return true;
}

static bool take_field(
        struct layout_walk *w, const struct layout_field *f, struct layout_value *out)
{
	return f->count.is == COUNT_ONE && f->kind < LAYOUT_CHARS ? take_number(w, f, out)
	                                                          : take_value(w, f, out);
}

bool layout_take(struct layout_walk *w, const struct layout_field *f, struct layout_value *out)
{
	*out = (struct layout_value){.field = f};
	return take_field(w, f, out);
}

static void frame_push(struct layout_walk *w, const struct layout_field *f)
{
	w->frames[w->depth++] = (struct layout_frame){.layout = f->sub,
	        .field = f,
	        .start = w->c.p,
	        .items = layout_count(w, f),
	        .state = f->name != NULL ? FRAME_OPEN : FRAME_FIELDS};
}

/* Whether a list has more items: a list "to the end" has while bytes are left. */
static bool frame_more(const struct layout_walk *w, struct layout_frame *top)
{
	if (top->items == UINT64_MAX) {
		return !w->bad && cursor_left(&w->c) != 0;
	}
	return top->items != 0;
}

static bool frame_is_list(const struct layout_frame *frame)
{
	return frame->field != NULL && frame->field->count.is != COUNT_ONE;
}

/* Begins or ends a struct or a list. LAYOUT_END: nothing to report, continue. */
static enum layout_event frame_step(
        struct layout_walk *w, struct layout_frame *top, struct layout_value *out)
{
	out->field = top->field;
	switch ((enum frame_state)top->state) {
	case FRAME_OPEN:
		top->state = FRAME_ITEM;
		if (frame_is_list(top)) {
			out->count = top->items != UINT64_MAX ? top->items : 0;
			return LAYOUT_LIST;
		}
		return LAYOUT_END;
	case FRAME_ITEM:
		if (!frame_more(w, top)) {
			top->state = FRAME_CLOSE;
			return LAYOUT_END;
		}
		top->state = FRAME_FIELDS;
		top->next = 0;
		top->start = w->c.p;
		return LAYOUT_ITEM;
	case FRAME_FIELDS: /* all fields are done */
		if (top->field == NULL || top->field->name == NULL) {
			top->state = FRAME_CLOSE;
			top->field = NULL;
			return LAYOUT_END;
		}
		top->items -= top->items != UINT64_MAX;
		top->state = w->bad ? FRAME_CLOSE : FRAME_ITEM;
		return LAYOUT_ITEM_END;
	case FRAME_CLOSE: w->depth--; return frame_is_list(top) ? LAYOUT_LIST_END : LAYOUT_END;
	}
	return LAYOUT_END;
}

static enum layout_event walk_rest(struct layout_walk *w, struct layout_value *out)
{
	size_t left = cursor_left(&w->c);

	if (w->done || left == 0) {
		return LAYOUT_END;
	}
	w->done = true;
	out->field = NULL;
	out->bytes = cursor_bytes(&w->c, left);
	out->count = left;
	return LAYOUT_REST;
}

enum layout_event layout_next(struct layout_walk *w, struct layout_value *out)
{
	*out = (struct layout_value){0};
	while (w->depth != 0) {
		struct layout_frame *top = &w->frames[w->depth - 1];
		const struct layout_field *f;

		if (top->state != FRAME_FIELDS || top->next == top->layout->nfields) {
			enum layout_event event = frame_step(w, top, out);

			if (event != LAYOUT_END) {
				return event;
			}
			continue;
		}
		f = &top->layout->fields[top->next++];
		if (f->when.is != WHEN_ALWAYS && !layout_there(w, f)) {
			continue;
		}
		if (f->kind == LAYOUT_STRUCT) {
			if (w->depth < LAYOUT_DEPTH) {
				frame_push(w, f);
			}
			continue;
		}
		out->field = f;
		if (take_field(w, f, out)) {
			return LAYOUT_VALUE;
		}
		walk_break(w);
	}
	return walk_rest(w, out);
}

/* ---- records ---- */

const struct layout *layout_of_record(uint32_t type)
{
	return type < RECORD_USER_START ? layout_of_kernel_record(type)
	                                : layout_of_tool_record(type);
}

static const struct layout nothing = {.name = "nothing"};

/* Splits the body into the record's own fields and what follows them (see struct record_walk). */
static const struct layout *record_parts(struct record_walk *w, const struct record *r, bool swap,
        const struct record_plan *plan, struct span *body)
{
	const struct layout *layout = layout_of_record(r->type), *then = NULL;
	size_t behind = 0;

	if (layout == NULL ||
	        (plan == NULL && (r->type == RECORD_SAMPLE || r->type == RECORD_READ))) {
		layout = &nothing;
	}
	if (r->type == RECORD_HEADER_FEATURE && body->n >= 8) {
		uint64_t id = load_u64(body->p, swap);

		then = id < FEATURE_BITS ? layout_of_feature((uint32_t)id) : NULL;
		behind = then != NULL ? body->n - 8 : 0;
	} else if (plan != NULL && r->type < RECORD_USER_START && r->type != RECORD_SAMPLE) {
		then = layout_of_trailer();
		behind = plan->trailer_size;
		if (behind > body->n) {
			w->bad = true;
			behind = 0;
		}
	}
	body->n -= behind;
	w->then = (struct span){body->p + body->n, behind};
	w->then_field = (struct layout_field){
	        .name = then != NULL ? then->name : NULL, .kind = LAYOUT_STRUCT, .sub = then};
	return layout;
}

void record_walk_init(struct record_walk *w, const struct record *r, bool swap,
        const struct record_plan *plan, uint32_t cpus)
{
	struct span body = r->body;
	const struct layout *layout;

	w->bad = false;
	w->part = WALK_BODY;
	layout = record_parts(w, r, swap, plan, &body);
	layout_walk_init(&w->walk, layout, body, swap, plan, r->misc);
	w->walk.slots[SLOT_CPUS] = cpus;
}

static void record_walk_then(struct record_walk *w)
{
	uint64_t cpus = w->walk.slots[SLOT_CPUS];

	layout_walk_init(
	        &w->walk, w->then_field.sub, w->then, w->walk.c.swap, w->walk.plan, w->walk.misc);
	w->walk.slots[SLOT_CPUS] = cpus;
}

enum layout_event record_walk_next(struct record_walk *w, struct layout_value *out)
{
	enum layout_event event = layout_next(&w->walk, out);

	w->bad |= w->walk.bad;
	if (event != LAYOUT_END) {
		return event;
	}
	out->field = &w->then_field;
	if (w->part == WALK_BODY && w->then.n != 0) {
		w->part = WALK_THEN;
		record_walk_then(w);
		return LAYOUT_ITEM;
	}
	if (w->part == WALK_THEN) {
		w->part = WALK_DONE;
		return LAYOUT_ITEM_END;
	}
	return LAYOUT_END;
}

bool record_turn(const struct record *r, bool swap, const struct record_plan *plan, uint32_t cpus,
        uint8_t *out)
{
	struct record_walk w;
	struct layout_value v;
	enum layout_event event;
	uint8_t *body = out + RECORD_HEADER_SIZE;

	store_u32(out, r->type, !swap);
	store_u16(out + 4, r->misc, !swap);
	store_u16(out + 6, r->size, !swap);
	record_walk_init(&w, r, swap, plan, cpus);
	while ((event = record_walk_next(&w, &v)) != LAYOUT_END) {
		if (event == LAYOUT_VALUE || event == LAYOUT_REST) {
			layout_turn(&v, swap, body + (v.bytes.p - r->body.p));
		}
	}
	return !w.bad;
}
