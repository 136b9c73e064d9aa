/* SPDX-License-Identifier: MIT */
/*
 * The blob (versions 0.5 and 0.6 differ only after the part that is read here):
 *
 *	17 08 44 "tracing"   text version   u8 big-endian   u8 long size   u32 page size
 *	text "header_page"   u64 n, n bytes      text "header_event"  u64 n, n bytes
 *	u32 n; {u64 size, format file}[n]        formats of the function tracers
 *	u32 n; {text system; u32 m; {u64 size, format file}[m]}[n]
 *	u32 n, n bytes of kallsyms               u32 n, n bytes of printk_formats
 *	text: up to a NUL; numbers in the blob's own byte order
 *
 * A format file: "name: sched_switch\nID: 372\nformat:\n\tfield:unsigned short common_type;...\n"
 * ... "\n\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n" ... "print fmt: ..."
 * Source: observed blobs of perf 3.4 to 6.1, tracefs' own files.
 */
#include "trace/format.h"

#include "trace/token.h"

static struct span take_text(struct cursor *c)
{
	size_t left = cursor_left(c);
	struct span s = cursor_bytes(c, strnlen((const char *)c->p, left));

	(void)cursor_u8(c);
	return s;
}

static struct span take_sized(struct cursor *c)
{
	uint64_t n = cursor_u64(c);

	if (n > cursor_left(c)) {
		c->bad = true;
		return (struct span){NULL, 0};
	}
	return cursor_bytes(c, (size_t)n);
}

/* Returns the rest of the line that begins with `word`; n is 0 if there is none. */
static struct span line_after(struct span text, struct span word)
{
	struct cursor c = cursor_make(text, false);

	while (cursor_left(&c) != 0) {
		const uint8_t *end = memchr(c.p, '\n', cursor_left(&c));
		struct span line = {c.p, end != NULL ? (size_t)(end - c.p) : cursor_left(&c)};

		(void)cursor_bytes(&c, line.n);
		(void)cursor_bytes(&c, cursor_left(&c) != 0);
		if (span_starts(line, word)) {
			return (struct span){line.p + word.n, line.n - word.n};
		}
	}
	return (struct span){text.p, 0};
}

static bool read_id(struct span text, uint64_t *id)
{
	struct span digits = line_after(text, SPAN_TEXT("ID: "));

	*id = 0;
	for (size_t i = 0; i < digits.n; i++) {
		if (digits.p[i] < '0' || digits.p[i] > '9' || i > 18) {
			return false;
		}
		*id = *id * 10 + (digits.p[i] - '0');
	}
	return digits.n != 0;
}

bool trace_blob_open(struct span bytes, struct trace_blob *out)
{
	static const uint8_t magic[] = "\027\010\104tracing";
	struct cursor c = cursor_make(bytes, HOST_BIG_ENDIAN);
	uint32_t n;

	*out = (struct trace_blob){.long_size = 0};
	if (bytes.n < sizeof(magic) - 1 || memcmp(bytes.p, magic, sizeof(magic) - 1) != 0) {
		return false;
	}
	(void)cursor_bytes(&c, sizeof(magic) - 1);
	(void)take_text(&c);
	out->big_endian = cursor_u8(&c) != 0;
	out->long_size = cursor_u8(&c);
	c.swap = out->big_endian != HOST_BIG_ENDIAN;
	(void)cursor_u32(&c);
	for (int i = 0; i < 2; i++) {
		(void)take_text(&c);
		(void)take_sized(&c);
	}
	n = cursor_u32(&c);
	for (uint32_t i = 0; i < n && !c.bad; i++) {
		(void)take_sized(&c);
	}
	out->systems = c;
	return !c.bad;
}

void trace_formats_begin(struct trace_formats *at, const struct trace_blob *blob)
{
	*at = (struct trace_formats){.c = blob->systems};
	at->systems = cursor_u32(&at->c);
}

bool trace_formats_next(struct trace_formats *at, struct trace_format *out)
{
	while (!at->c.bad && (at->formats != 0 || at->systems != 0)) {
		struct span text;

		if (at->formats == 0) {
			at->systems--;
			at->system = take_text(&at->c);
			at->formats = cursor_u32(&at->c);
			continue;
		}
		at->formats--;
		text = take_sized(&at->c);
		*out = (struct trace_format){.system = at->system, .text = text};
		if (!at->c.bad && read_id(text, &out->id)) {
			out->name = line_after(text, SPAN_TEXT("name: "));
			return true;
		}
	}
	return false;
}

struct span trace_formats_printk(struct trace_formats *at)
{
	struct trace_format skipped;

	while (trace_formats_next(at, &skipped)) {
	}
	(void)cursor_bytes(&at->c, cursor_u32(&at->c));
	return cursor_bytes(&at->c, cursor_u32(&at->c));
}

