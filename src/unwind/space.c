/* SPDX-License-Identifier: MIT */
#include "unwind/space.h"

#include "core/array.h"
#include "core/index.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define OBJECTS_OPEN_MAX 512u /* files that are mapped at a time */
#define ENDED_SPACES_MAX 256u /* processes that have ended, of which mappings are kept */
#define ENDED_NS         UINT64_C(1000000000) /* a sample is at most so late */

struct object {
	char *path; /* NULL: code without a file */
	uint64_t inode, generation;
	struct image_file file;
	struct image_elf elf;
	struct unwind_table *table; /* NULL: not opened, or not found */
	bool tried;
	bool vdso;
};

struct mapping {
	uint64_t start, end, offset;
	uint32_t object;
};

struct space { /* of a process */
	uint32_t pid;
	struct mapping *v; /* by address; none overlap */
	size_t n, cap;
	uint64_t ended; /* ns; 0: it runs */
};

struct unwind_spaces {
	struct unwind_cache cache;
	struct object *objects;
	size_t nobjects, objects_cap, nopen;
	struct index objects_index; /* by path, inode and generation */
	struct space **spaces;
	size_t nspaces, spaces_cap, nended;
	struct index spaces_index; /* by pid */
	const struct space *last; /* of the stack that is unwound */
};

struct unwind_spaces *unwind_spaces_new(void)
{
	struct unwind_spaces *s = calloc(1, sizeof(*s));

	if (s != NULL && unwind_cache_init(&s->cache) < 0) {
		free(s);
		return NULL;
	}
	return s;
}

static void object_close(struct object *o)
{
	unwind_table_free(o->table);
	image_elf_close(&o->elf);
	image_file_close(&o->file);
	o->table = NULL;
	o->tried = false;
}

static void space_free(struct space *space)
{
	free(space->v);
	free(space);
}

void unwind_spaces_free(struct unwind_spaces *s)
{
	if (s == NULL) {
		return;
	}
	for (size_t i = 0; i < s->nobjects; i++) {
		object_close(&s->objects[i]);
		free(s->objects[i].path);
	}
	for (size_t i = 0; i < s->nspaces; i++) {
		space_free(s->spaces[i]);
	}
	free(s->objects);
	free(s->spaces);
	index_fini(&s->objects_index);
	index_fini(&s->spaces_index);
	unwind_cache_fini(&s->cache);
	free(s);
}

/* ---- processes ---- */

static struct space *space_find(const struct unwind_spaces *s, uint32_t pid)
{
	size_t at;
	uint32_t id = index_find_u32(&s->spaces_index, pid, &at);

	return id != INDEX_NONE ? s->spaces[id] : NULL;
}

/* NULL: out of memory. */
static struct space *space_get(struct unwind_spaces *s, uint32_t pid)
{
	struct space *space = space_find(s, pid);
	size_t at;

	if (space != NULL) {
		return space;
	}
	if (index_room(&s->spaces_index) < 0 || !array_reserve(&s->spaces, &s->spaces_cap,
	                                                s->nspaces + 1, sizeof(struct space *))) {
		return NULL;
	}
	space = calloc(1, sizeof(*space));
	if (space != NULL) {
		space->pid = pid;
		(void)index_find_u32(&s->spaces_index, pid, &at);
		index_put_u32(&s->spaces_index, pid, at, (uint32_t)s->nspaces);
		s->spaces[s->nspaces++] = space;
	}
	return space;
}

/* Forgets processes that ended a while before `time`; without memory for it, later. */
static void forget_ended(struct unwind_spaces *s, uint64_t time)
{
	struct index index = {0};
	size_t i, n = 0, at;

	for (i = 0; i < s->nspaces; i++) {
		if (index_room(&index) < 0) {
			index_fini(&index);
			return;
		}
		index.n++; /* room for all of them, so that nothing fails below */
	}
	index.n = 0;
	s->nended = 0;
	for (i = 0; i < s->nspaces; i++) {
		struct space *space = s->spaces[i];

		if (space->ended != 0 && space->ended + ENDED_NS < time) {
			space_free(space);
			continue;
		}
		s->nended += space->ended != 0;
		(void)index_find_u32(&index, space->pid, &at);
		index_put_u32(&index, space->pid, at, (uint32_t)n);
		s->spaces[n++] = space;
	}
	s->nspaces = n;
	index_fini(&s->spaces_index);
	s->spaces_index = index;
}

