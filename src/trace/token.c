/* SPDX-License-Identifier: MIT */
#include "trace/token.h"

/* The value of a digit or letter in a base up to 16; larger than 15: it is none. */
static unsigned digit_of(uint8_t c)
{
	if (trace_is_digit(c)) {
		return (unsigned)(c - '0');
	}
	return (c | 32) >= 'a' && (c | 32) <= 'f' ? (unsigned)((c | 32) - 'a' + 10) : 16;
}

/* Reads "10", "0x1f" and "017", and suffixes such as "UL". False: it is no number of 64 bits. */
static bool read_number(struct span s, uint64_t *out)
{
	unsigned base = 10;
	size_t i = 0;

	if (s.n > 1 && s.p[0] == '0') {
		base = (s.p[1] | 32) == 'x' ? 16 : 8;
		i = base == 16 ? 2 : 1;
		if (base == 16 && s.n == 2) {
			return false;
		}
	}
	*out = 0;
	for (; i < s.n && digit_of(s.p[i]) < base; i++) {
		if (__builtin_mul_overflow(*out, base, out) ||
		        __builtin_add_overflow(*out, digit_of(s.p[i]), out)) {
			return false;
		}
	}
	while (i < s.n && ((s.p[i] | 32) == 'u' || (s.p[i] | 32) == 'l')) {
		i++;
	}
	return i == s.n;
}

/* The length of the operator at the front of a text that is not empty; 0: there is none. */
static size_t sign_length(struct span s)
{
	static const char pairs[][3] = {"->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};

	for (size_t i = 0; s.n > 1 && i < sizeof(pairs) / sizeof(*pairs); i++) {
		if (memcmp(s.p, pairs[i], 2) == 0) {
			return 2;
		}
	}
	return s.p[0] != 0 && strchr("()[]{},?:!~+-*/%&|<>", s.p[0]) != NULL;
}

/* Reads a text in quotes, which has no control characters; `at` is after the first quote. */
static void read_text(struct tokens *t, struct span at)
{
	bool control = false;
	size_t n = 0;

	while (n < at.n && at.p[n] != '"') {
		control = control || at.p[n] < ' ';
		n += at.p[n] == '\\' && at.n - n > 1 ? 2 : 1;
	}
	t->kind = n < at.n && !control ? TOKEN_TEXT : TOKEN_OTHER;
	t->text = (struct span){at.p, n};
	n += n < at.n;
	t->rest = (struct span){at.p + n, at.n - n};
}

void tokens_next(struct tokens *t)
{
	struct span at = t->rest;
	size_t n = 0;

	while (at.n != 0 && (at.p[0] == ' ' || at.p[0] == '\t')) {
		at = (struct span){at.p + 1, at.n - 1};
	}
	if (at.n == 0) {
		t->kind = TOKEN_END;
	} else if (at.p[0] == '"') {
		read_text(t, (struct span){at.p + 1, at.n - 1});
		return;
	} else if (trace_is_word(at.p[0])) {
		while (n < at.n && trace_is_word(at.p[n])) {
			n++;
		}
		t->kind = TOKEN_WORD;
		if (trace_is_digit(at.p[0])) {
			t->kind = read_number((struct span){at.p, n}, &t->number) ? TOKEN_NUMBER
			                                                          : TOKEN_OTHER;
		}
	} else {
		n = sign_length(at);
		t->kind = n != 0 ? TOKEN_SIGN : TOKEN_OTHER;
		n += n == 0;
	}
	t->text = (struct span){at.p, n};
	t->rest = (struct span){at.p + n, at.n - n};
}

void tokens_begin(struct tokens *t, struct span text)
{
	*t = (struct tokens){.rest = text};
	tokens_next(t);
}

bool tokens_at(const struct tokens *t, const char *text)
{
	return (t->kind == TOKEN_WORD || t->kind == TOKEN_SIGN) && t->text.n == strlen(text) &&
	       memcmp(t->text.p, text, t->text.n) == 0;
}

bool tokens_skip(struct tokens *t, const char *text)
{
	if (!tokens_at(t, text)) {
		return false;
	}
	tokens_next(t);
	return true;
}
