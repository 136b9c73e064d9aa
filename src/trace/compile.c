/* SPDX-License-Identifier: MIT */
/* Print formats to programs: the text in quotes, and an argument for each of its conversions. */
#include "trace/compiler.h"
#include "trace/program.h"
#include "trace/sound.h"

#include "core/status.h"

/* The text in quotes, without escapes, and the position in it. */
struct pattern {
	const char *p, *end;
};

/*
 * Whether a text has no other escapes than these. In libtraceevent, the second of two backslashes
 * escapes what follows it.
 */
static bool has_known_escapes(struct span s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] != '\\') {
			continue;
		}
		if (++i == s.n || (s.p[i] != 'n' && s.p[i] != 't' && s.p[i] != '"')) {
			return false;
		}
	}
	return true;
}

/* Joins the texts at the front of the print format; their length is at most that of the format. */
static bool read_pattern(struct compiler *c, char *buffer, struct span *out)
{
	size_t n = 0;

	if (c->tokens.kind != TOKEN_TEXT) {
		return false;
	}
	while (c->tokens.kind == TOKEN_TEXT) {
		compiler_refuse_if(c, !has_known_escapes(c->tokens.text));
		memcpy(buffer + n, c->tokens.text.p, c->tokens.text.n);
		n += c->tokens.text.n;
		tokens_next(&c->tokens);
	}
	*out = (struct span){(const uint8_t *)buffer, n};
	return true;
}

static char unescaped(char c)
{
	switch (c) {
	case 'n': return '\n';
	case 't': return '\t';
	default: return c;
	}
}

static unsigned read_width(struct pattern *at)
{
	unsigned n = 0;

	while (at->p < at->end && *at->p >= '0' && *at->p <= '9') {
		n = n * 10 + (unsigned)(*at->p++ - '0');
		n = n < STYLE_WIDTH_MAX + 1 ? n : STYLE_WIDTH_MAX + 1;
	}
	return n;
}

/* What is between "%" and the letter of a conversion. */
struct conversion {
	struct style style;
	bool prefix; /* ".*": a length comes before the text */
	bool sized; /* with "l" and the like */
	char letter;
};

static bool take(struct pattern *at, char c)
{
	if (at->p == at->end || *at->p != c) {
		return false;
	}
	at->p++;
	return true;
}

static void read_flags(struct pattern *at, struct style *style)
{
	for (;;) {
		if (take(at, '#')) {
			style->flags |= STYLE_PREFIX;
		} else if (take(at, '-')) {
			style->flags |= STYLE_LEFT;
		} else if (take(at, '0')) {
			style->flags |= STYLE_ZEROS;
		} else {
			return;
		}
	}
}

/* Bytes of the number by "hh", "h", "l", "ll", "L" and "z"; long is 8 bytes, as on this machine. */
static uint8_t read_size(struct pattern *at)
{
	if (take(at, 'h')) {
		return take(at, 'h') ? 1 : 2;
	}
	if (take(at, 'l')) {
		(void)take(at, 'l');
		return 8;
	}
	return take(at, 'L') || take(at, 'z') ? 8 : 4;
}

/* Reads a conversion after its "%". */
static bool read_conversion(struct pattern *at, struct conversion *out)
{
	const char *size;
	unsigned width, precision = NO_PRECISION;

	*out = (struct conversion){.letter = '\0'};
	read_flags(at, &out->style);
	width = read_width(at);
	if (take(at, '.')) {
		out->prefix = take(at, '*');
		precision = out->prefix ? NO_PRECISION : read_width(at);
	}
	size = at->p;
	out->style.bytes = read_size(at);
	out->sized = at->p != size;
	if (at->p == at->end || width > STYLE_WIDTH_MAX ||
	        (precision > STYLE_WIDTH_MAX && precision != NO_PRECISION)) {
		return false;
	}
	out->letter = *at->p++;
	out->style.width = (uint8_t)width;
	out->style.precision = (uint8_t)precision;
	return true;
}

/* Compiles the next argument. */
static void argument(struct compiler *c)
{
	compiler_expect(c, ",");
	if (!c->refused) {
		compiler_expression(c, false);
	}
}

