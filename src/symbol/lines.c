/* SPDX-License-Identifier: MIT */
/*
 * Source lines of an object, from its line index. What the debug information does not have comes
 * from the symbol table: addr2line, which perf asks, names a function without line by the last
 * function symbol at or before the address, and the file of a local one by the STT_FILE symbol
 * before it.
 */
#include "symbol/lines.h"

#include "core/array.h"
#include "core/search.h"
#include "symbol/files.h"
#include "symbol/line_index.h"

#include <elf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

struct function {
	uint64_t address;
	const char *name; /* in the file's bytes; NULL: damaged */
	const char *file; /* in the file's bytes; NULL: unknown */
	uint32_t section;
};

struct lines {
	struct symbol_file object, debug;
	bool linked; /* the kernel: addresses are `moved` bytes above those of its ELF file */
	uint64_t moved;
	struct line_index index; /* empty: no line table */
	pthread_mutex_t lock; /* of the members below */
	struct function *functions; /* sorted by address */
	size_t nfunctions, functions_cap;
	_Atomic bool functions_read; /* then they never change */
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

struct line_search {
	struct symbol_search files;
	char package[IMAGE_PATH_MAX + sizeof(".dwp")]; /* empty: none */
	uint64_t package_size; /* bytes */
};

/* Finds the package with the split units of a program: beside it, or beside its debug file. */
static void package_find(struct line_search *s)
{
	struct stat st;

	if (s->package_size != 0) {
		return;
	}
	(void)snprintf(s->package, sizeof(s->package), "%s.dwp", s->files.name);
	if (stat(s->package, &st) == 0 && S_ISREG(st.st_mode)) {
		s->package_size = (uint64_t)st.st_size;
	}
}

/* The index is stored by build id; the sizes guard against files that were given the same one. */
static int index_open(struct lines *l, const struct symbol_request *req,
        const struct symbol_file *from, const struct line_search *s)
{
	const struct image_build_id *id = &from->elf.build_id;
	struct line_index_key key = {.id_size = (uint32_t)id->size};
	struct line_source source = {.path = s->files.name}; /* the file that was opened last */
	int rc;

	if (from->file.map == NULL) {
		source.bytes = from->file.bytes;
	} else if (s->package_size != 0) {
		source.package = s->package;
	}
	key.size = from->file.bytes.n + (source.package != NULL ? s->package_size : 0);
	memcpy(key.id, id->bytes, id->size);
	if (req->cache != NULL && line_index_load(req->cache, &key, &l->index)) {
		return 0;
	}
	rc = line_index_build(&source, req->jobs, &key, &l->index);
	if (rc == 0 && req->cache != NULL && l->index.nrows != 0) {
		line_index_save(req->cache, &key, &l->index);
	}
	return rc == SONDE_ENOMEM ? rc : 0;
}

static int files_open(struct lines *l, const struct symbol_request *req)
{
	struct line_search *s = calloc(1, sizeof(*s));
	const struct symbol_file *from;
	bool have;
	int rc = 0;

	if (s == NULL) {
		return SONDE_ENOMEM;
	}
	symbol_search_init(&s->files, req);
	l->linked = req->kind == SYMBOL_KERNEL;
	have = l->linked ? symbol_file_open_kernel(&s->files, req, &l->object)
	                 : symbol_file_open_object(&s->files, &l->object);
	l->moved = have && l->linked ? kernel_moved(&l->object.elf, req) : 0;
	from = &l->object;
	if (have) {
		package_find(s);
	}
	if (!l->linked && (!have || !has_lines(&l->object.elf))) {
		if (symbol_file_open_debug(&s->files, have ? &l->object.elf : NULL, &l->debug)) {
			package_find(s);
		}
		from = &l->debug;
	}
	if (s->files.failed) {
		rc = SONDE_ENOMEM;
	} else if (has_lines(&from->elf)) {
		rc = index_open(l, req, from, s);
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
	line_index_close(&l->index);
	symbol_file_close(&l->object);
	symbol_file_close(&l->debug);
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
		        .name = (const char *)image_elf_text(names, y.name).p,
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

/* The lock is held. */
static int functions_list(struct lines *l)
{
	const struct image_elf *e = &l->object.elf;
	const struct image_section *section = image_elf_symbols(e, SHT_SYMTAB, 2);

	l->nfunctions = 0;
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
	return 0;
}

static int functions_read(struct lines *l)
{
	int rc = 0;

	if (atomic_load_explicit(&l->functions_read, memory_order_acquire)) {
		return 0;
	}
	pthread_mutex_lock(&l->lock);
	if (!atomic_load_explicit(&l->functions_read, memory_order_relaxed)) {
		rc = functions_list(l);
		atomic_store_explicit(&l->functions_read, rc == 0, memory_order_release);
	}
	pthread_mutex_unlock(&l->lock);
	return rc;
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

/* The last function at or before the address in the same section; NULL: none. */
static int function_find(struct lines *l, uint64_t address, const struct function **out)
{
	const struct image_elf *e = l->object.elf.nsections != 0 ? &l->object.elf : &l->debug.elf;
	uint32_t section = section_at(e, address);
	size_t i;

	*out = NULL;
	TRY(functions_read(l));
	i = SEARCH_LAST(l->functions, l->nfunctions, address, address);
	if (l->nfunctions != 0 && l->functions[i].address <= address &&
	        l->functions[i].section == section) {
		*out = &l->functions[i];
	}
	return 0;
}

int lines_find(struct lines *l, uint64_t address, struct lines_place *out)
{
	const struct function *f;

	out->found = LINES_NONE;
	out->address = virtual_address(l, address);
	out->n = 0;
	if (line_index_find(&l->index, out->address, out)) {
		return 0;
	}
	TRY(function_find(l, out->address, &f));
	if (f != NULL) {
		out->found = LINES_FUNCTION;
		out->n = 1;
		out->frames[0] = (struct lines_frame){.file = f->file};
	}
	return 0;
}

int lines_function_before(struct lines *l, uint64_t address, const char **name)
{
	const struct function *f;

	TRY(function_find(l, virtual_address(l, address), &f));
	*name = f != NULL ? f->name : NULL;
	return 0;
}

const char *lines_file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

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

int lines_rows(struct lines *l, lines_row_fn fn, void *arg)
{
	const struct line_index *x = &l->index;

	for (size_t i = 0; i + 1 < x->nrows; i++) { /* the last one is a gap */
		const struct line_row *row = &x->rows[i];
		struct lines_row own = {.line = row->line, .file = x->texts + row->file};

		if (row->file != 0 && row->line != 0) {
			own.start = offset_of(l, x->starts[i]);
			own.end = own.start + (x->starts[i + 1] - x->starts[i]);
			TRY(fn(arg, &own));
		}
	}
	return 0;
}
