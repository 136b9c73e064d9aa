/* SPDX-License-Identifier: MIT */
/*
 * Source lines of an object, remembered by address. What the debug information does not have comes
 * from the symbol table: addr2line, which perf asks, names a function without line by the last
 * function symbol at or before the address, and the file of a local one by the STT_FILE symbol
 * before it.
 */
#include "symbol/lines.h"

#include "core/array.h"
#include "core/hash.h"
#include "core/intern.h"
#include "core/search.h"
#include "symbol/files.h"
#include "symbol/lines_reader.h"

#include <elf.h>
#include <pthread.h>
#include <stdlib.h>

#define ADDRESSES_MAX (1u << 17) /* remembered addresses of an object; then all are forgotten */

struct known {
	uint64_t key, address;
	size_t first; /* index in frames */
	enum lines_found found;
	unsigned n;
};

struct function {
	uint64_t address;
	const char *file; /* in the file's bytes; NULL: unknown */
	uint32_t section;
};

struct lines {
	pthread_mutex_t lock; /* of all members after the files */
	struct symbol_file object, debug;
	bool linked; /* the kernel: addresses are `moved` bytes above those of its ELF file */
	uint64_t moved;
	struct lines_reader *reader; /* NULL: no line table */
	struct intern texts;
	struct known *known;
	struct lines_frame *frames;
	size_t nknown, known_cap, nframes, frames_cap;
	struct index index; /* of known */
	struct function *functions; /* sorted by address */
	size_t nfunctions, functions_cap;
	bool functions_read;
};

static bool has_lines(const struct image_elf *e)
{
	return image_elf_section(e, ".debug_line") != NULL ||
	       image_elf_section(e, ".zdebug_line") != NULL;
}

/* How far above its ELF file's addresses the recorded kernel ran. */
static uint64_t kernel_moved(const struct image_elf *e, const struct symbol_request *req)
{
	const struct image_section *section = image_elf_symbols(e, SHT_SYMTAB, 2);
	size_t n = section != NULL ? image_elf_symbol_count(e, section) : 0;
	const struct span names = n != 0 ? image_elf_names(e, section) : (struct span){0};

	for (size_t i = 1; i < n && req->reference != NULL; i++) {
		struct image_elf_symbol y = image_elf_symbol_at(e, section, i);

		if (span_is(image_elf_text(names, y.name), req->reference)) {
			return req->base - y.value;
		}
	}
	return 0;
}

static int files_open(struct lines *l, const struct symbol_request *req)
{
	struct symbol_search *s = malloc(sizeof(*s));
	const struct symbol_file *from;
	bool have;
	int rc = 0;

	if (s == NULL) {
		return SONDE_ENOMEM;
	}
	symbol_search_init(s, req);
	l->linked = req->kind == SYMBOL_KERNEL;
	have = l->linked ? symbol_file_open_kernel(s, req, &l->object)
	                 : symbol_file_open_object(s, &l->object);
	l->moved = have && l->linked ? kernel_moved(&l->object.elf, req) : 0;
	from = &l->object;
	if (!l->linked && (!have || !has_lines(&l->object.elf))) {
		(void)symbol_file_open_debug(s, have ? &l->object.elf : NULL, &l->debug);
		from = &l->debug;
	}
	if (s->failed) {
		rc = SONDE_ENOMEM;
	} else if (has_lines(&from->elf)) { /* s->name is the file that was opened last */
		rc = lines_reader_open(s->name, from->file.bytes.n, &l->reader);
	}
	free(s);
	return rc;
}

int lines_open(const struct symbol_request *req, struct lines **out)
{
	struct lines *l = calloc(1, sizeof(*l));
	int rc = 0;

	*out = NULL;
	if (l == NULL) {
		return SONDE_ENOMEM;
	}
	pthread_mutex_init(&l->lock, NULL);
	if (req->kind == SYMBOL_ELF || req->kind == SYMBOL_KERNEL) {
		rc = files_open(l, req);
	}
	if (rc < 0) {
		lines_free(l);
		return rc;
	}
	*out = l;
	return 0;
}

