/* SPDX-License-Identifier: MIT */
/*
 * C structs from bytes and back, by the tables of layout.h: members that fields name are read, and
 * written in the order, under the conditions and as often as the tables say. Calls nest as deep as
 * the tables (LAYOUT_DEPTH), whatever the input.
 */
#include "core/status.h"
#include "record/layout.h"

#include <assert.h>

#define FIRST_ITEMS 8 /* initial room for a list whose length is known only at its end */

/* ---- members ---- */

struct layout_member layout_member_of(const struct layout_field *f)
{
	return (struct layout_member){.at = f->to != 0 ? f->to - 1 : 0, .size = f->room};
}

uint64_t layout_member_load(const void *base, struct layout_member m)
{
	const char *p = (const char *)base + m.at;
	uint16_t v16;
	uint32_t v32;
	uint64_t v64;

	switch (m.size) {
	case 1: return (uint8_t)*p;
	case 2: memcpy(&v16, p, sizeof(v16)); return v16;
	case 4: memcpy(&v32, p, sizeof(v32)); return v32;
	case 8: memcpy(&v64, p, sizeof(v64)); return v64;
	default: return 0; /* not in the struct */
	}
}

void layout_member_store(void *base, struct layout_member m, uint64_t v)
{
	char *p = (char *)base + m.at;
	uint16_t v16 = (uint16_t)v;
	uint32_t v32 = (uint32_t)v;

	switch (m.size) {
	case 1: *p = (char)v; return;
	case 2: memcpy(p, &v16, sizeof(v16)); return;
	case 4: memcpy(p, &v32, sizeof(v32)); return;
	case 8: memcpy(p, &v, sizeof(v)); return;
	default: return;
	}
}

static bool is_text(const struct layout_field *f)
{
	return f->kind == LAYOUT_CHARS || f->kind == LAYOUT_TEXT || f->kind == LAYOUT_STRING ||
	       f->kind == LAYOUT_CSTRING;
}

static bool is_list(const struct layout_field *f)
{
	return f->count.is != COUNT_ONE;
}

/* Conditions that depend on the input, not on the struct. */
static bool when_left(const struct layout_field *f)
{
	return f->when.is == WHEN_LEFT || f->when.is == WHEN_LEFT_EACH ||
	       f->when.is == WHEN_LEFT_ODD;
}

/* ---- bytes to struct ---- */

struct filler {
	struct layout_walk w; /* only the starts of its frames are used */
	struct arena *arena;
	bool bad; /* the bytes do not fit */
};

/* Reads all fields: 0, or SONDE_ENOMEM; bytes that do not fit set f->bad. */
static int fill_struct(struct filler *f, const struct layout *l, char *base);

/* Minimum size of a struct in bytes, for checking a claimed count. */
static uint64_t least_bytes(const struct layout *l)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < l->nfields; i++) {
		const struct layout_field *f = &l->fields[i];
		uint64_t count = f->count.is == COUNT_FIXED ? f->count.n : !is_list(f);

		if (f->when.is != WHEN_ALWAYS || f->has.size != 0 || f->kind == LAYOUT_TEXT) {
			continue;
		}
		if (f->kind == LAYOUT_STRUCT) {
			n += count * least_bytes(f->sub);
		} else {
			n += f->kind == LAYOUT_STRING ? 4 : count * layout_width(f->kind);
		}
	}
	return n != 0 ? n : 1;
}

static int fill_text(struct filler *f, const struct layout_value *v, char *base)
{
	struct layout_text text = {.raw = v->bytes};

	if (v->field->kind == LAYOUT_STRING) {
		text.raw.p += 4;
		text.raw.n -= 4;
	}
	text.s = arena_text(
	        f->arena, (const char *)text.raw.p, strnlen((const char *)text.raw.p, text.raw.n));
	if (text.s == NULL) {
		return SONDE_ENOMEM;
	}
	assert(v->field->room == sizeof(text));
	memcpy(base + layout_member_of(v->field).at, &text, sizeof(text));
	return 0;
}

