/* SPDX-License-Identifier: MIT */
#include "file/feature_write.h"

#include "file/feature_shape.h"

void feature_put_u32(struct text *t, uint32_t v)
{
	text_bytes(t, (const char *)&v, sizeof(v));
}

void feature_put_u64(struct text *t, uint64_t v)
{
	text_bytes(t, (const char *)&v, sizeof(v));
}

/* What a new text takes in the file: with its NUL, filled to a multiple of 64 bytes. */
static size_t text_room_of(const char *s)
{
	return (strlen(s) + 1 + 63) / 64 * 64;
}

static void put_filled(struct text *t, const char *s)
{
	size_t n = strlen(s);

	text_bytes(t, s, n);
	text_fill(t, '\0', text_room_of(s) - n);
}

void feature_put_text(struct text *t, const char *s)
{
	feature_put_u32(t, (uint32_t)text_room_of(s));
	put_filled(t, s);
}

/* header {u32 type 0, u16 misc, u16 size}, s32 pid -1, u8 id[20], u8 id_size, 3 bytes, name */
void feature_put_build_id(
        struct text *t, uint16_t misc, const uint8_t *id, size_t id_size, const char *name)
{
	uint16_t half[2] = {
	        (uint16_t)(misc | MISC_BUILD_ID_SIZE), (uint16_t)(36 + text_room_of(name))};

	feature_put_u32(t, 0);
	text_bytes(t, (const char *)half, sizeof(half));
	feature_put_u32(t, UINT32_MAX);
	text_bytes(t, (const char *)id, id_size);
	text_fill(t, '\0', BUILD_ID_MAX - id_size);
	text_char(t, (char)id_size);
	text_fill(t, '\0', 3);
	put_filled(t, name);
}

struct feature_writer {
	struct text *out;
	bool swap;
	uint32_t version; /* FEATURE_VERSION_NUMBER */
	uint32_t attr_size; /* FEATURE_ATTR_SIZE */
};

typedef void (*write_fn)(struct feature_writer *w, const struct feature_field *f, const char *base);

static void write_shape(
        struct feature_writer *w, const struct feature_shape *shape, const char *base);

static void put_u16(struct feature_writer *w, uint16_t v)
{
	v = w->swap ? __builtin_bswap16(v) : v;
	text_bytes(w->out, (const char *)&v, sizeof(v));
}

static void put_u32(struct feature_writer *w, uint32_t v)
{
	feature_put_u32(w->out, w->swap ? __builtin_bswap32(v) : v);
}

static void put_u64(struct feature_writer *w, uint64_t v)
{
	feature_put_u64(w->out, w->swap ? __builtin_bswap64(v) : v);
}

static void write_u8(struct feature_writer *w, const struct feature_field *f, const char *base)
{
	text_char(w->out, base[f->at]);
}

static void write_u16(struct feature_writer *w, const struct feature_field *f, const char *base)
{
	uint16_t v;

	memcpy(&v, base + f->at, sizeof(v));
	put_u16(w, v);
}

static void write_u32(struct feature_writer *w, const struct feature_field *f, const char *base)
{
	uint32_t v;

	memcpy(&v, base + f->at, sizeof(v));
	put_u32(w, v);
	if (f->kind == FEATURE_VERSION_NUMBER) {
		w->version = v;
	} else if (f->kind == FEATURE_ATTR_SIZE) {
		w->attr_size = v;
	}
}

static void write_u64(struct feature_writer *w, const struct feature_field *f, const char *base)
{
	uint64_t v;

	memcpy(&v, base + f->at, sizeof(v));
	put_u64(w, v);
}

static size_t load_size(const char *p)
{
	size_t n;

	memcpy(&n, p, sizeof(n));
	return n;
}

static void write_count32(struct feature_writer *w, const struct feature_field *f, const char *base)
{
	put_u32(w, (uint32_t)load_size(base + f->at));
}

static void write_count64(struct feature_writer *w, const struct feature_field *f, const char *base)
{
	put_u64(w, load_size(base + f->at));
}

static void put_span(struct feature_writer *w, struct span s)
{
	text_bytes(w->out, (const char *)s.p, s.n);
}

static void write_text(struct feature_writer *w, const struct feature_field *f, const char *base)
{
	struct feature_text text;

	memcpy(&text, base + f->at, sizeof(text));
	if (text.raw.p != NULL) {
		put_u32(w, (uint32_t)text.raw.n);
		put_span(w, text.raw);
		return;
	}
	put_u32(w, (uint32_t)text_room_of(text.s));
	put_filled(w->out, text.s);
}

