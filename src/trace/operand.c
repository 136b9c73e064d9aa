/* SPDX-License-Identifier: MIT */
/* Operands of expressions: fields, numbers, texts, casts. */
#include "trace/compiler.h"

/* Reads "REC->name": the field, or NULL. */
static const struct trace_field *record_field(struct compiler *c)
{
	const struct trace_field *f = NULL;

	if (tokens_skip(&c->tokens, "REC") && tokens_skip(&c->tokens, "->") &&
	        c->tokens.kind == TOKEN_WORD) {
		f = trace_event_field(c->event, c->tokens.text);
		tokens_next(&c->tokens);
	}
	compiler_refuse_if(c, f == NULL);
	return f;
}

static void number_field(struct compiler *c, const struct trace_field *f)
{
	if (!is_number_size(f->size)) {
		c->refused = true;
		return;
	}
	compiler_emit(c, (struct instruction){
	                         .operation = DO_FIELD, .size = (uint8_t)f->size, .at = f->offset});
}

/* The bytes of an element of "u16 words[4]": the number in the brackets divides its size. */
static uint32_t element_size(const struct trace_field *f)
{
	const uint8_t *at = f->name.p + f->name.n; /* a ';' follows it */
	uint32_t count = 0;

	if (*at != '[') {
		return 0;
	}
	for (at++; *at >= '0' && *at <= '9' && count < TRACE_OFFSET_MAX; at++) {
		count = count * 10 + (uint32_t)(*at - '0');
	}
	return *at == ']' && count != 0 && f->size % count == 0 ? f->size / count : 0;
}

bool compiler_field(struct compiler *c, struct instruction *element)
{
	const struct trace_field *f = record_field(c);
	uint32_t size;

	if (c->refused || (f->flags & TRACE_DYNAMIC) != 0) {
		c->refused = true;
		return true;
	}
	if ((f->flags & TRACE_ARRAY) == 0) {
		number_field(c, f);
		return true;
	}
	if (!tokens_skip(&c->tokens, "[")) {
		/* libtraceevent reads an array without a size up to the end of the data */
		compiler_refuse_if(c, f->size == 0);
		compiler_emit(
		        c, (struct instruction){
		                   .operation = DO_ARRAY, .at = f->offset, .number = f->size});
		return true;
	}
	size = element_size(f);
	compiler_refuse_if(c, !is_number_size(size));
	*element = (struct instruction){
	        .operation = DO_ELEMENT, .size = (uint8_t)size, .at = f->offset, .number = f->size};
	return false;
}

/* Skips the name of a dynamic field and a ")"; NULL: it is none. */
static const struct trace_field *dynamic_field(struct compiler *c, bool relative)
{
	const struct trace_field *f = NULL;

	if (tokens_skip(&c->tokens, "(") && c->tokens.kind == TOKEN_WORD) {
		f = trace_event_field(c->event, c->tokens.text);
		tokens_next(&c->tokens);
	}
	if (f == NULL || !tokens_skip(&c->tokens, ")") || f->size != 4 ||
	        (f->flags & TRACE_DYNAMIC) == 0 || ((f->flags & TRACE_RELATIVE) != 0) != relative) {
		return NULL;
	}
	return f;
}

bool compiler_dynamic(struct compiler *c)
{
	static const struct {
		const char *name;
		uint8_t operation;
		bool relative;
	} words[] = {
	        {"__get_str", DO_STRING, false},
	        {"__get_dynamic_array", DO_DYNAMIC, false},
	        {"__get_dynamic_array_len", DO_LENGTH, false},
	        {"__get_rel_str", DO_STRING, true},
	        {"__get_rel_dynamic_array", DO_DYNAMIC, true},
	};
	const struct trace_field *f;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!tokens_skip(&c->tokens, words[i].name)) {
			continue;
		}
		f = dynamic_field(c, words[i].relative);
		if (f == NULL) {
			c->refused = true;
			return true;
		}
		compiler_emit(c, (struct instruction){.operation = words[i].operation,
		                         .size = words[i].relative,
		                         .at = f->offset});
		return true;
	}
	return false;
}

/* The words up to a ")" as a type, with a star or without one. */
struct type {
	struct span words[2];
	size_t n;
	bool pointer;
};

static bool read_type(struct tokens *t, struct type *out)
{
	*out = (struct type){.n = 0};
	while (t->kind == TOKEN_WORD && !tokens_at(t, "REC")) {
		if (out->n < 2) {
			out->words[out->n] = t->text;
		}
		out->n++;
		tokens_next(t);
	}
	out->pointer = out->n != 0 && tokens_skip(t, "*");
	return out->n != 0 && tokens_skip(t, ")");
}

