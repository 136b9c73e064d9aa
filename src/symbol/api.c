/* SPDX-License-Identifier: MIT */
/* The public form: symbols and lines of objects and running processes. */
#include "core/array.h"
#include "core/options.h"
#include "core/pool.h"
#include "proc/proc.h"
#include "symbol/files.h"
#include "symbol/location.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define KERNEL_START (UINT64_C(1) << 63)
#define KERNEL_NAME  "[kernel.kallsyms]"

struct object {
	enum symbol_object_kind kind;
	char *name, *path; /* path: where this process can read it */
	uint32_t pid; /* of a perf map */
	struct symbol_file file; /* of objects that were added: converts addresses */
	struct symbol_table *table; /* NULL: not read */
	struct lines *lines; /* NULL: not opened */
};

struct mapping {
	uint64_t start, end, offset;
	size_t object;
};

/* The addresses of one number: an object's, or those of a process. */
struct space {
	bool process;
	size_t object; /* of an object */
	struct mapping *v; /* of a process, by address */
	size_t n, cap;
};

struct sonde_symbols {
	struct sonde_symbols_options options; /* but for its texts */
	char *cache, *build_ids;
	struct error error;
	struct object *objects;
	size_t nobjects, objects_cap;
	struct space *spaces;
	size_t nspaces, spaces_cap;
	struct locations found;
	struct lines_place place;
	bool misused;
};

struct sonde_symbols *sonde_symbols_new(const struct sonde_symbols_options *options)
{
	struct sonde_symbols *s = calloc(1, sizeof(*s));
	struct sonde_symbols_options o = {0};
	struct text folder = {0};
	bool good;

	if (s == NULL) {
		return NULL;
	}
	s->misused = options_copy(&o, sizeof(o), options, &s->error) < 0;
	s->options = o;
	s->cache = o.cache != NULL ? strdup(o.cache) : NULL;
	good = o.cache == NULL || s->cache != NULL;
	if (o.home != NULL) {
		text_str(&folder, o.home);
		text_str(&folder, "/.debug");
		text_char(&folder, '\0');
		good = good && !folder.failed;
		s->build_ids = folder.p;
	}
	if (!good) {
		sonde_symbols_free(s);
		return NULL;
	}
	if (s->options.jobs == 0) {
		s->options.jobs = pool_default_jobs();
	}
	return s;
}

void sonde_symbols_free(struct sonde_symbols *s)
{
	if (s == NULL) {
		return;
	}
	for (size_t i = 0; i < s->nobjects; i++) {
		symbol_table_free(s->objects[i].table);
		lines_free(s->objects[i].lines);
		symbol_file_close(&s->objects[i].file);
		free(s->objects[i].name);
		free(s->objects[i].path);
	}
	for (size_t i = 0; i < s->nspaces; i++) {
		free(s->spaces[i].v);
	}
	free(s->objects);
	free(s->spaces);
	locations_fini(&s->found);
	free(s->cache);
	free(s->build_ids);
	free(s);
}

const struct sonde_error *sonde_symbols_error(const struct sonde_symbols *s)
{
	return error_show(&s->error);
}

/* Finds or adds an object. SONDE_ENOMEM. */
static int object_get(struct sonde_symbols *s, enum symbol_object_kind kind, const char *name,
        const char *path, uint32_t pid, size_t *out)
{
	struct object new = {.kind = kind, .pid = pid};

	for (*out = 0; *out < s->nobjects; ++*out) {
		const struct object *o = &s->objects[*out];

		if (o->kind == kind && o->pid == pid && strcmp(o->path, path) == 0) {
			return 0;
		}
	}
	if (!array_reserve(&s->objects, &s->objects_cap, s->nobjects + 1, sizeof(new))) {
		return error_nomem(&s->error);
	}
	new.name = strdup(name);
	new.path = strdup(path);
	if (new.name == NULL || new.path == NULL) {
		free(new.name);
		free(new.path);
		return error_nomem(&s->error);
	}
	s->objects[s->nobjects++] = new;
	return 0;
}

/* Adds addresses; returns their number. */
static int space_add(struct sonde_symbols *s, const struct space *space)
{
	if (s->nspaces >= INT_MAX ||
	        !array_reserve(&s->spaces, &s->spaces_cap, s->nspaces + 1, sizeof(*s->spaces))) {
		return error_nomem(&s->error);
	}
	s->spaces[s->nspaces] = *space;
	return (int)s->nspaces++;
}