static int fill_array(struct filler *f, const struct layout_value *v, char *base)
{
	struct layout_member item = {.size = (uint16_t)layout_width(v->field->kind)};
	char *items = arena_alloc(f->arena, (size_t)v->count * item.size);

	if (items == NULL) {
		return SONDE_ENOMEM;
	}
	for (uint64_t i = 0; i < v->count; i++) {
		layout_member_store(items + i * item.size, item, layout_number(v, i, f->w.c.swap));
	}
	memcpy(base + layout_member_of(v->field).at, &items, sizeof(items));
	layout_member_store(base, v->field->n, v->count);
	return 0;
}

static void fill_number(struct filler *f, const struct layout_value *v, char *base)
{
	struct layout_member in = layout_member_of(v->field);

	if (in.size < layout_width(v->field->kind) && v->number >> (8 * in.size) != 0) {
		f->bad = true; /* more than size_t can count */
		return;
	}
	layout_member_store(base, in, v->number);
}

/* Whether the field is past the end that the struct itself has recorded. */
static bool beyond_struct(const struct filler *f, const struct layout_field *field)
{
	const uint8_t *start = f->w.frames[f->w.depth - 1].start;

	return field->count.is == COUNT_STRUCT_REST &&
	       f->w.slots[field->count.n] < (uint64_t)(f->w.c.p - start);
}

static int fill_value(struct filler *f, const struct layout_field *field, char *base)
{
	struct layout_value v;

	if (beyond_struct(f, field) || !layout_take(&f->w, field, &v)) {
		f->bad = true;
		return 0;
	}
	if (field->room == 0) {
		return 0;
	}
	if (is_text(field)) {
		return fill_text(f, &v, base);
	}
	if (field->kind == LAYOUT_BYTES) {
		assert(field->room == sizeof(v.bytes));
		memcpy(base + layout_member_of(field).at, &v.bytes, sizeof(v.bytes));
		return 0;
	}
	if (v.array) {
		return fill_array(f, &v, base);
	}
	fill_number(f, &v, base);
	return 0;
}

struct items {
	char *p;
	size_t n, cap;
};

static int items_grow(struct filler *f, struct items *items, size_t cap, size_t size)
{
	char *p = cap <= SIZE_MAX / size ? arena_zalloc(f->arena, cap * size) : NULL;

	if (p == NULL) {
		return SONDE_ENOMEM;
	}
	if (items->n != 0) {
		memcpy(p, items->p, items->n * size);
	}
	items->p = p;
	items->cap = cap;
	return 0;
}

/*
 * A list to the end grows by doubling: its length is unknown before it is read. An incomplete last
 * item is left over.
 */
static int fill_to_end(struct filler *f, const struct layout *sub, struct items *items)
{
	while (cursor_left(&f->w.c) != 0) {
		struct layout_walk before = f->w;

		if (items->n == items->cap) {
			size_t cap = items->cap != 0 ? items->cap * 2 : FIRST_ITEMS;

			TRY(items_grow(f, items, cap, sub->size));
		}
		TRY(fill_struct(f, sub, items->p + items->n * sub->size));
		if (f->bad || f->w.c.p == before.c.p) {
			f->w = before;
			f->bad = false;
			return 0;
		}
		items->n++;
	}
	return 0;
}

static int fill_list(struct filler *f, const struct layout_field *field, char *base)
{
	const struct layout *sub = field->sub;
	uint64_t n = layout_count(&f->w, field);
	struct items items = {0};

	assert(sub->size != 0 && field->room == sizeof(items.p)); /* there is a member for it */
	if (n == UINT64_MAX) {
		TRY(fill_to_end(f, sub, &items));
	} else if (n > cursor_left(&f->w.c) / least_bytes(sub)) {
		f->bad = true;
		return 0;
	} else if (n != 0) {
		TRY(items_grow(f, &items, (size_t)n, sub->size));
	}
	for (; items.n < n && n != UINT64_MAX && !f->bad; items.n++) {
		TRY(fill_struct(f, sub, items.p + items.n * sub->size));
	}
	memcpy(base + layout_member_of(field).at, &items.p, sizeof(items.p));
	layout_member_store(base, field->n, items.n);
	return 0;
}

