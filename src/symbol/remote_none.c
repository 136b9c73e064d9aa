/* SPDX-License-Identifier: MIT */
/* Replaces remote.c in a static build, which cannot load libraries. */
#include "symbol/remote.h"

#include <stdlib.h>

struct symbol_remote {
	sonde_download_fn fn;
	void *arg;
};

struct symbol_remote *symbol_remote_new(sonde_download_fn fn, void *arg)
{
	struct symbol_remote *r = calloc(1, sizeof(*r));

	if (r != NULL) {
		*r = (struct symbol_remote){.fn = fn, .arg = arg};
	}
	return r;
}

void symbol_remote_free(struct symbol_remote *r)
{
	free(r);
}

bool symbol_remote_find(struct symbol_remote *r, const struct image_build_id *id,
        enum symbol_remote_kind kind, const char *object, char path[IMAGE_PATH_MAX])
{
	struct sonde_download d = {.object = object,
	        .debug_file = kind == SYMBOL_REMOTE_DEBUG,
	        .failure = "a static build cannot load libdebuginfod"};

	(void)id;
	*path = '\0';
	if (r->fn != NULL) {
		r->fn(r->arg, &d);
	}
	return false;
}
