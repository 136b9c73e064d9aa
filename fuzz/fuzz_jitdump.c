/* SPDX-License-Identifier: MIT */
/* Jitdump files: every text and span of a record is inside of the file, and reading ends. */
#include "image/jitdump.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_inside(const struct image_jitdump *j, struct span s)
{
	if (s.n != 0 && (s.p < j->bytes.p || s.n > (size_t)(j->bytes.p + j->bytes.n - s.p))) {
		abort();
	}
}

static void check_text(const struct image_jitdump *j, const char *text)
{
	if (text != NULL) {
		check_inside(j, (struct span){(const uint8_t *)text, strlen(text) + 1});
	}
}

static void check_lines(const struct image_jitdump *j, const struct image_jit_record *r)
{
	struct image_jit_line before, line;
	struct span rest = r->lines;

	for (uint64_t i = 0; i < r->count; i++) {
		size_t left = rest.n;

		if (!image_jit_line_next(j, &rest, i != 0 ? &before : NULL, &line)) {
			return;
		}
		check_text(j, line.file);
		if (rest.n >= left) {
			abort();
		}
		before = line;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image_jitdump j;
	struct image_jit_record r;
	struct error err = {0};
	size_t at;

	if (image_jitdump_open(&j, (struct span){data, size}, &err) < 0) {
		return 0;
	}
	at = j.first;
	for (;;) {
		size_t before = at;
		int rc = image_jitdump_next(&j, &at, &r, &err);

		if (rc == 0) {
			return 0;
		}
		if (at <= before || at > size) {
			abort();
		}
		if (rc > 0) {
			check_text(&j, r.name);
			check_inside(&j, r.code);
			check_inside(&j, r.eh_frame);
			check_inside(&j, r.eh_frame_hdr);
			check_lines(&j, &r);
		}
	}
}
