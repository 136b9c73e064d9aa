/* SPDX-License-Identifier: MIT */
/* Private to symbol: collects raw symbols, chooses among aliases, and builds an immutable table. */
#ifndef SONDE_SYMBOL_BUILDER_H
#define SONDE_SYMBOL_BUILDER_H

#include "symbol/symbol.h"

#include <stdatomic.h>

struct symbol_table {
	/*
	 * The range of addresses in pieces of 1 << piece_bits bytes, so that a search looks at few
	 * symbols: those that begin in piece k are symbols[pieces[k]] to symbols[pieces[k + 1] - 1].
	 * It looks at them, not at an array of their starts: both would often miss the caches.
	 */
	uint32_t *pieces;
	size_t npieces;
	unsigned piece_bits;
	uint64_t first; /* start of the first symbol; 0: there is none */
	struct symbol *symbols;
	size_t count;
	char *names;
	_Atomic(char *) *shown; /* demangled names made so far; NULL: no name is mangled */
	uint64_t skipped;
	enum symbol_lack lack;
	enum symbol_origin origin;
};

/* Allocates a table without mangled names; the caller fills it. NULL: out of memory. */
struct symbol_table *symbol_table_new(size_t count, size_t names);

/* Makes the pieces of a table whose symbols are complete. False: out of memory. */
bool symbol_table_divide(struct symbol_table *t);

/* A symbol of the input; its name points into the input until builder_finish. */
struct raw_symbol {
	uint64_t start;
	uint64_t end; /* equal to start: the size is unknown, and the symbol extends to the next
	                 one */
	const char *name;
	uint32_t name_size;
	uint32_t order; /* position in the input */
	uint8_t binding;
	uint8_t type;
	bool plt; /* append "@plt" to the name */
};

/* Empty when zero-initialised. */
struct symbol_builder {
	struct raw_symbol *raw;
	size_t count;
	size_t cap;
	uint64_t skipped;
	/*
	 * A last symbol without a size ends this many bytes after the beginning of the first page
	 * that is not before its start; 0: it stays empty.
	 */
	uint64_t last_size;
	bool sorted_by_order_only; /* equal starts: the last one in the input wins (perf maps) */
	bool demangle;
	bool failed; /* out of memory */
};

void builder_fini(struct symbol_builder *b);
void builder_add(struct symbol_builder *b, const struct raw_symbol *s);
/* Makes addresses relative to `base`; symbols below it are dropped. */
void builder_rebase(struct symbol_builder *b, uint64_t base);
/* Builds the table and empties the builder, even after a failure. */
int builder_finish(struct symbol_builder *b, struct symbol_table **out, struct error *err);

/* Finds the address of one symbol in a kallsyms text; false: not found. */
bool kallsyms_find(struct span text, const char *name, uint64_t *address);
/*
 * Moves all symbols of a finished table so that address `from` becomes `to`; drops symbols that
 * would wrap around. False: out of memory.
 */
bool symbol_table_move(struct symbol_table *t, uint64_t from, uint64_t to);

/* Readers: add the symbols of an input. */
void builder_read_kallsyms(struct symbol_builder *b, struct span text, const char *module);
void builder_read_perf_map(struct symbol_builder *b, struct span text);
#define SYMBOL_LAST_SIZE 4096 /* as in perf */
struct image_elf;
/* Adds symbols of `from` at the file offsets of `object` (may be the same file), and its PLT's. */
void builder_read_elf(
        struct symbol_builder *b, const struct image_elf *object, const struct image_elf *from);
/* Adds symbols of `from` only. */
void builder_read_elf_symbols(
        struct symbol_builder *b, const struct image_elf *object, const struct image_elf *from);
/* Adds names for the entries of an object's PLT, in any of its sections, at file offsets. */
void builder_read_plt(struct symbol_builder *b, const struct image_elf *e);
/* Adds the symbols of a kernel, at the addresses that it was linked for. */
void builder_read_kernel(struct symbol_builder *b, const struct image_elf *kernel);
/* Finds the address of one of them; false: not found. */
bool builder_find(const struct symbol_builder *b, const char *name, uint64_t *address);
/* Adds the symbols of the section .text of a module's file, as offsets in it. */
void builder_read_module(struct symbol_builder *b, const struct image_elf *module);

#endif
