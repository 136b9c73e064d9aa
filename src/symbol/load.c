/* SPDX-License-Identifier: MIT */
/* Finds the files of an object and loads a table from them. */
#include "symbol/builder.h"
#include "symbol/cache.h"
#include "symbol/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* State of one load. */
struct loader {
	const struct symbol_request *req;
	struct symbol_search search;
	struct symbol_builder b;
	struct symbol_file object; /* the file that was executed */
	struct symbol_file debug; /* its separate debug file */
	struct image_inner inner; /* the symbols in the object's .gnu_debugdata */
	struct image_text file; /* kallsyms or a perf map of this machine */
	struct span text; /* the same, or that of the bundle */
	struct symbol_cache_key key;
	uint64_t reference; /* address of the request's reference symbol in the text that is
	                       read; 0: not found */
	enum symbol_lack lack;
	enum symbol_origin origin;
	bool cacheable; /* the table can be stored in the cache under the key */
	struct symbol_table *cached; /* table from the cache: nothing else is read */
};

static bool has_symtab(const struct image_elf *e)
{
	const struct image_section *s = image_elf_section(e, ".symtab");

	return s != NULL && image_elf_symbol_count(e, s) > 1;
}

/* Adds the symbols in an object's .gnu_debugdata, which has none of those in .dynsym. */
static bool read_inner(
        struct symbol_builder *b, const struct image_elf *object, struct image_inner *inner)
{
	int rc = image_inner_open(inner, object);

	b->failed = b->failed || rc < 0;
	if (rc <= 0 || !has_symtab(&inner->elf)) {
		return false;
	}
	builder_read_elf_symbols(b, object, &inner->elf);
	return true;
}

static void load_elf(struct loader *l)
{
	struct symbol_file *object = &l->object;
	struct symbol_file *debug = &l->debug;
	bool have = symbol_file_open_object(&l->search, object);
	bool have_debug = false;

	l->origin = l->search.origin;
	if (!have || !has_symtab(&object->elf)) {
		have_debug =
		        symbol_file_open_debug(&l->search, have ? &object->elf : NULL, debug) &&
		        has_symtab(&debug->elf);
		l->lack = have_debug ? SYMBOL_COMPLETE : have ? SYMBOL_STRIPPED : l->search.lack;
	}
	l->origin = have_debug ? l->search.origin : l->origin;
	if (l->lack == SYMBOL_STRIPPED && read_inner(&l->b, &object->elf, &l->inner)) {
		l->lack = SYMBOL_COMPLETE;
	}
	if (!have && !have_debug) {
		return;
	}
	builder_read_elf(
	        &l->b, have ? &object->elf : &debug->elf, have_debug ? &debug->elf : &object->elf);
}

static void load_vdso(struct loader *l)
{
	if (!symbol_file_open_vdso(&l->search, true, &l->object)) {
		l->lack = l->search.lack;
		return;
	}
	l->origin = l->search.origin;
	builder_read_elf(&l->b, &l->object.elf, &l->object.elf);
}

/* Converts "[ext4]" or ".../ext4.ko.xz" to "ext4", with '_' for '-'. */
static void module_name(const char *path, char *out, size_t n)
{
	const char *slash = strrchr(path, '/');
	const char *p = slash != NULL ? slash + 1 : path;
	size_t len;

	if (*p == '[') {
		p++;
		len = strcspn(p, "]");
	} else {
		const char *dot = strstr(p, ".ko");

		len = dot != NULL ? (size_t)(dot - p) : strlen(p);
	}
	len = len < n - 1 ? len : n - 1;
	for (size_t i = 0; i < len; i++) {
		out[i] = p[i];
		if (p[i] == '-') {
			out[i] = '_';
		}
	}
	out[len] = 0;
}

/* Whether the running kernel is the recorded one. */
static bool is_running_kernel(const struct loader *l, const char *module)
{
	struct image_build_id id = {0};

	if (l->search.where.id.size == 0) {
		return l->req->running_kernel && symbol_search_here(&l->search);
	}
	id.size = (size_t)(module != NULL ? image_build_id_of_module(module, id.bytes)
	                                  : image_build_id_of_kernel(id.bytes));
	return id.size != 0 && symbol_same_id(&id, &l->search.where.id);
}

