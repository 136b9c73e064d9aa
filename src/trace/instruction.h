/* SPDX-License-Identifier: MIT */
/*
 * Instructions of the programs that print formats are compiled to, private to trace: a stack machine
 * without jumps, so that every program ends. compile.c and expression.c write them, program.c runs them.
 *
 *	"%s %d", __get_str(name), REC->dev >> 20
 *
 *	DYNAMIC name  PUT_STRING  PUT_TEXT " "  FIELD dev  NUMBER 20  RIGHT  PUT_NUMBER %d
 */
#ifndef SONDE_TRACE_INSTRUCTION_H
#define SONDE_TRACE_INSTRUCTION_H

#include "trace/set.h"

#define STACK_MAX 16u /* values at a time */

enum operation {
	/* These push a value. */
	DO_NUMBER, /* `number` */
	DO_FIELD, /* `size` bytes at `at` as a number, which is not extended with its sign */
	DO_LENGTH, /* bytes of the dynamic field at `at` */
	DO_TEXT, /* `text`, `at` bytes */
	DO_NOTHING, /* a text: ((void *)0) */
	DO_ARRAY, /* `number` bytes at `at` */
	DO_DYNAMIC, /* the bytes that the dynamic field at `at` refers to */
	DO_STRING, /* as DO_DYNAMIC, but it cannot be used as an array */
	/* These replace numbers by a number. */
	DO_ELEMENT, /* index -> a number of `size` bytes of the `number` bytes at `at` */
	DO_CAST, /* number -> its lower `size` bytes */
	DO_NOT,
	DO_INVERT,
	DO_MULTIPLY,
	DO_DIVIDE, /* by a number that is not 0 */
	DO_REMAINDER,
	DO_ADD,
	DO_SUBTRACT,
	DO_LEFT,
	DO_RIGHT,
	DO_LESS,
	DO_LESS_EQUAL,
	DO_GREATER,
	DO_GREATER_EQUAL,
	DO_EQUAL,
	DO_UNEQUAL,
	DO_BITS_AND,
	DO_BITS_OR,
	DO_AND,
	DO_OR,
	/* condition, a, b -> a or b: numbers or texts */
	DO_SELECT,
	/* These make texts. */
	DO_FLAGS, /* number -> names of its bits in `names` */
	DO_SYMBOL, /* number -> its name in `names` */
	DO_CONSTANT, /* address -> the constant string of the kernel there, or the address */
	DO_HEX, /* bytes, length -> "01 02" */
	DO_HEX_JOINED, /* bytes, length -> "0102" */
	DO_NUMBERS, /* bytes, count -> numbers of `size` bytes */
	/* These append to the text and pop what they print. */
	DO_PUT_TEXT, /* `text`, `at` bytes */
	DO_PUT_SHORT, /* `at` of the 8 bytes `letters` */
	DO_PUT_FIELD, /* DO_FIELD and DO_PUT_NUMBER */
	DO_PUT_NUMBER, /* in `style` */
	DO_PUT_STRING,
	DO_PUT_PREFIX, /* length, text -> so many bytes of it at most */
	DO_PUT_POINTER,
	DO_PUT_FUNCTION, /* the function at an address; `size` is 1 if with the offset in it */
	DO_PUT_UUID, /* 16 bytes */
	DO_PUT_IPV4, /* 4 bytes */
	DO_PUT_IPV6, /* 16 bytes */
	OPERATIONS,
};

enum style_flag {
	STYLE_SIGNED = 1,
	STYLE_HEX = 2,
	STYLE_OCTAL = 4,
	STYLE_UPPER = 8,
	STYLE_PREFIX = 16, /* 0x */
	STYLE_ZEROS = 32, /* to the width */
	STYLE_LEFT = 64,
	STYLE_PLAIN = 128, /* no width, no precision, no prefix */
};

#define STYLE_WIDTH_MAX 200u
#define NO_PRECISION    255u

/* How a number or text is printed: the part of a conversion such as "%-08lx". */
struct style {
	uint8_t flags;
	uint8_t bytes; /* of the number that are printed */
	uint8_t width;
	uint8_t precision;
};

struct name {
	uint64_t value;
	const char *text;
	size_t n;
};

/* The list of __print_flags or __print_symbolic. */
struct names {
	const struct name *list;
	size_t n;
	struct span delimiter;
};

struct instruction {
	uint8_t operation; /* enum operation */
	uint8_t size;
	uint32_t at;
	union {
		uint64_t number;
		const char *text;
		char letters[8];
		const struct names *names;
		struct style style;
	};
};

struct trace_program {
	uint32_t extent; /* bytes that a sample's data must have */
	uint32_t n;
	struct instruction code[];
};

/* The result of an operation on one number (b is not used) or two. */
uint64_t trace_operate(unsigned operation, uint64_t a, uint64_t b);

#endif
