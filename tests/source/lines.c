/* SPDX-License-Identifier: MIT */
/*
 * lines OBJECT: reads hexadecimal offsets in the object, one a line, and prints what symbol/lines.h
 * finds there: "VIRTUAL-ADDRESS", then "FUNCTION FILE:LINE" for each function, innermost first.
 */
#include "symbol/lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char *or_unknown(const char *text)
{
	return text != NULL ? text : "??";
}

int main(int argc, char **argv)
{
	struct symbol_request req = {.kind = SYMBOL_ELF, .path = argc > 1 ? argv[1] : ""};
	static struct lines_place place;
	struct lines *lines;
	char line[64];

	if (lines_open(&req, &lines) < 0) {
		return 1;
	}
	while (fgets(line, sizeof(line), stdin) != NULL) {
		if (lines_find(lines, strtoull(line, NULL, 16), &place) < 0) {
			return 1;
		}
		printf("%" PRIx64 "\n", place.address);
		for (unsigned i = 0; i < place.n; i++) {
			const struct lines_frame *f = &place.frames[i];

			printf("%s %s:%u\n", or_unknown(f->function), or_unknown(f->file), f->line);
		}
	}
	lines_free(lines);
	return 0;
}
