/* SPDX-License-Identifier: MIT */
#include "core/options.h"

#include <string.h>

int options_copy(void *own, size_t n, const void *given, struct error *err)
{
	const unsigned char *bytes = given;
	size_t size;

	if (given == NULL) {
		return 0;
	}
	memcpy(&size, given, sizeof(size));
	if (size < sizeof(size)) {
		return error_set(err, SONDE_EARG, NO_OFFSET,
		        "the options have no size: set their member size to sizeof the struct");
	}
	memcpy(own, given, size < n ? size : n);
	memcpy(own, &n, sizeof(n));
	for (size_t i = n; i < size; i++) {
		if (bytes[i] != 0) {
			return error_set(err, SONDE_EARG, NO_OFFSET,
			        "the options have a member that libsonde %s does not know",
			        SONDE_VERSION);
		}
	}
	return 0;
}
