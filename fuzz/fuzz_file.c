/* SPDX-License-Identifier: MIT */
/*
 * A whole recording in memory, in every container: header, attrs, features, compressed records, and
 * every record through its plan. The walk ends, items follow each other, and the same positions
 * give the same records again.
 */
#include "file/file.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(const struct file *f)
{
	struct diag_sink diags = {0};
	struct record r;
	struct file_gap gap;
	uint64_t position = file_begin(f);
	uint64_t end = position;
	enum file_step step;

	while ((step = file_step(f, &position, &r, &gap)) != FILE_END) {
		uint64_t at = step == FILE_GAP ? gap.position : r.offset;
		struct file_place place = file_place(f, at);

		if (at < end || position < at || position > file_end(f) ||
		        (position == at && gap.text[0] == '\0') || place.stream == NULL) {
			abort();
		}
		end = position;
		if (gap.text[0] != '\0') {
			file_gap_report(f, &gap, &diags);
		}
		if (step == FILE_GAP) {
			continue;
		}
		if (r.body.n > position - at - 8 || file_outside(f, &r).n > position - at) {
			abort();
		}
		(void)(r.type == 9 ? file_sample_event(f, &r) : file_record_event(f, &r));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct diag_sink diags = {0};
	struct file f;

	memset(&f, 0, sizeof(f));
	f.diags = &diags;
	if (file_open_bytes(&f, (struct span){data, size}, "input") >= 0) {
		walk(&f);
		if (file_inflate(&f) >= 0) {
			walk(&f);
		}
		for (unsigned bit = 0; bit < 256; bit++) {
			if (file_feature(&f, (enum abi_feature)bit).n > f.bytes.n) {
				abort();
			}
		}
	}
	file_close(&f);
	return 0;
}