int unwind_spaces_fork(struct unwind_spaces *s, uint32_t pid, uint32_t parent)
{
	struct space *child, *from;

	if (pid == parent) {
		return 0; /* a thread */
	}
	child = space_get(s, pid);
	from = space_find(s, parent);
	if (child == NULL) {
		return SONDE_ENOMEM;
	}
	s->nended -= child->ended != 0;
	child->ended = 0;
	child->n = 0;
	if (from == NULL || from->n == 0) {
		return 0;
	}
	if (!array_reserve(&child->v, &child->cap, from->n, sizeof(*child->v))) {
		return SONDE_ENOMEM;
	}
	memcpy(child->v, from->v, from->n * sizeof(*child->v));
	child->n = from->n;
	return 0;
}

void unwind_spaces_exec(struct unwind_spaces *s, uint32_t pid)
{
	struct space *space = space_find(s, pid);

	if (space != NULL) {
		space->n = 0;
	}
}

void unwind_spaces_exit(struct unwind_spaces *s, uint32_t pid, uint64_t time)
{
	struct space *space = space_find(s, pid);

	if (space != NULL && space->ended == 0) {
		space->ended = time != 0 ? time : 1;
		if (++s->nended > ENDED_SPACES_MAX) {
			forget_ended(s, time);
		}
	}
}

/* ---- objects ---- */

/* Whether code of this name is in no file: memory for code that a program makes. */
static bool has_no_file(struct span path)
{
	static const char *const names[] = {
	        "//", "/anon_hugepage", "/dev/zero", "/SYSV", "/memfd:", "["};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (path.n >= strlen(names[i]) && memcmp(path.p, names[i], strlen(names[i])) == 0) {
			return true;
		}
	}
	return path.n == 0 || path.p[0] != '/';
}

static bool same_object(const struct object *o, const struct unwind_mapped *m)
{
	return o->inode == m->inode && o->generation == m->generation &&
	       span_is(m->path, o->path != NULL ? o->path : "");
}

/* Returns the object of a mapping; INDEX_NONE: out of memory. */
static uint32_t object_get(struct unwind_spaces *s, struct unwind_mapped m)
{
	bool vdso = span_is(m.path, "[vdso]");
	struct object new = {.inode = m.inode, .generation = m.generation, .vdso = vdso};
	uint32_t hash, id;
	size_t at;

	if (!vdso && has_no_file(m.path)) {
		m.path.n = 0;
		m.inode = m.generation = new.inode = new.generation = 0;
	}
	hash = (uint32_t)(hash_bytes(m.path.p, m.path.n) ^ hash_u64(m.inode ^ m.generation << 40));
	at = hash;
	if (index_room(&s->objects_index) < 0) {
		return INDEX_NONE;
	}
	while ((id = index_next(&s->objects_index, hash, &at)) != INDEX_NONE) {
		if (same_object(&s->objects[id], &m)) {
			return id;
		}
		at++;
	}
	new.path = m.path.n != 0 ? strndup((const char *)m.path.p, m.path.n) : NULL;
	if ((m.path.n != 0 && new.path == NULL) || !array_reserve(&s->objects, &s->objects_cap,
	                                                   s->nobjects + 1, sizeof(*s->objects))) {
		free(new.path);
		return INDEX_NONE;
	}
	id = (uint32_t)s->nobjects++;
	s->objects[id] = new;
	index_put(&s->objects_index, hash, at, id);
	return id;
}

/*
 * Whether the file at a path is the one that was mapped. File systems that have no device of their
 * own, such as overlayfs, show other numbers in mappings than in stat(2).
 */
static bool is_mapped_file(const struct object *o, const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 &&
	       (o->inode == 0 || st.st_ino == o->inode || major(st.st_dev) == 0);
}

/* Opens the file of an object, as this process or `pid` sees it. 0, or SONDE_ENOMEM. */
static int object_read(struct object *o, uint32_t pid, struct span *bytes)
{
	char seen[IMAGE_PATH_MAX];
	const char *path = o->path;
	struct error err = {0};
	int rc;

	if (o->vdso) {
		*bytes = image_vdso();
		return 0;
	}
	if (!is_mapped_file(o, path)) {
		int n = snprintf(seen, sizeof(seen), "/proc/%u/root%s", pid, path);

		if (n < 0 || (size_t)n >= sizeof(seen) || !is_mapped_file(o, seen)) {
			return 0;
		}
		path = seen;
	}
	rc = image_file_open(&o->file, path, &err);
	*bytes = o->file.bytes;
	return rc == SONDE_ENOMEM ? rc : 0;
}

