/* SPDX-License-Identifier: MIT */
/*
 * Escapes text for JSON, HTML and terminals, so that no text of a recording becomes markup, code or
 * a command.
 */
#ifndef SONDE_CORE_ESCAPE_H
#define SONDE_CORE_ESCAPE_H

#include "core/text.h"

/*
 * Writes s[0..n) as a JSON string with its quotes. Each byte that is not part of valid UTF-8
 * becomes U+FFFD. in_script: also safe inside a <script> element: '<', '>' and '&' are written as
 * \u escapes, so no "</script>" or "<!--" can occur; else only what JSON requires is escaped, and
 * all control characters.
 */
void escape_json(struct text *t, const char *s, size_t n, bool in_script);

/* Writes s[0..n) as the content of an HTML element or of a quoted attribute; UTF-8 as above. */
void escape_html(struct text *t, const char *s, size_t n);

/* Writes s[0..n) as valid UTF-8: each byte that is not part of such becomes \xNN. */
void escape_utf8(struct text *t, const char *s, size_t n);

/*
 * Makes s[0..n) plain: replaces each byte of control characters (newlines and tabs too), and each
 * byte that is not part of valid UTF-8, with '?'. The length stays the same.
 */
void escape_plain(char *s, size_t n);

/* As escape_plain, but keeps newlines and tabs. */
void escape_plain_lines(char *s, size_t n);

/* Whether s[0..n) is plain and ASCII; rarely not for a '~' too. On the hot path of script. */
static inline bool escape_is_plain(const char *s, size_t n)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t unusual = 0, x;
	size_t i = 0;

	for (; n - i >= sizeof(x); i += sizeof(x)) {
		memcpy(&x, s + i, sizeof(x));
		unusual |= (x - ones * 0x20) | (x + ones) | x;
	}
	for (; i < n; i++) {
		unusual |= (uint64_t)(s[i] < 0x20 || s[i] > 0x7e) << 7;
	}
	return (unusual & ones * 0x80) == 0;
}

/* Makes text plain that was appended to t after its first `from` bytes. */
static inline void escape_plain_from(struct text *t, size_t from)
{
	if (t->n != from && !escape_is_plain(t->p + from, t->n - from)) {
		escape_plain(t->p + from, t->n - from);
	}
}

/* Append plain text. */
static inline void text_plain_bytes(struct text *t, const void *bytes, size_t n)
{
	size_t from = t->n;

	text_bytes(t, bytes, n);
	escape_plain_from(t, from);
}

static inline void text_plain(struct text *t, const char *s)
{
	text_plain_bytes(t, s, strlen(s));
}

#endif
