/* SPDX-License-Identifier: MIT */
#include "inspect/dump.h"

#include "core/escape.h"

#define SHORT_BYTES 64u /* of longer ones only the length is printed, unless raw */

static size_t text_length(const struct layout_value *v, const char **s)
{
	size_t skip = v->field->kind == LAYOUT_STRING ? 4 : 0;

	*s = (const char *)v->bytes.p + skip;
	return v->bytes.n > skip ? strnlen(*s, v->bytes.n - skip) : 0;
}

static bool is_text(const struct layout_field *f)
{
	return f->kind == LAYOUT_CHARS || f->kind == LAYOUT_TEXT || f->kind == LAYOUT_STRING ||
	       f->kind == LAYOUT_CSTRING;
}

/* Padding is printed only if it is not zero. */
static bool hidden(enum layout_event event, const struct layout_value *v)
{
	if (event == LAYOUT_VALUE && v->field->kind == LAYOUT_BYTES && v->bytes.n == 0) {
		return true;
	}
	if (event == LAYOUT_VALUE ? v->field->show != SHOW_NEVER
	                          : event != LAYOUT_REST || v->bytes.n >= 8) {
		return false;
	}
	for (size_t i = 0; i < v->bytes.n; i++) {
		if (v->bytes.p[i] != 0) {
			return false;
		}
	}
	return true;
}

static const char *name_of(const struct layout_field *f, uint64_t number)
{
	for (const struct layout_name *n = f->names; n->name != NULL; n++) {
		if (n->value == number) {
			return n->name;
		}
	}
	return NULL;
}

static uint64_t part_of(const struct layout_name *part, uint64_t number)
{
	return number >> part->value & ((1ULL << part->width) - 1);
}

static void put_decimal(struct text *out, enum layout_kind kind, uint64_t v)
{
	if ((kind == LAYOUT_S32 || kind == LAYOUT_S64) && (int64_t)v < 0) {
		text_char(out, '-');
		v = 0 - v;
	}
	text_u64(out, v, 0, ' ');
}

static void put_real(struct text *out, uint64_t bits)
{
	double real;

	memcpy(&real, &bits, sizeof(real));
	text_printf(out, "%.17g", real);
}

/* ---- text ---- */

static void put_escaped(struct text *out, const char *s, size_t n)
{
	size_t start = out->n;

	text_char(out, '"');
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == '"' || c == '\\') {
			text_char(out, '\\');
			text_char(out, (char)c);
		} else if (c < 0x20 || c == 0x7f) {
			text_bytes(out, "\\x", 2);
			text_hex(out, c, 2, '0');
		} else {
			text_char(out, (char)c);
		}
	}
	text_char(out, '"');
	escape_plain_from(out, start); /* what is not UTF-8 */
}

static void put_flags(struct text *out, const struct layout_field *f, uint64_t v)
{
	char before = '(';

	text_0x(out, v);
	for (const struct layout_name *n = f->names; n->name != NULL; n++) {
		if ((v & n->value) != 0) {
			text_char(out, before);
			text_str(out, n->name);
			before = '|';
		}
	}
	if (before == '|') {
		text_char(out, ')');
	}
}

static void put_parts(struct text *out, const struct layout_field *f, uint64_t v)
{
	char before = '(';

	text_0x(out, v);
	for (const struct layout_name *n = f->names; n->name != NULL; n++) {
		uint64_t part = part_of(n, v);

		if (part == 0) {
			continue;
		}
		text_char(out, before);
		text_str(out, n->name);
		before = ' ';
		if (n->width > 1) {
			text_char(out, '=');
			text_u64(out, part, 0, ' ');
		}
	}
	if (before == ' ') {
		text_char(out, ')');
	}
}

