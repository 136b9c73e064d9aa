/* SPDX-License-Identifier: MIT */
#include "symbol/files.h"

#include <stdio.h>

void symbol_file_close(struct symbol_file *f)
{
	image_elf_close(&f->elf);
	image_file_close(&f->file);
}

void symbol_search_init(struct symbol_search *s, const struct symbol_request *req)
{
	size_t n =
	        req->build_id_size < IMAGE_BUILD_ID_MAX ? req->build_id_size : IMAGE_BUILD_ID_MAX;

	*s = (struct symbol_search){.where = {.path = req->path != NULL ? req->path : "",
	                                    .roots = req->roots,
	                                    .build_ids = req->build_ids},
	        .bundle = req->bundle,
	        .remote = req->remote,
	        .lack = SYMBOL_NO_FILE};
	if (req->build_id != NULL && n > 0) {
		memcpy(s->where.id.bytes, req->build_id, n);
		s->where.id.size = n;
	}
}

bool symbol_search_here(const struct symbol_search *s)
{
	return s->bundle == NULL || s->where.id.size != 0;
}

struct span symbol_search_id(const struct symbol_search *s)
{
	return (struct span){s->where.id.bytes, s->where.id.size};
}

bool symbol_search_read(struct symbol_search *s, int rc)
{
	s->failed = s->failed || rc == SONDE_ENOMEM;
	return rc >= 0;
}

bool symbol_same_id(const struct image_build_id *a, const struct image_build_id *b)
{
	size_t n = a->size < b->size ? a->size : b->size;

	return memcmp(a->bytes, b->bytes, n) == 0;
}

static void note_lack(struct symbol_search *s, enum symbol_lack lack)
{
	s->lack = lack > s->lack ? lack : s->lack;
}

static bool is_wanted(const struct symbol_search *s, const struct symbol_file *f)
{
	return s->where.id.size == 0 ||
	       (f->elf.build_id.size != 0 && symbol_same_id(&f->elf.build_id, &s->where.id));
}

/* Opens the file that was read as ELF; its build id must match the wanted one, if that is known. */
static bool elf_take(struct symbol_search *s, struct symbol_file *f)
{
	struct error err = {0};

	if (!symbol_search_read(s, image_elf_open(&f->elf, f->file.bytes, &err))) {
		note_lack(s, SYMBOL_NOT_ELF);
		symbol_file_close(f);
		return false;
	}
	if (!is_wanted(s, f)) {
		note_lack(s, SYMBOL_OTHER_BUILD);
		symbol_file_close(f);
		return false;
	}
	return true;
}

/* Opens the file s->name. */
static bool named_open(struct symbol_search *s, struct symbol_file *f)
{
	struct error err = {0};
	int rc;

	*f = (struct symbol_file){0};
	rc = image_file_open(&f->file, s->name, &err);
	if (!symbol_search_read(s, rc)) {
		if (rc != SONDE_ENOENT) {
			note_lack(s, rc == SONDE_EFORMAT ? SYMBOL_NOT_ELF : SYMBOL_UNREADABLE);
		}
		return false;
	}
	return elf_take(s, f);
}

/* Opens part of an object in the bundle by its build id. */
static bool bundled_open(struct symbol_search *s, const char *part, struct symbol_file *f)
{
	*f = (struct symbol_file){0};
	s->origin = SYMBOL_FROM_CACHE;
	return bundle_object(s->bundle, symbol_search_id(s), part, &f->file.bytes) &&
	       elf_take(s, f);
}

/* Opens a file in the bundle by its path, if the build id is unknown. */
static bool bundled_file_open(struct symbol_search *s, const char *path, struct symbol_file *f)
{
	*f = (struct symbol_file){0};
	s->origin = SYMBOL_FROM_CACHE;
	return s->where.id.size == 0 && bundle_file(s->bundle, path, &f->file.bytes) &&
	       elf_take(s, f);
}

/* Opens the debug file of an object without a build id from the bundle. */
static bool bundled_debug_open(struct symbol_search *s, struct symbol_file *f)
{
	struct image_where where = s->where;

	where.roots = (struct image_roots){0};
	return s->bundle != NULL &&
	       image_place_name(&where, IMAGE_PLACE_DEBUG_PATH, 0, s->name, sizeof(s->name)) &&
	       bundled_file_open(s, s->name, f);
}

