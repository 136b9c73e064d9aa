/* SPDX-License-Identifier: MIT */
#include "timeline/objects.h"

#include "core/array.h"
#include "core/escape.h"
#include "core/hash.h"
#include "core/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

void objects_fini(struct objects *all)
{
	free(all->items);
	index_fini(&all->index);
	*all = (struct objects){0};
}

uint32_t objects_text(struct objects *all, const char *s, size_t n)
{
	return all->complete ? intern_find(all->texts, s, n) : intern_add(all->texts, s, n);
}

/* Executable memory without a file can hold JIT-compiled code; other such memory holds data. */
static enum timeline_object_kind user_kind(const char *name, uint32_t prot)
{
	static const struct {
		const char *prefix;
		enum timeline_object_kind kind;
	} kinds[] = {
	        {"//anon", TIMELINE_ANON},
	        {"/anon_hugepage", TIMELINE_ANON},
	        {"/dev/zero", TIMELINE_ANON},
	        {"[heap]", TIMELINE_ANON},
	        {"[vdso]", TIMELINE_VDSO},
	        {"[vdso32]", TIMELINE_VDSO},
	        {"[vdsox32]", TIMELINE_VDSO},
	        {"[stack", TIMELINE_ANON},
	        {"/SYSV", TIMELINE_ANON},
	        {"[vsyscall]", TIMELINE_NONE},
	        {"[uprobes]", TIMELINE_NONE},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strncmp(name, kinds[i].prefix, strlen(kinds[i].prefix)) != 0) {
			continue;
		}
		return kinds[i].kind == TIMELINE_ANON && (prot & PROT_EXEC) == 0 ? TIMELINE_NONE
		                                                                 : kinds[i].kind;
	}
	return TIMELINE_USER;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* Length of the module name in a file name: 8 for "mac80211.ko.xz". 0: not the file of a module. */
static size_t module_name_size(const char *file)
{
	static const char *const ends[] = {".ko", ".ko.gz", ".ko.xz"};
	size_t n = strlen(file);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t end = strlen(ends[i]);

		if (n > end && strcmp(file + n - end, ends[i]) == 0) {
			return n - end;
		}
	}
	return 0;
}

/* The kernel's name of a module: "[snd_hda]" for snd-hda.ko. */
static uint32_t module_short_name(struct objects *all, const char *path)
{
	const char *file = base_name(path);
	size_t own = module_name_size(file);
	size_t n = own != 0 ? own : strlen(file);
	struct text name = {0};
	uint32_t id = INTERN_NONE;

	if (file[0] == '[') {
		return objects_text(all, file, n);
	}
	text_str(&name, own != 0 ? "[" : "");
	for (size_t i = 0; i < n; i++) {
		text_char(&name, (char)(file[i] == '-' ? '_' : file[i]));
	}
	text_str(&name, own != 0 ? "]" : "");
	if (!name.failed) {
		id = objects_text(all, name.p != NULL ? name.p : "", name.n);
	}
	text_fini(&name);
	return id;
}

/* o: an object of the table; key: from a record. */
static bool same_object(const struct timeline_object *o, const struct timeline_object *key)
{
	uint8_t recorded = o->listed_id ? 0 : o->build_id_size;

	return o->name == key->name && o->kind == key->kind && o->pid == key->pid &&
	       o->guest == key->guest && o->code == key->code && recorded == key->build_id_size &&
	       memcmp(o->build_id, key->build_id, recorded) == 0;
}

static uint32_t object_get(struct objects *all, const struct timeline_object *o)
{
	uint32_t hash = (uint32_t)hash_u64(o->name);
	uint32_t id;
	size_t at = hash;
	const char *name;

	if (o->name == INTERN_NONE || o->short_name == INTERN_NONE ||
	        (!all->complete && index_room(&all->index) < 0)) {
		return OBJECT_NONE;
	}
	while ((id = index_next(&all->index, hash, &at)) != OBJECT_NONE) {
		if (same_object(&all->items[id], o)) {
			return id;
		}
		at++;
	}
	if (all->complete ||
	        !array_reserve(&all->items, &all->cap, all->n + 1, sizeof(*all->items))) {
		return OBJECT_NONE;
	}
	id = (uint32_t)all->n++;
	all->items[id] = *o;
	name = intern_text(all->texts, o->name);
	all->items[id].plain = escape_is_plain(name, strlen(name));
	index_put(&all->index, hash, at, id);
	return id;
}