/* The bytes that a cast to a type leaves of a number; libtraceevent does not know other types. */
static uint8_t cast_size(const struct type *t)
{
	static const struct {
		const char *name;
		uint8_t size;
		bool c_type;
	} types[] = {
	        {"char", 1, true},
	        {"short", 2, true},
	        {"int", 4, true},
	        {"u8", 1, false},
	        {"s8", 1, false},
	        {"u16", 2, false},
	        {"s16", 2, false},
	        {"u32", 4, false},
	        {"s32", 4, false},
	};
	bool is_unsigned = t->n == 2 && span_is(t->words[0], "unsigned");

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (!t->pointer && (t->n == 1 || (is_unsigned && types[i].c_type)) &&
		        span_is(t->words[t->n - 1], types[i].name)) {
			return types[i].size;
		}
	}
	return sizeof(uint64_t);
}

bool compiler_cast(struct compiler *c, struct instruction *cast)
{
	struct tokens ahead = c->tokens;
	struct type type;

	if (!tokens_skip(&ahead, "(") || !read_type(&ahead, &type) ||
	        (ahead.kind != TOKEN_WORD && ahead.kind != TOKEN_NUMBER &&
	                !tokens_at(&ahead, "("))) {
		return false;
	}
	c->tokens = ahead;
	*cast = (struct instruction){.operation = DO_CAST, .size = cast_size(&type)};
	return true;
}

void compiler_sizeof(struct compiler *c)
{
	struct type type;
	uint64_t size = 0;

	if (!tokens_skip(&c->tokens, "(") || !read_type(&c->tokens, &type) || type.pointer ||
	        type.n > 2) {
		c->refused = true;
		return;
	}
	if (span_is(type.words[type.n - 1], "int")) {
		size = 4;
	} else if (span_is(type.words[type.n - 1], "long")) {
		size = c->set->long_size;
	}
	if (size == 0 || (type.n == 2 && !span_is(type.words[0], "unsigned"))) {
		c->refused = true;
	}
	compiler_emit(c, (struct instruction){.operation = DO_NUMBER, .number = size});
}

void compiler_number(struct compiler *c, bool negative)
{
	uint64_t v = negative ? 0 - c->tokens.number : c->tokens.number;

	if (c->tokens.kind != TOKEN_NUMBER || (negative && c->tokens.number > INT64_MAX)) {
		c->refused = true;
		return;
	}
	tokens_next(&c->tokens);
	compiler_emit(c, (struct instruction){.operation = DO_NUMBER, .number = v});
}

bool compiler_skip_null(struct compiler *c)
{
	static const char *const words[] = {"(", "(", "void", "*", ")"};
	struct tokens ahead = c->tokens;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (!tokens_skip(&ahead, words[i])) {
			return false;
		}
	}
	if (ahead.kind != TOKEN_NUMBER || !span_is(ahead.text, "0")) {
		return false;
	}
	tokens_next(&ahead);
	if (!tokens_skip(&ahead, ")")) {
		return false;
	}
	c->tokens = ahead;
	return true;
}

struct span compiler_joined_text(struct compiler *c)
{
	struct span s = c->tokens.text;
	char *copy = NULL;

	tokens_next(&c->tokens);
	while (c->tokens.kind == TOKEN_TEXT) {
		struct span more = c->tokens.text;

		copy = arena_alloc(c->arena, s.n + more.n + 1);
		if (copy == NULL) {
			c->no_memory = true;
			break;
		}
		memcpy(copy, s.p, s.n);
		memcpy(copy + s.n, more.p, more.n);
		s = (struct span){(const uint8_t *)copy, s.n + more.n};
		tokens_next(&c->tokens);
	}
	compiler_refuse_if(c, s.n != 0 && memchr(s.p, '\\', s.n) != NULL); /* not known */
	return s;
}

void compiler_text(struct compiler *c)
{
	struct span s = compiler_joined_text(c);

	compiler_emit(
	        c, (struct instruction){
	                   .operation = DO_TEXT, .at = (uint32_t)s.n, .text = (const char *)s.p});
}

/* What the format does not explain is 0: vmemmap_base. */
void compiler_word(struct compiler *c)
{
	compiler_refuse_if(c, c->tokens.kind != TOKEN_WORD);
	tokens_next(&c->tokens);
	compiler_refuse_if(c, tokens_at(&c->tokens, "(") || tokens_at(&c->tokens, "[") ||
	                              tokens_at(&c->tokens, "->") || c->tokens.kind == TOKEN_WORD);
	compiler_emit(c, (struct instruction){.operation = DO_NUMBER, .number = 0});
}
