/* SPDX-License-Identifier: MIT */
#include "frame/kernel.h"

#include "bundle/bundle.h"

#include <stdio.h>

#define SHT_SYMTAB 2u

void frame_kernel_close(struct frame_kernel *k)
{
	image_elf_close(&k->elf);
	image_file_close(&k->file);
}

/* Opens the file that was read as ELF. 1; 0: it is not; SONDE_ENOMEM. */
static int take_elf(struct frame_kernel *k)
{
	struct error err = {0};
	int rc = image_elf_open(&k->elf, k->file.bytes, &err);

	if (rc < 0) {
		frame_kernel_close(k);
		return rc == SONDE_ENOMEM ? rc : 0;
	}
	return 1;
}

/* Opens an ELF file. 1; 0: there is none; SONDE_ENOMEM. */
static int open_elf(struct frame_kernel *k, const char *path)
{
	struct error err = {0};
	int rc = image_file_open(&k->file, path, &err);

	if (rc < 0) {
		return rc == SONDE_ENOMEM ? rc : 0;
	}
	return take_elf(k);
}

bool frame_kernel_is_bundled(const struct bundle *bundle)
{
	struct span bytes;

	return bundle_find(bundle, BUNDLE_KCORE "kcore", &bytes);
}

int frame_kernel_open_bundled(struct frame_kernel *k, const struct bundle *bundle)
{
	int rc = bundle_find(bundle, BUNDLE_KCORE "kcore", &k->file.bytes) ? take_elf(k) : 0;

	return rc < 0 ? rc : 0;
}

/* The file "kcore" in the folder of kallsyms. */
static bool core_name(const char *kallsyms, char out[IMAGE_PATH_MAX])
{
	const char *slash = strrchr(kallsyms, '/');
	int folder = slash != NULL ? (int)(slash - kallsyms) + 1 : 0;
	int n = snprintf(out, IMAGE_PATH_MAX, "%.*skcore", folder, kallsyms);

	return n > 0 && n < IMAGE_PATH_MAX;
}

int frame_kernel_open_core(struct frame_kernel *k, const char *kallsyms)
{
	char name[IMAGE_PATH_MAX];
	int rc = core_name(kallsyms, name) ? open_elf(k, name) : 0;

	return rc < 0 ? rc : 0;
}

static bool has_id(const struct image_build_id *id, const struct timeline_object *o)
{
	size_t n = id->size < o->build_id_size ? id->size : o->build_id_size;

	return o->build_id_size == 0 || (n != 0 && memcmp(id->bytes, o->build_id, n) == 0);
}

/* Sets how far the kernel was moved, by the symbol that its mapping names. */
static void set_moved(
        struct frame_kernel *k, const struct frame_resolver *r, const struct timeline_object *o)
{
	const char *wanted = o->base != 0 ? timeline_text(r->timeline, o->reference) : "";
	const struct image_section *s = image_elf_symbols(&k->elf, SHT_SYMTAB, 1);
	struct span names = s != NULL ? image_elf_names(&k->elf, s) : (struct span){0};
	size_t n = s != NULL && *wanted != '\0' ? image_elf_symbol_count(&k->elf, s) : 0;

	for (size_t i = 0; i < n; i++) {
		struct image_elf_symbol symbol = image_elf_symbol_at(&k->elf, s, i);
		struct span name = image_elf_text(names, symbol.name);

		if (name.p != NULL && name.n == strlen(wanted) &&
		        memcmp(name.p, wanted, name.n) == 0) {
			k->moved = o->base - symbol.value;
			return;
		}
	}
}

/* Opens a file, or takes that which was read, if its build id is the kernel's. 1, 0, SONDE_ENOMEM. */
static int open_vmlinux(struct frame_kernel *k, const struct frame_resolver *r,
        const struct timeline_object *o, const char *path)
{
	int rc = path != NULL ? open_elf(k, path) : take_elf(k);

	if (rc > 0 && !has_id(&k->elf.build_id, o)) {
		frame_kernel_close(k);
		return 0;
	}
	if (rc > 0) {
		set_moved(k, r, o);
	}
	return rc;
}

int frame_kernel_open(
        struct frame_kernel *k, const struct frame_resolver *r, const struct timeline_object *o)
{
	static const enum image_place places[] = {IMAGE_PLACE_CACHE, IMAGE_PLACE_DEBUG_ID};
	const struct image_roots *roots = &r->options.roots;
	const char *vmlinux = o->guest ? r->options.guest_vmlinux : r->options.vmlinux;
	struct image_where where = {.path = "",
	        .roots = *roots,
	        .build_ids = roots->n != 0 ? NULL : r->options.build_ids};
	char name[IMAGE_PATH_MAX];
	int rc = 0;

	if (vmlinux != NULL) {
		for (size_t i = 0;
		        rc == 0 && image_root_name(roots, i, vmlinux, name, sizeof(name)); i++) {
			rc = open_vmlinux(k, r, o, name);
		}
		return rc < 0 ? rc : 0;
	}
	where.id.size = o->build_id_size;
	memcpy(where.id.bytes, o->build_id, o->build_id_size);
	if (bundle_object(r->options.bundle, (struct span){o->build_id, o->build_id_size},
	            BUNDLE_ELF, &k->file.bytes)) {
		rc = open_vmlinux(k, r, o, NULL);
	}
	for (size_t p = 0; where.id.size != 0 && p < sizeof(places) / sizeof(places[0]); p++) {
		for (unsigned i = 0;
		        rc == 0 && image_place_name(&where, places[p], i, name, sizeof(name));
		        i++) {
			rc = open_vmlinux(k, r, o, name);
		}
	}
	return rc < 0 ? rc : 0;
}

struct span frame_kernel_bytes(const struct frame_kernel *k, uint64_t address, size_t n)
{
	uint64_t at = address - k->moved;

	for (size_t i = 0; i < k->elf.nsegments; i++) {
		const struct image_segment *s = &k->elf.segments[i];
		uint64_t in = at - s->vaddr;
		uint64_t left = at >= s->vaddr && in < s->filesz ? s->filesz - in : 0;

		if (left != 0 && s->offset <= k->file.bytes.n && in < k->file.bytes.n - s->offset) {
			uint64_t room = k->file.bytes.n - s->offset - in;

			left = left < room ? left : room;
			return (struct span){
			        k->file.bytes.p + s->offset + in, left < n ? (size_t)left : n};
		}
	}
	return (struct span){NULL, 0};
}
