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
	        .remote = req->remote,
	        .lack = SYMBOL_NO_FILE};
	if (req->build_id != NULL && n > 0) {
		memcpy(s->where.id.bytes, req->build_id, n);
		s->where.id.size = n;
	}
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

/* Opens the file s->name; its build id must match the wanted one, if that is known. */
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

bool symbol_file_open(struct symbol_search *s, enum image_place place, struct symbol_file *f)
{
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
	return s->remote != NULL && s->where.id.size != 0 &&
	       symbol_remote_find(s->remote, &s->where.id, kind, s->where.path, s->name) &&
	       named_open(s, f);
}

bool symbol_file_open_object(struct symbol_search *s, struct symbol_file *f)
{
	if (!symbol_file_open(s, IMAGE_PLACE_PATH, f) &&
	        !symbol_file_open(s, IMAGE_PLACE_CACHE, f) &&
	        !remote_open(s, SYMBOL_REMOTE_EXECUTABLE, f)) {
		return false;
	}
	if (s->where.id.size == 0) {
		s->where.id = f->elf.build_id;
	}
	return true;
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

	if (symbol_file_open(s, IMAGE_PLACE_DEBUG_ID, f)) {
		return true;
	}
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