static void put_number(struct text *out, const struct layout_field *f, uint64_t v)
{
	const char *name;

	if (f->kind == LAYOUT_BITS || f->kind == LAYOUT_MIRRORED) {
		put_parts(out, f, v);
	} else if (f->kind == LAYOUT_F64) {
		put_real(out, v);
	} else if (f->show == SHOW_HEX) {
		text_0x(out, v);
	} else if (f->show == SHOW_FLAGS) {
		put_flags(out, f, v);
	} else {
		put_decimal(out, f->kind, v);
		name = f->show == SHOW_NAMES ? name_of(f, v) : NULL;
		if (name != NULL) {
			text_char(out, '(');
			text_str(out, name);
			text_char(out, ')');
		} else if (f->unit != NULL) {
			text_str(out, f->unit);
		}
	}
}

static void put_bytes(struct text *out, struct span s)
{
	if (s.n > SHORT_BYTES) {
		text_char(out, '<');
		text_u64(out, s.n, 0, ' ');
		text_str(out, " bytes>");
		return;
	}
	text_hex_bytes(out, s.p, s.n);
}

static void put_value(struct text *out, const struct layout_value *v, bool swap)
{
	const struct layout_field *f = v->field;

	if (is_text(f)) {
		const char *s;
		size_t n = text_length(v, &s);

		put_escaped(out, s, n);
	} else if (f->kind == LAYOUT_BYTES) {
		put_bytes(out, v->bytes);
	} else if (!v->array) {
		put_number(out, f, v->number);
	} else {
		text_char(out, '[');
		for (uint64_t i = 0; i < v->count; i++) {
			if (i != 0) {
				text_char(out, ' ');
			}
			put_number(out, f, layout_number(v, i, swap));
		}
		text_char(out, ']');
	}
}

void dump_fields_text(struct text *out, struct record_walk *w)
{
	struct layout_value v;
	enum layout_event event;

	while ((event = record_walk_next(w, &v)) != LAYOUT_END) {
		if (hidden(event, &v)) {
			continue;
		}
		switch (event) {
		case LAYOUT_VALUE:
			text_char(out, ' ');
			text_str(out, v.field->name);
			text_char(out, '=');
			put_value(out, &v, w->walk.c.swap);
			break;
		case LAYOUT_REST:
			text_str(out, w->bad ? " cut=" : " more=");
			put_bytes(out, v.bytes);
			break;
		case LAYOUT_LIST:
		case LAYOUT_ITEM:
			text_char(out, ' ');
			if (event == LAYOUT_LIST || v.field->count.is == COUNT_ONE) {
				text_str(out, v.field->name);
				text_char(out, '=');
			}
			text_char(out, event == LAYOUT_LIST ? '[' : '{');
			break;
		case LAYOUT_LIST_END: text_str(out, " ]"); break;
		case LAYOUT_ITEM_END: text_str(out, " }"); break;
		case LAYOUT_END: break;
		}
	}
}

/* ---- JSON ---- */

static void json_number(struct json *j, const char *key, const struct layout_field *f, uint64_t v)
{
	double real;

	if (f->kind == LAYOUT_F64) {
		memcpy(&real, &v, sizeof(real));
		json_printf(j, key, "%.17g", real);
	} else if (f->kind == LAYOUT_S32 || f->kind == LAYOUT_S64) {
		json_s64(j, key, (int64_t)v);
	} else {
		json_u64(j, key, v);
	}
}

static void json_parts(struct json *j, const char *key, const struct layout_field *f, uint64_t v)
{
	json_object(j, key);
	for (const struct layout_name *n = f->names; n->name != NULL; n++) {
		if (part_of(n, v) != 0) {
			json_u64(j, n->name, part_of(n, v));
		}
	}
	json_close(j);
}

static void json_flags(struct json *j, const char *key, const struct layout_field *f, uint64_t v)
{
	json_array(j, key);
	for (const struct layout_name *n = f->names; n->name != NULL; n++) {
		if ((v & n->value) != 0) {
			json_text(j, NULL, n->name);
		}
	}
	json_close(j);
}

