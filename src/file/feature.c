/* SPDX-License-Identifier: MIT */
/* Payloads of header features into structs, as the table in feature_table.c says. */
#include "file/feature.h"

#include "file/feature_shape.h"

struct reader {
	struct cursor c;
	struct arena *arena;
	uint32_t ncpus;
	uint32_t version; /* FEATURE_VERSION_NUMBER */
	uint32_t attr_size; /* FEATURE_ATTR_SIZE */
	size_t behind; /* bytes that follow the record FEATURE_RECORD_SIZE spoke of */
};

/* 0, or SONDE_ENOMEM; input that makes no sense sets r->c.bad. `at` is the field in the struct. */
typedef int (*read_fn)(struct reader *r, const struct feature_field *f, char *base);

static int read_shape(struct reader *r, const struct feature_shape *shape, char *base);

/* The smallest number of bytes that one field takes. */
static size_t field_least(const struct feature_field *f)
{
	static const uint8_t least[FEATURE_KINDS] = {
	        [FEATURE_U8] = 1,
	        [FEATURE_U16] = 2,
	        [FEATURE_U32] = 4,
	        [FEATURE_S32] = 4,
	        [FEATURE_U64] = 8,
	        [FEATURE_TEXT] = 4,
	        [FEATURE_C_TEXT] = 1,
	        [FEATURE_COUNT32] = 4,
	        [FEATURE_COUNT64] = 8,
	        [FEATURE_ID] = 20,
	        [FEATURE_RECORD_SIZE] = 2,
	        [FEATURE_VERSION_NUMBER] = 4,
	        [FEATURE_ATTR_SIZE] = 4,
	        [FEATURE_ATTR] = ATTR_SIZE_VER0,
	};

	return least[f->kind];
}

static size_t shape_least(const struct feature_shape *shape)
{
	size_t n = 0;

	for (size_t i = 0; i < shape->nfields; i++) {
		n += field_least(&shape->fields[i]);
	}
	return n != 0 ? n : 1;
}

static int read_u8(struct reader *r, const struct feature_field *f, char *base)
{
	uint8_t v = cursor_u8(&r->c);

	memcpy(base + f->at, &v, sizeof(v));
	return 0;
}

static int read_u16(struct reader *r, const struct feature_field *f, char *base)
{
	uint16_t v = cursor_u16(&r->c);

	memcpy(base + f->at, &v, sizeof(v));
	return 0;
}

static int read_u32(struct reader *r, const struct feature_field *f, char *base)
{
	uint32_t v = cursor_u32(&r->c);

	memcpy(base + f->at, &v, sizeof(v));
	return 0;
}

static int read_u64(struct reader *r, const struct feature_field *f, char *base)
{
	uint64_t v = cursor_u64(&r->c);

	memcpy(base + f->at, &v, sizeof(v));
	return 0;
}

static int read_count32(struct reader *r, const struct feature_field *f, char *base)
{
	size_t n = cursor_u32(&r->c);

	memcpy(base + f->at, &n, sizeof(n));
	return 0;
}

static int read_count64(struct reader *r, const struct feature_field *f, char *base)
{
	uint64_t v = cursor_u64(&r->c);
	size_t n = v > cursor_left(&r->c) ? SIZE_MAX : (size_t)v; /* more than there can be */

	memcpy(base + f->at, &n, sizeof(n));
	return 0;
}

static int put_text(struct reader *r, const struct feature_field *f, char *base, struct span raw)
{
	struct feature_text text = {.raw = raw};

	if (r->c.bad) {
		return 0;
	}
	text.s = arena_text(r->arena, (const char *)raw.p, strnlen((const char *)raw.p, raw.n));
	if (text.s == NULL) {
		return SONDE_ENOMEM;
	}
	memcpy(base + f->at, &text, sizeof(text));
	return 0;
}

static int read_text(struct reader *r, const struct feature_field *f, char *base)
{
	uint32_t size = cursor_u32(&r->c);

	return put_text(r, f, base, cursor_bytes(&r->c, size));
}

static int read_text_of_17(struct reader *r, const struct feature_field *f, char *base)
{
	return r->version >= 17 ? read_text(r, f, base) : 0;
}

static int read_c_text(struct reader *r, const struct feature_field *f, char *base)
{
	size_t left = cursor_left(&r->c);
	size_t n = strnlen((const char *)r->c.p, left);

	if (n == left) {
		r->c.bad = true;
		return 0;
	}
	return put_text(r, f, base, cursor_bytes(&r->c, n + 1));
}

static int read_name(struct reader *r, const struct feature_field *f, char *base)
{
	size_t left = cursor_left(&r->c);

	if (left < r->behind) {
		r->c.bad = true;
		return 0;
	}
	return put_text(r, f, base, cursor_bytes(&r->c, left - r->behind));
}

static int read_record_size(struct reader *r, const struct feature_field *f, char *base)
{
	uint16_t size = cursor_u16(&r->c);
	size_t left = cursor_left(&r->c);

	memcpy(base + f->at, &size, sizeof(size));
	if (size < RECORD_HEADER_SIZE || size - RECORD_HEADER_SIZE > left) {
		r->c.bad = true;
		return 0;
	}
	r->behind = left - (size - RECORD_HEADER_SIZE);
	return 0;
}

