/* SPDX-License-Identifier: MIT */
/* Properties of every symbol table, whatever its source. */
#ifndef FUZZ_SYMBOLS_H
#define FUZZ_SYMBOLS_H

#include "symbol/symbol.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void check_symbols(const struct symbol_table *table)
{
	uint64_t end = 0;

	for (size_t i = 0; i < symbol_table_count(table); i++) {
		const struct symbol *s = symbol_table_at(table, i);

		if (s->start < end || s->end < s->start) {
			abort();
		}
		if (s->start < s->end && symbol_table_find(table, s->start) != s) {
			abort();
		}
		if (strlen(symbol_name(table, s)) > 1u << 20) {
			abort();
		}
		end = s->end;
	}
}

#endif
