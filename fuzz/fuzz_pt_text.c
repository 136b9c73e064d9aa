/* SPDX-License-Identifier: MIT */
/* Any bytes as lines of packets: the lines show all bytes of the trace, in order, at their offsets. */
#include "inspect/pt_text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define OFFSET_AT 3
#define BYTES_AT  14
#define NAME_AT   62

static unsigned hex_of(const char *p, unsigned digits)
{
	unsigned v = 0;

	for (unsigned i = 0; i < digits; i++) {
		unsigned c = (unsigned char)p[i];

		if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f')) {
			abort();
		}
		v = v << 4 | (c <= '9' ? c - '0' : c - 'a' + 10);
	}
	return v;
}

/* Checks one line of n bytes; returns the offset after its packet. */
static size_t check_line(const char *line, size_t n, const uint8_t *data, size_t size, size_t at)
{
	if (n <= NAME_AT || n > PT_LINE_MAX || hex_of(line + OFFSET_AT, 8) != at) {
		abort();
	}
	for (size_t i = BYTES_AT; i < NAME_AT && line[i] != ' '; i += 3) {
		if (at == size || hex_of(line + i, 2) != data[at]) {
			abort();
		}
		at++;
	}
	return at;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct pt_text text;
	struct text out = {0};
	size_t at = 0;
	bool more = true;

	pt_text_init(&text);
	pt_text_begin(&text, (struct span){data, size});
	while (more) {
		more = pt_text_lines(&text, &out, 1 + size % 4096);
		for (size_t i = 0; i < out.n;) {
			const char *end = memchr(out.p + i, '\n', out.n - i);

			if (end == NULL) {
				abort();
			}
			at = check_line(out.p + i, (size_t)(end - out.p) - i, data, size, at);
			i = (size_t)(end - out.p) + 1;
		}
		out.n = 0;
	}
	if (at != size && !out.failed) {
		abort();
	}
	text_fini(&out);
	return 0;
}
