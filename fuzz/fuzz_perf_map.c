/* SPDX-License-Identifier: MIT */
/* /tmp/perf-PID.map text: as kallsyms. */
#include "fuzz_symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct error err = {0};
	struct symbol_table *table = NULL;

	if (symbol_table_from_perf_map((struct span){data, size}, &table, &err) >= 0) {
		check_symbols(table);
	}
	symbol_table_free(table);
	return 0;
}
