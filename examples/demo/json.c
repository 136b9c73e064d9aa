/* SPDX-License-Identifier: MIT */
/* A recursive-descent parser that adds up numbers. Depth is bounded. */
#include "mill.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64

struct parser {
	const char *p;
	double sum;
	unsigned depth;
};

static bool parse_value(struct parser *j);

static void skip_blanks(struct parser *j)
{
	while (isspace((unsigned char)*j->p)) {
		j->p++;
	}
}

static bool accept(struct parser *j, char c)
{
	skip_blanks(j);
	if (*j->p != c) {
		return false;
	}
	j->p++;
	return true;
}

static bool parse_string(struct parser *j)
{
	if (!accept(j, '"')) {
		return false;
	}
	while (*j->p != '"') {
		if (*j->p == '\\' && j->p[1] != '\0') {
			j->p++;
		}
		if (*j->p == '\0') {
			return false;
		}
		j->p++;
	}
	j->p++;
	return true;
}

static bool parse_number(struct parser *j)
{
	char *end;
	double value = strtod(j->p, &end);

	if (end == j->p) {
		return false;
	}
	j->p = end;
	j->sum += value;
	return true;
}

static bool parse_word(struct parser *j)
{
	static const char *const words[] = {"true", "false", "null"};

	for (size_t i = 0; i < 3; i++) {
		size_t n = strlen(words[i]);

		if (strncmp(j->p, words[i], n) == 0) {
			j->p += n;
			return true;
		}
	}
	return false;
}

static bool parse_array(struct parser *j)
{
	if (accept(j, ']')) {
		return true;
	}
	do {
		if (!parse_value(j)) {
			return false;
		}
	} while (accept(j, ','));
	return accept(j, ']');
}

static bool parse_object(struct parser *j)
{
	if (accept(j, '}')) {
		return true;
	}
	do {
		if (!parse_string(j) || !accept(j, ':') || !parse_value(j)) {
			return false;
		}
	} while (accept(j, ','));
	return accept(j, '}');
}

static bool parse_nested(struct parser *j, bool (*parse)(struct parser *))
{
	bool good;

	if (j->depth == DEPTH_MAX) {
		return false;
	}
	j->depth++;
	j->p++;
	good = parse(j);
	j->depth--;
	return good;
}

/* NOLINTNEXTLINE(misc-no-recursion): bounded by DEPTH_MAX, and the demo wants deep chains */
static bool parse_value(struct parser *j)
{
	skip_blanks(j);
	switch (*j->p) {
	case '{': return parse_nested(j, parse_object);
	case '[': return parse_nested(j, parse_array);
	case '"': return parse_string(j);
	case 't':
	case 'f':
	case 'n': return parse_word(j);
	default: return parse_number(j);
	}
}

double json_sum(const char *text)
{
	struct parser j = {.p = text};

	return parse_value(&j) ? j.sum : -1.0;
}
