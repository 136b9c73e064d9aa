/* SPDX-License-Identifier: MIT */
/* Build ids of the files that objects are on this machine. */
#include "bundle/bundle.h"
#include "frame/frame.h"
#include "image/image.h"

/* The short name of a module is "[ext4]". */
static int of_module(const char *name, uint8_t id[BUILD_ID_MAX])
{
	size_t n = strlen(name);
	char module[128];

	if (n <= 2 || n >= sizeof(module)) {
		return 0;
	}
	memcpy(module, name + 1, n - 2);
	module[n - 2] = '\0';
	return image_build_id_of_module(module, id);
}

int frame_file_build_id(const struct image_roots *roots, const char *name, uint8_t id[BUILD_ID_MAX])
{
	char path[IMAGE_PATH_MAX];
	int size = 0;

	for (size_t i = 0; size == 0 && image_root_name(roots, i, name, path, sizeof(path)); i++) {
		size = image_build_id_of_file(path, id);
	}
	return size;
}

/* The build id of a file in a bundle. */
static int of_member(const struct bundle *bundle, const char *path, uint8_t id[BUILD_ID_MAX])
{
	struct span bytes;

	return bundle_file(bundle, path, &bytes) ? image_build_id_of_span(bytes, id) : 0;
}

int frame_object_build_id(
        const struct frame_resolver *f, const struct timeline_object *o, uint8_t id[BUILD_ID_MAX])
{
	const char *path = timeline_text(f->timeline, o->name);
	bool running = f->options.running_kernel;

	switch (o->kind) {
	case TIMELINE_KERNEL: return running ? image_build_id_of_kernel(id) : 0;
	case TIMELINE_VDSO: return running ? image_build_id_of_vdso(id) : 0;
	case TIMELINE_MODULE:
		return running ? of_module(timeline_text(f->timeline, o->short_name), id) : 0;
	case TIMELINE_USER:
		return f->options.bundle != NULL ? of_member(f->options.bundle, path, id)
		                                 : frame_file_build_id(&f->options.roots, path, id);
	case TIMELINE_ANON:
	case TIMELINE_CODE:
	case TIMELINE_JIT:
	case TIMELINE_NONE: return 0;
	}
	return 0;
}