static void number_conversion(struct compiler *c, struct conversion *how)
{
	struct style *style = &how->style;

	switch (how->letter) {
	case 'd':
	case 'i': style->flags |= STYLE_SIGNED; break;
	case 'u': break;
	case 'x': style->flags |= STYLE_HEX; break;
	case 'X': style->flags |= STYLE_HEX | STYLE_UPPER; break;
	case 'o': style->flags |= STYLE_OCTAL; break;
	default: c->refused = true; return;
	}
	if (style->width == 0 && style->precision == NO_PRECISION &&
	        (style->flags & (STYLE_PREFIX | STYLE_OCTAL | STYLE_UPPER)) == 0) {
		style->flags |= STYLE_PLAIN;
	}
	argument(c);
	compiler_emit(c, (struct instruction){.operation = DO_PUT_NUMBER, .style = *style});
}

/* Whether the next argument begins with a field, maybe in brackets, but without a cast. */
static bool field_follows(const struct compiler *c)
{
	struct tokens ahead = c->tokens;

	(void)tokens_skip(&ahead, ",");
	while (tokens_skip(&ahead, "(")) {
	}
	return tokens_at(&ahead, "REC");
}

static void string_conversion(struct compiler *c, const struct conversion *how)
{
	const struct instruction *last;
	bool field;

	if (how->prefix) {
		argument(c);
	}
	field = field_follows(c);
	argument(c);
	last = c->n != 0 ? &c->code[c->n - 1] : NULL;
	if (last != NULL && last->operation == DO_FIELD && last->size == c->set->long_size &&
	        field && !how->prefix && how->style.width == 0 &&
	        how->style.precision == NO_PRECISION) {
		compiler_refuse_other_order(c);
		compiler_emit(c, (struct instruction){.operation = DO_CONSTANT});
	}
	compiler_emit(
	        c, (struct instruction){.operation = how->prefix ? DO_PUT_PREFIX : DO_PUT_STRING,
	                   .style = how->style});
}

/* Whether the last value is an array of n bytes, which the data has room for. */
static bool is_array(const struct compiler *c, size_t n)
{
	return c->n != 0 && c->code[c->n - 1].operation == DO_ARRAY &&
	       c->code[c->n - 1].number == n;
}

static bool is_letter(char c)
{
	return (c | 32) >= 'a' && (c | 32) <= 'z';
}

/* "%p", "%pS", "%pI4" and others. */
static void pointer_conversion(struct compiler *c, struct pattern *at, const struct conversion *how)
{
	uint8_t operation = DO_PUT_POINTER;
	uint8_t size = 0;

	if (at->p < at->end && (*at->p == 'S' || *at->p == 's')) {
		operation = DO_PUT_FUNCTION;
		size = *at->p++ == 'S';
	} else if (at->p < at->end && (is_letter(*at->p) || (*at->p >= '0' && *at->p <= '9'))) {
		if (*at->p == 'U') {
			operation = DO_PUT_UUID;
			size = 16;
		} else if (at->end - at->p > 1 && memcmp(at->p, "I4", 2) == 0) {
			operation = DO_PUT_IPV4;
			size = 4;
			at->p++;
		} else if (at->end - at->p > 2 && memcmp(at->p, "I6c", 3) == 0) {
			operation = DO_PUT_IPV6;
			size = 16;
			at->p += 2;
		} else {
			c->refused = true;
			return;
		}
		at->p++;
		compiler_refuse_if(c, at->p < at->end && is_letter(*at->p));
	}
	argument(c);
	if (how->sized || how->style.flags != 0 || how->style.width != 0 ||
	        how->style.precision != NO_PRECISION ||
	        (operation > DO_PUT_FUNCTION && !is_array(c, size))) {
		c->refused = true;
	}
	compiler_emit(c, (struct instruction){.operation = operation, .size = size});
}

