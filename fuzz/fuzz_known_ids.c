/* SPDX-License-Identifier: MIT */
/*
 * Build ids from the user. What is refused has a text; every pair that is accepted is found by its
 * path.
 */
#include "edit/inside.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char text[1024];
	struct sonde_editor *e;

	if (size >= sizeof(text) || (size >= 7 && memcmp(data, "file://", 7) == 0)) {
		return 0;
	}
	memcpy(text, data, size);
	text[size] = '\0';
	e = sonde_editor_new(NULL);
	if (e == NULL) {
		return 0;
	}
	if (edit_known_read(e, text) < 0 && error_show(&e->error)->text[0] == '\0') {
		abort();
	}
	for (size_t i = 0; i < e->known.n; i++) {
		const struct edit_known_id *id = &e->known.items[i];

		if (id->size == 0 || id->path[0] == '\0') {
			abort();
		}
	}
	sonde_editor_free(e);
	return 0;
}
