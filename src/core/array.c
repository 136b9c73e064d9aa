/* SPDX-License-Identifier: MIT */
#include "core/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool array_reserve(void *data, size_t *cap, size_t need, size_t size)
{
	size_t n = *cap + *cap / 2;
	void *old;
	void *p;

	if (need <= *cap) {
		return true;
	}
	if (n < need) {
		n = need;
	}
	if (n < 16) {
		n = 16;
	}
	if (n > SIZE_MAX / 2 / size) {
		return false;
	}
	memcpy(&old, data, sizeof(old));
	p = realloc(old, n * size);
	if (p == NULL) {
		return false;
	}
	memcpy(data, &p, sizeof(p));
	*cap = n;
	return true;
}
