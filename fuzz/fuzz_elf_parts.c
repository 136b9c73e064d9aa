/* SPDX-License-Identifier: MIT */
/* ELF bytes reduced to their parts: no larger, an ELF object again, and reducing it again works. */
#include "bundler/inside.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void reduce(struct span in, unsigned times)
{
	struct span out = in;
	struct error err = {0};
	struct image_elf elf;
	uint8_t *memory;

	if (image_elf_open(&elf, in, &err) < 0) {
		if (times > 0) {
			abort();
		}
		return;
	}
	if (bundler_parts(&elf, &out, &memory) < 0 || out.n > in.n ||
	        (memory == NULL && out.p != in.p)) {
		abort();
	}
	if (times < 2) {
		reduce(out, times + 1);
	}
	free(memory);
	image_elf_close(&elf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	reduce((struct span){data, size}, 0);
	return 0;
}