static int put_span(struct reader *r, const struct feature_field *f, char *base, size_t n)
{
	struct span s = cursor_bytes(&r->c, n);

	memcpy(base + f->at, &s, sizeof(s));
	return 0;
}

static int read_bytes(struct reader *r, const struct feature_field *f, char *base)
{
	struct span s;

	memcpy(&s, base + f->at, sizeof(s));
	return put_span(r, f, base, s.n);
}

static int read_id(struct reader *r, const struct feature_field *f, char *base)
{
	return put_span(r, f, base, BUILD_ID_MAX);
}

static int read_all(struct reader *r, const struct feature_field *f, char *base)
{
	return put_span(r, f, base, cursor_left(&r->c));
}

static int read_elements(struct reader *r, const struct feature_field *f, char *base, uint64_t n)
{
	char *items;

	if (n > cursor_left(&r->c) / shape_least(f->items)) {
		r->c.bad = true;
		return 0;
	}
	items = arena_zalloc(r->arena, (size_t)n * f->items->size + 1);
	if (items == NULL) {
		return SONDE_ENOMEM;
	}
	for (size_t i = 0; i < n && !r->c.bad; i++) {
		TRY(read_shape(r, f->items, items + i * f->items->size));
	}
	memcpy(base + f->at, &items, sizeof(items));
	return 0;
}

static int read_items(struct reader *r, const struct feature_field *f, char *base)
{
	size_t n;

	memcpy(&n, base + f->n_at, sizeof(n));
	return read_elements(r, f, base, n);
}

static int read_cpu_items(struct reader *r, const struct feature_field *f, char *base)
{
	size_t n = r->ncpus;

	memcpy(base + f->n_at, &n, sizeof(n));
	r->c.bad = r->c.bad || n == 0;
	return read_elements(r, f, base, n);
}

static int read_bitmap(struct reader *r, const struct feature_field *f, char *base)
{
	uint64_t bits;

	memcpy(&bits, base + f->n_at, sizeof(bits));
	return read_elements(r, f, base, bits / 64 + (bits % 64 != 0));
}

static char *more_room(struct reader *r, const char *items, size_t cap, size_t size)
{
	char *more = arena_zalloc(r->arena, cap * 2 * size);

	if (more != NULL) {
		memcpy(more, items, cap * size);
	}
	return more;
}

/*
 * Grows by doubling: what a file claims is not known before it is read. What begins like an element
 * and is not whole is left for the tail.
 */
static int read_rest_items(struct reader *r, const struct feature_field *f, char *base)
{
	size_t size = f->items->size;
	size_t n = 0;
	size_t cap = 8;
	char *items = arena_zalloc(r->arena, cap * size);

	while (items != NULL && cursor_left(&r->c) >= shape_least(f->items)) {
		struct cursor before = r->c;

		if (n == cap) {
			items = more_room(r, items, cap, size);
			cap *= 2;
			continue;
		}
		TRY(read_shape(r, f->items, items + n * size));
		if (r->c.bad) {
			r->c = before;
			break;
		}
		n++;
	}
	memcpy(base + f->at, &items, sizeof(items));
	memcpy(base + f->n_at, &n, sizeof(n));
	return items != NULL ? 0 : SONDE_ENOMEM;
}

/* A part that is not whole is none: its bytes stay for the tail. */
static int read_part(struct reader *r, const struct feature_field *f, char *base)
{
	struct cursor before = r->c;
	bool there = false;

	if (!r->c.bad && cursor_left(&r->c) >= shape_least(f->items)) {
		TRY(read_shape(r, f->items, base + f->at));
		there = !r->c.bad;
	}
	if (!there) {
		r->c = before;
		memset(base + f->at, 0, f->items->size);
	}
	memcpy(base + f->n_at, &there, sizeof(there));
	return 0;
}

static int read_version(struct reader *r, const struct feature_field *f, char *base)
{
	r->version = cursor_u32(&r->c);
	memcpy(base + f->at, &r->version, sizeof(r->version));
	return 0;
}

static int read_attr_size(struct reader *r, const struct feature_field *f, char *base)
{
	r->attr_size = cursor_u32(&r->c);
	memcpy(base + f->at, &r->attr_size, sizeof(r->attr_size));
	return 0;
}

static int read_attr(struct reader *r, const struct feature_field *f, char *base)
{
	struct span bytes = cursor_bytes(&r->c, r->attr_size);
	struct feature_attr attr = {.tail = record_attr_tail(bytes)};

	if (!record_attr_decode(bytes, r->c.swap, &attr.attr)) {
		r->c.bad = true;
	}
	memcpy(base + f->at, &attr, sizeof(attr));
	return 0;
}

