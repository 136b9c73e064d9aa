/* SPDX-License-Identifier: MIT */
/*
 * Letters of --itrace. What is refused has a text; what is accepted is also accepted after other
 * letters, with the same period.
 */
#include "aux/itrace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[256], more[256 + 4];
	struct itrace one, two;
	struct error err = {0};

	if (size >= sizeof(text)) {
		return 0;
	}
	memcpy(text, data, size);
	text[size] = '\0';
	if (itrace_parse(&one, text, &err) < 0) {
		if (error_show(&err)->text[0] == '\0') {
			abort();
		}
		return 0;
	}
	(void)snprintf(more, sizeof(more), "bcr%s", text);
	if (itrace_parse(&two, more, &err) < 0 || !two.calls || !two.returns ||
	        two.period != one.period || two.unit != one.unit || two.skip != one.skip) {
		abort();
	}
	return 0;
}
