/* SPDX-License-Identifier: MIT */
#include "core/escape.h"

#define REPLACEMENT 0xfffdu /* U+FFFD */

/*
 * Reads the next character of s[*i..n), which is not empty; an invalid byte counts as a character.
 */
static uint32_t next_char(const uint8_t *s, size_t n, size_t *i)
{
	static const uint32_t least[] = {0, 0x80, 0x800, 0x10000}; /* shorter encodings are
	                                                              invalid */
	uint8_t first = s[(*i)++];
	unsigned more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
	uint32_t c;
	unsigned k;

	if (first < 0x80) {
		return first;
	}
	if (first < 0xc2 || first > 0xf4 || n - *i < more) {
		return REPLACEMENT;
	}
	c = first & (0x3fu >> more);
	for (k = 0; k < more; k++) {
		if ((s[*i + k] & 0xc0) != 0x80) {
			return REPLACEMENT;
		}
		c = c << 6 | (s[*i + k] & 0x3f);
	}
	if (c < least[more] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) {
		return REPLACEMENT;
	}
	*i += more;
	return c;
}

static void put_char(struct text *t, uint32_t c)
{
	char b[4];
	size_t n = 0;

	if (c < 0x80) {
		b[n++] = (char)c;
	} else if (c < 0x800) {
		b[n++] = (char)(0xc0 | c >> 6);
		b[n++] = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		b[n++] = (char)(0xe0 | c >> 12);
		b[n++] = (char)(0x80 | (c >> 6 & 0x3f));
		b[n++] = (char)(0x80 | (c & 0x3f));
	} else {
		b[n++] = (char)(0xf0 | c >> 18);
		b[n++] = (char)(0x80 | (c >> 12 & 0x3f));
		b[n++] = (char)(0x80 | (c >> 6 & 0x3f));
		b[n++] = (char)(0x80 | (c & 0x3f));
	}
	text_bytes(t, b, n);
}

static void put_unicode_escape(struct text *t, uint32_t c)
{
	text_str(t, "\\u");
	text_hex(t, c, 4, '0');
}

/* Terminals obey those from 0x80 on too. */
static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

/* Markup characters, and those that end a line of JavaScript. */
static bool is_risky(uint32_t c)
{
	return c == '<' || c == '>' || c == '&' || c == 0x2028 || c == 0x2029;
}

/* Characters that JSON never escapes: printable ones except quotes, backslashes and markup. */
static const bool plain[256] = {
        [0x20 ... 0x21] = true,
        [0x23 ... 0x25] = true,
        [0x27 ... 0x3b] = true,
        [0x3d] = true,
        [0x3f ... 0x5b] = true,
        [0x5d ... 0x7e] = true,
};

static void put_risky(struct text *t, const char *s, size_t n, bool in_script)
{
	size_t i = 0;

	while (i < n) {
		uint32_t c = next_char((const uint8_t *)s, n, &i);

		if (c == '"' || c == '\\') {
			text_char(t, '\\');
			text_char(t, (char)c);
		} else if (is_control(c) || (in_script && is_risky(c))) {
			put_unicode_escape(t, c);
		} else {
			put_char(t, c);
		}
	}
}

void escape_json(struct text *t, const char *s, size_t n, bool in_script)
{
	char *p = text_room(t, n + 2);
	size_t i = 0;

	if (p == NULL) {
		return;
	}
	*p++ = '"';
	for (; i < n && plain[(unsigned char)s[i]]; i++) {
		p[i] = s[i];
	}
	t->n += i + 1;
	if (i < n) {
		put_risky(t, s + i, n - i, in_script);
	}
	text_char(t, '"');
}

void escape_html(struct text *t, const char *s, size_t n)
{
	size_t i = 0;
	uint32_t c;

	while (i < n) {
		c = next_char((const uint8_t *)s, n, &i);
		switch (c) {
		case '<': text_str(t, "&lt;"); break;
		case '>': text_str(t, "&gt;"); break;
		case '&': text_str(t, "&amp;"); break;
		case '"': text_str(t, "&quot;"); break;
		case '\'': text_str(t, "&#39;"); break;
		default:
			/* HTML cannot express control characters */
			put_char(t, is_control(c) && c != '\t' ? REPLACEMENT : c);
			break;
		}
	}
}

/* Replaces what escape_plain replaces in s[0..n), but no bytes of `kept`. */
static void replace(char *s, size_t n, const char *kept)
{
	size_t i = 0;

	while (i < n) {
		size_t start = i;
		uint32_t c = next_char((const uint8_t *)s, n, &i);
		bool invalid = c == REPLACEMENT && i - start == 1;

		if (invalid ||
		        (is_control(c) && (c == 0 || c > 0x7f || strchr(kept, (int)c) == NULL))) {
			memset(s + start, '?', i - start);
		}
	}
}

void escape_plain(char *s, size_t n)
{
	replace(s, n, "");
}

void escape_plain_lines(char *s, size_t n)
{
	if (!escape_is_plain(s, n)) {
		replace(s, n, "\n\t");
	}
}

void escape_utf8(struct text *t, const char *s, size_t n)
{
	const uint8_t *bytes = (const uint8_t *)s;

	for (size_t i = 0; i < n;) {
		size_t at = i;

		if (next_char(bytes, n, &i) == REPLACEMENT && i == at + 1) {
			text_printf(t, "\\x%02x", bytes[at]);
		} else {
			text_bytes(t, s + at, i - at);
		}
	}
}
