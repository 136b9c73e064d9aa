/* SPDX-License-Identifier: MIT */
/* Appending instructions: types of operands are checked, and operations on known numbers are done. */
#include "trace/compiler.h"

/* What the operations take from the stack and push. */
static const struct {
	uint8_t takes[3];
	uint8_t result; /* 0: nothing */
} effects[OPERATIONS] = {
        [DO_NUMBER] = {{0}, VALUE_NUMBER},
        [DO_FIELD] = {{0}, VALUE_NUMBER},
        [DO_LENGTH] = {{0}, VALUE_NUMBER},
        [DO_TEXT] = {{0}, VALUE_TEXT},
        [DO_NOTHING] = {{0}, VALUE_TEXT},
        [DO_ARRAY] = {{0}, VALUE_BYTES},
        [DO_DYNAMIC] = {{0}, VALUE_DYNAMIC},
        [DO_STRING] = {{0}, VALUE_TEXT},
        [DO_ELEMENT] = {{VALUE_NUMBER}, VALUE_NUMBER},
        [DO_CAST] = {{VALUE_NUMBER}, VALUE_NUMBER},
        [DO_NOT] = {{VALUE_NUMBER}, VALUE_NUMBER},
        [DO_INVERT] = {{VALUE_NUMBER}, VALUE_NUMBER},
        [DO_FLAGS] = {{VALUE_NUMBER}, VALUE_TEXT},
        [DO_SYMBOL] = {{VALUE_NUMBER}, VALUE_TEXT},
        [DO_CONSTANT] = {{VALUE_NUMBER}, VALUE_TEXT},
        [DO_HEX] = {{VALUE_BYTES | VALUE_DYNAMIC, VALUE_NUMBER}, VALUE_TEXT},
        [DO_HEX_JOINED] = {{VALUE_BYTES | VALUE_DYNAMIC, VALUE_NUMBER}, VALUE_TEXT},
        [DO_NUMBERS] = {{VALUE_BYTES | VALUE_DYNAMIC, VALUE_NUMBER}, VALUE_TEXT},
        [DO_PUT_TEXT] = {{0}, 0},
        [DO_PUT_NUMBER] = {{VALUE_NUMBER}, 0},
        [DO_PUT_STRING] = {{VALUE_BYTES | VALUE_TEXT}, 0},
        [DO_PUT_PREFIX] = {{VALUE_NUMBER, VALUE_BYTES | VALUE_TEXT}, 0},
        [DO_PUT_POINTER] = {{VALUE_NUMBER}, 0},
        [DO_PUT_FUNCTION] = {{VALUE_NUMBER}, 0},
        [DO_PUT_UUID] = {{VALUE_BYTES}, 0},
        [DO_PUT_IPV4] = {{VALUE_BYTES}, 0},
        [DO_PUT_IPV6] = {{VALUE_BYTES}, 0},
};

static bool is_binary(unsigned o)
{
	return o >= DO_MULTIPLY && o <= DO_OR;
}

/* Pops the operands of a condition: both results are numbers, or both can be printed as texts. */
static uint8_t select_type(struct compiler *c)
{
	uint8_t a, b;

	if (c->depth < 3 || c->types[c->depth - 3] != VALUE_NUMBER) {
		return 0;
	}
	a = c->types[c->depth - 2];
	b = c->types[c->depth - 1];
	c->depth -= 3;
	if (((a | b) & (VALUE_NUMBER | VALUE_DYNAMIC)) == 0) {
		return VALUE_TEXT;
	}
	return a == VALUE_NUMBER && b == VALUE_NUMBER ? VALUE_NUMBER : 0;
}

static bool pop_operands(struct compiler *c, const uint8_t *takes, size_t n)
{
	if (c->depth < n) {
		return false;
	}
	c->depth -= n;
	for (size_t i = 0; i < n; i++) {
		if ((c->types[c->depth + i] & takes[i]) == 0) {
			return false;
		}
	}
	return true;
}

static bool apply_types(struct compiler *c, unsigned o)
{
	static const uint8_t numbers[2] = {VALUE_NUMBER, VALUE_NUMBER};
	uint8_t result = effects[o].result;
	size_t n = 0;

	if (o == DO_SELECT) {
		result = select_type(c);
		if (result == 0) {
			return false;
		}
	} else if (is_binary(o)) {
		result = VALUE_NUMBER;
		if (!pop_operands(c, numbers, 2)) {
			return false;
		}
	} else {
		while (n < 3 && effects[o].takes[n] != 0) {
			n++;
		}
		if (!pop_operands(c, effects[o].takes, n)) {
			return false;
		}
	}
	if (result != 0) {
		if (c->depth == STACK_MAX) {
			return false;
		}
		c->levels[c->depth] = 0;
		c->types[c->depth++] = result;
	}
	return true;
}

/* Replaces an operation on numbers that are known by its result. */
static bool fold(struct compiler *c, struct instruction i)
{
	struct instruction *last = c->code + c->n;

	if (is_binary(i.operation) && c->n > 1 && last[-1].operation == DO_NUMBER &&
	        last[-2].operation == DO_NUMBER) {
		last[-2].number = trace_operate(i.operation, last[-2].number, last[-1].number);
		c->n--;
		return true;
	}
	if ((i.operation == DO_NOT || i.operation == DO_INVERT) &&
	        last[-1].operation == DO_NUMBER) {
		last[-1].number = trace_operate(i.operation, last[-1].number, 0);
		return true;
	}
	if (i.operation != DO_CAST || i.size == sizeof(uint64_t)) {
		return i.operation == DO_CAST;
	}
	return last[-1].operation == DO_NUMBER && last[-1].number >> 8 * i.size == 0;
}

void compiler_emit(struct compiler *c, struct instruction instruction)
{
	unsigned o = instruction.operation;

	if ((o == DO_DIVIDE || o == DO_REMAINDER) &&
	        (c->n == 0 || c->code[c->n - 1].operation != DO_NUMBER ||
	                c->code[c->n - 1].number == 0)) {
		c->refused = true; /* it may be a division by 0 */
	}
	compiler_refuse_if(c, c->n == CODE_MAX || !apply_types(c, o));
	if (!c->refused && !fold(c, instruction)) {
		c->code[c->n++] = instruction;
	}
}