bool symbol_file_open(struct symbol_search *s, enum image_place place, struct symbol_file *f)
{
	static const enum symbol_origin origins[] = {[IMAGE_PLACE_PATH] = SYMBOL_FROM_OBJECT,
	        [IMAGE_PLACE_CACHE] = SYMBOL_FROM_CACHE,
	        [IMAGE_PLACE_DEBUG_ID] = SYMBOL_FROM_DEBUG_ID,
	        [IMAGE_PLACE_DEBUG_PATH] = SYMBOL_FROM_DEBUG_PATH};

	s->origin = origins[place];
	for (unsigned i = 0; image_place_name(&s->where, place, i, s->name, sizeof(s->name)); i++) {
		if (named_open(s, f)) {
			return true;
		}
	}
	return false;
}

static bool remote_open(
        struct symbol_search *s, enum symbol_remote_kind kind, struct symbol_file *f)
{
	s->origin = SYMBOL_FROM_CACHE;
	return s->remote != NULL && s->where.id.size != 0 &&
	       symbol_remote_find(s->remote, &s->where.id, kind, s->where.path, s->name) &&
	       named_open(s, f);
}

/* Opens an object of this machine, or of a server. */
static bool object_open_here(struct symbol_search *s, struct symbol_file *f)
{
	return symbol_search_here(s) && (symbol_file_open(s, IMAGE_PLACE_PATH, f) ||
	                                        symbol_file_open(s, IMAGE_PLACE_CACHE, f) ||
	                                        remote_open(s, SYMBOL_REMOTE_EXECUTABLE, f));
}

bool symbol_file_open_object(struct symbol_search *s, struct symbol_file *f)
{
	if (!bundled_open(s, BUNDLE_ELF, f) && !bundled_file_open(s, s->where.path, f) &&
	        !object_open_here(s, f)) {
		return false;
	}
	if (s->where.id.size == 0) {
		s->where.id = f->elf.build_id;
	}
	return true;
}

bool symbol_file_open_vdso(struct symbol_search *s, bool own, struct symbol_file *f)
{
	struct span bytes = image_vdso();
	struct error err = {0};

	if (bundled_open(s, BUNDLE_VDSO, f) || bundled_file_open(s, s->where.path, f)) {
		return true;
	}
	if (!symbol_search_here(s)) {
		return false;
	}
	if (own && bytes.n != 0 && symbol_search_read(s, image_elf_open(&f->elf, bytes, &err))) {
		f->file.bytes = bytes; /* it is not mapped, and stays when the file is closed */
		if (s->where.id.size == 0 || symbol_same_id(&f->elf.build_id, &s->where.id)) {
			return true;
		}
		symbol_file_close(f);
	}
	return symbol_file_open(s, IMAGE_PLACE_CACHE, f);
}

bool symbol_file_open_kernel(
        struct symbol_search *s, const struct symbol_request *req, struct symbol_file *f)
{
	bool found;

	if (req->kind != SYMBOL_KERNEL || req->vmlinux == NULL || req->kallsyms != NULL) {
		return false;
	}
	s->where.path = req->vmlinux;
	found = symbol_file_open(s, IMAGE_PLACE_PATH, f);
	s->where.path = "";
	return found;
}

bool symbol_file_open_debug(
        struct symbol_search *s, const struct image_elf *object, struct symbol_file *f)
{
	const char *link = object != NULL ? image_elf_debuglink(object) : NULL;

	if (bundled_open(s, BUNDLE_DEBUG, f) || bundled_debug_open(s, f)) {
		return true;
	}
	if (!symbol_search_here(s)) {
		return false;
	}
	if (symbol_file_open(s, IMAGE_PLACE_DEBUG_ID, f)) {
		return true;
	}
	s->origin = SYMBOL_FROM_DEBUGLINK;
	for (unsigned i = 0;
	        link != NULL && image_debuglink_name(&s->where, link, i, s->name, sizeof(s->name));
	        i++) {
		if (!named_open(s, f)) {
			continue;
		}
		/* A build id says more, and faster, than the checksum of the file. */
		if (s->where.id.size != 0 || image_elf_debuglink_fits(object, f->file.bytes)) {
			return true;
		}
		symbol_file_close(f);
	}
	/* Without a build id, a matching name is not enough. */
	return s->where.id.size != 0 && (symbol_file_open(s, IMAGE_PLACE_DEBUG_PATH, f) ||
	                                        remote_open(s, SYMBOL_REMOTE_DEBUG, f));
}