void lines_free(struct lines *l)
{
	if (l == NULL) {
		return;
	}
	lines_reader_close(l->reader);
	symbol_file_close(&l->object);
	symbol_file_close(&l->debug);
	intern_fini(&l->texts);
	index_fini(&l->index);
	free(l->known);
	free(l->frames);
	free(l->functions);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

/* Converts an offset in the file, or an address of the kernel, to a virtual address. */
static uint64_t virtual_address(const struct lines *l, uint64_t offset)
{
	const struct image_elf *e = l->object.elf.nsegments != 0 ? &l->object.elf : &l->debug.elf;

	if (l->linked) {
		return offset - l->moved;
	}
	for (size_t i = 0; i < e->nsegments; i++) {
		const struct image_segment *s = &e->segments[i];

		if (offset >= s->offset && offset - s->offset < s->filesz) {
			return offset - s->offset + s->vaddr;
		}
	}
	return offset;
}

static bool is_function(const struct image_elf *e, const struct image_elf_symbol *y)
{
	unsigned type = y->info & 15;

	return y->section != SHN_UNDEF && y->section < e->nsections &&
	       (e->sections[y->section].flags & SHF_EXECINSTR) != 0 &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE);
}

static int functions_add(
        struct lines *l, const struct image_elf *e, const struct image_section *section)
{
	const struct span names = image_elf_names(e, section);
	size_t n = image_elf_symbol_count(e, section);
	const char *file = NULL;

	for (size_t i = 1; i < n; i++) {
		struct image_elf_symbol y = image_elf_symbol_at(e, section, i);

		if ((y.info & 15) == STT_FILE) {
			file = (const char *)image_elf_text(names, y.name).p;
		}
		if (!is_function(e, &y)) {
			continue;
		}
		if (!array_reserve(&l->functions, &l->functions_cap, l->nfunctions + 1,
		            sizeof(*l->functions))) {
			return SONDE_ENOMEM;
		}
		l->functions[l->nfunctions++] = (struct function){.address = y.value,
		        .file = y.info >> 4 == STB_LOCAL ? file : NULL,
		        .section = y.section};
	}
	return 0;
}

static int function_order(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->address != y->address) {
		return x->address < y->address ? -1 : 1;
	}
	return (x->file != NULL) - (y->file != NULL);
}

static int functions_read(struct lines *l)
{
	const struct image_elf *e = &l->object.elf;
	const struct image_section *section = image_elf_symbols(e, SHT_SYMTAB, 2);

	if (l->functions_read) {
		return 0;
	}
	if (section == NULL && l->debug.elf.nsections != 0) {
		e = &l->debug.elf;
		section = image_elf_symbols(e, SHT_SYMTAB, 2);
	}
	if (section == NULL) {
		e = &l->object.elf;
		section = image_elf_symbols(e, SHT_DYNSYM, 2);
	}
	if (section != NULL) {
		TRY(functions_add(l, e, section));
	}
	if (l->nfunctions != 0) {
		qsort(l->functions, l->nfunctions, sizeof(*l->functions), function_order);
	}
	l->functions_read = true;
	return 0;
}

/* Returns the section that contains a virtual address; 0: none. */
static uint32_t section_at(const struct image_elf *e, uint64_t address)
{
	for (size_t i = 1; i < e->nsections; i++) {
		const struct image_section *s = &e->sections[i];

		if ((s->flags & SHF_ALLOC) != 0 && address >= s->addr &&
		        address - s->addr < s->size) {
			return (uint32_t)i;
		}
	}
	return 0;
}

/* The last function at or before the address in the same section. */
static int function_find(struct lines *l, uint64_t address, struct lines_place *out)
{
	const struct image_elf *e = l->object.elf.nsections != 0 ? &l->object.elf : &l->debug.elf;
	uint32_t section = section_at(e, address);
	size_t i;

	TRY(functions_read(l));
	i = SEARCH_LAST(l->functions, l->nfunctions, address, address);
	if (l->nfunctions == 0 || l->functions[i].address > address ||
	        l->functions[i].section != section) {
		return 0;
	}
	out->found = LINES_FUNCTION;
	out->n = 1;
	out->frames[0] = (struct lines_frame){.file = l->functions[i].file};
	return 0;
}

static int text_keep(struct lines *l, const char **text)
{
	uint32_t id;

	if (*text == NULL) {
		return 0;
	}
	id = intern_add(&l->texts, *text, strlen(*text));
	if (id == INTERN_NONE) {
		return SONDE_ENOMEM;
	}
	*text = intern_text(&l->texts, id);
	return 0;
}