static void write_text_of_17(
        struct feature_writer *w, const struct feature_field *f, const char *base)
{
	if (w->version >= 17) {
		write_text(w, f, base);
	}
}

/* Names whose size is told elsewhere, or by their NUL. */
static void write_name(struct feature_writer *w, const struct feature_field *f, const char *base)
{
	struct feature_text text;

	memcpy(&text, base + f->at, sizeof(text));
	if (text.raw.p != NULL) {
		put_span(w, text.raw);
	} else if (f->kind == FEATURE_C_TEXT) {
		text_bytes(w->out, text.s, strlen(text.s) + 1);
	} else {
		put_filled(w->out, text.s);
	}
}

static void write_span(struct feature_writer *w, const struct feature_field *f, const char *base)
{
	struct span s;

	memcpy(&s, base + f->at, sizeof(s));
	put_span(w, s);
}

static void write_elements(
        struct feature_writer *w, const struct feature_field *f, const char *base, size_t n)
{
	const char *items;

	memcpy(&items, base + f->at, sizeof(items));
	for (size_t i = 0; i < n; i++) {
		write_shape(w, f->items, items + i * f->items->size);
	}
}

static void write_items(struct feature_writer *w, const struct feature_field *f, const char *base)
{
	write_elements(w, f, base, load_size(base + f->n_at));
}

static void write_bitmap(struct feature_writer *w, const struct feature_field *f, const char *base)
{
	uint64_t bits;

	memcpy(&bits, base + f->n_at, sizeof(bits));
	write_elements(w, f, base, (size_t)(bits / 64 + (bits % 64 != 0)));
}

static void write_part(struct feature_writer *w, const struct feature_field *f, const char *base)
{
	bool there;

	memcpy(&there, base + f->n_at, sizeof(there));
	if (there) {
		write_shape(w, f->items, base + f->at);
	}
}

static void write_attr(struct feature_writer *w, const struct feature_field *f, const char *base)
{
	struct feature_attr attr;
	uint8_t bytes[ATTR_SIZE_NOW];
	size_t n = w->attr_size < sizeof(bytes) ? w->attr_size : sizeof(bytes);

	memcpy(&attr, base + f->at, sizeof(attr));
	record_attr_encode_as(&attr.attr, w->swap, bytes);
	put_span(w, (struct span){bytes, n});
	put_span(w, attr.tail);
}

static void write_shape(
        struct feature_writer *w, const struct feature_shape *shape, const char *base)
{
	static const write_fn writers[FEATURE_KINDS] = {
	        [FEATURE_U8] = write_u8,
	        [FEATURE_U16] = write_u16,
	        [FEATURE_U32] = write_u32,
	        [FEATURE_S32] = write_u32,
	        [FEATURE_U64] = write_u64,
	        [FEATURE_TEXT] = write_text,
	        [FEATURE_TEXT_OF_17] = write_text_of_17,
	        [FEATURE_C_TEXT] = write_name,
	        [FEATURE_NAME] = write_name,
	        [FEATURE_COUNT32] = write_count32,
	        [FEATURE_COUNT64] = write_count64,
	        [FEATURE_BYTES] = write_span,
	        [FEATURE_ID] = write_span,
	        [FEATURE_ALL] = write_span,
	        [FEATURE_ITEMS] = write_items,
	        [FEATURE_CPU_ITEMS] = write_items,
	        [FEATURE_REST_ITEMS] = write_items,
	        [FEATURE_BITMAP] = write_bitmap,
	        [FEATURE_PART] = write_part,
	        [FEATURE_RECORD_SIZE] = write_u16,
	        [FEATURE_VERSION_NUMBER] = write_u32,
	        [FEATURE_ATTR_SIZE] = write_u32,
	        [FEATURE_ATTR] = write_attr,
	};

	for (size_t i = 0; i < shape->nfields; i++) {
		writers[shape->fields[i].kind](w, &shape->fields[i], base);
	}
}

bool feature_encode(struct text *t, unsigned bit, const void *value, struct span tail, bool swap)
{
	struct feature_writer w = {.out = t, .swap = swap};
	const struct feature_desc *d = feature_desc(bit);

	if (d != NULL && value != NULL) {
		write_shape(&w, &d->shape, value);
	}
	put_span(&w, tail);
	return d != NULL;
}