/* Makes the table of an object; it has none if its file is gone. 0, or SONDE_ENOMEM. */
static int object_open(struct unwind_spaces *s, struct object *o, uint32_t pid)
{
	struct span bytes = {NULL, 0};
	struct error err = {0};
	int rc;

	if (s->nopen >= OBJECTS_OPEN_MAX) { /* those that are still needed are opened again */
		for (size_t i = 0; i < s->nobjects; i++) {
			object_close(&s->objects[i]);
		}
		s->nopen = 0;
		unwind_cache_fini(&s->cache);
		TRY(unwind_cache_init(&s->cache));
	}
	o->tried = true;
	s->nopen++;
	rc = object_read(o, pid, &bytes);
	if (rc >= 0 && bytes.n != 0) {
		rc = image_elf_open(&o->elf, bytes, &err);
		rc = rc >= 0 ? unwind_table_new(
		                       &(struct unwind_source){.object = &o->elf}, &o->table)
		             : rc;
	}
	return rc == SONDE_ENOMEM ? rc : 0;
}

/* ---- mappings ---- */

/* Index of the first mapping that ends after an address. */
static size_t first_after(const struct space *space, uint64_t address)
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
	return low;
}

/* Replaces what is mapped at the new mapping's addresses; room for two more is there. */
static void insert(struct space *space, struct mapping new)
{
	size_t first = first_after(space, new.start), last = first;
	struct mapping before = {0}, after = {0};
	struct mapping with[3];
	size_t n = 0;

	while (last < space->n && space->v[last].start < new.end) {
		last++;
	}
	if (first < last && space->v[first].start < new.start) {
		before = space->v[first];
		before.end = new.start;
		with[n++] = before;
	}
	with[n++] = new;
	if (first < last && space->v[last - 1].end > new.end) {
		after = space->v[last - 1];
		after.offset += new.end - after.start;
		after.start = new.end;
		with[n++] = after;
	}
	memmove(space->v + first + n, space->v + last, (space->n - last) * sizeof(*space->v));
	memcpy(space->v + first, with, n * sizeof(*space->v));
	space->n = space->n - (last - first) + n;
}

int unwind_spaces_map(struct unwind_spaces *s, const struct unwind_mapped *m)
{
	struct mapping new = {.start = m->start, .end = m->start + m->size, .offset = m->offset};
	struct space *space;

	if (new.end <= new.start) {
		return 0;
	}
	space = space_get(s, m->pid);
	new.object = space != NULL ? object_get(s, *m) : INDEX_NONE;
	if (new.object == INDEX_NONE ||
	        !array_reserve(&space->v, &space->cap, space->n + 2, sizeof(*space->v))) {
		return SONDE_ENOMEM;
	}
	insert(space, new);
	return 0;
}

/* unwind_find_fn */
static int find_code(void *arg, uint64_t pc, struct unwind_code *out)
{
	struct unwind_spaces *s = arg;
	const struct space *space = s->last;
	size_t i = first_after(space, pc);
	const struct mapping *m = i < space->n && space->v[i].start <= pc ? &space->v[i] : NULL;
	struct object *o;

	*out = (struct unwind_code){.mapped = m != NULL};
	if (m == NULL || s->objects[m->object].path == NULL) {
		return 0;
	}
	o = &s->objects[m->object];
	if (!o->tried) {
		TRY(object_open(s, o, space->pid));
	}
	out->vdso = o->vdso;
	if (o->table != NULL &&
	        unwind_table_address(o->table, pc - m->start + m->offset, &out->address)) {
		out->table = o->table;
	}
	out->missing = out->table == NULL;
	return 0;
}

int unwind_spaces_stack(struct unwind_spaces *s, uint32_t pid, struct unwind_stack *stack,
        uint64_t *ips, size_t max, size_t *n)
{
	static const struct space empty;
	const struct space *space = space_find(s, pid);

	s->last = space != NULL ? space : &empty;
	stack->find = find_code;
	stack->arg = s;
	return unwind_stack(stack, &s->cache, ips, max, n);
}