int sonde_symbols_add_object(struct sonde_symbols *s, const char *path)
{
	struct space space = {0};
	struct object *o;
	int rc;

	if (s->misused) {
		return error_status(&s->error);
	}
	TRY(object_get(s, SYMBOL_ELF, path, path, 0, &space.object));
	o = &s->objects[space.object];
	if (o->file.file.bytes.p == NULL) {
		rc = image_file_open(&o->file.file, path, &s->error);
		if (rc >= 0) {
			rc = image_elf_open(&o->file.elf, o->file.file.bytes, &s->error);
		}
		if (rc < 0) {
			symbol_file_close(&o->file);
			o->file = (struct symbol_file){0};
			return rc == SONDE_ENOMEM ? rc
			                          : error_wrap(&s->error,
			                                    "cannot read the symbols of %s", path);
		}
	}
	return space_add(s, &space);
}

/* ---- processes ---- */

/* Writes the name of a mapped file by which this process can open it. */
static void file_path(uint32_t pid, const struct proc_map *map, char out[IMAGE_PATH_MAX])
{
	static const char deleted[] = " (deleted)";
	size_t n = strlen(map->name), end = sizeof(deleted) - 1;

	if (n > end && strcmp(map->name + n - end, deleted) == 0) {
		(void)snprintf(out, IMAGE_PATH_MAX, "/proc/%u/map_files/%llx-%llx", pid,
		        (unsigned long long)map->start, (unsigned long long)map->end);
	} else if (!image_live_path(pid, map->name, out, IMAGE_PATH_MAX)) {
		(void)snprintf(out, IMAGE_PATH_MAX, "%s", map->name);
	}
}

static int map_object(
        struct sonde_symbols *s, uint32_t pid, const struct proc_map *map, size_t *out)
{
	char path[IMAGE_PATH_MAX];

	if (strcmp(map->name, "[vdso]") == 0) {
		return object_get(s, SYMBOL_VDSO, map->name, map->name, 0, out);
	}
	if (map->name[0] == '/' && map->ino != 0) {
		file_path(pid, map, path);
		return object_get(s, SYMBOL_ELF, map->name, path, 0, out);
	}
	(void)snprintf(path, sizeof(path), "/tmp/perf-%u.map", pid);
	return object_get(s, SYMBOL_PERF_MAP, path, path, pid, out);
}

static int maps_read(
        struct sonde_symbols *s, uint32_t pid, struct proc_maps *maps, struct space *space)
{
	struct proc_map map;

	while (proc_maps_next(maps, &map)) {
		struct mapping new = {.start = map.start, .end = map.end, .offset = map.pgoff};

		if (map.start >= map.end || map.start >= KERNEL_START) {
			continue;
		}
		TRY(map_object(s, pid, &map, &new.object));
		if (!array_reserve(&space->v, &space->cap, space->n + 2, sizeof(new))) {
			return error_nomem(&s->error);
		}
		space->v[space->n++] = new;
	}
	return 0;
}

/* Adds the kernel's half of the addresses; maps_read left room for it. */
static int kernel_add(struct sonde_symbols *s, struct space *space)
{
	struct mapping all = {.start = KERNEL_START, .end = UINT64_MAX, .offset = KERNEL_START};

	TRY(object_get(s, SYMBOL_KERNEL, KERNEL_NAME, KERNEL_NAME, 0, &all.object));
	if (!array_reserve(&space->v, &space->cap, space->n + 1, sizeof(all))) {
		return error_nomem(&s->error);
	}
	space->v[space->n++] = all;
	return 0;
}

int sonde_symbols_add_process(struct sonde_symbols *s, uint32_t pid)
{
	struct space space = {.process = true};
	struct proc_maps maps;
	int root, rc;

	if (s->misused) {
		return error_status(&s->error);
	}
	root = proc_root_open("/");
	if (pid > INT_MAX || root < 0 || !proc_maps_open(&maps, root, (pid_t)pid, 0)) {
		(void)(root >= 0 && close(root));
		return error_set(&s->error, SONDE_ENOENT, NO_OFFSET,
		        "cannot read the mappings of process %u: it does not run, or belongs to "
		        "another user",
		        pid);
	}
	rc = maps_read(s, pid, &maps, &space);
	rc = rc < 0 ? rc : kernel_add(s, &space);
	rc = rc < 0 ? rc : space_add(s, &space);
	proc_maps_close(&maps);
	(void)close(root);
	if (rc < 0) {
		free(space.v);
	}
	return rc;
}

