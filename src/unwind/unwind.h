/* SPDX-License-Identifier: MIT */
/*
 * Unwinding of user stacks by call frame information: .eh_frame and .debug_frame of ELF files, as
 * DWARF 5 section 6.4 and the Linux Standard Base describe them.
 *
 *	unwind_table   the functions of one object, sorted; made once, read by any number of threads
 *	unwind_row     how to find the caller's registers at one address
 *	unwind_cache   rows that one worker used recently
 *	unwind_stack   from registers and a copy of the stack to the addresses of a call chain
 *
 * All bytes are untrusted: damage makes a row or a chain end, never more.
 */
#ifndef SONDE_UNWIND_UNWIND_H
#define SONDE_UNWIND_UNWIND_H

#include "core/span.h"
#include "core/status.h"
#include "image/image.h"

/* Registers by DWARF number: x86-64 has 0-15 and 16 for the return address, aarch64 0-31. */
#define UNWIND_REGS 33u

enum unwind_machine { UNWIND_OTHER, UNWIND_X86_64, UNWIND_AARCH64 };

enum unwind_rule { /* where the caller's value of a register is */
	UNWIND_SAME, /* it was not changed */
	UNWIND_UNDEFINED, /* it is lost; of the return address: there is no caller */
	UNWIND_OFFSET, /* in memory at the CFA plus value */
	UNWIND_VAL_OFFSET, /* it is the CFA plus value */
	UNWIND_REGISTER, /* in the register `value` */
	UNWIND_EXPRESSION, /* in memory, at the address that an expression computes */
	UNWIND_VAL_EXPRESSION /* it is what an expression computes */
};

/* The rule of one register; expressions: value is the offset of their size in the section. */
struct unwind_saved {
	uint8_t reg, rule; /* enum unwind_rule */
	int32_t value;
};

/* How to unwind from the addresses of one row of an object's table. */
struct unwind_row {
	int32_t cfa_value; /* bytes, or the offset of an expression's size in the section */
	uint8_t cfa_reg;
	bool cfa_expression;
	bool debug_frame; /* expressions are in .debug_frame, not in .eh_frame */
	bool signal; /* the frame is one that a signal made: its caller was interrupted */
	bool signed_return; /* the return address has a signature in its highest bits */
	uint8_t return_reg; /* the column of the return address */
	uint8_t n;
	struct unwind_saved saved[UNWIND_REGS];
};

struct unwind_table;

/* What an object's table is made from. The bytes must live as long as the table. */
struct unwind_source {
	const struct image_elf *object;
	const struct image_elf *debug; /* a separate debug file, for its .debug_frame; NULL: none */
};

/* Makes the table of an object; it has no rows if the object has no call frame information. */
int unwind_table_new(
        const struct unwind_source *source, struct unwind_table **out); /* SONDE_ENOMEM */
void unwind_table_free(struct unwind_table *t); /* accepts NULL */

enum unwind_machine unwind_table_machine(const struct unwind_table *t);

/* Converts an offset in the object's file to a virtual address; false: in no segment. */
bool unwind_table_address(const struct unwind_table *t, uint64_t offset, uint64_t *address);

/* Makes the row at a virtual address. False: there is none, or it is damaged. */
bool unwind_table_row(const struct unwind_table *t, uint64_t address, struct unwind_row *row);

/* The bytes of an expression of a row of the table: from its size on. */
struct cursor unwind_table_expression(
        const struct unwind_table *t, const struct unwind_row *row, int32_t value);

/* Registers of one frame; `known` has a bit for each register whose value is known. */
struct unwind_regs {
	uint64_t value[UNWIND_REGS];
	uint64_t known;
	uint64_t pc;
};

/* The DWARF number of the stack pointer. */
unsigned unwind_stack_pointer(enum unwind_machine machine);

/* A copy of the stack, from the stack pointer on. */
struct unwind_memory {
	uint64_t address;
	struct span bytes;
	bool swap; /* it has the other byte order */
};

