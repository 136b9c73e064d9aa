/* SPDX-License-Identifier: MIT */
/* The public walk over fields (sonde/record.h), on top of layout.h's walk. */
#include "record/fields.h"

#include <stdlib.h>

static const struct layout nothing = {.name = "nothing"};

struct sonde_fields *sonde_fields_new(void)
{
	struct sonde_fields *it = calloc(1, sizeof(*it));

	if (it != NULL) {
		fields_begin_layout(it, NULL, (struct span){0}, false, 0);
	}
	return it;
}

void sonde_fields_free(struct sonde_fields *it)
{
	free(it);
}

static void begin(struct sonde_fields *it)
{
	it->value = (struct layout_value){0};
	it->field = (struct sonde_field){0};
}

void fields_begin_record(struct sonde_fields *it, const struct record *r, bool swap,
        const struct record_plan *plan, uint32_t cpus)
{
	begin(it);
	record_walk_init(&it->walk, r, swap, plan, cpus);
}

void fields_begin_layout(struct sonde_fields *it, const struct layout *layout, struct span bytes,
        bool swap, uint32_t cpus)
{
	begin(it);
	it->walk = (struct record_walk){.part = WALK_BODY};
	layout_walk_init(&it->walk.walk, layout != NULL ? layout : &nothing, bytes, swap, NULL, 0);
	it->walk.walk.slots[SLOT_CPUS] = cpus;
}

static const enum sonde_field_kind kinds[] = {
        [LAYOUT_U8] = SONDE_KIND_UNSIGNED,
        [LAYOUT_U16] = SONDE_KIND_UNSIGNED,
        [LAYOUT_U32] = SONDE_KIND_UNSIGNED,
        [LAYOUT_U64] = SONDE_KIND_UNSIGNED,
        [LAYOUT_S32] = SONDE_KIND_SIGNED,
        [LAYOUT_S64] = SONDE_KIND_SIGNED,
        [LAYOUT_F64] = SONDE_KIND_REAL,
        [LAYOUT_BITS] = SONDE_KIND_PARTS,
        [LAYOUT_MIRRORED] = SONDE_KIND_PARTS,
        [LAYOUT_CHARS] = SONDE_KIND_TEXT,
        [LAYOUT_TEXT] = SONDE_KIND_TEXT,
        [LAYOUT_STRING] = SONDE_KIND_TEXT,
        [LAYOUT_CSTRING] = SONDE_KIND_TEXT,
        [LAYOUT_BYTES] = SONDE_KIND_BYTES,
        [LAYOUT_STRUCT] = SONDE_KIND_NONE,
};

static const enum sonde_field_what whats[] = {
        [LAYOUT_VALUE] = SONDE_FIELD_VALUE,
        [LAYOUT_LIST] = SONDE_FIELD_LIST,
        [LAYOUT_LIST_END] = SONDE_FIELD_LIST_END,
        [LAYOUT_ITEM] = SONDE_FIELD_STRUCT,
        [LAYOUT_ITEM_END] = SONDE_FIELD_STRUCT_END,
        [LAYOUT_REST] = SONDE_FIELD_REST,
};

static const enum sonde_field_show shows[] = {
        [SHOW_DEC] = SONDE_SHOW_DECIMAL,
        [SHOW_HEX] = SONDE_SHOW_HEX,
        [SHOW_NAMES] = SONDE_SHOW_NAME,
        [SHOW_FLAGS] = SONDE_SHOW_FLAGS,
        [SHOW_NEVER] = SONDE_SHOW_PADDING,
};

static bool all_zero(struct span s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] != 0) {
			return false;
		}
	}
	return true;
}

static const char *name_of(const struct layout_field *f, uint64_t number)
{
	for (const struct layout_name *n = f->names; n != NULL && n->name != NULL; n++) {
		if (n->value == number) {
			return n->name;
		}
	}
	return NULL;
}

