/* SPDX-License-Identifier: MIT */
#include "cmd/config_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define FILE_END (-1)

static int peek(const struct config_parser *c)
{
	return c->p < c->end ? (unsigned char)*c->p : FILE_END;
}

static int take(struct config_parser *c)
{
	int ch = peek(c);

	c->p += ch != FILE_END;
	c->line += ch == '\n';
	return ch;
}

static bool is_blank(int ch)
{
	return ch == ' ' || ch == '\t' || ch == '\r';
}

static void skip_blanks(struct config_parser *c)
{
	while (is_blank(peek(c))) {
		(void)take(c);
	}
}

static void skip_comment(struct config_parser *c)
{
	while (peek(c) != '\n' && peek(c) != FILE_END) {
		(void)take(c);
	}
}

static bool put(char *to, size_t *n, int ch)
{
	if (*n + 1 >= CONFIG_WORD_MAX || ch == 0) {
		return false;
	}
	to[(*n)++] = (char)ch;
	to[*n] = '\0';
	return true;
}

static bool is_section(int ch)
{
	return isalnum(ch) || ch == '.' || ch == '-' || ch == '_';
}

static bool is_name(int ch)
{
	return isalnum(ch) || ch == '-' || ch == '_';
}

/* Parses B c"] of [a "B c"]. */
static bool quoted_section(struct config_parser *c, size_t *n)
{
	int ch;

	if (!put(c->variable.key, n, '.')) {
		return false;
	}
	while ((ch = take(c)) != '"') {
		if (ch == '\\') {
			ch = take(c);
		}
		if (ch == FILE_END || ch == '\n' || !put(c->variable.key, n, ch)) {
			return false;
		}
	}
	return take(c) == ']';
}

static bool parse_section(struct config_parser *c)
{
	size_t n = 0;

	(void)take(c);
	while (is_section(peek(c))) {
		if (!put(c->variable.key, &n, tolower(take(c)))) {
			return false;
		}
	}
	if (n == 0) {
		return false;
	}
	if (is_blank(peek(c))) {
		skip_blanks(c);
		if (take(c) != '"' || !quoted_section(c, &n)) {
			return false;
		}
	} else if (take(c) != ']') {
		return false;
	}
	if (!put(c->variable.key, &n, '.')) {
		return false;
	}
	c->section = n;
	return true;
}

/* Returns the character of an escape, 0 for the end of a line that is continued, -1: none. */
static int escaped(struct config_parser *c)
{
	static const char from[] = "ntb\"\\\n", to[] = "\n\t\b\"\\";
	int ch = take(c);
	const char *at = ch > 0 ? strchr(from, ch) : NULL;

	return at != NULL ? to[at - from] : -1;
}

static bool parse_value(struct config_parser *c)
{
	char *value = c->variable.value;
	bool quoted = false, blank = false;
	size_t n = 0;
	int ch;

	value[0] = '\0';
	skip_blanks(c);
	while ((ch = peek(c)) != FILE_END && ch != '\n') {
		if (!quoted && (ch == '#' || ch == ';')) {
			skip_comment(c);
			break;
		}
		(void)take(c);
		if (!quoted && is_blank(ch)) {
			blank = true;
			continue;
		}
		if (blank && n > 0 && !put(value, &n, ' ')) {
			return false;
		}
		blank = false;
		if (ch == '"') {
			quoted = !quoted;
			continue;
		}
		if (ch == '\\') {
			ch = escaped(c);
			if (ch == 0) {
				continue;
			}
		}
		if (ch < 0 || !put(value, &n, ch)) {
			return false;
		}
	}
	return !quoted;
}

static bool parse_variable(struct config_parser *c)
{
	size_t n = c->section;

	c->variable.line = c->line;
	c->name = c->p;
	if (n == 0) {
		return false;
	}
	while (is_name(peek(c))) {
		int ch = take(c);

		if (!put(c->variable.key, &n, n == c->section ? tolower(ch) : ch)) {
			return false;
		}
	}
	skip_blanks(c);
	return take(c) == '=' && parse_value(c);
}

void config_parse_begin(struct config_parser *c, const char *text, size_t n)
{
	static const char mark[] = "\xef\xbb\xbf"; /* some editors begin a file of UTF-8 with it */

	*c = (struct config_parser){.p = text, .end = text + n, .line = 1};
	if (n >= 3 && memcmp(text, mark, 3) == 0) {
		c->p += 3;
	}
}

