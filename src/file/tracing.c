/* SPDX-License-Identifier: MIT */
/*
 * The blob (versions 0.5 and 0.6 differ only after the part that is read here):
 *
 *	17 08 44 "tracing"   text version   u8 big-endian   u8 long size   u32 page size
 *	text "header_page"   u64 n, n bytes      text "header_event"  u64 n, n bytes
 *	u32 n; {u64 size, format file}[n]        formats of the function tracers
 *	u32 n; {text system; u32 m; {u64 size, format file}[m]}[n]
 *	text: up to a NUL; numbers in the blob's own byte order
 *
 * A format file: "name: sched_switch\nID: 372\nformat:\n\tfield:unsigned short common_type;...\n"
 * ... "\n\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n" ... "print fmt: ..."
 * Source: observed blobs of perf 3.4 to 6.1, tracefs' own files.
 */
#include "file/tracing.h"

#define WORD(s)                                                                                    \
	(struct span)                                                                              \
	{                                                                                          \
		(const uint8_t *)(s), sizeof(s) - 1                                                \
	}

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
static struct span line_behind(struct span text, struct span word)
{
	struct cursor c = cursor_make(text, false);

	while (cursor_left(&c) != 0) {
		const uint8_t *end = memchr(c.p, '\n', cursor_left(&c));
		struct span line = {c.p, end != NULL ? (size_t)(end - c.p) : cursor_left(&c)};

		(void)cursor_bytes(&c, line.n);
		(void)cursor_bytes(&c, cursor_left(&c) != 0);
		if (line.n >= word.n && memcmp(line.p, word.p, word.n) == 0) {
			return (struct span){line.p + word.n, line.n - word.n};
		}
	}
	return (struct span){text.p, 0};
}

static bool has_id(struct span text, uint64_t id)
{
	struct span digits = line_behind(text, WORD("ID: "));
	uint64_t v = 0;

	for (size_t i = 0; i < digits.n; i++) {
		if (digits.p[i] < '0' || digits.p[i] > '9' || i > 18) {
			return false;
		}
		v = v * 10 + (digits.p[i] - '0');
	}
	return digits.n != 0 && v == id;
}

/* Reads up to the number of systems. */
static bool blob_open(struct span blob, struct cursor *c)
{
	static const uint8_t magic[] = "\027\010\104tracing";
	uint32_t n;

	*c = cursor_make(blob, HOST_BIG_ENDIAN);
	if (blob.n < sizeof(magic) - 1 || memcmp(blob.p, magic, sizeof(magic) - 1) != 0) {
		return false;
	}
	(void)cursor_bytes(c, sizeof(magic) - 1);
	(void)take_text(c);
	c->swap = (cursor_u8(c) != 0) != HOST_BIG_ENDIAN;
	(void)cursor_u8(c);
	(void)cursor_u32(c);
	for (int i = 0; i < 2; i++) {
		(void)take_text(c);
		(void)take_sized(c);
	}
	n = cursor_u32(c);
	for (uint32_t i = 0; i < n && !c->bad; i++) {
		(void)take_sized(c);
	}
	return !c->bad;
}

bool tracing_find(struct span blob, uint64_t id, struct tracing_format *out)
{
	struct cursor c;
	uint32_t systems;

	if (!blob_open(blob, &c)) {
		return false;
	}
	systems = cursor_u32(&c);
	for (uint32_t i = 0; i < systems && !c.bad; i++) {
		struct span system = take_text(&c);
		uint32_t n = cursor_u32(&c);

		for (uint32_t j = 0; j < n && !c.bad; j++) {
			struct span text = take_sized(&c);

			if (!c.bad && has_id(text, id)) {
				*out = (struct tracing_format){.system = system,
				        .name = line_behind(text, WORD("name: ")),
				        .text = text};
				return true;
			}
		}
	}
	return false;
}

static bool is_word(uint8_t c)
{
	return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

/*
 * Returns the name in "char prev_comm[16];\toffset:..": the last word before a '[' or ';' that
 * follows a word. In "__data_loc char[] name" it is the last word.
 */
static struct span declared(struct span line)
{
	struct span name = {line.p, 0};

	for (size_t i = 0; i < line.n && line.p[i] != ';'; i++) {
		if (!is_word(line.p[i])) {
			continue;
		}
		if (i == 0 || !is_word(line.p[i - 1])) {
			if (i != 0 && line.p[i - 1] == '[') { /* the size of an array */
				break;
			}
			name = (struct span){line.p + i, 0};
		}
		name.n++;
	}
	return name;
}

bool tracing_next_field(const struct tracing_format *format, size_t *at, struct span *name)
{
	static const char common[] = "common_";

	while (*at < format->text.n) {
		struct span rest = {format->text.p + *at, format->text.n - *at};
		struct span line = line_behind(rest, WORD("\tfield:"));

		if (line.n == 0) {
			break;
		}
		*at = (size_t)(line.p - format->text.p) + line.n;
		*name = declared(line);
		if (name->n >= sizeof(common) - 1 &&
		        memcmp(name->p, common, sizeof(common) - 1) == 0) {
			continue;
		}
		return name->n != 0;
	}
	*at = format->text.n;
	return false;
}

/* The number after a word of the rest of a line; false: it is not there. */
static bool number_after(struct span rest, const char *word, uint32_t *out)
{
	size_t n = strlen(word);
	uint64_t v = 0;
	size_t i = 0;

	while (i + n < rest.n && rest.p[i] != '\n' && memcmp(rest.p + i, word, n) != 0) {
		i++;
	}
	if (i + n >= rest.n || rest.p[i] == '\n') {
		return false;
	}
	for (i += n; i < rest.n && rest.p[i] >= '0' && rest.p[i] <= '9' && v <= UINT16_MAX; i++) {
		v = v * 10 + (uint64_t)(rest.p[i] - '0');
	}
	*out = (uint32_t)v;
	return v <= UINT16_MAX;
}

bool tracing_field(const struct tracing_format *format, const char *name, struct tracing_place *out)
{
	struct span found;
	size_t at = 0;

	while (tracing_next_field(format, &at, &found)) {
		struct span rest = {found.p, format->text.n - (size_t)(found.p - format->text.p)};

		if (found.n == strlen(name) && memcmp(found.p, name, found.n) == 0) {
			return number_after(rest, "offset:", &out->offset) &&
			       number_after(rest, "size:", &out->size);
		}
	}
	return false;
}
