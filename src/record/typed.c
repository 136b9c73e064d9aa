/* SPDX-License-Identifier: MIT */
/* Walks over a record and stores each value at the offset in its field's `to`. */
#include "record/typed.h"

#include "abi/abi.h"

#include <sonde/record.h>

#define ITEM_WORDS 16 /* size in u64 of the largest typed struct that lists contain */

bool typed_knows(uint32_t type, const struct record_plan *plan)
{
	return layout_of_record(type) != NULL &&
	       (plan != NULL || (type != RECORD_SAMPLE && type != RECORD_READ));
}

/* ---- one value ---- */

static void store_text(uint8_t *at, const struct layout_value *v)
{
	size_t skip = v->field->kind == LAYOUT_STRING ? 4 : 0;
	struct sonde_text text = {.p = ""};

	if (v->bytes.n > skip) {
		text.p = (const char *)v->bytes.p + skip;
		text.n = strnlen(text.p, v->bytes.n - skip);
	}
	memcpy(at, &text, sizeof(text));
}

static void store_value(uint8_t *base, const struct layout_value *v, const struct layout_walk *w)
{
	const struct layout_field *f = v->field;
	uint8_t *at;

	if (base == NULL || f->to == 0) {
		return;
	}
	at = base + f->to - 1;
	if (v->array) {
		const struct sonde_list list = {.count = v->count,
		        .bytes = v->bytes.p,
		        .size = v->bytes.n,
		        .swapped = w->c.swap,
		        .field = f};

		memcpy(at, &list, sizeof(list));
	} else if (f->kind == LAYOUT_BYTES) {
		const struct sonde_bytes bytes = {v->bytes.p, v->bytes.n};

		memcpy(at, &bytes, sizeof(bytes));
	} else if (f->kind >= LAYOUT_CHARS) {
		store_text(at, v);
	} else {
		layout_member_store(at,
		        (struct layout_member){.size = (uint16_t)layout_width(f->kind)}, v->number);
	}
}

/* ---- lists ---- */

/* Skips a list that the walk has begun; its complete items are stored. */
static void store_list(uint8_t *base, struct record_walk *w, const struct layout_field *f)
{
	struct sonde_list list = {
	        .bytes = w->walk.c.p, .swapped = w->walk.c.swap, .field = f, .plan = w->walk.plan};
	const uint8_t *end = w->walk.c.p;
	struct layout_value v;
	enum layout_event event;
	unsigned depth = 1; /* of lists and structs */

	while (depth != 0 && (event = record_walk_next(w, &v)) != LAYOUT_END) {
		depth += event == LAYOUT_LIST || event == LAYOUT_ITEM;
		depth -= event == LAYOUT_LIST_END || event == LAYOUT_ITEM_END;
		if (event == LAYOUT_ITEM_END && depth == 1 && !w->bad) {
			list.count++;
			end = w->walk.c.p;
		}
	}
	list.size = (size_t)(end - (const uint8_t *)list.bytes);
	if (base != NULL && f->to != 0) {
		memcpy(base + f->to - 1, &list, sizeof(list));
	}
}

/* ---- all of them ---- */

static void store_all(struct record_walk *w, uint8_t *out)
{
	uint8_t *bases[LAYOUT_DEPTH + 2] = {out}; /* of the open structs; NULL: not stored */
	struct layout_value v;
	enum layout_event event;
	unsigned depth = 0;

	while ((event = record_walk_next(w, &v)) != LAYOUT_END) {
		switch (event) {
		case LAYOUT_VALUE: store_value(bases[depth], &v, &w->walk); break;
		case LAYOUT_LIST: store_list(bases[depth], w, v.field); break;
		case LAYOUT_ITEM:
			bases[depth + 1] = bases[depth] != NULL && v.field->to != 0
			                           ? bases[depth] + v.field->to - 1
			                           : NULL;
			depth++;
			break;
		case LAYOUT_ITEM_END: depth--; break;
		case LAYOUT_LIST_END:
		case LAYOUT_REST:
		case LAYOUT_END: break;
		}
	}
}

bool typed_decode(const struct record *r, bool swap, const struct record_plan *plan,
        struct sonde_typed_record *out)
{
	struct record_trailer trailer;
	struct record_walk w;

	record_walk_init(&w, r, swap, plan, 0);
	store_all(&w, (uint8_t *)out + offsetof(struct sonde_typed_record, mmap));
	if (plan == NULL || r->type >= RECORD_USER_START) {
		return !w.bad;
	}
	if (!record_trailer_decode(plan, r->body, swap, &trailer)) {
		return false;
	}
	out->trailer = (struct sonde_record_trailer){.pid = trailer.pid,
	        .tid = trailer.tid,
	        .time = trailer.time,
	        .id = trailer.id,
	        .stream_id = trailer.stream_id,
	        .cpu = trailer.cpu};
	return !w.bad;
}

/* ---- lists again ---- */

uint64_t sonde_list_number(const struct sonde_list *list, uint64_t i)
{
	const struct layout_value v = {
	        .field = list->field, .bytes = {list->bytes, list->size}, .count = list->count};

	return i < list->count && v.field->kind < LAYOUT_CHARS ? layout_number(&v, i, list->swapped)
	                                                       : 0;
}

int sonde_list_get(const struct sonde_list *list, uint64_t i, void *item, size_t size)
{
	const struct layout_field *f = list->field;
	uint64_t out[ITEM_WORDS] = {0};
	struct record_walk w = {.part = WALK_BODY};
	size_t each;

	memset(item, 0, size);
	if (i >= list->count || f->kind != LAYOUT_STRUCT || f->sub->size > sizeof(out)) {
		return 0;
	}
	each = list->size / (size_t)list->count; /* all structs of a record's list have the same
	                                            size */
	layout_walk_init(&w.walk, f->sub,
	        (struct span){(const uint8_t *)list->bytes + each * (size_t)i, each}, list->swapped,
	        list->plan, 0);
	store_all(&w, (uint8_t *)out);
	memcpy(item, out, size < f->sub->size ? size : f->sub->size);
	return 1;
}
