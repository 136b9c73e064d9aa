/* SPDX-License-Identifier: MIT */
#include "cmd/suggest.h"

#include <string.h>

unsigned suggest_distance(const char *a, size_t n, const char *b)
{
	unsigned row[32];
	size_t m = strlen(b);

	if (n > 31 || m > 31) {
		return 32;
	}
	for (size_t j = 0; j <= m; j++) {
		row[j] = (unsigned)j;
	}
	for (size_t i = 1; i <= n; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			best = row[j] + 1 < best ? row[j] + 1 : best;
			row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
		}
	}
	return row[m];
}
