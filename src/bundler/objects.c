/* SPDX-License-Identifier: MIT */
/*
 * What the samples of a recording need: objects with their debug files, symbols of the kernel, perf
 * maps and jitdump files; those that a report on this machine would use.
 */
#include "bundler/inside.h"

#include "core/text.h"
#include "file/file.h"
#include "frame/jit.h"
#include "frame/kernel.h"
#include "frame/search.h"
#include "session/file.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const lacks[SYMBOL_LACKS] = {
        [SYMBOL_NO_FILE] = "no such file, and not in the cache of build ids",
        [SYMBOL_NOT_ELF] = "no ELF file",
        [SYMBOL_UNREADABLE] = "it cannot be read",
        [SYMBOL_OTHER_BUILD] = "the file has another build id",
        [SYMBOL_STRIPPED] = "stripped",
        [SYMBOL_OTHER_KERNEL] = "the running kernel is not the recorded one",
        [SYMBOL_HIDDEN] = "/proc/kallsyms hides all addresses: run as root",
        [SYMBOL_NO_MAP] = "the runtime wrote no perf map",
        [SYMBOL_FOREIGN_MAP] = "the perf map belongs to another user",
};

static const char *object_path(const struct sonde_bundler *b, uint32_t object)
{
	const struct timeline *t = session_timeline(b->session);

	return timeline_text(t, timeline_object(t, object)->name);
}

int bundler_put_root(
        struct sonde_bundler *b, const char *path, const char *stored, struct span bytes)
{
	char name[BUNDLE_NAME_MAX];

	if (!bundle_root_name(name, stored)) {
		bundler_lack(b, path, "a bundle cannot have a file of this name");
		return 0;
	}
	return bundler_put(b, path, name, bytes);
}

static int id_put(struct sonde_bundler *b, const char *path, const struct image_build_id *id,
        const char *part, struct span bytes)
{
	char name[BUNDLE_NAME_MAX];

	bundle_object_name(name, (struct span){id->bytes, id->size}, part);
	return bundler_put(b, path, name, bytes);
}

/* Writes an object, or only its parts, by its build id; id NULL: by its path. */
static int elf_put(struct sonde_bundler *b, const char *path, const struct image_elf *elf,
        const struct image_build_id *id, const char *part)
{
	struct span bytes = elf->bytes;
	uint8_t *memory = NULL;
	int rc = b->o.parts ? bundler_parts(elf, &bytes, &memory) : 0;

	if (rc < 0) {
		return error_nomem(&b->error);
	}
	rc = id != NULL ? id_put(b, path, id, part, bytes) : bundler_put_root(b, path, path, bytes);
	free(memory);
	return rc;
}

static bool is_complete(const struct image_elf *e)
{
	return image_elf_section(e, ".symtab") != NULL &&
	       image_elf_section(e, ".eh_frame") != NULL &&
	       (image_elf_section(e, ".debug_line") != NULL ||
	               image_elf_section(e, ".zdebug_line") != NULL);
}

/* Writes the debug file of an object that was opened, or was not found: elf is NULL. */
static int debug_put(struct sonde_bundler *b, const char *path, struct symbol_search *search,
        const struct image_elf *elf)
{
	struct symbol_file debug;
	char name[BUNDLE_NAME_MAX];
	int n, rc = 0;

	if (!symbol_file_open_debug(search, elf, &debug)) {
		return 0;
	}
	n = snprintf(name, sizeof(name), "/usr/lib/debug/%s.debug", path + strspn(path, "/"));
	if (search->where.id.size != 0) {
		rc = elf_put(b, path, &debug.elf, &search->where.id, BUNDLE_DEBUG);
	} else if (n > 0 && (size_t)n < sizeof(name)) {
		rc = bundler_put_root(b, path, name, debug.file.bytes); /* it has a checksum */
	}
	symbol_file_close(&debug);
	return rc;
}

static int user_put(struct sonde_bundler *b, uint32_t object)
{
	const struct timeline_object *o = timeline_object(session_timeline(b->session), object);
	const char *path = object_path(b, object);
	struct symbol_search *search = malloc(sizeof(*search));
	struct symbol_file file = {0};
	bool vdso = o->kind == TIMELINE_VDSO, found;
	int rc = 0;

	if (search == NULL) {
		return error_nomem(&b->error);
	}
	frame_search_init(session_frames(b->session), object, search);
	found = vdso ? symbol_file_open_vdso(search, true, &file)
	             : symbol_file_open_object(search, &file);
	if (found) {
		rc = elf_put(b, path, &file.elf, o->build_id_size != 0 ? &file.elf.build_id : NULL,
		        vdso ? BUNDLE_VDSO : BUNDLE_ELF);
	} else {
		bundler_lack(b, path, lacks[search->lack]);
	}
	if (rc >= 0 && !vdso && (!found || !is_complete(&file.elf))) {
		rc = debug_put(b, path, search, found ? &file.elf : NULL);
	}
	rc = rc >= 0 && search->failed ? error_nomem(&b->error) : rc;
	symbol_file_close(&file);
	free(search);
	return rc;
}

static int map_put(struct sonde_bundler *b, uint32_t object)
{
	struct symbol_text text;
	int rc = frame_text_read(session_frames(b->session), object, &text);

	if (rc < 0) {
		rc = error_nomem(&b->error);
	} else if (rc > 0) {
		rc = bundler_put_root(b, text.name, text.name, text.text);
	} else if (text.name[0] != '\0' && text.lack != SYMBOL_NO_MAP) {
		bundler_lack(b, text.name, lacks[text.lack]);
	}
	symbol_text_close(&text);
	return rc;
}

