/* SPDX-License-Identifier: MIT */
/*
 * u16 n, a blob of n bytes, and the data of a sample: no field is read outside of the data, and the
 * text of all fields is printed for each event.
 */
#include "trace/value.h"

#include <stdlib.h>

#define IDS 64u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_event(const struct trace_set *set, const struct trace_event *e, struct span data)
{
	struct text out = {0};
	struct span bytes;

	for (size_t i = 0; i < e->nfields; i++) {
		if (trace_value(set, &e->fields[i], data, &bytes) &&
		        (bytes.p < data.p || bytes.n > (size_t)(data.p + data.n - bytes.p))) {
			abort();
		}
	}
	(void)trace_values_fit(set, e, data);
	trace_values_text(set, e, data, &out);
	text_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t ids[IDS];
	struct trace_set set;
	struct span blob, rest;
	size_t n;

	if (size < 2) {
		return 0;
	}
	n = (size_t)data[0] | (size_t)data[1] << 8;
	n = n < size - 2 ? n : size - 2;
	blob = (struct span){data + 2, n};
	rest = (struct span){data + 2 + n, size - 2 - n};
	for (size_t i = 0; i < IDS; i++) {
		ids[i] = i;
	}
	if (trace_set_init(&set, blob, ids, IDS) >= 0) {
		for (size_t i = 0; i < set.nevents; i++) {
			check_event(&set, &set.events[i], rest);
		}
	}
	trace_set_fini(&set);
	return 0;
}