static int fill_there(struct filler *f, const struct layout_field *field, char *base)
{
	if (field->kind != LAYOUT_STRUCT) {
		return fill_value(f, field, base);
	}
	return is_list(field) ? fill_list(f, field, base)
	                      : fill_struct(f, field->sub, base + layout_member_of(field).at);
}

/*
 * An incomplete optional field counts as absent: its bytes belong to the next field, or are left
 * over.
 */
static int fill_optional(struct filler *f, const struct layout_field *field, char *base)
{
	struct layout_walk before = f->w;

	TRY(fill_there(f, field, base));
	if (f->bad) {
		f->w = before;
		f->bad = false;
		memset(base + layout_member_of(field).at, 0, field->room);
		memset(base + field->n.at, 0, field->n.size);
		return 0;
	}
	layout_member_store(base, field->has, true);
	return 0;
}

static int fill_field(struct filler *f, const struct layout_field *field, char *base)
{
	if (!layout_there(&f->w, field)) {
		f->bad = field->room != 0 && field->has.size == 0 && when_left(field);
		return 0;
	}
	return field->has.size != 0 ? fill_optional(f, field, base) : fill_there(f, field, base);
}

static int fill_struct(struct filler *f, const struct layout *l, char *base)
{
	assert(f->w.depth < LAYOUT_DEPTH);
	f->w.frames[f->w.depth++].start = f->w.c.p;
	for (unsigned i = 0; i < l->nfields && !f->bad; i++) {
		TRY(fill_field(f, &l->fields[i], base));
	}
	f->w.depth--;
	return 0;
}

int layout_fill(const struct layout *layout, const struct layout_source *source, struct arena *a,
        void *out, struct span *tail)
{
	struct filler f = {.arena = a};
	int rc;

	layout_walk_init(&f.w, layout, source->bytes, source->swap, source->plan, source->misc);
	f.w.slots[SLOT_CPUS] = source->cpus;
	f.w.depth = 0;
	memset(out, 0, layout->size);
	rc = fill_struct(&f, layout, out);
	if (rc == 0 && f.bad) {
		rc = SONDE_EFORMAT;
	}
	if (rc < 0) {
		memset(out, 0, layout->size);
	}
	if (tail != NULL) {
		*tail = rc < 0 ? source->bytes : cursor_bytes(&f.w.c, cursor_left(&f.w.c));
	}
	return rc < 0 ? rc : 1;
}

/* ---- struct to bytes ---- */

struct storer {
	struct layout_walk w; /* its slots, plan and misc */
	struct text *out;
	size_t first, start; /* offsets in out: of the whole, and of this struct */
	bool swap;
};

static void store_struct(struct storer *s, const struct layout *l, const char *base);

/* Whether the field is written. */
static bool store_there(const struct storer *s, const struct layout_field *f, const char *base)
{
	if (f->has.size != 0) {
		return layout_member_load(base, f->has) != 0;
	}
	return when_left(f) ? f->room != 0 : layout_there(&s->w, f);
}

/* Number of items; for a list or bytes to the end: `all`. */
static size_t store_count(
        const struct storer *s, const struct layout_field *f, const char *base, size_t all)
{
	size_t used = s->out->n - s->start;

	if (f->n.size != 0) {
		return (size_t)layout_member_load(base, f->n);
	}
	if (f->count.is == COUNT_REST) {
		return all;
	}
	if (f->count.is == COUNT_STRUCT_REST) {
		return s->w.slots[f->count.n] > used ? (size_t)s->w.slots[f->count.n] - used : 0;
	}
	if (f->count.is == COUNT_ALIGN) {
		return (8 - (s->out->n - s->first) % 8) % 8;
	}
	return (size_t)layout_count(&s->w, f);
}

static void put_number(struct storer *s, const struct layout_field *f, uint64_t number)
{
	unsigned width = layout_width(f->kind);
	char *p = text_room(s->out, width);

	if (p != NULL) {
		layout_put((uint8_t *)p, f, number, s->swap);
		s->out->n += width;
	}
}

