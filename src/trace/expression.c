/* SPDX-License-Identifier: MIT */
/*
 * Expressions are compiled in one pass: operands are emitted as they are read, operators wait on a
 * stack until their second operand is complete. What libtraceevent reads otherwise than C does is
 * refused: it groups a - b + c from the right, and a ? b : c ? d : e from the left.
 */
#include "trace/compiler.h"

#define PENDING_MAX  32u
#define LEVEL_SHIFT  3u
#define LEVEL_SELECT 10u /* looser than all binary operators */

enum pending_kind {
	WAITS_BINARY,
	WAITS_UNARY,
	WAITS_CONDITION, /* a ? waits for its : */
	WAITS_SELECT,
	/* Those from here on wait for a bracket. */
	WAITS_PAREN,
	WAITS_CALL,
};

/* The operators between two brackets, or in an argument. */
struct group {
	unsigned n; /* binary ones */
	uint8_t operation, level; /* of the first one */
	uint8_t second; /* level of the second one */
	bool mixed; /* others too */
	bool ends; /* with an operand after which libtraceevent mistakes operators */
};

struct pending {
	enum pending_kind kind;
	struct group outer; /* of a bracket: the operators around it */
	uint8_t level; /* of a binary operator: a smaller one binds tighter; of a call: its entry */
	unsigned arguments; /* of a call, that are complete */
	struct instruction code; /* to emit when its operands are complete */
};

struct expression {
	struct compiler *c;
	bool constant; /* a value of a list */
	struct group group;
	size_t n;
	struct pending stack[PENDING_MAX];
};

static const struct {
	char text[3];
	uint8_t operation;
	uint8_t level;
	bool associative;
	bool in_lists; /* libtraceevent computes it there as here */
} binaries[] = {
        {"*", DO_MULTIPLY, 1, true, false},
        {"/", DO_DIVIDE, 1, false, false},
        {"%", DO_REMAINDER, 1, false, false},
        {"+", DO_ADD, 2, true, true},
        {"-", DO_SUBTRACT, 2, false, true},
        {"<<", DO_LEFT, 3, false, true},
        {">>", DO_RIGHT, 3, false, false},
        {"<", DO_LESS, 4, false, false},
        {"<=", DO_LESS_EQUAL, 4, false, false},
        {">", DO_GREATER, 4, false, false},
        {">=", DO_GREATER_EQUAL, 4, false, false},
        {"==", DO_EQUAL, 5, false, false},
        {"!=", DO_UNEQUAL, 5, false, false},
        {"&", DO_BITS_AND, 6, true, true},
        {"|", DO_BITS_OR, 7, true, true},
        {"&&", DO_AND, 8, true, false},
        {"||", DO_OR, 9, true, false},
};

static const struct {
	const char *name;
	uint8_t operation;
	uint8_t arguments; /* expressions */
	bool names; /* a list follows them */
} calls[] = {
        {"__print_flags", DO_FLAGS, 1, true},
        {"__print_symbolic", DO_SYMBOL, 1, true},
        {"__print_hex", DO_HEX, 2, false},
        {"__print_hex_str", DO_HEX_JOINED, 2, false},
        {"__print_array", DO_NUMBERS, 3, false},
};

static void push(struct expression *e, struct pending p)
{
	if (e->n == PENDING_MAX) {
		e->c->refused = true;
		return;
	}
	if (p.kind >= WAITS_PAREN) {
		p.outer = e->group;
		e->group = (struct group){.n = 0};
	}
	e->stack[e->n++] = p;
}

/* Removes the bracket that waits last. */
static struct pending pop_bracket(struct expression *e)
{
	e->group = e->stack[--e->n].outer;
	return e->stack[e->n];
}

/*
 * Adds a binary operator to the group. Refuses one that libtraceevent may group otherwise: of
 * different ones, it reads two as C does, and three as in a < b && c < d.
 */
