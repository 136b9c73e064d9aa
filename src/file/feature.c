/* SPDX-License-Identifier: MIT */
#include "file/feature.h"

/* Available cpus of NRCPUS; 0: unknown. */
static uint32_t available_cpus(const struct file *f)
{
	struct cursor c = cursor_make(file_feature(f, FEATURE_NRCPUS), f->swap);

	return cursor_u32(&c);
}

int feature_read(const struct file *f, unsigned bit, struct arena *a, void *out, size_t size)
{
	struct feature_source source = {.swap = f->swap};

	memset(out, 0, size);
	if (!file_has_feature(f, (enum abi_feature)bit)) {
		return 0;
	}
	source.bytes = file_feature(f, (enum abi_feature)bit);
	source.ncpus = available_cpus(f);
	return feature_decode(&source, bit, a, out, size, NULL);
}