/* Reads 1, 2, 4 or 8 bytes as an unsigned integer. False: they are not in the copy. */
bool unwind_memory_read(
        const struct unwind_memory *m, uint64_t address, unsigned size, uint64_t *out);

/* Why a chain ends. */
enum unwind_end {
	UNWIND_END_OUTERMOST, /* at the first function of the thread: the chain is complete */
	UNWIND_END_LIMIT, /* at the maximum number of frames */
	UNWIND_END_STACK, /* the copy of the stack is too short */
	UNWIND_END_UNMAPPED, /* nothing is mapped at the caller */
	UNWIND_END_TABLE, /* the code has no call frame information, or its file was not found */
	UNWIND_END_DAMAGED, /* the information or the stack make no sense */
	UNWIND_END_MACHINE, /* not begun: registers of 32-bit code, or of an unknown machine */
	UNWIND_ENDS
};

/*
 * Computes the value of an expression that starts with its size; first: the value on its stack at
 * the start, or NULL. UNWIND_END_OUTERMOST: done.
 */
enum unwind_end unwind_expression(struct cursor c, const struct unwind_regs *regs,
        const struct unwind_memory *memory, const uint64_t *first, uint64_t *out);

/*
 * Replaces registers by those of the caller; its pc is 0 if there is none. Returns
 * UNWIND_END_OUTERMOST, or why it could not be done.
 */
enum unwind_end unwind_step(const struct unwind_table *t, const struct unwind_row *row,
        const struct unwind_memory *memory, struct unwind_regs *regs);

/* Rows that were used recently (cache.c): the size does not depend on the input. */
#define UNWIND_CACHE_SLOTS 16384u
#define UNWIND_CACHE_ROWS  1024u /* different ones */

struct unwind_cached {
	const struct unwind_table *table; /* NULL: unused */
	uint64_t address;
	uint16_t row; /* its number + 1; 0: there is none */
};

struct unwind_cache {
	struct unwind_cached *slots; /* [UNWIND_CACHE_SLOTS], direct-mapped */
	struct unwind_row *rows; /* [UNWIND_CACHE_ROWS] */
	uint16_t *index; /* of rows: numbers + 1 by hash */
	size_t nrows;
};

int unwind_cache_init(struct unwind_cache *c); /* SONDE_ENOMEM */
void unwind_cache_fini(struct unwind_cache *c);
/* As unwind_table_row; valid until the next call; NULL: no row. */
const struct unwind_row *unwind_cache_row(
        struct unwind_cache *c, const struct unwind_table *t, uint64_t address);

/* The code at an address of the process. */
struct unwind_code {
	const struct unwind_table *table; /* NULL: the code has no ELF file, or it was not found */
	uint64_t address; /* virtual address in the object */
	bool mapped;
	bool missing; /* it has a file, which was not found */
	bool vdso; /* code of the kernel in user space */
};

/* Finds the code at an address: 0, or a negative status that ends the chain. */
typedef int unwind_find_fn(void *arg, uint64_t pc, struct unwind_code *out);

/* One stack to unwind. */
struct unwind_stack {
	enum unwind_machine machine;
	struct unwind_regs regs;
	struct unwind_memory memory;
	unwind_find_fn *find;
	void *arg;
};

/* Registers in the order of perf.data: bits of `mask`, from the lowest one. */
bool unwind_regs_take(enum unwind_machine machine, uint64_t mask, const uint64_t *values,
        struct unwind_regs *out);

/* The registers of perf.data without which a stack cannot be unwound: stack pointer and pc. */
uint64_t unwind_regs_needed(enum unwind_machine machine);

/*
 * Writes the addresses of the call chain to ips[max], the innermost first: the pc, then for each
 * caller the last byte of its call instruction; after the frame of a signal, the address that was
 * interrupted. Sets *n; returns enum unwind_end, or the negative status of `find`.
 */
int unwind_stack(const struct unwind_stack *s, struct unwind_cache *cache, uint64_t *ips,
        size_t max, size_t *n);

#endif