static void add_to_group(struct expression *e, uint8_t operation, uint8_t level)
{
	struct group *g = &e->group;

	if (g->n == 0) {
		g->operation = operation;
		g->level = level;
	}
	if (g->n == 1) {
		g->second = level;
	}
	g->mixed = g->mixed || operation != g->operation;
	g->n++;
	compiler_refuse_if(e->c,
	        g->ends || (g->mixed && g->n > 3) ||
	                (g->mixed && g->n == 3 && (g->second <= g->level || g->second <= level)));
}

/* Whether the operator that waits last gets its second operand before one of this level. */
static bool binds_before(struct expression *e, unsigned level)
{
	const struct pending *last = &e->stack[e->n - 1];

	return last->kind == WAITS_UNARY || (last->kind == WAITS_BINARY && last->level <= level);
}

/* Whether an operand of the operator that is emitted next is negative. */
static bool takes_negative(const struct compiler *c)
{
	for (size_t i = 1; i <= 2 && i <= c->n; i++) {
		if (c->code[c->n - i].operation == DO_NUMBER &&
		        c->code[c->n - i].number > INT64_MAX) {
			return true;
		}
	}
	return false;
}

/* Emits the operator that waits last. */
static void emit_last(struct expression *e)
{
	const struct pending *last = &e->stack[--e->n];
	struct compiler *c = e->c;
	uint8_t level = last->kind == WAITS_BINARY   ? last->level
	                : last->kind == WAITS_SELECT ? LEVEL_SELECT
	                                             : 0;

	compiler_refuse_if(c, e->constant && last->kind == WAITS_BINARY && takes_negative(c));
	compiler_emit(c, last->code);
	if (!c->refused) {
		c->levels[c->depth - 1] = level;
	}
}

/* Emits the operators that are complete before an operator of this level. */
static void complete(struct expression *e, unsigned level)
{
	while (e->n != 0 && !e->c->refused && binds_before(e, level)) {
		emit_last(e);
	}
}

/* Emits all operators up to the bracket or call that waits last, or all. */
static void complete_all(struct expression *e)
{
	while (e->n != 0 && e->stack[e->n - 1].kind < WAITS_PAREN && !e->c->refused) {
		if (e->stack[e->n - 1].kind == WAITS_CONDITION) {
			e->c->refused = true;
		}
		emit_last(e);
	}
}

static void binary(struct expression *e)
{
	struct compiler *c = e->c;
	size_t i = 0;

	while (i < sizeof(binaries) / sizeof(*binaries) &&
	        !tokens_at(&c->tokens, binaries[i].text)) {
		i++;
	}
	if (i == sizeof(binaries) / sizeof(*binaries) || (e->constant && !binaries[i].in_lists)) {
		c->refused = true;
		return;
	}
	add_to_group(e, binaries[i].operation, binaries[i].level);
	complete(e, binaries[i].level - 1u);
	if (e->n != 0 && e->stack[e->n - 1].kind == WAITS_BINARY &&
	        e->stack[e->n - 1].level == binaries[i].level) {
		compiler_refuse_if(
		        c, !binaries[i].associative ||
		                   e->stack[e->n - 1].code.operation != binaries[i].operation);
		complete(e, binaries[i].level);
	}
	tokens_next(&c->tokens);
	push(e, (struct pending){.kind = WAITS_BINARY,
	                .level = binaries[i].level,
	                .code = {.operation = binaries[i].operation}});
}

static bool call(struct expression *e)
{
	struct compiler *c = e->c;

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls) && !e->constant; i++) {
		if (tokens_skip(&c->tokens, calls[i].name)) {
			compiler_expect(c, "(");
			push(e, (struct pending){.kind = WAITS_CALL,
			                .level = (uint8_t)i,
			                .code = {.operation = calls[i].operation}});
			return true;
		}
	}
	return false;
}

static bool cast(struct expression *e)
{
	struct pending p = {.kind = WAITS_UNARY};

	if (!compiler_cast(e->c, &p.code)) {
		return false;
	}
	push(e, p);
	return true;
}

