/* SPDX-License-Identifier: MIT */
#include "trace/sound.h"

#include "trace/token.h"

#include <stdint.h>
#include <string.h>

#define DEPTH_MAX 64u /* of brackets: the parser of the library calls itself for each */

/* Takes the text from the front of a line; false: it begins otherwise. */
static bool take(struct span *line, const char *text)
{
	size_t n = strlen(text);

	if (line->n < n || memcmp(line->p, text, n) != 0) {
		return false;
	}
	line->p += n;
	line->n -= n;
	return true;
}

/* Takes 1 to 9 digits; 08 is none, as libtraceevent takes it for octal. */
static bool take_number(struct span *line)
{
	size_t n = 0;
	bool octal;

	while (n < line->n && line->p[n] >= '0' && line->p[n] <= '9') {
		n++;
	}
	octal = n > 1 && line->p[0] == '0';
	line->p += n;
	line->n -= n;
	return n > 0 && n < 10 && !octal;
}

static bool take_words(struct span *line)
{
	size_t n = 0;

	while (n < line->n && trace_is_word(line->p[n])) {
		n++;
	}
	line->p += n;
	line->n -= n;
	return n > 0;
}

static struct span next_line(struct span *text)
{
	const uint8_t *end = text->n != 0 ? memchr(text->p, '\n', text->n) : NULL;
	size_t n = end != NULL ? (size_t)(end - text->p) : text->n;
	struct span line = {text->p, n};

	n += end != NULL;
	text->p += n;
	text->n -= n;
	return line;
}

static struct span skip_blanks(struct span s)
{
	while (s.n != 0 && s.p[0] == ' ') {
		s = (struct span){s.p + 1, s.n - 1};
	}
	return s;
}

/*
 * Checks the text after "/" or "%": a number or size that is not 0 ends the expression. The library
 * does not check divisors, and reads 8 / 1 / 2 as 8 / (1 / 2).
 */
static bool is_divisor(struct span s)
{
	s = skip_blanks(s);
	if (s.n == 0 || !((s.p[0] >= '1' && s.p[0] <= '9') || take(&s, "sizeof("))) {
		return false;
	}
	while (s.n != 0 && (trace_is_word(s.p[0]) || s.p[0] == ' ')) {
		s = (struct span){s.p + 1, s.n - 1};
	}
	(void)take(&s, ")");
	s = skip_blanks(s);
	return s.n == 0 || strchr(",)]}\n", s.p[0]) != NULL;
}

/* Checks for printable text with quoted strings, balanced brackets outside of them, and divisors. */
static bool is_balanced(struct span s)
{
	static const char opens[] = "([{", closes[] = ")]}";
	char open[DEPTH_MAX];
	size_t depth = 0;
	char quote = '\0';

	for (size_t i = 0; i < s.n; i++) {
		char c = (char)s.p[i];
		const char *at;

		if (c != '\t' && c != '\n' && (c < ' ' || c > '~')) {
			return false;
		}
		if (quote == 0 && (c == '/' || c == '%') &&
		        !is_divisor((struct span){s.p + i + 1, s.n - i - 1})) {
			return false;
		}
		if (quote != 0) {
			i += c == '\\';
			if (c == quote) {
				quote = '\0';
			}
		} else if (c == '"' || c == '\'') {
			quote = c;
		} else if ((at = strchr(opens, c)) != NULL) {
			if (depth == DEPTH_MAX) {
				return false;
			}
			open[depth++] = closes[at - opens];
		} else if (strchr(closes, c) != NULL && (depth == 0 || open[--depth] != c)) {
			return false;
		}
	}
	return quote == 0 && depth == 0;
}

/* "unsigned long args[6]": a type, a name, and the length of an array. */
static bool is_declaration(struct span s)
{
	size_t i = 0, words = 0;
	bool last = false; /* the last word is a name */

	if (!is_balanced(s)) {
		return false;
	}
	while (i < s.n) {
		if (trace_is_word(s.p[i])) {
			words++;
			last = true;
			while (i < s.n && trace_is_word(s.p[i])) {
				i++;
			}
		} else if (s.p[i] == '[') { /* its contents are an expression */
			while (s.p[i] != ']') {
				i++;
			}
			i++;
		} else {
			last = last && s.p[i] == ' ';
			if (strchr(" *()", s.p[i]) == NULL) {
				return false;
			}
			i++;
		}
	}
	return words > 1 && last;
}

static bool is_field(struct span line)
{
	const uint8_t *end;
	struct span declaration;

	if (!take(&line, "\tfield:") || line.n == 0) {
		return false;
	}
	end = memchr(line.p, ';', line.n);
	if (end == NULL) {
		return false;
	}
	declaration = (struct span){line.p, (size_t)(end - line.p)};
	line.p += declaration.n;
	line.n -= declaration.n;
	if (!is_declaration(declaration) || !take(&line, ";\toffset:") || !take_number(&line) ||
	        !take(&line, ";\tsize:") || !take_number(&line) || !take(&line, ";")) {
		return false;
	}
	return line.n == 0 ||
	       ((take(&line, "\tsigned:0;") || take(&line, "\tsigned:1;")) && line.n == 0);
}

bool trace_format_is_sound(struct span text)
{
	struct span line = next_line(&text);

	if (!take(&line, "name: ") || !take_words(&line) || line.n != 0) {
		return false;
	}
	line = next_line(&text);
	if (!take(&line, "ID: ") || !take_number(&line) || line.n != 0) {
		return false;
	}
	line = next_line(&text);
	if (!take(&line, "format:") || line.n != 0) {
		return false;
	}
	while (text.n != 0) {
		line = next_line(&text);
		if (take(&line, "print fmt: ")) {
			line.n += (size_t)(text.p + text.n - (line.p + line.n)); /* several lines */
			return is_balanced(line);
		}
		if (line.n != 0 && !is_field(line)) {
			return false;
		}
	}
	return false;
}

/*
 * Whether a declaration that is sound has only words and stars, and the length of an array:
 * "const char * name", "u8 addr[16]", "__data_loc char[] name".
 */
static bool is_plain(struct span s)
{
	bool dynamic = take(&s, "__data_loc ") || take(&s, "__rel_loc ");
	size_t n = 0;

	while (n < s.n && (trace_is_word(s.p[n]) || s.p[n] == ' ' || s.p[n] == '*')) {
		n++;
	}
	if (n == 0 || !trace_is_word(s.p[0])) {
		return false;
	}
	s = (struct span){s.p + n, s.n - n};
	if (dynamic) {
		return take(&s, "[] ") && take_words(&s) && s.n == 0;
	}
	return s.n == 0 || (take(&s, "[") && take_number(&s) && take(&s, "]") && s.n == 0);
}

/* Takes lines of fields that are sound, and the empty line after them. */
static bool take_fields(struct span *text)
{
	struct span line = next_line(text);

	while (take(&line, "\tfield:")) {
		const uint8_t *end = memchr(line.p, ';', line.n);

		if (end == NULL || !is_plain((struct span){line.p, (size_t)(end - line.p)})) {
			return false;
		}
		line = next_line(text);
	}
	return line.n == 0;
}

bool trace_format_is_plain(struct span text)
{
	struct span rest = text;

	for (int i = 0; i < 3; i++) {
		(void)next_line(&rest);
	}
	if (!trace_format_is_sound(text) || !take_fields(&rest) || !take_fields(&rest) ||
	        !take(&rest, "print fmt: ")) {
		return false;
	}
	(void)next_line(&rest);
	return rest.n == 0 && text.p[text.n - 1] == '\n';
}