/* Reads a text of this machine; the result is that of image_text_read. */
static int text_read(struct loader *l, const char *path)
{
	struct error err = {0};
	int rc = image_text_read(&l->file, path, &err);

	if (symbol_search_read(&l->search, rc)) {
		l->text = (struct span){.p = l->file.bytes, .n = l->file.size};
	}
	return rc;
}

/* The symbols of a module are those of the kernel's text, which its own build id does not name. */
static bool find_bundled_kallsyms(struct loader *l, const char *module)
{
	struct span id = module != NULL ? (struct span){NULL, 0} : symbol_search_id(&l->search);

	return l->req->kallsyms == NULL && bundle_kallsyms(l->req->bundle, id, &l->text);
}

static bool find_kallsyms(struct loader *l, const char *module)
{
	const char *given = l->req->kallsyms;

	if (find_bundled_kallsyms(l, module)) {
		return true;
	}
	if (given != NULL || is_running_kernel(l, module)) {
		return text_read(l, given != NULL ? given : "/proc/kallsyms") >= 0;
	}
	for (unsigned i = 0; image_place_name(&l->search.where, IMAGE_PLACE_CACHE, i,
	             l->search.name, sizeof(l->search.name));
	        i++) {
		if (text_read(l, l->search.name) >= 0) {
			return true;
		}
	}
	return false;
}

/*
 * Finds the current address of the request's reference; it is among the first symbols of kallsyms.
 */
static bool find_reference(struct loader *l)
{
	uint8_t head[65536];
	struct span text = {.p = head};

	if (l->req->reference == NULL) {
		return true;
	}
	text.n = image_head_read("/proc/kallsyms", head, sizeof(head));
	return kallsyms_find(text, l->req->reference, &l->reference);
}

/* Finds the running kernel's symbols in the cache. */
static bool find_cached(struct loader *l)
{
	if (l->req->cache == NULL || l->req->kallsyms != NULL || l->b.demangle ||
	        find_bundled_kallsyms(l, NULL) || !is_running_kernel(l, NULL)) {
		return false;
	}
	l->cacheable = find_reference(l) && symbol_cache_key_make(&l->key);
	l->cached = l->cacheable ? symbol_cache_load(l->req->cache, &l->key) : NULL;
	return l->cached != NULL;
}

/* As in perf, no other symbols are used if the file has none. */
static void load_vmlinux(struct loader *l)
{
	const struct symbol_request *req = l->req;

	if (!symbol_file_open_kernel(&l->search, req, &l->object)) {
		l->lack = l->search.lack;
		return;
	}
	builder_read_kernel(&l->b, &l->object.elf);
	l->origin = SYMBOL_FROM_VMLINUX;
	l->lack = l->b.count == 0 ? SYMBOL_STRIPPED : SYMBOL_COMPLETE;
	if (req->reference != NULL) {
		(void)builder_find(&l->b, req->reference, &l->reference);
	}
}

/* Whether any symbol of a kallsyms text has an address: they are 0 for users without permission. */
static bool has_addresses(struct span text)
{
	struct symbol_builder all = {0};
	bool found;

	builder_read_kallsyms(&all, text, NULL);
	found = all.count != 0 || all.failed;
	builder_fini(&all);
	return found;
}

/* Reads the symbols in the file of a module, whose text is where the module starts. */
static bool load_module_file(struct loader *l)
{
	if (l->req->path == NULL || l->req->path[0] != '/' ||
	        !symbol_file_open_object(&l->search, &l->object)) {
		return false;
	}
	builder_read_module(&l->b, &l->object.elf);
	l->lack = l->b.count == 0 ? SYMBOL_STRIPPED : SYMBOL_COMPLETE;
	return l->b.count != 0;
}