uint32_t objects_user(struct objects *all, const struct record_mmap *m)
{
	struct timeline_object o = {.kind = TIMELINE_USER, .build_id_size = m->build_id_size};
	const char *name;
	char text[64];

	o.name = objects_text(all, (const char *)m->name.p, m->name.n);
	if (o.name == INTERN_NONE) {
		return OBJECT_NONE;
	}
	o.kind = user_kind(intern_text(all->texts, o.name), m->prot);
	if (o.kind == TIMELINE_ANON) {
		int n = snprintf(text, sizeof(text), "/tmp/perf-%u.map", m->pid);

		o.name = objects_text(all, text, (size_t)n);
		n = snprintf(text, sizeof(text), "[JIT] tid %u", m->pid);
		o.short_name = objects_text(all, text, (size_t)n);
		o.pid = m->pid;
	} else {
		name = base_name(intern_text(all->texts, o.name));
		o.short_name = objects_text(all, name, strlen(name));
	}
	memcpy(o.build_id, m->build_id, sizeof(o.build_id));
	return object_get(all, &o);
}

/*
 * Names such as "[kernel.kallsyms]_text" end with a symbol; the record's pgoff is its address. That of
 * a guest is "[guest.kernel.kallsyms]_text".
 */
uint32_t objects_kernel(struct objects *all, const struct record_mmap *m, bool guest)
{
	const char *core = guest ? "[guest.kernel.kallsyms]" : "[kernel.kallsyms]";
	struct timeline_object o = {
	        .kind = TIMELINE_MODULE, .build_id_size = m->build_id_size, .guest = guest};
	const char *name = (const char *)m->name.p;
	size_t n = m->name.n;

	if (n >= strlen(core) && memcmp(name, core, strlen(core)) == 0) {
		o.kind = TIMELINE_KERNEL;
		n = strlen(core);
		o.reference = objects_text(all, name + n, m->name.n - n);
		o.base = m->name.n > n ? m->pgoff : 0;
	}
	o.name = objects_text(all, name, n);
	if (o.name == INTERN_NONE || o.reference == INTERN_NONE) {
		return OBJECT_NONE;
	}
	o.short_name = o.kind == TIMELINE_KERNEL
	                       ? o.name
	                       : module_short_name(all, intern_text(all->texts, o.name));
	memcpy(o.build_id, m->build_id, sizeof(o.build_id));
	return object_get(all, &o);
}

/* Returns the object of code that the kernel made at run time, by its name. */
uint32_t objects_code(struct objects *all, const struct record_ksymbol *k)
{
	struct timeline_object o = {.kind = TIMELINE_CODE};
	uint32_t id;

	o.name = objects_text(all, (const char *)k->name.p, k->name.n);
	o.short_name = o.name;
	id = object_get(all, &o);
	if (id != OBJECT_NONE && !all->complete && all->items[id].length < k->len) {
		all->items[id].length = k->len;
	}
	return id;
}

uint32_t objects_jit(struct objects *all, const struct timeline_jit *jit)
{
	struct timeline_object o = {.kind = TIMELINE_JIT, .pid = jit->pid, .code = jit->code};
	const char *name = base_name(jit->name);

	o.name = objects_text(all, jit->name, strlen(jit->name));
	o.short_name = objects_text(all, name, strlen(name));
	if (!all->complete) {
		all->has_jit = true;
	}
	return object_get(all, &o);
}

/* As perf, compares short names: for kernel code the module name ('-' becomes '_'), else the file
 * name. */
static bool is_listed(const struct objects *all, const struct timeline_object *o, bool kernel)
{
	const char *file = base_name(intern_text(all->texts, o->name));

	return module_name_size(file) != 0
	               ? kernel
	               : strcmp(file, intern_text(all->texts, o->short_name)) == 0;
}

int objects_add_build_id(
        struct objects *all, const char *name, const uint8_t *id, size_t size, bool kernel)
{
	uint32_t text = intern_add(all->texts, name, strlen(name));

	if (text == INTERN_NONE) {
		return SONDE_ENOMEM;
	}
	all->nlisted++;
	for (size_t i = 0; i < all->n; i++) {
		struct timeline_object *o = &all->items[i];
		bool module = o->kind == TIMELINE_MODULE;

		if (o->name != text && !(module && o->short_name == text)) {
			continue;
		}
		if (o->list_number == 0) {
			o->list_number = all->nlisted;
		}
		o->listed = o->listed || (module && o->name == text && is_listed(all, o, kernel));
		if (o->build_id_size == 0 && size <= BUILD_ID_MAX) {
			memcpy(o->build_id, id, size);
			o->build_id_size = (uint8_t)size;
			o->listed_id = true;
		}
	}
	return 0;
}