bool trace_format_find(struct span blob, uint64_t id, struct trace_format *out)
{
	struct trace_formats at;
	struct trace_blob open;

	if (!trace_blob_open(blob, &open)) {
		return false;
	}
	trace_formats_begin(&at, &open);
	while (trace_formats_next(&at, out)) {
		if (out->id == id) {
			return true;
		}
	}
	return false;
}

struct span trace_format_print(const struct trace_format *format)
{
	return line_after(format->text, SPAN_TEXT("print fmt: "));
}

/*
 * Returns the name in "char prev_comm[16];\toffset:..": the last word before a '[' or ';' that
 * follows a word. In "__data_loc char[] name" it is the last word.
 */
static struct span declared(struct span line)
{
	struct span name = {line.p, 0};

	for (size_t i = 0; i < line.n && line.p[i] != ';'; i++) {
		if (!trace_is_word(line.p[i])) {
			continue;
		}
		if (i == 0 || !trace_is_word(line.p[i - 1])) {
			if (i != 0 && line.p[i - 1] == '[') { /* the size of an array */
				continue;
			}
			name = (struct span){line.p + i, 0};
		}
		if (name.p + name.n == line.p + i) {
			name.n++;
		}
	}
	return name;
}

/* Reads the number after a word of a line; false: the line does not have it, or it is too large. */
static bool number_after(struct span line, struct span word, uint32_t *out)
{
	uint64_t v = 0;
	size_t i = 0;

	while (i + word.n < line.n && memcmp(line.p + i, word.p, word.n) != 0) {
		i++;
	}
	if (i + word.n >= line.n) {
		return false;
	}
	for (i += word.n; i < line.n && line.p[i] >= '0' && line.p[i] <= '9'; i++) {
		v = v * 10 + (uint64_t)(line.p[i] - '0');
		if (v > TRACE_OFFSET_MAX) {
			return false;
		}
	}
	*out = (uint32_t)v;
	return true;
}

static unsigned flags_of(const struct trace_field *field, struct span declaration)
{
	bool dynamic = span_starts(field->type, SPAN_TEXT("__data_loc "));
	bool relative = span_starts(field->type, SPAN_TEXT("__rel_loc "));
	bool array = dynamic || relative || memchr(declaration.p, '[', declaration.n) != NULL;
	unsigned flags = 0;

	flags |= span_starts(field->name, SPAN_TEXT("common_")) ? TRACE_COMMON : 0;
	flags |= dynamic ? TRACE_DYNAMIC : 0;
	flags |= relative ? TRACE_DYNAMIC | TRACE_RELATIVE : 0;
	flags |= array ? TRACE_ARRAY : 0;
	flags |= memchr(field->type.p, '*', field->type.n) != NULL ? TRACE_POINTER : 0;
	flags |= span_has(field->type, SPAN_TEXT("long")) ? TRACE_LONG : 0;
	if (array && (span_has(field->type, SPAN_TEXT("char")) ||
	                     span_has(field->type, SPAN_TEXT("u8")) ||
	                     span_has(field->type, SPAN_TEXT("s8")))) {
		flags |= TRACE_STRING;
	}
	return flags;
}

/* "char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;" */
static bool parse_field(struct span line, struct trace_field *out)
{
	const uint8_t *end = line.n != 0 ? memchr(line.p, ';', line.n) : NULL;
	struct span declaration = {line.p, end != NULL ? (size_t)(end - line.p) : 0};
	uint32_t is_signed = 0;

	if (end == NULL) {
		return false;
	}
	*out = (struct trace_field){.name = declared(declaration)};
	out->type = (struct span){line.p, (size_t)(out->name.p - line.p)};
	while (out->type.n != 0 && out->type.p[out->type.n - 1] == ' ') {
		out->type.n--;
	}
	if (out->name.n == 0 || !number_after(line, SPAN_TEXT("offset:"), &out->offset) ||
	        !number_after(line, SPAN_TEXT("size:"), &out->size)) {
		return false;
	}
	(void)number_after(line, SPAN_TEXT("signed:"), &is_signed);
	out->flags = flags_of(out, declaration) | (is_signed != 0 ? TRACE_SIGNED : 0);
	return true;
}

bool trace_field_next(const struct trace_format *format, size_t *at, struct trace_field *out)
{
	while (*at < format->text.n) {
		struct span rest = {format->text.p + *at, format->text.n - *at};
		struct span line = line_after(rest, SPAN_TEXT("\tfield:"));

		if (line.n == 0) {
			break;
		}
		*at = (size_t)(line.p - format->text.p) + line.n;
		if (parse_field(line, out)) {
			return true;
		}
	}
	*at = format->text.n;
	return false;
}

bool trace_field_find(const struct trace_format *format, struct span name, struct trace_field *out)
{
	size_t at = 0;

	while (trace_field_next(format, &at, out)) {
		if ((out->flags & TRACE_COMMON) == 0 && out->name.n == name.n &&
		        memcmp(out->name.p, name.p, name.n) == 0) {
			return true;
		}
	}
	return false;
}