static int read_shape(struct reader *r, const struct feature_shape *shape, char *base)
{
	static const read_fn readers[FEATURE_KINDS] = {
	        [FEATURE_U8] = read_u8,
	        [FEATURE_U16] = read_u16,
	        [FEATURE_U32] = read_u32,
	        [FEATURE_S32] = read_u32,
	        [FEATURE_U64] = read_u64,
	        [FEATURE_TEXT] = read_text,
	        [FEATURE_TEXT_OF_17] = read_text_of_17,
	        [FEATURE_C_TEXT] = read_c_text,
	        [FEATURE_NAME] = read_name,
	        [FEATURE_COUNT32] = read_count32,
	        [FEATURE_COUNT64] = read_count64,
	        [FEATURE_BYTES] = read_bytes,
	        [FEATURE_ID] = read_id,
	        [FEATURE_ALL] = read_all,
	        [FEATURE_ITEMS] = read_items,
	        [FEATURE_CPU_ITEMS] = read_cpu_items,
	        [FEATURE_REST_ITEMS] = read_rest_items,
	        [FEATURE_BITMAP] = read_bitmap,
	        [FEATURE_PART] = read_part,
	        [FEATURE_RECORD_SIZE] = read_record_size,
	        [FEATURE_VERSION_NUMBER] = read_version,
	        [FEATURE_ATTR_SIZE] = read_attr_size,
	        [FEATURE_ATTR] = read_attr,
	};

	for (size_t i = 0; i < shape->nfields && !r->c.bad; i++) {
		TRY(readers[shape->fields[i].kind](r, &shape->fields[i], base));
	}
	return 0;
}

int feature_decode(const struct feature_source *source, unsigned bit, struct arena *a, void *out,
        size_t size, struct span *tail)
{
	const struct feature_desc *d = feature_desc(bit);
	struct reader r = {
	        .c = cursor_make(source->bytes, source->swap), .arena = a, .ncpus = source->ncpus};
	int rc;

	if (tail != NULL) {
		*tail = source->bytes;
	}
	if (d == NULL) {
		return SONDE_EUNSUPPORTED;
	}
	assert(size == d->shape.size);
	memset(out, 0, size);
	rc = read_shape(&r, &d->shape, out);
	if (rc == 0 && r.c.bad) {
		rc = SONDE_EFORMAT;
	}
	if (rc < 0) {
		memset(out, 0, size);
		return rc;
	}
	if (tail != NULL) {
		*tail = cursor_bytes(&r.c, cursor_left(&r.c));
	}
	return 1;
}

/* What NRCPUS calls available; 0: not known. */
static uint32_t available_cpus(const struct file *f)
{
	struct cursor c = cursor_make(file_feature(f, FEATURE_NRCPUS), f->swap);

	return cursor_u32(&c);
}

int feature_read(const struct file *f, unsigned bit, struct arena *a, void *out, size_t size)
{
	struct feature_source source = {.swap = f->swap};

	memset(out, 0, size);
	if (!file_has_feature(f, (enum abi_feature)bit)) {
		return 0;
	}
	source.bytes = file_feature(f, (enum abi_feature)bit);
	source.ncpus = available_cpus(f);
	return feature_decode(&source, bit, a, out, size, NULL);
}

uint32_t feature_program_id(const struct feature_program *program, bool swap)
{
	struct cursor c = cursor_make(program->info, swap);

	(void)cursor_u32(&c); /* its type */
	return cursor_u32(&c);
}

/* { s32 pid; u8 id[20], u8 id size, 3 bytes; name }, or { u8 id[20], 4 bytes; name } */
bool feature_build_id_view(
        struct span body, uint16_t misc, bool swap, struct feature_build_id_view *out)
{
	struct cursor c = cursor_make(body, swap);
	bool old = body.n > 28 && (body.p[24] == '/' || body.p[24] == '[') && body.p[25] >= ' ' &&
	           body.p[26] >= ' ' && body.p[27] >= ' ';
	uint8_t size = BUILD_ID_MAX;

	*out = (struct feature_build_id_view){.misc = misc, .pid = -1};
	if (!old) {
		out->pid = (int32_t)cursor_u32(&c);
	}
	out->id = cursor_bytes(&c, BUILD_ID_MAX);
	if (!old) {
		size = cursor_u8(&c);
	}
	(void)cursor_bytes(&c, old ? 4 : 3);
	out->name = cursor_text(&c, cursor_left(&c));
	if (old || (misc & MISC_BUILD_ID_SIZE) == 0) {
		size = BUILD_ID_MAX;
	}
	out->damaged = size > BUILD_ID_MAX;
	out->id.n = out->damaged ? BUILD_ID_MAX : size;
	return !c.bad;
}

bool feature_build_id_next(struct cursor *c, struct feature_build_id_view *out)
{
	uint16_t misc, size;

	if (cursor_left(c) < RECORD_HEADER_SIZE) {
		return false; /* padding */
	}
	(void)cursor_u32(c);
	misc = cursor_u16(c);
	size = cursor_u16(c);
	if (size < RECORD_HEADER_SIZE ||
	        !feature_build_id_view(
	                cursor_bytes(c, size - RECORD_HEADER_SIZE), misc, c->swap, out)) {
		c->bad = true;
	}
	return !c->bad;
}
