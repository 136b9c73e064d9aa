/* SPDX-License-Identifier: MIT */
/* Expressions of print formats to instructions, private to trace. */
#ifndef SONDE_TRACE_COMPILER_H
#define SONDE_TRACE_COMPILER_H

#include "trace/instruction.h"
#include "trace/token.h"

#define CODE_MAX  1024u /* instructions of a program */
#define NAMES_MAX 512u /* of a list */

/* Types of values on the stack, as a mask. */
enum value_type {
	VALUE_NUMBER = 1,
	VALUE_BYTES = 2, /* an array, which can be printed as a text too */
	VALUE_TEXT = 4,
	VALUE_DYNAMIC = 8, /* a dynamic array, which cannot */
};

struct compiler {
	const struct trace_set *set;
	const struct trace_event *event;
	struct arena *arena;
	struct tokens tokens;
	bool refused; /* a part is not known: libtraceevent prints the event */
	bool no_memory;
	size_t n, depth;
	struct instruction code[CODE_MAX];
	uint8_t types[STACK_MAX]; /* of the values on the stack */
	uint8_t levels[STACK_MAX]; /* of the operators that made them; 0: none */
};

static inline void compiler_refuse_if(struct compiler *c, bool unknown)
{
	c->refused = c->refused || unknown;
}

/* Skips a word or sign; refuses another one. */
static inline void compiler_expect(struct compiler *c, const char *token)
{
	compiler_refuse_if(c, !tokens_skip(&c->tokens, token));
}

/* Refuses what libtraceevent reads without regard to the byte order of the recorded machine. */
static inline void compiler_refuse_other_order(struct compiler *c)
{
	compiler_refuse_if(c, c->set->big_endian != HOST_BIG_ENDIAN);
}

/* Appends an instruction; refuses if the types on the stack are not its operands. */
void compiler_emit(struct compiler *c, struct instruction instruction);

/*
 * Compiles an expression up to a token that cannot be part of it, into instructions that push its
 * value. A constant has no fields and calls, and only operators that libtraceevent computes in lists.
 */
void compiler_expression(struct compiler *c, bool constant);

/* Operands. Each skips its tokens and emits what pushes its value. */
void compiler_number(struct compiler *c, bool negative);
void compiler_text(struct compiler *c);
void compiler_sizeof(struct compiler *c); /* after the word */
void compiler_word(struct compiler *c); /* one that is not known */

/* __get_str(name) and the like; false: the word is another one. */
bool compiler_dynamic(struct compiler *c);

/* REC->name. False: "REC->name[" was skipped, and *element is to be emitted after the index. */
bool compiler_field(struct compiler *c, struct instruction *element);

/* A type in brackets before an operand: *cast is to be emitted after that. False: it is none. */
bool compiler_cast(struct compiler *c, struct instruction *cast);

/* Skips ((void *)0); false: the tokens are others. */
bool compiler_skip_null(struct compiler *c);

/* Skips a text, or several next to each other, and returns them as one. */
struct span compiler_joined_text(struct compiler *c);

/* Compiles { 1, "A" }, { 2, "B" }, and skips the ")" after it; NULL: refused, or no memory. */
const struct names *compiler_list(struct compiler *c, struct span delimiter);

static inline bool is_number_size(uint64_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

#endif