static void load_kernel(struct loader *l)
{
	char module[128];
	bool is_module = l->req->kind == SYMBOL_MODULE;

	l->origin = SYMBOL_FROM_KALLSYMS;
	l->b.demangle = l->req->demangle && l->req->demangle_kernel;
	if (!is_module && l->req->vmlinux != NULL && l->req->kallsyms == NULL) {
		load_vmlinux(l);
		return;
	}
	if (!is_module && find_cached(l)) {
		return;
	}
	module_name(l->req->path != NULL ? l->req->path : "", module, sizeof(module));
	if (!find_kallsyms(l, is_module ? module : NULL)) {
		if (is_module && load_module_file(l)) {
			return;
		}
		l->lack = l->req->kallsyms != NULL ? SYMBOL_NO_FILE : SYMBOL_OTHER_KERNEL;
		return;
	}
	builder_read_kallsyms(&l->b, l->text, is_module ? module : NULL);
	if (l->b.count == 0 && l->text.n != 0 && !has_addresses(l->text)) {
		l->lack = SYMBOL_HIDDEN;
	}
	if (!is_module && l->req->reference != NULL && l->reference == 0) {
		(void)kallsyms_find(l->text, l->req->reference, &l->reference);
	}
	if (is_module) {
		builder_rebase(&l->b, l->req->base);
	}
}

/* Names the map of a running process in namespaces of its own; false: it is where others are. */
static bool live_map_name(struct loader *l)
{
	uint32_t inside = l->req->running_kernel ? image_live_pid(l->req->pid) : 0;
	char map[64];

	(void)snprintf(map, sizeof(map), "/tmp/perf-%u.map", inside);
	return inside != 0 &&
	       image_live_path(l->req->pid, map, l->search.name, sizeof(l->search.name)) &&
	       access(l->search.name, R_OK) == 0;
}

/* Writes the name that the map has in the recording; false: it is too long. */
static bool map_name(struct loader *l)
{
	const char *path = l->req->path;
	int len;

	if (path != NULL && strstr(path, "/perf-") != NULL) {
		len = snprintf(l->search.name, sizeof(l->search.name), "%s", path);
	} else {
		len = snprintf(
		        l->search.name, sizeof(l->search.name), "/tmp/perf-%u.map", l->req->pid);
	}
	return len >= 0 && (size_t)len < sizeof(l->search.name);
}

/* Reads the map of this machine; it has no build id. */
static bool map_read(struct loader *l)
{
	int rc;

	if (!live_map_name(l) && !map_name(l)) {
		return false;
	}
	rc = text_read(l, l->search.name);
	if (rc < 0) {
		l->lack = rc == SONDE_ENOENT ? SYMBOL_NO_MAP : SYMBOL_UNREADABLE;
		return false;
	}
	/* Anyone can write to /tmp: do not show names from another user's file. */
	if (l->file.uid != 0 && l->file.uid != geteuid()) {
		l->lack = SYMBOL_FOREIGN_MAP;
		return false;
	}
	return true;
}

static void load_perf_map(struct loader *l)
{
	l->origin = SYMBOL_FROM_PERF_MAP;
	if (l->req->bundle != NULL) {
		if (!map_name(l) || !bundle_file(l->req->bundle, l->search.name, &l->text)) {
			l->lack = SYMBOL_NO_MAP;
			return;
		}
	} else if (!map_read(l)) {
		return;
	}
	builder_read_perf_map(&l->b, l->text);
}

/* Names still point into the files, which must stay open. */
static int table_make(struct loader *l, struct symbol_table **out, struct error *err)
{
	if (l->cached != NULL) {
		*out = l->cached;
	} else {
		TRY(builder_finish(&l->b, out, err));
	}
	(*out)->lack = l->lack;
	(*out)->origin = l->origin;
	if (l->cached == NULL && l->cacheable && (*out)->count != 0) {
		symbol_cache_save(l->req->cache, &l->key, *out);
	}
	if (l->reference != 0 && l->reference != l->req->base &&
	        !symbol_table_move(*out, l->reference, l->req->base)) {
		symbol_table_free(*out);
		*out = NULL;
		return error_nomem(err);
	}
	return SONDE_OK;
}

