/* SPDX-License-Identifier: MIT */
/* An attr, then the bodies of records: samples, trailers and side-band, in both byte orders. */
#include "record/record.h"

#include <stdlib.h>
#include <string.h>

#define ATTR_BYTES 128u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a sample points at is inside the body or in scratch: touch all of it. */
static uint64_t touch(const uint64_t *words, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; words != NULL && i < n; i++) {
		uint64_t v;

		memcpy(&v, words + i, sizeof(v));
		sum += v;
	}
	return sum;
}

static void try_all(const struct record_plan *plan, const struct record *r, bool swap)
{
	struct record_scratch scratch = {0};
	struct sonde_sample sample;
	struct record_trailer trailer;
	struct record_mmap map;
	struct record_comm comm;
	struct record_task task;
	struct record_ksymbol ksymbol;

	memset(&sample, 0, sizeof(sample));
	if (record_sample_decode(plan, r->body, swap, &scratch, &sample) >= 0) {
		(void)touch(sample.callchain, sample.callchain_len);
	}
	record_scratch_fini(&scratch);
	(void)record_trailer_decode(plan, r->body, swap, &trailer);
	if (record_mmap_decode(r, swap, &map) && map.name.n > r->body.n) {
		abort();
	}
	if (record_comm_decode(r, swap, &comm) && comm.name.n > r->body.n) {
		abort();
	}
	(void)record_task_decode(r, swap, &task);
	(void)record_ksymbol_decode(r, swap, &ksymbol);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sonde_attr attr;
	struct record_plan plan;
	struct record r = {0};

	memset(&attr, 0, sizeof(attr));
	if (size < ATTR_BYTES + 8 ||
	        !record_attr_decode((struct span){data, ATTR_BYTES}, false, &attr)) {
		return 0;
	}
	record_plan_make(&plan, &attr);
	r.type = data[ATTR_BYTES];
	r.misc = (uint16_t)(data[ATTR_BYTES + 1] | data[ATTR_BYTES + 2] << 8);
	r.body = (struct span){data + ATTR_BYTES + 8, size - ATTR_BYTES - 8};
	r.size = (uint16_t)(r.body.n + 8);
	try_all(&plan, &r, false);
	try_all(&plan, &r, true);
	return 0;
}
