/* SPDX-License-Identifier: MIT */
/* Blobs of tracepoint formats: every span that is found is inside the blob. */
#include "trace/format.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_inside(struct span s, struct span all)
{
	if (s.n > all.n || s.p < all.p || s.p + s.n > all.p + all.n) {
		abort();
	}
}

static void check_fields(const struct trace_format *format)
{
	struct trace_field field, found;
	size_t at = 0;

	while (trace_field_next(format, &at, &field)) {
		check_inside(field.name, format->text);
		check_inside(field.type, format->text);
		if (field.offset > TRACE_OFFSET_MAX || field.size > TRACE_OFFSET_MAX) {
			abort();
		}
		if ((field.flags & TRACE_COMMON) == 0 &&
		        !trace_field_find(format, field.name, &found)) {
			abort();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct span all = {data, size};
	struct trace_formats at;
	struct trace_format format;
	struct trace_blob blob;

	if (!trace_blob_open(all, &blob)) {
		return 0;
	}
	trace_formats_begin(&at, &blob);
	while (trace_formats_next(&at, &format)) {
		check_inside(format.system, all);
		check_inside(format.name, format.text);
		check_inside(trace_format_print(&format), format.text);
		check_fields(&format);
	}
	trace_formats_begin(&at, &blob);
	if (trace_formats_printk(&at).n > size) {
		abort();
	}
	return 0;
}