static void load(struct loader *l)
{
	switch (l->req->kind) {
	case SYMBOL_ELF: load_elf(l); break;
	case SYMBOL_KERNEL:
	case SYMBOL_MODULE: load_kernel(l); break;
	case SYMBOL_VDSO: load_vdso(l); break;
	case SYMBOL_PERF_MAP: load_perf_map(l); break;
	}
}

int symbol_table_load(
        const struct symbol_request *req, struct symbol_table **out, struct error *err)
{
	struct loader *l = calloc(1, sizeof(*l));
	int rc;

	*out = NULL;
	if (l == NULL) {
		return error_nomem(err);
	}
	l->req = req;
	l->b.demangle = req->demangle;
	symbol_search_init(&l->search, req);
	load(l);
	l->b.failed = l->b.failed || l->search.failed;
	rc = table_make(l, out, err);
	builder_fini(&l->b);
	symbol_file_close(&l->object);
	symbol_file_close(&l->debug);
	image_inner_close(&l->inner);
	free(l->file.bytes);
	free(l);
	return rc;
}

/* Finds the text of a request. */
static bool find_text(struct loader *l)
{
	char module[128];

	if (l->req->kind == SYMBOL_PERF_MAP) {
		return l->req->bundle != NULL ? map_name(l) && bundle_file(l->req->bundle,
		                                                       l->search.name, &l->text)
		                              : map_read(l);
	}
	module_name(l->req->path != NULL ? l->req->path : "", module, sizeof(module));
	l->lack = SYMBOL_OTHER_KERNEL;
	if (!find_kallsyms(l, l->req->kind == SYMBOL_MODULE ? module : NULL)) {
		return false;
	}
	l->lack = SYMBOL_HIDDEN;
	return has_addresses(l->text);
}

int symbol_text_read(const struct symbol_request *req, struct symbol_text *out)
{
	struct loader *l = calloc(1, sizeof(*l));
	bool found, failed;

	*out = (struct symbol_text){.lack = SYMBOL_NO_FILE};
	if (l == NULL) {
		return SONDE_ENOMEM;
	}
	l->req = req;
	symbol_search_init(&l->search, req);
	found = find_text(l);
	failed = l->search.failed;
	out->text = l->text;
	out->file = l->file;
	out->lack = l->lack;
	if (req->kind == SYMBOL_PERF_MAP && map_name(l)) {
		memcpy(out->name, l->search.name, sizeof(out->name));
	}
	free(l);
	return failed ? SONDE_ENOMEM : found;
}

void symbol_text_close(struct symbol_text *t)
{
	free(t->file.bytes);
	*t = (struct symbol_text){0};
}

int symbol_table_from_kallsyms(
        struct span text, const char *module, struct symbol_table **out, struct error *err)
{
	struct symbol_builder b = {0};

	builder_read_kallsyms(&b, text, module);
	return builder_finish(&b, out, err);
}

int symbol_table_from_perf_map(struct span text, struct symbol_table **out, struct error *err)
{
	struct symbol_builder b = {0};

	builder_read_perf_map(&b, text);
	return builder_finish(&b, out, err);
}

int symbol_table_from_elf(struct span object, struct span debug, bool demangle,
        struct symbol_table **out, struct error *err)
{
	struct symbol_builder b = {.demangle = demangle};
	struct image_elf o;
	struct image_elf d = {0};
	struct image_inner inner = {0};
	int rc;

	*out = NULL;
	TRY(image_elf_open(&o, object, err));
	rc = debug.n > 0 ? image_elf_open(&d, debug, err) : SONDE_OK;
	if (rc == SONDE_OK) {
		if (debug.n == 0 && !has_symtab(&o)) {
			(void)read_inner(&b, &o, &inner);
		}
		builder_read_elf(&b, &o, debug.n > 0 ? &d : &o);
		rc = builder_finish(&b, out, err);
	}
	image_inner_close(&inner);
	image_elf_close(&d);
	image_elf_close(&o);
	return rc;
}
