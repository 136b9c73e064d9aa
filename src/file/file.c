/* SPDX-License-Identifier: MIT */
/* Shared by all containers: bytes at an offset, features, the sources that stay open. */
#include "file/file.h"

#include "core/array.h"
#include "file/parts.h"

#include <inttypes.h>

int file_bad_format(struct file *f, uint64_t offset, const char *what)
{
	return error_set(&f->error, SONDE_EFORMAT, offset, "%s: %s (at byte %" PRIu64 ")", f->path,
	        what, offset);
}

struct span file_span(const struct file *f, uint64_t offset, uint64_t size)
{
	if (offset > f->bytes.n || size > f->bytes.n - offset) {
		return (struct span){NULL, 0};
	}
	return (struct span){f->bytes.p + offset, (size_t)size};
}

struct span file_feature(const struct file *f, enum abi_feature bit)
{
	if (!file_has_feature(f, bit)) {
		return (struct span){NULL, 0};
	}
	return file_span(f, f->features[bit].offset, f->features[bit].size);
}

uint32_t file_cpus(const struct file *f)
{
	struct span s = file_feature(f, FEATURE_NRCPUS);

	return s.n >= 8 ? load_u32(s.p, f->swap) : 0;
}

int file_keep_source(struct file *f, struct source *s)
{
	if (!array_reserve(&f->sources, &f->sources_cap, f->nsources + 1, sizeof(*f->sources))) {
		source_close(s);
		return error_nomem(&f->error);
	}
	f->sources[f->nsources++] = *s;
	return 0;
}

void file_forget(const struct file *f)
{
	for (size_t i = 0; i < f->nsources; i++) {
		source_forget(&f->sources[i]);
	}
}
