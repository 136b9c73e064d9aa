/* SPDX-License-Identifier: MIT */
/* Tokens of a print format: "NR %ld", REC->id, __print_flags(REC->flags, "|", { 1, "A" }). */
#ifndef SONDE_TRACE_TOKEN_H
#define SONDE_TRACE_TOKEN_H

#include "core/span.h"

static inline bool trace_is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* Characters of a name in C. */
static inline bool trace_is_word(uint8_t c)
{
	return c == '_' || trace_is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

enum token_kind {
	TOKEN_END,
	TOKEN_WORD,
	TOKEN_NUMBER, /* with suffixes: 1UL */
	TOKEN_TEXT, /* in quotes, which are not part of it; escapes are left as they are */
	TOKEN_SIGN, /* operators and brackets */
	TOKEN_OTHER, /* anything else */
};

/* Reads a text token by token; copy it to look ahead. */
struct tokens {
	struct span rest; /* after the token */
	enum token_kind kind;
	struct span text; /* of the token */
	uint64_t number; /* its value */
};

void tokens_begin(struct tokens *t, struct span text); /* reads the first token */
void tokens_next(struct tokens *t);

/* Whether the token is this word or sign. */
bool tokens_at(const struct tokens *t, const char *text);

/* Skips this word or sign; false: the token is another one. */
bool tokens_skip(struct tokens *t, const char *text);

#endif
