/* SPDX-License-Identifier: MIT */
/*
 * Address filters of a recording with Intel PT. Each one ends after its start and inside the text, and
 * so does its path; a range is never empty.
 */
#include "aux/inside.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data;
	const char *end = p + size;
	const char *from = p;
	struct aux_filter f;

	while (aux_filter_next(&p, end, &f) == 1) {
		if (p <= from || p > end || f.size == 0 ||
		        (f.path_size != 0 && (f.path < from || f.path + f.path_size > end))) {
			abort();
		}
		from = p;
	}
	return 0;
}