/* "!" and "~", which libtraceevent takes before fields and brackets. */
static bool unary(struct expression *e)
{
	struct compiler *c = e->c;
	bool is_not = tokens_at(&c->tokens, "!");

	if (e->constant || (!is_not && !tokens_at(&c->tokens, "~"))) {
		return false;
	}
	tokens_next(&c->tokens);
	/* libtraceevent reads !!a && b as !(!a && b) */
	e->group.ends = e->group.ends || tokens_at(&c->tokens, "!");
	compiler_refuse_if(c, !tokens_at(&c->tokens, "REC") && !tokens_at(&c->tokens, "(") &&
	                              !(is_not && tokens_at(&c->tokens, "!")));
	push(e, (struct pending){
	                .kind = WAITS_UNARY, .code = {.operation = is_not ? DO_NOT : DO_INVERT}});
	return true;
}

static bool bracket(struct expression *e)
{
	if (!tokens_skip(&e->c->tokens, "(")) {
		return false;
	}
	push(e, (struct pending){.kind = WAITS_PAREN});
	return true;
}

/* The index of REC->words[1] or REC->words[REC->i]; libtraceevent does not know most others. */
static void element_index(struct compiler *c)
{
	struct instruction inner;

	if (c->tokens.kind == TOKEN_NUMBER) {
		compiler_number(c, false);
	} else {
		compiler_refuse_if(c, !tokens_at(&c->tokens, "REC") || !compiler_field(c, &inner));
	}
	compiler_expect(c, "]");
}

/* Reads a field, or an element of one. */
static bool read_field(struct expression *e)
{
	struct compiler *c = e->c;
	struct instruction element;

	if (!tokens_at(&c->tokens, "REC") || e->constant) {
		return false;
	}
	if (!compiler_field(c, &element)) {
		element_index(c);
		compiler_emit(c, element);
		/* After an operator, libtraceevent reads it otherwise, or crashes. */
		compiler_refuse_if(c, e->n != 0 && e->stack[e->n - 1].kind < WAITS_PAREN);
	}
	return true;
}

/* Reads ((void *)0) in place of a text, as the second result of a condition. */
static bool no_text(struct expression *e)
{
	struct compiler *c = e->c;

	if (e->n == 0 || e->stack[e->n - 1].kind != WAITS_SELECT || c->depth == 0 ||
	        c->types[c->depth - 1] == VALUE_NUMBER || !compiler_skip_null(c)) {
		return false;
	}
	compiler_emit(c, (struct instruction){.operation = DO_NOTHING});
	return true;
}

/* Reads an operand, and brackets, casts and names of functions in front of it. */
static void operand(struct expression *e)
{
	struct compiler *c = e->c;

	if (no_text(e)) {
		return;
	}
	while (!c->refused && (cast(e) || unary(e) || call(e) || bracket(e))) {
	}
	if (c->refused || read_field(e)) {
		return;
	}
	if (tokens_skip(&c->tokens, "-")) {
		/* libtraceevent reads a * -1 as (a * 0) - 1, and "--" as one operator */
		compiler_refuse_if(c, e->n != 0 && e->stack[e->n - 1].kind == WAITS_BINARY &&
		                              e->stack[e->n - 1].level <= LEVEL_SHIFT);
		compiler_number(c, true);
		e->group.ends = true;
	} else if (tokens_skip(&c->tokens, "sizeof")) {
		compiler_sizeof(c);
	} else if (c->tokens.kind == TOKEN_NUMBER) {
		compiler_number(c, false);
	} else if (e->constant) {
		c->refused = true;
	} else if (c->tokens.kind == TOKEN_TEXT) {
		compiler_text(c);
	} else if (!compiler_dynamic(c)) {
		compiler_word(c);
	}
}

/* After the first argument of a call with a list: the delimiter of flags, and the list. */
static void names_of_call(struct expression *e)
{
	struct instruction code = pop_bracket(e).code;
	struct compiler *c = e->c;
	struct span delimiter = {NULL, 0};

	if (code.operation == DO_FLAGS) {
		compiler_refuse_if(c, c->tokens.kind != TOKEN_TEXT);
		delimiter = compiler_joined_text(c);
		compiler_expect(c, ",");
	}
	if (!c->refused) {
		code.names = compiler_list(c, delimiter);
	}
	if (!c->refused && !c->no_memory) {
		compiler_emit(c, code);
	}
}

