/* SPDX-License-Identifier: MIT */
/*
 * Tar archives as bundles: every member is inside of the archive under a name that leads to a file, and
 * is found by it.
 */
#include "bundle/bundle.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_member(const struct bundle *b, size_t i, struct span all)
{
	const struct bundle_member *m = bundle_at(b, i);
	struct span found;
	const char *slash = strrchr(m->name, '/');

	if (!bundle_is_name(m->name) || m->name[0] == '/' ||
	        (i != 0 && strcmp(bundle_at(b, i - 1)->name, m->name) >= 0)) {
		abort();
	}
	if (m->bytes.n != 0 && (m->bytes.p < all.p + 512 || m->bytes.n > all.n ||
	                               m->bytes.p > all.p + all.n - m->bytes.n)) {
		abort();
	}
	if (bundle_find(b, m->name, &found) != (m->bytes.n != 0) ||
	        (m->bytes.n != 0 && !span_equal(found, m->bytes))) {
		abort();
	}
	if (slash != NULL) {
		(void)bundle_object(b, (struct span){all.p, 20}, slash + 1, &found);
	}
	(void)bundle_file(b, m->name, &found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct span all = {data, size};
	struct diag_sink diags = {0};
	struct error err = {0};
	struct bundle *b = NULL;
	struct span found;

	if (!bundle_is_tar(all)) {
		return 0;
	}
	if (bundle_open(&b, all, &diags, &err) < 0) {
		if (b != NULL || error_show(&err)->text[0] == '\0') {
			abort();
		}
		return 0;
	}
	for (size_t i = 0; i < bundle_count(b); i++) {
		check_member(b, i, all);
	}
	(void)bundle_kallsyms(b, (struct span){NULL, 0}, &found);
	(void)bundle_kallsyms(b, (struct span){all.p, 20}, &found);
	bundle_free(b);
	return 0;
}