static int place_read(struct lines *l, uint64_t key, struct lines_place *out)
{
	int rc = 0;

	out->found = LINES_NONE;
	out->address = virtual_address(l, key);
	out->n = 0;
	if (l->reader != NULL) {
		rc = lines_reader_find(l->reader, out->address, out);
	}
	if (rc > 0) {
		out->found = LINES_LINE;
	} else if (rc == 0) {
		out->n = 0;
		rc = function_find(l, out->address, out);
	}
	for (unsigned i = 0; rc >= 0 && i < out->n; i++) {
		rc = text_keep(l, &out->frames[i].file);
		rc = rc >= 0 ? text_keep(l, &out->frames[i].function) : rc;
	}
	return rc;
}

static int place_keep(struct lines *l, uint64_t key, size_t at, const struct lines_place *place)
{
	if (!array_reserve(&l->known, &l->known_cap, l->nknown + 1, sizeof(*l->known)) ||
	        !array_reserve(&l->frames, &l->frames_cap, l->nframes + place->n + 1,
	                sizeof(*l->frames))) {
		return SONDE_ENOMEM;
	}
	l->known[l->nknown] = (struct known){.key = key,
	        .address = place->address,
	        .first = l->nframes,
	        .found = place->found,
	        .n = place->n};
	memcpy(l->frames + l->nframes, place->frames, place->n * sizeof(*l->frames));
	l->nframes += place->n;
	index_put(&l->index, (uint32_t)hash_u64(key), at, (uint32_t)l->nknown++);
	return 0;
}

static void forget(struct lines *l)
{
	index_fini(&l->index);
	l->index = (struct index){0};
	l->nknown = l->nframes = 0;
}

/* The lock is held. */
static int find(struct lines *l, uint64_t key, struct lines_place *out)
{
	uint32_t hash = (uint32_t)hash_u64(key);
	size_t at = hash;
	uint32_t id;

	if (l->nknown >= ADDRESSES_MAX) {
		forget(l);
	}
	TRY(index_room(&l->index));
	for (; (id = index_next(&l->index, hash, &at)) != INDEX_NONE; at++) {
		const struct known *k = &l->known[id];

		if (k->key == key) {
			out->found = k->found;
			out->address = k->address;
			out->n = k->n;
			memcpy(out->frames, l->frames + k->first, k->n * sizeof(*l->frames));
			return 0;
		}
	}
	TRY(place_read(l, key, out));
	return place_keep(l, key, at, out);
}

int lines_find(struct lines *l, uint64_t address, struct lines_place *out)
{
	int rc;

	pthread_mutex_lock(&l->lock);
	rc = find(l, address, out);
	pthread_mutex_unlock(&l->lock);
	return rc;
}

const char *lines_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

struct rows {
	const struct lines *lines;
	lines_row_fn fn;
	void *arg;
};

/* Converts a virtual address to an offset in the file, or an address of the kernel. */
static uint64_t offset_of(const struct lines *l, uint64_t address)
{
	const struct image_elf *e = l->object.elf.nsegments != 0 ? &l->object.elf : &l->debug.elf;

	if (l->linked) {
		return address + l->moved;
	}
	for (size_t i = 0; i < e->nsegments; i++) {
		const struct image_segment *s = &e->segments[i];

		if (address >= s->vaddr && address - s->vaddr < s->filesz) {
			return address - s->vaddr + s->offset;
		}
	}
	return address;
}

static int row_give(void *arg, const struct lines_row *row)
{
	const struct rows *r = arg;
	struct lines_row own = *row;

	own.start = offset_of(r->lines, row->start);
	own.end = own.start + (row->end - row->start);
	return r->fn(r->arg, &own);
}

int lines_rows(struct lines *l, lines_row_fn fn, void *arg)
{
	struct rows r = {.lines = l, .fn = fn, .arg = arg};
	int rc = 0;

	pthread_mutex_lock(&l->lock);
	if (l->reader != NULL) {
		rc = lines_reader_rows(l->reader, row_give, &r);
	}
	pthread_mutex_unlock(&l->lock);
	return rc;
}
