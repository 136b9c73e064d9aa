/* SPDX-License-Identifier: MIT */
/*
 * Attrs in both byte orders: decoding and encoding gives the same bytes, also through the other
 * order; a plan can be made of any attr.
 */
#include "record/record.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_attr(struct span bytes, bool swap)
{
	struct sonde_attr attr, again;
	struct record_plan plan;
	uint8_t out[144], out2[144];
	size_t known = bytes.n - record_attr_tail(bytes).n;

	memset(&attr, 0, sizeof(attr));
	memset(&again, 0, sizeof(again));
	if (!record_attr_decode(bytes, swap, &attr)) {
		return;
	}
	record_plan_make(&plan, &attr);
	record_attr_encode_as(&attr, swap, out);
	record_attr_encode_as(&attr, !swap, out2);
	if (memcmp(out, bytes.p, known) != 0) {
		abort();
	}
	if (!record_attr_decode((struct span){out2, sizeof(out2)}, !swap, &again)) {
		abort();
	}
	record_attr_encode_as(&again, swap, out2);
	if (memcmp(out, out2, sizeof(out)) != 0) {
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_attr((struct span){data, size}, false);
	check_attr((struct span){data, size}, true);
	return 0;
}