/* The kernel's object, whose build id names its symbols; otherwise the one that was hit. */
static uint32_t kernel_of(const struct sonde_bundler *b, uint32_t object)
{
	const struct timeline *t = session_timeline(b->session);

	for (uint32_t i = 0; i < timeline_objects(t); i++) {
		if (timeline_object(t, i)->kind == TIMELINE_KERNEL &&
		        !timeline_object(t, i)->guest) {
			return i;
		}
	}
	return object;
}

/* Writes the kernel's ELF file, which has its code, if it is known by its build id. */
static int vmlinux_put(struct sonde_bundler *b, uint32_t object)
{
	const struct timeline_object *o = timeline_object(session_timeline(b->session), object);
	struct frame_kernel kernel = {0};
	int rc = frame_kernel_open(&kernel, session_frames(b->session), o);

	if (rc < 0) {
		return error_nomem(&b->error);
	}
	if (kernel.file.bytes.n != 0 && kernel.elf.build_id.size != 0) {
		rc = elf_put(
		        b, object_path(b, object), &kernel.elf, &kernel.elf.build_id, BUNDLE_ELF);
	}
	frame_kernel_close(&kernel);
	return rc;
}

/* The modules of the kernel whose symbols are those of this machine. */
static int modules_put(struct sonde_bundler *b)
{
	struct image_text modules;
	struct error err = {0};
	int rc = image_text_read(&modules, "/proc/modules", &err);

	if (rc == SONDE_ENOMEM) {
		return error_nomem(&b->error);
	}
	rc = rc >= 0 && modules.size != 0 ? bundler_put_root(b, "/proc/modules", "/proc/modules",
	                                            (struct span){modules.bytes, modules.size})
	                                  : 0;
	free(modules.bytes);
	return rc;
}

static int kernel_put(struct sonde_bundler *b, uint32_t object)
{
	const struct timeline_object *o = timeline_object(session_timeline(b->session), object);
	struct image_build_id id = {.size = o->build_id_size};
	struct symbol_text text;
	int rc;

	memcpy(id.bytes, o->build_id, o->build_id_size);
	if (o->kind == TIMELINE_KERNEL) {
		TRY(vmlinux_put(b, object));
	}
	if (session_file(b->session)->kallsyms != NULL) {
		return 0; /* the recording has its own */
	}
	rc = frame_text_read(session_frames(b->session), object, &text);
	if (rc < 0) {
		rc = error_nomem(&b->error);
	} else if (rc == 0) {
		bundler_lack(b, object_path(b, object), lacks[text.lack]);
	} else if (o->kind == TIMELINE_KERNEL && id.size != 0) {
		rc = id_put(b, "[kernel.kallsyms]", &id, BUNDLE_KALLSYMS, text.text);
	} else {
		rc = bundler_put_root(b, "[kernel.kallsyms]", "/proc/kallsyms", text.text);
	}
	if (rc >= 0 && text.file.bytes != NULL) {
		rc = modules_put(b);
	}
	symbol_text_close(&text);
	return rc;
}

static int object_put(struct sonde_bundler *b, uint32_t object, bool *kernel_done)
{
	switch (timeline_object(session_timeline(b->session), object)->kind) {
	case TIMELINE_USER:
	case TIMELINE_VDSO: return user_put(b, object);
	case TIMELINE_ANON: return map_put(b, object);
	case TIMELINE_KERNEL:
	case TIMELINE_MODULE:
		if (*kernel_done) {
			return 0;
		}
		*kernel_done = true;
		return kernel_put(b, kernel_of(b, object));
	case TIMELINE_CODE:
	case TIMELINE_JIT:
	case TIMELINE_NONE: return 0;
	}
	return 0;
}

/* Which objects traces hit is unknown before they are decoded, and unwinding reads callers. */
static bool needs_all(const struct sonde_bundler *b)
{
	size_t n = sonde_session_events(b->session);
	bool copies = false;

	for (size_t i = 0; i < n; i++) {
		copies = copies || frame_stack_copies(&session_events(b->session)[i].attr);
	}
	return b->o.all || copies || session_has_traces(b->session);
}

static int dumps_put(struct sonde_bundler *b)
{
	const char *path;
	struct span bytes;

	for (size_t i = 0; frame_jit_file(session_frames(b->session), i, &path, &bytes); i++) {
		if (bytes.n != 0) {
			TRY(bundler_put_root(b, path, path, bytes));
		}
	}
	return 0;
}

int bundler_put_objects(struct sonde_bundler *b)
{
	const struct timeline *t = session_timeline(b->session);
	size_t n = timeline_objects(t);
	bool *hit = calloc(n + 1, sizeof(*hit));
	bool all = needs_all(b), kernel_done = false;
	int rc = 0;

	if (hit == NULL) {
		return error_nomem(&b->error);
	}
	if (!all && session_all_hits(b->session, hit) < 0) {
		rc = error_take(&b->error, sonde_session_error(b->session));
	}
	for (uint32_t i = 0; i < n && rc >= 0; i++) {
		if ((all || hit[i]) && !timeline_object(t, i)->guest) {
			rc = object_put(b, i, &kernel_done);
		}
	}
	free(hit);
	return rc < 0 ? rc : dumps_put(b);
}
