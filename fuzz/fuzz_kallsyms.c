/* SPDX-License-Identifier: MIT */
/* kallsyms text, as the kernel and as a module: symbols are sorted and no more than lines. */
#include "fuzz_symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const modules[] = {NULL, "ext4"};
	struct error err = {0};
	struct symbol_table *table = NULL;
	size_t lines = 1;

	for (size_t i = 0; i < size; i++) {
		lines += data[i] == '\n';
	}
	for (size_t i = 0; i < 2; i++) {
		if (symbol_table_from_kallsyms(
		            (struct span){data, size}, modules[i], &table, &err) < 0) {
			continue;
		}
		check_symbols(table);
		if (symbol_table_count(table) + symbol_table_skipped(table) > lines) {
			abort();
		}
		symbol_table_free(table);
	}
	return 0;
}
