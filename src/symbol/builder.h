/* SPDX-License-Identifier: MIT */
/* Inside symbol/: collects raw symbols, chooses among aliases, and makes an immutable table. */
#ifndef SONDE_SYMBOL_BUILDER_H
#define SONDE_SYMBOL_BUILDER_H

#include "symbol/symbol.h"

#include <stdatomic.h>

struct symbol_table {
	uint64_t *starts; /* the key alone, packed for the search */
	struct symbol *symbols;
	size_t count;
	char *names;
	_Atomic(char *) *shown; /* demangled names made so far; NULL: no name is mangled */
	uint64_t skipped;
};

/* A table without mangled names, to be filled; NULL: no memory. */
struct symbol_table *symbol_table_new(size_t count, size_t names);

/* One symbol of the input; its name lives in the input until builder_finish. */
struct raw_symbol {
	uint64_t start;
	uint64_t end; /* equals start: size unknown, it reaches to the next one */
	const char *name;
	uint32_t name_size;
	uint32_t order; /* place in the input */
	uint8_t binding;
	uint8_t type;
	bool plt; /* "@plt" is added to the name */
};

/* Zero-initialised is a valid empty one. */
struct symbol_builder {
	struct raw_symbol *raw;
	size_t count;
	size_t cap;
	uint64_t skipped;
	/* The last symbol without a size ends so many bytes behind its start's page; 0: stays
	 * empty. */
	uint64_t last_size;
	bool sorted_by_order_only; /* equal starts: the last in the input wins (perf maps) */
	bool demangle;
	bool failed; /* no memory */
};

void builder_fini(struct symbol_builder *b);
void builder_add(struct symbol_builder *b, const struct raw_symbol *s);
/* Addresses count from `base` on; symbols below it are dropped. */
void builder_rebase(struct symbol_builder *b, uint64_t base);
/* Makes the table and empties the builder, also on failure. */
int builder_finish(struct symbol_builder *b, struct symbol_table **out, struct error *err);

/* The address of one symbol in the text of a kallsyms; false: it has none such. */
bool kallsyms_find(struct span text, const char *name, uint64_t *address);
/* Moves all symbols of a finished table so that what was at `from` is at `to`; drops those that do
 * not stay on the same side of it. */
void symbol_table_move(struct symbol_table *t, uint64_t from, uint64_t to);

/* Readers: add what they find. */
void builder_read_kallsyms(struct symbol_builder *b, struct span text, const char *module);
void builder_read_perf_map(struct symbol_builder *b, struct span text);
struct image_elf;
/* Symbols of `from` at the file offsets of `object` (which may be the same). */
void builder_read_elf(
        struct symbol_builder *b, const struct image_elf *object, const struct image_elf *from);

#endif