static void conversion(struct compiler *c, struct pattern *at)
{
	struct conversion how;

	compiler_refuse_if(c, !read_conversion(at, &how) || (how.prefix && how.letter != 's'));
	if (how.letter == 'p') {
		pointer_conversion(c, at, &how);
	} else if (how.letter == 's') {
		compiler_refuse_if(c, how.sized || (how.style.flags & ~(unsigned)STYLE_LEFT) != 0);
		string_conversion(c, &how);
	} else {
		number_conversion(c, &how);
	}
}

static void put_text(struct compiler *c, const char *text, size_t n)
{
	if (n != 0) {
		compiler_emit(
		        c, (struct instruction){
		                   .operation = DO_PUT_TEXT, .at = (uint32_t)n, .text = text});
	}
}

/* Compiles the text between the quotes; texts between conversions are copied to `out`. */
static void compile_pattern(struct compiler *c, struct span pattern, char *out)
{
	struct pattern at = {(const char *)pattern.p, (const char *)pattern.p + pattern.n};
	const char *begin = out;

	while (at.p < at.end && !c->refused && !c->no_memory) {
		if (*at.p == '\\' && at.end - at.p > 1) {
			*out++ = unescaped(at.p[1]);
			at.p += 2;
		} else if (*at.p != '%') {
			*out++ = *at.p++;
		} else if (at.end - at.p > 1 && at.p[1] == '%') {
			*out++ = '%';
			at.p += 2;
		} else {
			at.p++;
			put_text(c, begin, (size_t)(out - begin));
			begin = out;
			conversion(c, &at);
		}
	}
	put_text(c, begin, (size_t)(out - begin));
}

/* Whether the second of two instructions can be part of the first. */
static bool join(struct instruction *first, const struct instruction *second)
{
	if (first->operation == DO_NUMBER && second->operation == DO_ELEMENT &&
	        first->number < second->number / second->size) {
		*first = (struct instruction){.operation = DO_FIELD,
		        .size = second->size,
		        .at = second->at + (uint32_t)first->number * second->size};
		return true;
	}
	if (first->operation == DO_FIELD && second->operation == DO_PUT_NUMBER) {
		first->operation = DO_PUT_FIELD;
		first->style = second->style;
		return true;
	}
	return false;
}

/* Joins instructions that often follow each other, and copies short texts into them. */
static void shorten(struct compiler *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		struct instruction code = c->code[i];

		if (code.operation == DO_PUT_TEXT && code.at <= sizeof(code.letters)) {
			const char *text = code.text;

			code.operation = DO_PUT_SHORT;
			code.number = 0;
			memcpy(code.letters, text, code.at);
		}
		if (n == 0 || !join(&c->code[n - 1], &code)) {
			c->code[n++] = code;
		}
	}
	c->n = n;
}

static int finish(const struct trace_program **out, struct compiler *c)
{
	size_t bytes;
	struct trace_program *p;

	shorten(c);
	bytes = c->n * sizeof(*c->code);
	p = arena_alloc(c->arena, sizeof(*p) + bytes);
	if (p == NULL) {
		return SONDE_ENOMEM;
	}
	*p = (struct trace_program){.extent = c->event->extent, .n = (uint32_t)c->n};
	memcpy(p->code, c->code, bytes);
	*out = p;
	return 0;
}

int trace_program_new(const struct trace_program **out, const struct trace_set *s,
        const struct trace_event *e, struct arena *arena)
{
	struct span print = trace_format_print(&e->format), pattern;
	struct compiler c = {.set = s, .event = e, .arena = arena};
	char *buffer;

	*out = NULL;
	if (print.n == 0 || span_is(e->format.system, "ftrace") ||
	        !trace_format_is_plain(e->format.text)) {
		return 0;
	}
	buffer = arena_alloc(arena, 2 * print.n);
	if (buffer == NULL) {
		return SONDE_ENOMEM;
	}
	tokens_begin(&c.tokens, print);
	if (!read_pattern(&c, buffer, &pattern)) {
		return 0;
	}
	compile_pattern(&c, pattern, buffer + print.n);
	if (c.no_memory) {
		return SONDE_ENOMEM;
	}
	return c.refused || c.depth != 0 || c.tokens.kind != TOKEN_END ? 0 : finish(out, &c);
}
