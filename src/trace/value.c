/* SPDX-License-Identifier: MIT */
#include "trace/value.h"

#include <ctype.h>

static bool swap_of(const struct trace_set *s)
{
	return s->big_endian != HOST_BIG_ENDIAN;
}

/* Bytes of data, or false if they are not all there. */
static bool part_of(struct span data, uint64_t offset, uint64_t size, struct span *out)
{
	if (offset > data.n || size > data.n - offset) {
		return false;
	}
	*out = (struct span){data.p + offset, (size_t)size};
	return true;
}

bool trace_value(
        const struct trace_set *s, const struct trace_field *f, struct span data, struct span *out)
{
	uint64_t where, offset;

	if (!part_of(data, f->offset, f->size, out)) {
		return false;
	}
	if ((f->flags & TRACE_DYNAMIC) == 0) {
		return true;
	}
	if (f->size != 4) {
		return false;
	}
	where = load_u32(out->p, swap_of(s));
	offset = where & 0xffff;
	if ((f->flags & TRACE_RELATIVE) != 0) {
		offset += f->offset + f->size;
	}
	return part_of(data, offset, where >> 16, out);
}

bool trace_values_fit(const struct trace_set *s, const struct trace_event *e, struct span data)
{
	struct span bytes;

	if (data.n < e->extent) {
		return false;
	}
	if (!e->counted && !e->refers) {
		return true;
	}
	for (size_t i = 0; i < e->nfields; i++) {
		const struct trace_field *f = &e->fields[i];

		if ((f->flags & (TRACE_DYNAMIC | TRACE_COUNT)) == 0) {
			continue;
		}
		if (!trace_value(s, f, data, &bytes) ||
		        ((f->flags & TRACE_COUNT) != 0 && trace_number(s, bytes) > data.n)) {
			return false;
		}
	}
	return true;
}

uint64_t trace_number(const struct trace_set *s, struct span bytes)
{
	switch (bytes.n) {
	case 1: return bytes.p[0];
	case 2: return load_u16(bytes.p, swap_of(s));
	case 4: return load_u32(bytes.p, swap_of(s));
	case 8: return load_u64(bytes.p, swap_of(s));
	default: return 0;
	}
}

/*
 * Whether an array of characters is a text: printable bytes, then a NUL or the end. Addresses and
 * identifiers of type u8 may begin with zeros; they are no empty texts.
 */
static bool is_text(const struct trace_field *f, struct span bytes)
{
	size_t n = strnlen((const char *)bytes.p, bytes.n);

	if ((f->flags & TRACE_STRING) == 0 || (n == 0 && !span_has(f->type, SPAN_TEXT("char")))) {
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		if (bytes.p[i] >= 0x80 || (!isprint(bytes.p[i]) && !isspace(bytes.p[i]))) {
			return false;
		}
	}
	return true;
}

static void put_array(struct text *out, const struct trace_field *f, struct span bytes)
{
	if (is_text(f, bytes)) {
		text_bytes(out, (const char *)bytes.p, strnlen((const char *)bytes.p, bytes.n));
		return;
	}
	text_str(out, "ARRAY[");
	for (size_t i = 0; i < bytes.n; i++) {
		text_str(out, i != 0 ? ", " : "");
		text_hex(out, bytes.p[i], 2, '0');
	}
	text_char(out, ']');
}

static void put_signed(struct text *out, const struct trace_field *f, uint64_t v)
{
	if (f->size == 4 && (f->flags & TRACE_LONG) != 0) {
		text_0x(out, v);
	} else if (f->size == 4) {
		text_printf(out, "%d", (int)(int32_t)v);
	} else if (f->size == 2) {
		text_printf(out, "%2d", (int)(int16_t)v);
	} else if (f->size == 1) {
		text_printf(out, "%d", (int)(int8_t)v);
	} else {
		text_printf(out, "%lld", (long long)v);
	}
}

void trace_value_text(
        const struct trace_set *s, const struct trace_field *f, struct span data, struct text *out)
{
	struct span bytes;
	uint64_t v;

	if (!trace_value(s, f, data, &bytes)) {
		return;
	}
	if ((f->flags & TRACE_ARRAY) != 0) {
		put_array(out, f, bytes);
		return;
	}
	v = trace_number(s, bytes);
	if ((f->flags & TRACE_SIGNED) != 0 && (f->flags & TRACE_POINTER) == 0) {
		put_signed(out, f, v);
	} else if ((f->flags & (TRACE_POINTER | TRACE_LONG)) != 0) {
		text_0x(out, v);
	} else {
		text_u64(out, v, 0, ' ');
	}
}

void trace_values_text(
        const struct trace_set *s, const struct trace_event *e, struct span data, struct text *out)
{
	const char *between = "";

	for (size_t i = 0; i < e->nfields; i++) {
		const struct trace_field *f = &e->fields[i];

		if ((f->flags & TRACE_COMMON) == 0) {
			text_str(out, between);
			text_bytes(out, (const char *)f->name.p, f->name.n);
			text_char(out, '=');
			trace_value_text(s, f, data, out);
			between = " ";
		}
	}
}
