/* SPDX-License-Identifier: MIT */
/* Blobs of tracepoint formats: every span that is found is inside the blob. */
#include "file/tracing.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_inside(struct span s, struct span all)
{
	if (s.n > all.n || s.p < all.p || s.p + s.n > all.p + all.n) {
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span all = {data, size};

	for (uint64_t id = 0; id < 50; id++) {
		struct tracing_format format;
		struct tracing_place place;
		struct span name;
		size_t at = 0;

		if (!tracing_find(all, id, &format)) {
			continue;
		}
		check_inside(format.system, all);
		check_inside(format.name, format.text);
		while (tracing_next_field(&format, &at, &name)) {
			check_inside(name, format.text);
		}
		if (tracing_field(&format, "prev_pid", &place) &&
		        (place.offset > UINT16_MAX || place.size > UINT16_MAX)) {
			abort();
		}
	}
	return 0;
}