int config_parse_next(struct config_parser *c)
{
	for (;;) {
		int ch = peek(c);
		unsigned line = c->line;
		bool good = true;

		if (ch == FILE_END) {
			return 0;
		}
		if (ch == '#' || ch == ';') {
			skip_comment(c);
		} else if (ch == '[') {
			good = parse_section(c);
		} else if (isalpha(ch)) {
			good = parse_variable(c);
			if (good) {
				return 1;
			}
		} else {
			good = is_blank(ch) || ch == '\n';
			(void)take(c);
		}
		if (!good) {
			c->line = line;
			return -1;
		}
	}
}

bool config_key_good(const char *text)
{
	const char *dot = strrchr(text, '.');

	if (dot == NULL || dot == text || !isalpha((unsigned char)dot[1]) ||
	        strlen(text) >= CONFIG_WORD_MAX) {
		return false;
	}
	for (const char *p = text; *p != '\0'; p++) {
		if (p < dot ? !is_section((unsigned char)*p)
		            : p > dot && !is_name((unsigned char)*p)) {
			return false;
		}
	}
	return true;
}

/* ---- changing a text ---- */

struct growing {
	char *p;
	size_t n, room;
};

static void grow(struct growing *g, const char *bytes, size_t n)
{
	memcpy(g->p + g->n, bytes, n);
	g->n += n;
}

static void grow_text(struct growing *g, const char *text)
{
	grow(g, text, strlen(text));
}

/* Appends "\tname = value\n", quoted where needed; at most 2 bytes for one of the value. */
static void grow_variable(struct growing *g, const char *name, const char *value)
{
	static const char from[] = "\n\t\b\"\\", to[] = "ntb\"\\";

	grow_text(g, "\t");
	grow_text(g, name);
	grow_text(g, " = \"");
	for (; *value != '\0'; value++) {
		const char *at = strchr(from, *value);

		if (at != NULL) {
			grow(g, "\\", 1);
		}
		grow(g, at != NULL ? to + (at - from) : value, 1);
	}
	grow_text(g, "\"\n");
}

/* Where a text is changed: bytes from `from` to `to` are replaced. */
struct change {
	size_t from, to;
	bool in_section, found;
};

/* Returns where the last variable begins, with the blanks before it. */
static size_t variable_begin(const struct config_parser *c, const char *text)
{
	const char *p = c->name;

	while (p > text && is_blank((unsigned char)p[-1])) {
		p--;
	}
	return (size_t)(p - text);
}

static struct change find_change(const char *text, size_t n, const char *key)
{
	size_t section = (size_t)(strrchr(key, '.') - key) + 1;
	struct change change = {.from = n, .to = n};
	struct config_parser c;

	config_parse_begin(&c, text, n);
	while (config_parse_next(&c) > 0) {
		const char *newline = memchr(c.p, '\n', (size_t)(c.end - c.p));
		size_t end = newline != NULL ? (size_t)(newline + 1 - text) : n;
		bool same = strcasecmp(c.variable.key, key) == 0;

		if (same || (!change.found && c.section == section &&
		                    strncasecmp(c.variable.key, key, section) == 0)) {
			change = (struct change){same ? variable_begin(&c, text) : end, end, true,
			        same || change.found};
		}
	}
	return change;
}

char *config_text_set(const char *text, size_t n, const char *key, const char *value)
{
	struct growing g = {.room = n + strlen(key) * 2 + strlen(value) * 2 + 32};
	const char *name = strrchr(key, '.');
	struct change change;

	if (!config_key_good(key) || strlen(value) >= CONFIG_WORD_MAX) {
		return NULL;
	}
	g.p = malloc(g.room);
	if (g.p == NULL) {
		return NULL;
	}
	change = find_change(text, n, key);
	grow(&g, text, change.from);
	if (change.from > 0 && (text[change.from - 1] != '\n' || /* or the last line is continued */
	                               (change.from > 1 && text[change.from - 2] == '\\'))) {
		grow_text(&g, "\n");
	}
	if (!change.in_section) {
		grow_text(&g, "[");
		grow(&g, key, (size_t)(name - key));
		grow_text(&g, "]\n");
	}
	grow_variable(&g, name + 1, value);
	grow(&g, text + change.to, n - change.to);
	g.p[g.n] = '\0';
	return g.p;
}