/* Writes at most n bytes, padded with NULs to n. */
static void put_filled(struct storer *s, const void *bytes, size_t there, size_t n)
{
	there = there < n ? there : n;
	text_bytes(s->out, bytes, there);
	text_fill(s->out, '\0', n - there);
}

size_t layout_text_room(const char *s)
{
	return (strlen(s) + 1 + 63) / 64 * 64;
}

static void store_text(struct storer *s, const struct layout_field *f, const char *base)
{
	static const struct layout_field length = {.kind = LAYOUT_U32};
	struct layout_text text = {.s = ""};
	size_t room;

	if (f->room != 0) {
		memcpy(&text, base + layout_member_of(f).at, sizeof(text));
	}
	if (text.raw.p != NULL) {
		room = text.raw.n;
	} else if (f->kind == LAYOUT_CHARS) {
		room = store_count(s, f, base, layout_text_room(text.s));
	} else {
		room = f->kind == LAYOUT_CSTRING ? strlen(text.s) + 1 : layout_text_room(text.s);
	}
	if (f->kind == LAYOUT_STRING) {
		put_number(s, &length, room);
	}
	if (text.raw.p != NULL) {
		put_filled(s, text.raw.p, text.raw.n, room);
	} else {
		put_filled(s, text.s, strlen(text.s), room);
	}
}

static void store_bytes(struct storer *s, const struct layout_field *f, const char *base)
{
	struct span bytes = {NULL, 0};

	if (f->room != 0) {
		memcpy(&bytes, base + layout_member_of(f).at, sizeof(bytes));
	}
	put_filled(s, bytes.p, bytes.n, store_count(s, f, base, bytes.n));
}

static void store_array(struct storer *s, const struct layout_field *f, const char *base)
{
	struct layout_member item = {.size = (uint16_t)layout_width(f->kind)};
	size_t n = store_count(s, f, base, 0);
	const char *items = NULL;

	if (f->room != 0) {
		memcpy(&items, base + layout_member_of(f).at, sizeof(items));
	}
	for (size_t i = 0; i < n; i++) {
		put_number(
		        s, f, items != NULL ? layout_member_load(items + i * item.size, item) : 0);
	}
}

static void store_list(struct storer *s, const struct layout_field *f, const char *base)
{
	size_t n = store_count(s, f, base, 0);
	const char *items;

	memcpy(&items, base + layout_member_of(f).at, sizeof(items));
	for (size_t i = 0; i < n; i++) {
		store_struct(s, f->sub, items + i * f->sub->size);
	}
}

static void store_field(struct storer *s, const struct layout_field *f, const char *base)
{
	uint64_t number;

	if (f->kind == LAYOUT_STRUCT && is_list(f)) {
		store_list(s, f, base);
	} else if (f->kind == LAYOUT_STRUCT) {
		store_struct(s, f->sub, base + layout_member_of(f).at);
	} else if (is_text(f)) {
		store_text(s, f, base);
	} else if (f->kind == LAYOUT_BYTES) {
		store_bytes(s, f, base);
	} else if (is_list(f)) {
		store_array(s, f, base);
	} else {
		number = layout_member_load(base, layout_member_of(f));
		put_number(s, f, number);
		(void)layout_keep(&s->w, f, number);
	}
}

static void store_struct(struct storer *s, const struct layout *l, const char *base)
{
	size_t outer = s->start;

	s->start = s->out->n;
	for (unsigned i = 0; i < l->nfields; i++) {
		if (store_there(s, &l->fields[i], base)) {
			store_field(s, &l->fields[i], base);
		}
	}
	s->start = outer;
}

void layout_store(struct text *t, const struct layout *layout, const struct layout_source *source,
        const void *value)
{
	struct storer s = {.out = t, .first = t->n, .start = t->n, .swap = source->swap};

	layout_walk_init(
	        &s.w, layout, (struct span){NULL, 0}, source->swap, source->plan, source->misc);
	s.w.slots[SLOT_CPUS] = source->cpus;
	store_struct(&s, layout, value);
}