/* ---- look-ups ---- */

/* Reads the symbols of an object, and opens its lines. SONDE_ENOMEM. */
static int object_load(struct sonde_symbols *s, struct object *o)
{
	const struct symbol_request req = {
	        .kind = o->kind,
	        .path = o->path,
	        .pid = o->pid,
	        .running_kernel = true,
	        .demangle = !s->options.no_demangle,
	        .build_ids = s->build_ids,
	        .cache = s->cache,
	        .jobs = s->options.jobs,
	};
	struct error err = {0};
	int rc;

	if (o->table == NULL) {
		rc = symbol_table_load(&req, &o->table, &err);
		if (rc < 0 && rc != SONDE_ENOMEM) { /* an empty one: it has no names */
			rc = symbol_table_from_perf_map((struct span){0}, &o->table, &err);
		}
		if (rc < 0) {
			return error_nomem(&s->error);
		}
	}
	if (o->lines == NULL && lines_open(&req, &o->lines) < 0) {
		return error_nomem(&s->error);
	}
	return 0;
}

/* Finds the mapping of an address; NULL: nothing is mapped there. */
static const struct mapping *mapping_at(const struct space *space, uint64_t address)
{
	size_t low = 0, high = space->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (space->v[mid].end <= address) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return low < space->n && space->v[low].start <= address ? &space->v[low] : NULL;
}

/* Finds the object at an address, and the address as in symbol.h; NULL: none. */
static struct object *object_at(
        struct sonde_symbols *s, const struct space *space, uint64_t address, uint64_t *inside)
{
	const struct mapping *m;
	struct object *o;

	if (!space->process) {
		o = &s->objects[space->object];
		return image_elf_offset(&o->file.elf, address, inside) ? o : NULL;
	}
	m = mapping_at(space, address);
	if (m == NULL) {
		return NULL;
	}
	o = &s->objects[m->object];
	*inside = o->kind == SYMBOL_PERF_MAP || o->kind == SYMBOL_KERNEL
	                  ? address
	                  : address - m->start + m->offset;
	return o;
}

static int locate(struct sonde_symbols *s, const struct space *space, struct sonde_location *l)
{
	uint64_t inside;
	struct object *o = object_at(s, space, l->address, &inside);
	const struct symbol *symbol;
	const char *before = NULL;

	l->object_address = l->address;
	if (o == NULL) {
		return 0;
	}
	l->object = o->name;
	TRY(object_load(s, o));
	symbol = symbol_table_find(o->table, inside);
	if (symbol != NULL) {
		l->symbol = symbol_name(o->table, symbol);
		l->symbol_offset = inside - symbol->start;
		if (l->symbol == NULL) {
			return error_nomem(&s->error);
		}
	}
	if (lines_find(o->lines, inside, &s->place) < 0 ||
	        (l->symbol == NULL && lines_function_before(o->lines, inside, &before) < 0) ||
	        location_functions(&s->found, l, &s->place, before, !s->options.no_demangle) < 0) {
		return error_nomem(&s->error);
	}
	l->object_address = s->place.address;
	return 0;
}

int sonde_symbols_find(struct sonde_symbols *s, int number, const uint64_t *addresses, size_t n,
        const struct sonde_location **out)
{
	if (s->misused) {
		return error_status(&s->error);
	}
	if (number < 0 || (size_t)number >= s->nspaces) {
		return error_set(&s->error, SONDE_EARG, NO_OFFSET,
		        "%d is no number of an object or process", number);
	}
	if (locations_begin(&s->found, n) < 0) {
		return error_nomem(&s->error);
	}
	for (size_t i = 0; i < n; i++) {
		s->found.v[i] = (struct sonde_location){.address = addresses[i]};
		TRY(locate(s, &s->spaces[number], &s->found.v[i]));
	}
	*out = s->found.v;
	return 0;
}
