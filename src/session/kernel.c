/* SPDX-License-Identifier: MIT */
/* Symbols and code of the recorded kernel from its copy in the cache of build ids. */
#include "session/inside.h"

#include "symbol/kernel_copy.h"

#include <stdlib.h>

/* Fills in the kernel and its modules; false: no kernel with a build id is in the recording. */
static bool kernel_read(
        const struct timeline *t, struct symbol_kernel *k, struct symbol_module *modules)
{
	k->modules = modules;
	for (uint32_t i = 0; i < timeline_objects(t); i++) {
		const struct timeline_object *o = timeline_object(t, i);

		if (o->guest) {
			continue;
		}
		if (o->kind == TIMELINE_KERNEL && k->id.size == 0) {
			k->id.size = o->build_id_size;
			memcpy(k->id.bytes, o->build_id, o->build_id_size);
			k->base = o->base;
			k->reference = o->base != 0 ? timeline_text(t, o->reference) : NULL;
		} else if (o->kind == TIMELINE_MODULE && o->base != 0) {
			modules[k->nmodules++] =
			        (struct symbol_module){timeline_text(t, o->short_name), o->base};
		}
	}
	return k->id.size != 0;
}

int session_choose_kernel(struct sonde_session *s, const char *build_ids)
{
	struct symbol_kernel k = {.build_ids = build_ids};
	struct symbol_module *modules;
	char path[IMAGE_PATH_MAX];
	int rc = 0;

	if (build_ids == NULL || s->options.kallsyms != NULL || s->options.vmlinux != NULL ||
	        s->roots.n != 0 || s->file->bundle != NULL) {
		return 0;
	}
	modules = calloc(timeline_objects(s->timeline) + 1, sizeof(*modules));
	if (modules == NULL) {
		return SONDE_ENOMEM;
	}
	if (kernel_read(s->timeline, &k, modules) && symbol_kernel_copy(&k, path) > 0) {
		s->kernel_copy = strdup(path);
		s->options.kallsyms = s->kernel_copy;
		rc = s->kernel_copy != NULL ? 0 : SONDE_ENOMEM;
	}
	free(modules);
	return rc;
}
