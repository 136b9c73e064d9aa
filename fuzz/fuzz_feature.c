/* SPDX-License-Identifier: MIT */
/*
 * Header features: byte 0 is the feature, byte 1 the number of cpus, the rest the payload. A
 * decoded value is encoded to the same bytes, in its own byte order and, if all bytes were decoded,
 * through the other one (a tail has no byte order).
 */
#include "file/feature.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

union value {
	uint64_t align;
	char bytes[1024];
};

static void check(const struct text *t, struct span want)
{
	if (!t->failed && (t->n != want.n || (t->n != 0 && memcmp(t->p, want.p, t->n) != 0))) {
		abort();
	}
}

static void check_feature(const struct feature_source *source, unsigned bit, struct arena *a)
{
	struct feature_source turned = {.swap = !source->swap, .ncpus = source->ncpus};
	size_t size = feature_size(bit);
	struct text here = {0}, there = {0}, back = {0};
	struct span tail;
	union value value;
	bool whole;

	if (feature_decode(source, bit, a, value.bytes, size, &tail) != 1) {
		return;
	}
	whole = tail.n == 0;
	(void)feature_encode(&here, bit, value.bytes, tail, source->swap);
	(void)feature_encode(&there, bit, value.bytes, tail, turned.swap);
	check(&here, source->bytes);
	turned.bytes = (struct span){(const uint8_t *)there.p, there.n};
	if (whole && feature_decode(&turned, bit, a, value.bytes, size, &tail) == 1) {
		(void)feature_encode(&back, bit, value.bytes, tail, source->swap);
		check(&back, source->bytes);
	}
	text_fini(&here);
	text_fini(&there);
	text_fini(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = {0};
	struct feature_source source;

	if (size < 2) {
		return 0;
	}
	source = (struct feature_source){.bytes = {data + 2, size - 2}, .ncpus = data[1]};
	check_feature(&source, data[0], &a);
	source.swap = true;
	check_feature(&source, data[0], &a);
	arena_fini(&a);
	return 0;
}
