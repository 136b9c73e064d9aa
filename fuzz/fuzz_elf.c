/* SPDX-License-Identifier: MIT */
/*
 * ELF bytes: symbols are sorted and no more than the bytes can hold; a build id has at most 20
 * bytes.
 */
#define _GNU_SOURCE /* memmem */
#include "fuzz_symbols.h"
#include "image/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t id[IMAGE_BUILD_ID_MAX];
	struct span bytes = {data, size};
	struct error err = {0};
	struct symbol_table *table = NULL;
	struct image_elf elf;

	if (image_build_id_of_span(bytes, id) > IMAGE_BUILD_ID_MAX) {
		abort();
	}
	if (symbol_table_from_elf(bytes, (struct span){0}, true, &table, &err) >= 0) {
		check_symbols(table);
		/* 16 bytes: the smallest symbol entry; 8: the smallest entry of a PLT. What is packed
		 * in .gnu_debugdata can be larger. */
		if (symbol_table_count(table) > size / 16 + size / 8 &&
		        memmem(data, size, ".gnu_debugdata", 14) == NULL) {
			abort();
		}
		for (size_t i = 0; i < symbol_table_count(table); i++) {
			if (symbol_name(table, symbol_table_at(table, i)) == NULL) {
				abort();
			}
		}
	}
	symbol_table_free(table);
	if (image_elf_open(&elf, bytes, &err) >= 0) {
		/* A checksum without a name is of no use, but must not be read from elsewhere. */
		(void)image_elf_debuglink(&elf);
		(void)image_elf_debuglink_fits(&elf, bytes);
	}
	image_elf_close(&elf);
	return 0;
}
