/* SPDX-License-Identifier: MIT */
#include "cmd/option.h"

#include <errno.h>
#include <stdlib.h>

bool options_number(const char *text, uint64_t *value)
{
	char *end;
	int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;

	if (text[0] < '0' || text[0] > '9') {
		return false;
	}
	errno = 0;
	*value = strtoull(text, &end, base);
	return errno == 0 && *end == '\0';
}
