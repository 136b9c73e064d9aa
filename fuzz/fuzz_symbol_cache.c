/* SPDX-License-Identifier: MIT */
/*
 * A cache of kernel symbols. The checksum is corrected first, so that the code after it is reached.
 * An accepted table is a valid one, and saving and loading it gives the same table.
 */
#include "fuzz_symbols.h"
#include "symbol/cache.h"
#include "symbol/store.h"

#define CHECKSUM_AT 24
#define SUMMED_FROM 32
#define KEY_AT      56

static struct text encoded(const struct symbol_table *t, const struct symbol_cache_key *key)
{
	struct text bytes = {0};

	if (symbol_cache_encode(t, key, &bytes) < 0) {
		text_fini(&bytes);
	}
	return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_cache_key key;
	struct symbol_table *table = NULL;
	uint8_t *copy = malloc(size + 1);
	uint64_t sum;

	if (copy == NULL || size < KEY_AT + sizeof(key)) {
		free(copy);
		return 0;
	}
	memcpy(copy, data, size);
	sum = store_checksum((struct span){copy, size}, SUMMED_FROM);
	memcpy(copy + CHECKSUM_AT, &sum, sizeof(sum));
	memcpy(&key, copy + KEY_AT, sizeof(key));
	if (symbol_cache_decode((struct span){copy, size}, &key, &table) == 0) {
		struct text once = encoded(table, &key);
		struct text twice = {0};

		check_symbols(table);
		symbol_table_free(table);
		if (once.n != 0) {
			if (symbol_cache_decode((struct span){(const uint8_t *)once.p, once.n},
			            &key, &table) != 0) {
				abort();
			}
			twice = encoded(table, &key);
			if (twice.n != once.n || memcmp(twice.p, once.p, once.n) != 0) {
				abort();
			}
			symbol_table_free(table);
			text_fini(&twice);
		}
		text_fini(&once);
	}
	free(copy);
	return 0;
}