static void fill_text(struct sonde_field *out, const struct layout_value *v)
{
	size_t skip = v->field->kind == LAYOUT_STRING ? 4 : 0;

	if (v->bytes.n <= skip) { /* no bytes: point to an empty string, never NULL */
		out->text = "";
		return;
	}
	out->text = (const char *)v->bytes.p + skip;
	out->text_size = strnlen(out->text, v->bytes.n - skip);
}

static void fill_value(struct sonde_field *out, const struct layout_value *v)
{
	const struct layout_field *f = v->field;

	out->kind = kinds[f->kind];
	out->array = v->array;
	if (out->kind == SONDE_KIND_TEXT) {
		fill_text(out, v);
	} else if (out->kind != SONDE_KIND_BYTES) {
		out->width = layout_width(f->kind);
		out->number = v->number;
	}
	if (out->kind == SONDE_KIND_REAL) {
		memcpy(&out->real, &out->number, sizeof(out->real));
	}
	if (f->show == SHOW_NAMES && !v->array) {
		out->meaning = name_of(f, v->number);
	}
	out->empty = (f->show == SHOW_NEVER && all_zero(v->bytes)) ||
	             (f->kind == LAYOUT_BYTES && v->bytes.n == 0);
}

static void fill(struct sonde_field *out, enum layout_event event, const struct layout_value *v)
{
	const struct layout_field *f = v->field;

	*out = (struct sonde_field){
	        .what = whats[event], .bytes = v->bytes.p, .size = v->bytes.n, .count = v->count};
	if (f == NULL) {
		out->empty = v->bytes.n < 8 && all_zero(v->bytes);
		return;
	}
	out->note = f->note;
	out->unit = f->unit;
	out->show = shows[f->show];
	if (event == LAYOUT_VALUE || event == LAYOUT_LIST || event == LAYOUT_LIST_END ||
	        f->count.is == COUNT_ONE) {
		out->name = f->name;
	}
	if (event == LAYOUT_VALUE) {
		fill_value(out, v);
	}
}

int sonde_fields_next(struct sonde_fields *it, const struct sonde_field **field)
{
	enum layout_event event = record_walk_next(&it->walk, &it->value);

	if (event == LAYOUT_END) {
		begin(it);
		*field = NULL;
		return 0;
	}
	fill(&it->field, event, &it->value);
	*field = &it->field;
	return 1;
}

int sonde_fields_cut(const struct sonde_fields *it)
{
	return it->walk.bad;
}

size_t sonde_fields_numbers(const struct sonde_fields *it, uint64_t first, uint64_t *out, size_t n)
{
	uint64_t there = it->field.width != 0 ? it->field.size / it->field.width : 0;

	if (first >= there) {
		return 0;
	}
	if (n > there - first) {
		n = (size_t)(there - first);
	}
	for (size_t i = 0; i < n; i++) {
		out[i] = layout_number(&it->value, first + i, it->walk.walk.c.swap);
	}
	return n;
}

uint64_t sonde_fields_number(const struct sonde_fields *it, uint64_t i)
{
	uint64_t number = 0;

	(void)sonde_fields_numbers(it, i, &number, 1);
	return number;
}

int sonde_fields_part(struct sonde_fields *it, unsigned i, const struct sonde_field_part **part)
{
	const struct layout_field *f = it->value.field;
	bool words = it->field.kind == SONDE_KIND_PARTS;
	const struct layout_name *n;
	unsigned low;

	*part = NULL;
	if (!words && (it->field.width == 0 || it->field.show != SONDE_SHOW_FLAGS)) {
		return 0;
	}
	for (n = f->names; n->name != NULL && i != 0; n++) {
		i--;
	}
	if (n->name == NULL) {
		return 0;
	}
	low = words ? (unsigned)n->value : (unsigned)__builtin_ctzll(n->value);
	it->part.name = n->name;
	it->part.mask = words ? ((1ULL << n->width) - 1) << low : n->value;
	it->part.value = (it->field.number & it->part.mask) >> low;
	*part = &it->part;
	return 1;
}
