/* SPDX-License-Identifier: MIT */
#include "ptview/names.h"

#include "core/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNLIKELY_PART ".cold"
#define UNKNOWN       "[unknown]"

int ptview_names_init(struct ptview_names *n, const struct frame_resolver *frames)
{
	return frame_reader_init(&n->frames, frames);
}

void ptview_names_fini(struct ptview_names *n)
{
	free(n->list);
	intern_fini(&n->texts);
	intern_fini(&n->keys);
	frame_reader_fini(&n->frames);
}

static int make_function(
        struct ptview_names *n, uint32_t id, uint32_t name, uint32_t object, bool named)
{
	if (!array_reserve(&n->list, &n->cap, id + 1, sizeof(*n->list))) {
		return SONDE_ENOMEM;
	}
	n->list[id] = (struct ptview_name){.name = intern_text(&n->texts, name),
	        .object = object != INTERN_NONE ? intern_text(&n->texts, object) : NULL,
	        .named = named};
	n->n = id + 1;
	return 0;
}

/* Returns the function of a name and object, which may be new. Negative: out of memory. */
static int64_t add_function(
        struct ptview_names *n, const char *name, size_t name_size, const char *object, bool named)
{
	uint32_t name_id = intern_add(&n->texts, name, name_size);
	uint32_t object_id = INTERN_NONE, id;
	char key[32];
	int size;

	if (object != NULL) {
		object_id = intern_add(&n->texts, object, strlen(object));
	}
	if (name_id == INTERN_NONE || (object != NULL && object_id == INTERN_NONE)) {
		return SONDE_ENOMEM;
	}
	size = snprintf(key, sizeof(key), "%u %u", name_id, object_id);
	id = intern_add(&n->keys, key, (size_t)size);
	if (id == INTERN_NONE) {
		return SONDE_ENOMEM;
	}
	if (id >= n->n) {
		TRY(make_function(n, id, name_id, object_id, named));
	}
	return id;
}

static const char *object_name(const struct ptview_names *n, uint32_t object)
{
	const struct timeline *t = n->frames.resolver->timeline;

	return object != FRAME_NOWHERE ? frame_object_name(t, timeline_object(t, object)) : NULL;
}

static int64_t function_of_symbol(
        struct ptview_names *n, uint32_t object, const struct symbol *symbol)
{
	size_t slot = hash_u64((uint64_t)(uintptr_t)symbol) & (PTVIEW_CACHE - 1);
	const char *name, *part;
	int64_t id;

	if (n->cache[slot].symbol == symbol && n->cache[slot].object == object) {
		return n->cache[slot].function;
	}
	name = frame_symbol_name(n->frames.resolver, object, symbol);
	if (name == NULL) {
		return SONDE_ENOMEM;
	}
	part = strstr(name, UNLIKELY_PART);
	id = add_function(n, name,
	        part != NULL && part != name ? (size_t)(part - name) : strlen(name),
	        object_name(n, object), true);
	if (id >= 0) {
		n->cache[slot].symbol = symbol;
		n->cache[slot].object = object;
		n->cache[slot].function = (uint32_t)id;
	}
	return id;
}

int64_t ptview_function_of(struct ptview_names *n, uint32_t object, const struct symbol *symbol)
{
	if (symbol != NULL) {
		return function_of_symbol(n, object, symbol);
	}
	return add_function(n, UNKNOWN, strlen(UNKNOWN), object_name(n, object), false);
}

bool ptview_is_start(const struct ptview_names *n, const struct frame *f)
{
	const char *name;

	if (f->symbol == NULL || f->address != f->symbol->start) {
		return false;
	}
	name = frame_symbol_name(n->frames.resolver, f->object, f->symbol);
	return name == NULL || strstr(name, UNLIKELY_PART) == NULL;
}

int ptview_locate(struct ptview_names *n, const struct timeline_view *view, uint64_t ip,
        struct ptview_place *out)
{
	const struct frame *f = frame_find(&n->frames, view, ptview_mode(ip), ip);
	char address[32];
	int64_t id;

	if (f == NULL) {
		return SONDE_ENOMEM;
	}
	if (f->symbol != NULL) {
		id = function_of_symbol(n, f->object, f->symbol);
		*out = (struct ptview_place){.ip = ip, .start = ptview_is_start(n, f)};
	} else {
		(void)snprintf(address, sizeof(address), "0x%llx", (unsigned long long)f->address);
		id = add_function(n, address, strlen(address), object_name(n, f->object), false);
		*out = (struct ptview_place){.ip = ip, .start = true};
	}
	out->function = (uint32_t)id;
	return id < 0 ? (int)id : 0;
}
