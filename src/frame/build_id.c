/* SPDX-License-Identifier: MIT */
/* Build ids of the files that objects are on this machine. */
#include "frame/frame.h"
#include "image/image.h"

static size_t size_of(int n)
{
	return n > 0 ? (size_t)n : 0;
}

/* The short name of a module is "[ext4]". */
static size_t of_module(const char *name, uint8_t id[BUILD_ID_MAX])
{
	size_t n = strlen(name);
	char module[128];

	if (n <= 2 || n >= sizeof(module)) {
		return 0;
	}
	memcpy(module, name + 1, n - 2);
	module[n - 2] = '\0';
	return size_of(image_build_id_of_module(module, id));
}

size_t frame_file_build_id(
        const struct image_roots *roots, const char *name, uint8_t id[BUILD_ID_MAX])
{
	char path[IMAGE_PATH_MAX];
	size_t size = 0;

	for (size_t i = 0; size == 0 && image_root_name(roots, i, name, path, sizeof(path)); i++) {
		size = size_of(image_build_id_of_file(path, id));
	}
	return size;
}

size_t frame_object_build_id(const struct timeline *t, const struct timeline_object *o,
        const struct image_roots *roots, bool running, uint8_t id[BUILD_ID_MAX])
{
	switch (o->kind) {
	case TIMELINE_KERNEL: return running ? size_of(image_build_id_of_kernel(id)) : 0;
	case TIMELINE_VDSO: return running ? size_of(image_build_id_of_vdso(id)) : 0;
	case TIMELINE_MODULE: return running ? of_module(timeline_text(t, o->short_name), id) : 0;
	case TIMELINE_USER: return frame_file_build_id(roots, timeline_text(t, o->name), id);
	case TIMELINE_ANON:
	case TIMELINE_CODE:
	case TIMELINE_JIT:
	case TIMELINE_NONE: return 0;
	}
	return 0;
}
