/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "softpt/space.h"

#include "core/array.h"
#include "core/status.h"
#include "proc/proc.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define INT3 0xcc

static uint32_t hash_of(uint64_t at)
{
	return (uint32_t)hash_u64(at);
}

bool space_load(const struct space *space, uint64_t at, void *out, size_t n)
{
	return at <= LONG_MAX && pread(space->mem, out, n, (off_t)at) == (ssize_t)n;
}

bool space_store(const struct space *space, uint64_t at, const void *bytes, size_t n)
{
	return at <= LONG_MAX && pwrite(space->mem, bytes, n, (off_t)at) == (ssize_t)n;
}

static int open_memory(int root, pid_t pid)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "proc/%d/mem", (int)pid);
	return openat(root, path, O_RDWR | O_CLOEXEC);
}

/* ---- breakpoints ---- */

static struct space_breakpoint *find_breakpoint(const struct space *space, uint64_t at)
{
	uint32_t id, hash = hash_of(at);
	size_t slot = hash;

	if (space->breakpoint_index.nslots == 0) {
		return NULL;
	}
	while ((id = index_next(&space->breakpoint_index, hash, &slot)) != INDEX_NONE) {
		if (space->breakpoints[id].at == at) {
			return &space->breakpoints[id];
		}
		slot++;
	}
	return NULL;
}

static struct space_breakpoint *add_breakpoint(struct space *space, uint64_t at)
{
	size_t slot = hash_of(at);

	if (index_room(&space->breakpoint_index) < 0 ||
	        !array_reserve(&space->breakpoints, &space->breakpoints_cap,
	                space->nbreakpoints + 1, sizeof(*space->breakpoints))) {
		return NULL;
	}
	while (index_next(&space->breakpoint_index, hash_of(at), &slot) != INDEX_NONE) {
		slot++;
	}
	index_put(&space->breakpoint_index, hash_of(at), slot, (uint32_t)space->nbreakpoints);
	space->breakpoints[space->nbreakpoints] = (struct space_breakpoint){.at = at};
	return &space->breakpoints[space->nbreakpoints++];
}

bool space_break(struct space *space, uint64_t at)
{
	struct space_breakpoint *b = find_breakpoint(space, at);
	const uint8_t int3 = INT3;

	if (b != NULL && b->set) {
		return true;
	}
	b = b != NULL ? b : add_breakpoint(space, at);
	if (b == NULL || !space_load(space, at, &b->byte, 1) || !space_store(space, at, &int3, 1)) {
		return false;
	}
	b->set = true;
	return true;
}

static bool restore(struct space *space, struct space_breakpoint *b)
{
	if (!b->set) {
		return true;
	}
	b->set = false;
	return space_store(space, b->at, &b->byte, 1);
}

bool space_unbreak(struct space *space, uint64_t at)
{
	struct space_breakpoint *b = find_breakpoint(space, at);

	return b == NULL || restore(space, b);
}

bool space_broken(const struct space *space, uint64_t at)
{
	const struct space_breakpoint *b = find_breakpoint(space, at);

	return b != NULL && b->set;
}

void space_clean(struct space *space, uint64_t start, uint64_t end)
{
	size_t i;

	for (i = 0; i < space->nbreakpoints; i++) {
		if (space->breakpoints[i].at >= start && space->breakpoints[i].at < end) {
			(void)restore(space, &space->breakpoints[i]);
		}
	}
}

/* ---- code ---- */

