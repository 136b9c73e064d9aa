/* SPDX-License-Identifier: MIT */
/* The public form: stacks of an address space that the caller describes. */
#include "core/array.h"
#include "unwind/unwind.h"

#include <sonde/preview/unwind.h>

#include <limits.h>
#include <stdlib.h>

_Static_assert((int)SONDE_UNWIND_DAMAGED == (int)UNWIND_END_DAMAGED &&
                       (int)SONDE_UNWIND_NO_INFORMATION == (int)UNWIND_END_TABLE,
        "the public ends are those of unwind.h");

struct object {
	char *path; /* NULL: code without a file */
	struct image_file file;
	struct image_elf elf;
	struct unwind_table *table; /* NULL: not opened, or not found */
	bool tried;
};

struct mapping {
	uint64_t start, end, offset;
	size_t object;
};

struct sonde_unwinder {
	enum unwind_machine machine;
	struct unwind_cache cache;
	struct object *objects;
	size_t nobjects, objects_cap;
	struct mapping *mappings; /* in the order of adding */
	size_t nmappings, mappings_cap;
};

struct sonde_unwinder *sonde_unwinder_new(enum sonde_unwind_machine machine)
{
	struct sonde_unwinder *u = calloc(1, sizeof(*u));

	if (u == NULL || unwind_cache_init(&u->cache) < 0) {
		free(u);
		return NULL;
	}
	u->machine = machine == SONDE_UNWIND_AARCH64 ? UNWIND_AARCH64 : UNWIND_X86_64;
	return u;
}

void sonde_unwinder_free(struct sonde_unwinder *u)
{
	if (u == NULL) {
		return;
	}
	for (size_t i = 0; i < u->nobjects; i++) {
		unwind_table_free(u->objects[i].table);
		image_elf_close(&u->objects[i].elf);
		image_file_close(&u->objects[i].file);
		free(u->objects[i].path);
	}
	free(u->objects);
	free(u->mappings);
	unwind_cache_fini(&u->cache);
	free(u);
}

static bool same_path(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Finds or adds the object of a path; SONDE_ENOMEM. */
static int object_find(struct sonde_unwinder *u, const char *path, size_t *out)
{
	char *copy = NULL;

	for (*out = 0; *out < u->nobjects; ++*out) {
		if (same_path(u->objects[*out].path, path)) {
			return 0;
		}
	}
	if (!array_reserve(&u->objects, &u->objects_cap, u->nobjects + 1, sizeof(*u->objects))) {
		return SONDE_ENOMEM;
	}
	if (path != NULL) {
		copy = strdup(path);
		if (copy == NULL) {
			return SONDE_ENOMEM;
		}
	}
	u->objects[u->nobjects++] = (struct object){.path = copy};
	return 0;
}

int sonde_unwinder_map(
        struct sonde_unwinder *u, uint64_t start, uint64_t end, uint64_t offset, const char *path)
{
	struct mapping new = {.start = start, .end = end, .offset = offset};

	if (start >= end) {
		return SONDE_EARG;
	}
	if (!array_reserve(
	            &u->mappings, &u->mappings_cap, u->nmappings + 1, sizeof(*u->mappings))) {
		return SONDE_ENOMEM;
	}
	TRY(object_find(u, path, &new.object));
	u->mappings[u->nmappings++] = new;
	return 0;
}

/* 0, also if there is no such file; SONDE_ENOMEM. */
static int object_open(struct object *o)
{
	struct error err = {0};
	struct span bytes;
	int rc = 0;

	o->tried = true;
	if (strcmp(o->path, "[vdso]") == 0) {
		bytes = image_vdso();
	} else {
		rc = image_file_open(&o->file, o->path, &err);
		bytes = o->file.bytes;
	}
	if (rc >= 0 && bytes.n != 0) {
		rc = image_elf_open(&o->elf, bytes, &err);
	}
	if (rc >= 0 && o->elf.bytes.p != NULL) {
		rc = unwind_table_new(&(struct unwind_source){.object = &o->elf}, &o->table);
	}
	return rc == SONDE_ENOMEM ? rc : 0;
}

/* unwind_find_fn */
static int find(void *arg, uint64_t pc, struct unwind_code *out)
{
	struct sonde_unwinder *u = arg;
	const struct mapping *m = NULL;
	struct object *o;

	for (size_t i = u->nmappings; i-- > 0 && m == NULL;) {
		m = pc >= u->mappings[i].start && pc < u->mappings[i].end ? &u->mappings[i] : NULL;
	}
	*out = (struct unwind_code){.mapped = m != NULL};
	if (m == NULL || u->objects[m->object].path == NULL) {
		return 0;
	}
	o = &u->objects[m->object];
	if (!o->tried) {
		TRY(object_open(o));
	}
	out->vdso = strcmp(o->path, "[vdso]") == 0;
	if (o->table != NULL &&
	        unwind_table_address(o->table, pc - m->start + m->offset, &out->address)) {
		out->table = o->table;
	}
	out->missing = out->table == NULL;
	return 0;
}

int sonde_unwind(struct sonde_unwinder *u, const struct sonde_unwind_stack *stack,
        uint64_t *addresses, size_t max, enum sonde_unwind_end *end)
{
	struct unwind_stack s = {.machine = u->machine, .find = find, .arg = u};
	size_t n;
	int rc;

	if (stack->size < sizeof(*stack) || max == 0 || max > INT_MAX ||
	        !unwind_regs_take(u->machine, stack->mask, stack->registers, &s.regs)) {
		return SONDE_EARG;
	}
	s.memory.address = s.regs.value[unwind_stack_pointer(u->machine)];
	s.memory.bytes = (struct span){stack->bytes, stack->nbytes};
	rc = unwind_stack(&s, &u->cache, addresses, max, &n);
	TRY(rc);
	*end = (enum sonde_unwind_end)rc;
	return (int)n;
}

const char *sonde_unwind_end_text(enum sonde_unwind_end end)
{
	static const char *const texts[] = {
	        [SONDE_UNWIND_OUTERMOST] = "the chain is complete",
	        [SONDE_UNWIND_LIMIT] = "the chain has more addresses",
	        [SONDE_UNWIND_STACK] = "the copy of the stack is too short",
	        [SONDE_UNWIND_UNMAPPED] = "nothing is mapped at the caller",
	        [SONDE_UNWIND_NO_INFORMATION] =
	                "the code has no call frame information, or its file was not found",
	        [SONDE_UNWIND_DAMAGED] = "the call frame information or the stack make no sense",
	};

	return (unsigned)end < sizeof(texts) / sizeof(texts[0]) ? texts[end] : "unknown";
}