/* The meaning of a number, as a second member `NAME_is`. */
static void json_meaning(struct json *j, const struct layout_field *f, uint64_t v)
{
	const char *name = f->show == SHOW_NAMES ? name_of(f, v) : NULL;
	bool parts = f->kind == LAYOUT_BITS || f->kind == LAYOUT_MIRRORED;
	size_t n = strnlen(f->name, 60);
	char key[64];

	if (!parts && f->show != SHOW_FLAGS && name == NULL) {
		return;
	}
	memcpy(key, f->name, n);
	memcpy(key + n, "_is", sizeof("_is"));
	if (parts) {
		json_parts(j, key, f, v);
	} else if (name == NULL) {
		json_flags(j, key, f, v);
	} else {
		json_text(j, key, name);
	}
}

static void json_bytes(struct json *j, const char *key, struct span s, bool raw)
{
	if (raw || s.n <= SHORT_BYTES) {
		json_hex(j, key, s);
		return;
	}
	json_object(j, key);
	json_u64(j, "bytes", s.n);
	json_close(j);
}

static void json_value(struct json *j, const struct layout_value *v, bool swap, bool raw)
{
	const struct layout_field *f = v->field;

	if (is_text(f)) {
		const char *s;
		size_t n = text_length(v, &s);

		json_string(j, f->name, s, n);
	} else if (f->kind == LAYOUT_BYTES) {
		json_bytes(j, f->name, v->bytes, raw);
	} else if (!v->array) {
		json_number(j, f->name, f, v->number);
		json_meaning(j, f, v->number);
	} else {
		json_array(j, f->name);
		for (uint64_t i = 0; i < v->count; i++) {
			json_number(j, NULL, f, layout_number(v, i, swap));
		}
		json_close(j);
	}
}

bool dump_fields_json(struct json *j, const char *key, struct record_walk *w, bool raw)
{
	struct layout_value v;
	enum layout_event event;

	json_object(j, key);
	while ((event = record_walk_next(w, &v)) != LAYOUT_END) {
		if (hidden(event, &v)) {
			continue;
		}
		switch (event) {
		case LAYOUT_VALUE: json_value(j, &v, w->walk.c.swap, raw); break;
		case LAYOUT_REST: json_bytes(j, w->bad ? "cut" : "more", v.bytes, raw); break;
		case LAYOUT_LIST: json_array(j, v.field->name); break;
		case LAYOUT_ITEM:
			json_object(j, v.field->count.is == COUNT_ONE ? v.field->name : NULL);
			break;
		case LAYOUT_LIST_END:
		case LAYOUT_ITEM_END: json_close(j); break;
		case LAYOUT_END: break;
		}
	}
	json_close(j);
	return !w->bad;
}

/* ---- bytes ---- */

/* Writes a line of up to 16 bytes to p, which has room for 96; returns its end. */
static char *hex_line(char *p, size_t at, unsigned shift, struct span bytes)
{
	static const char digits[] = "0123456789abcdef";
	size_t n = bytes.n - at < 16 ? bytes.n - at : 16;

	memset(p, ' ', 96);
	for (p += 4;; shift -= 4) {
		*p++ = digits[at >> shift & 15];
		if (shift == 0) {
			break;
		}
	}
	p += 2;
	for (size_t i = 0; i < n; i++) {
		uint8_t c = bytes.p[at + i];

		p[3 * i] = digits[c >> 4];
		p[3 * i + 1] = digits[c & 15];
		p[50 + i] = '.';
		if (c >= 0x20 && c < 0x7f) {
			memcpy(p + 50 + i, &c, 1);
		}
	}
	p[50 + n] = '\n';
	return p + 51 + n;
}

void dump_hex(struct text *out, struct span bytes)
{
	unsigned shift = bytes.n > 0x10000 ? 28 : 12; /* position of the offset's first digit */

	for (size_t at = 0; at < bytes.n; at += 16) {
		char *p = text_room(out, 96);

		if (p == NULL) {
			return;
		}
		out->n += (size_t)(hex_line(p, at, shift, bytes) - p);
	}
}