/* The bytes of an element, the last argument of __print_array, which is a number. */
static uint8_t element_argument(struct compiler *c)
{
	const struct instruction *last = c->n != 0 ? &c->code[c->n - 1] : NULL;

	if (last == NULL || last->operation != DO_NUMBER || !is_number_size(last->number)) {
		c->refused = true;
		return 0;
	}
	c->n--;
	c->depth--;
	return (uint8_t)last->number;
}

/* After the last argument of a call. */
static void end_of_call(struct expression *e)
{
	struct pending p = pop_bracket(e);
	struct compiler *c = e->c;

	compiler_refuse_if(c, p.arguments != calls[p.level].arguments || calls[p.level].names);
	if (p.code.operation == DO_NUMBERS && !c->refused) {
		compiler_refuse_other_order(c);
		p.code.size = element_argument(c);
	}
	compiler_emit(c, p.code);
}

/* After an argument of a call; true: another operand follows. */
static bool after_argument(struct expression *e)
{
	struct pending *call = &e->stack[e->n - 1];
	struct compiler *c = e->c;

	call->arguments++;
	if (!tokens_skip(&c->tokens, ",")) {
		compiler_expect(c, ")");
		end_of_call(e);
		return false;
	}
	e->group = (struct group){.n = 0};
	if (calls[call->level].names) {
		names_of_call(e);
		return false;
	}
	return true;
}

static void close_paren(struct expression *e)
{
	struct compiler *c = e->c;
	const struct pending *last;

	compiler_expect(c, ")");
	(void)pop_bracket(e);
	last = e->n != 0 ? &e->stack[e->n - 1] : NULL;
	if (last != NULL && last->kind == WAITS_BINARY && c->depth != 0 &&
	        c->levels[c->depth - 1] > last->level) {
		c->refused = true; /* a & (b | c): libtraceevent ignores the brackets */
	}
}

/* After a condition; its results follow. */
static void begin_select(struct expression *e)
{
	struct compiler *c = e->c;

	complete(e, UINT32_MAX);
	compiler_refuse_if(c, e->group.ends || e->group.n > 1 ||
	                              (e->n != 0 && e->stack[e->n - 1].kind < WAITS_PAREN));
	e->group = (struct group){.n = 0};
	push(e, (struct pending){.kind = WAITS_CONDITION, .code = {.operation = DO_SELECT}});
}

/* After the first result of a condition. */
static void continue_select(struct expression *e)
{
	complete(e, UINT32_MAX);
	if (e->n == 0 || e->stack[e->n - 1].kind != WAITS_CONDITION) {
		e->c->refused = true;
		return;
	}
	e->stack[e->n - 1].kind = WAITS_SELECT;
	e->group = (struct group){.ends = true};
}

/*
 * Reads a token after an operand that closes a bracket, separates arguments or continues a
 * condition. False: the expression is complete. *more: another operand follows.
 */
static bool after_operand(struct expression *e, bool *more)
{
	struct compiler *c = e->c;

	*more = true;
	if (tokens_skip(&c->tokens, "?")) {
		begin_select(e);
		return true;
	}
	if (tokens_skip(&c->tokens, ":")) {
		continue_select(e);
		return true;
	}
	*more = false;
	complete_all(e);
	if (e->n == 0 || c->refused) {
		return false;
	}
	if (e->stack[e->n - 1].kind == WAITS_CALL) {
		*more = after_argument(e);
	} else {
		close_paren(e);
	}
	return true;
}

static bool ends_operand(const struct tokens *t)
{
	static const char *const ends[] = {"?", ":", ",", ")", "}"};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		if (tokens_at(t, ends[i])) {
			return true;
		}
	}
	return t->kind == TOKEN_END;
}

void compiler_expression(struct compiler *c, bool constant)
{
	struct expression e = {.c = c, .constant = constant};

	while (!c->refused && !c->no_memory) {
		bool more = false;

		operand(&e);
		while (!c->refused && !more && ends_operand(&c->tokens)) {
			if (!after_operand(&e, &more)) {
				return;
			}
		}
		if (!c->refused && !more) {
			binary(&e);
		}
	}
}