/* Code without breakpoints; a page is read once, until the mappings change. */
static const uint8_t *page_at(struct space *space, uint64_t at)
{
	uint32_t id, hash = hash_of(at);
	size_t i, slot = hash;
	uint8_t *bytes;

	if (index_room(&space->page_index) < 0) {
		return NULL;
	}
	while ((id = index_next(&space->page_index, hash, &slot)) != INDEX_NONE) {
		if (space->pages[id].at == at) {
			return space->pages[id].bytes;
		}
		slot++;
	}
	bytes = arena_alloc(&space->arena, SPACE_PAGE);
	if (bytes == NULL || !array_reserve(&space->pages, &space->pages_cap, space->npages + 1,
	                             sizeof(*space->pages))) {
		return NULL;
	}
	if (!space_load(space, at, bytes, SPACE_PAGE)) {
		return NULL;
	}
	for (i = 0; i < space->nbreakpoints; i++) {
		const struct space_breakpoint *b = &space->breakpoints[i];

		if (b->set && b->at - at < SPACE_PAGE) {
			bytes[b->at - at] = b->byte;
		}
	}
	index_put(&space->page_index, hash, slot, (uint32_t)space->npages);
	space->pages[space->npages++] = (struct space_page){at, bytes};
	return bytes;
}

/* Up to 15 bytes of code at an address; returns how many. */
static size_t code_at(struct space *space, uint64_t at, uint8_t out[PT_INSN_MAX])
{
	size_t n = 0, part;
	const uint8_t *page;

	while (n < PT_INSN_MAX) {
		uint64_t here = at + n;

		page = page_at(space, here & ~(uint64_t)(SPACE_PAGE - 1));
		if (page == NULL) {
			break;
		}
		part = SPACE_PAGE - (here & (SPACE_PAGE - 1));
		part = part < PT_INSN_MAX - n ? part : PT_INSN_MAX - n;
		memcpy(out + n, page + (here & (SPACE_PAGE - 1)), part);
		n += part;
	}
	return n;
}

/* The same from memory as it is now. */
static size_t code_now(struct space *space, uint64_t at, uint8_t out[PT_INSN_MAX])
{
	size_t i, n = PT_INSN_MAX;

	if (!space_load(space, at, out, n)) {
		n = SPACE_PAGE - (at & (SPACE_PAGE - 1));
		if (n >= PT_INSN_MAX || !space_load(space, at, out, n)) {
			return 0;
		}
	}
	for (i = 0; i < n; i++) {
		const struct space_breakpoint *b = find_breakpoint(space, at + i);

		if (b != NULL && b->set) {
			out[i] = b->byte;
		}
	}
	return n;
}

bool space_insn(struct space *space, uint64_t at, bool fresh, struct pt_insn *out, uint8_t *bytes)
{
	size_t n = fresh ? code_now(space, at, bytes) : code_at(space, at, bytes);

	return n > 0 &&
	       pt_insn_decode(bytes, n, space->wide ? PT_MODE_64 : PT_MODE_32, out) == PT_INSN_OK;
}

/* ---- mappings ---- */

const struct space_map *space_map_of(const struct space *space, uint64_t at)
{
	size_t i;

	for (i = 0; i < space->nmaps; i++) {
		if (at >= space->maps[i].start && at < space->maps[i].end) {
			return &space->maps[i];
		}
	}
	return NULL;
}

bool space_overlaps(const struct space *space, uint64_t start, uint64_t size)
{
	size_t i;

	for (i = 0; i < space->nmaps; i++) {
		if (start < space->maps[i].end && start + size > space->maps[i].start) {
			return true;
		}
	}
	return false;
}

static bool same_map(const struct space_map *a, const struct space_map *b)
{
	return a->start == b->start && a->end == b->end && a->pgoff == b->pgoff &&
	       a->ino == b->ino && a->maj == b->maj && a->min == b->min && a->prot == b->prot &&
	       strcmp(a->name, b->name) == 0;
}

static bool was_mapped(const struct space_map *maps, size_t n, const struct space_map *map)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (same_map(&maps[i], map)) {
			return true;
		}
	}
	return false;
}

static struct space_map map_of(const struct proc_map *m, const char *name)
{
	return (struct space_map){.start = m->start,
	        .end = m->end,
	        .pgoff = m->pgoff,
	        .ino = m->ino,
	        .maj = m->maj,
	        .min = m->min,
	        .prot = (m->read ? PROT_READ : 0) | (m->write ? PROT_WRITE : 0) | PROT_EXEC,
	        .flags = m->shared ? MAP_SHARED : MAP_PRIVATE,
	        .name = name,
	        .steps = m->write || m->shared,
	        .vdso = strcmp(name, "[vdso]") == 0,
	        .fresh = true};
}

