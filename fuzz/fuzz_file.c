/* SPDX-License-Identifier: MIT */
/*
 * A whole recording in memory: header, attrs, features, and every record through its plan. The walk
 * ends, and the records that it gives do not overlap.
 */
#include "file/file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const struct file *f, size_t size)
{
	struct diag_sink diags = {0};
	struct record r;
	uint64_t offset = f->data.offset;
	uint64_t end = 0;

	while (file_next(f, &offset, &r, &diags) > 0) {
		if (r.offset < end || r.size < 8 || r.offset + r.size > size) {
			abort();
		}
		end = r.offset + r.size;
		if (r.type == 9) {
			(void)file_sample_event(f, &r);
		} else {
			(void)file_record_event(f, &r);
		}
	}
	for (unsigned bit = 0; bit < 256; bit++) {
		struct span s = file_feature(f, (enum abi_feature)bit);

		if (s.n > size) {
			abort();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diag_sink diags = {0};
	struct file f;

	memset(&f, 0, sizeof(f));
	f.diags = &diags;
	if (file_open_bytes(&f, (struct span){data, size}, "input") >= 0) {
		walk(&f, size);
	}
	file_close(&f);
	return 0;
}
