/* SPDX-License-Identifier: MIT */
/* Recordings in bundles: a file, or the files of a directory, are members of the archive. */
#include "file/parts.h"

#include "core/array.h"
#include "file/feature.h"

#include <stdlib.h>

#define FOLDER BUNDLE_RECORDING "/"

struct numbered {
	unsigned long number;
	const struct bundle_member *member;
};

int file_open_bundled(struct file *f)
{
	f->archive = f->bytes;
	if (bundle_open(&f->bundle, f->archive, f->diags, &f->error) < 0) {
		if (error_status(&f->error) == SONDE_ENOMEM) {
			return SONDE_ENOMEM;
		}
		return error_wrap(&f->error, "%s", f->path);
	}
	if (bundle_find(f->bundle, BUNDLE_RECORDING, &f->bytes)) {
		return 0;
	}
	f->directory = true;
	if (bundle_find(f->bundle, FOLDER "data", &f->bytes)) {
		return 0;
	}
	return error_set(&f->error, SONDE_EFORMAT, NO_OFFSET,
	        "%s: the bundle has no recording: no member \"" BUNDLE_RECORDING "\" or \"" FOLDER
	        "data\"",
	        f->path);
}

static int by_number(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

int file_add_bundled_streams(struct file *f)
{
	struct numbered *streams = NULL;
	size_t n = 0, cap = 0;
	int rc = 0;

	for (size_t i = 0; i < bundle_count(f->bundle) && rc >= 0 && !file_is_single(f); i++) {
		const struct bundle_member *m = bundle_at(f->bundle, i);
		struct numbered s = {.member = m};

		if (strncmp(m->name, FOLDER, strlen(FOLDER)) != 0 ||
		        !file_stream_number(m->name + strlen(FOLDER), &s.number)) {
			continue;
		}
		if (!array_reserve(&streams, &cap, n + 1, sizeof(*streams))) {
			rc = error_nomem(&f->error);
		} else {
			streams[n++] = s;
		}
	}
	if (n > 1) {
		qsort(streams, n, sizeof(*streams), by_number);
	}
	for (size_t i = 0; i < n && rc >= 0; i++) {
		rc = file_add_stream(f, streams[i].member->name, streams[i].member->bytes);
	}
	free(streams);
	return rc;
}