static int read_maps(struct space *space, int root, pid_t pid)
{
	struct proc_maps maps;
	struct proc_map m;
	const char *name;
	int rc = 0;

	if (!proc_maps_open(&maps, root, pid, 0)) {
		return 0; /* it has ended */
	}
	while (rc == 0 && proc_maps_next(&maps, &m)) {
		if (!m.exec) {
			continue;
		}
		name = m.name[0] != '\0' ? m.name : "//anon";
		name = arena_text(&space->arena, name, strlen(name));
		if (name == NULL || !array_reserve(&space->maps, &space->maps_cap, space->nmaps + 1,
		                            sizeof(*space->maps))) {
			rc = SONDE_ENOMEM;
		} else {
			space->maps[space->nmaps++] = map_of(&m, name);
		}
	}
	proc_maps_close(&maps);
	return rc;
}

/*
 * Breakpoints are gone with the code that was unmapped; a mapping that only became longer or shorter
 * still has them.
 */
static void forget(struct space *space)
{
	uint8_t byte = 0;
	size_t i;

	for (i = 0; i < space->nbreakpoints; i++) {
		const struct space_map *map = space_map_of(space, space->breakpoints[i].at);

		if (map == NULL || map->fresh) {
			space->breakpoints[i].set &=
			        space_load(space, space->breakpoints[i].at, &byte, 1) &&
			        byte == INT3;
		}
	}
	index_fini(&space->block_index);
	index_fini(&space->page_index);
	space->block_index = space->page_index = (struct index){0};
	space->nblocks = space->npages = 0;
}

int space_look(struct space *space, int root, pid_t pid)
{
	struct space_map *old = space->maps;
	size_t i, n = space->nmaps;
	bool changed;
	int rc;

	space->maps = NULL;
	space->nmaps = space->maps_cap = 0;
	rc = read_maps(space, root, pid);
	changed = space->nmaps != n;
	for (i = 0; i < space->nmaps; i++) {
		space->maps[i].fresh = !was_mapped(old, n, &space->maps[i]);
		changed |= space->maps[i].fresh;
	}
	free(old);
	if (rc < 0 || !changed) {
		return rc;
	}
	forget(space);
	filter_places_clear(&space->places);
	for (i = 0; i < space->nmaps && rc == 0; i++) {
		rc = filter_place(space->filter, space->maps[i].name, space->maps[i].pgoff,
		        space->maps[i].start, space->maps[i].end, &space->places);
	}
	return rc;
}

struct space *space_new(
        int root, pid_t pid, const struct filter *filter, const struct space *parent)
{
	struct space *space = calloc(1, sizeof(*space));
	size_t i;

	if (space == NULL) {
		return NULL;
	}
	space->users = 1;
	space->wide = true;
	space->filter = filter;
	space->mem = open_memory(root, pid);
	for (i = 0; parent != NULL && i < parent->nbreakpoints; i++) {
		const struct space_breakpoint *b = &parent->breakpoints[i];
		struct space_breakpoint *own = b->set ? add_breakpoint(space, b->at) : NULL;

		if (b->set && own == NULL) {
			space_free(space);
			return NULL;
		}
		if (own != NULL) {
			*own = *b;
		}
	}
	return space;
}

void space_free(struct space *space)
{
	if (space == NULL) {
		return;
	}
	if (space->mem >= 0) {
		(void)close(space->mem);
	}
	index_fini(&space->block_index);
	index_fini(&space->page_index);
	index_fini(&space->breakpoint_index);
	filter_places_clear(&space->places);
	free(space->places.v);
	free(space->blocks);
	free(space->pages);
	free(space->breakpoints);
	free(space->maps);
	arena_fini(&space->arena);
	free(space);
}
