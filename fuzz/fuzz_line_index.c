/* SPDX-License-Identifier: MIT */
/*
 * A stored index of source lines. The checksum is corrected first, so that the code after it is
 * reached. In an accepted index, addresses have at most LINES_DEPTH functions, whose texts end.
 */
#include "symbol/line_index.h"
#include "symbol/store.h"

#include <stdlib.h>

#define CHECKSUM_AT 24
#define SUMMED_FROM 32
#define KEY_AT      56
#define HEADER_SIZE 128

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_place(const struct lines_place *p)
{
	size_t n = 0;

	if (p->n == 0 || p->n > LINES_DEPTH || p->frames[0].file == NULL) {
		abort();
	}
	for (unsigned i = 0; i < p->n; i++) {
		n += p->frames[i].function != NULL ? strlen(p->frames[i].function) : 0;
		n += p->frames[i].file != NULL ? strlen(p->frames[i].file) : 0;
	}
	if (n > ((size_t)1 << 30)) {
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct lines_place place;
	struct line_index_key key;
	struct line_index x;
	uint8_t *copy = malloc(size + 1);
	uint64_t sum;

	if (copy == NULL || size < HEADER_SIZE) {
		free(copy);
		return 0;
	}
	memcpy(copy, data, size);
	sum = store_checksum((struct span){copy, size}, SUMMED_FROM);
	memcpy(copy + CHECKSUM_AT, &sum, sizeof(sum));
	memcpy(&key, copy + KEY_AT, sizeof(key));
	if (line_index_read((struct span){copy, size}, &key, &x) == 0) {
		for (size_t i = 0; i < x.nrows; i++) {
			if (line_index_find(&x, x.starts[i], &place)) {
				check_place(&place);
			}
			if (x.starts[i] != 0) {
				(void)line_index_find(&x, x.starts[i] - 1, &place);
			}
		}
	}
	free(copy);
	return 0;
}
