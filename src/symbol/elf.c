/* SPDX-License-Identifier: MIT */
/* Symbols of ELF objects, at file offsets: .symtab if present, else .dynsym. */
#include "image/image.h"
#include "symbol/builder.h"

#include <elf.h>

struct reader {
	struct symbol_builder *b;
	const struct image_elf *object; /* file offsets are those of this file */
	const struct image_elf *from; /* symbols are read from this file */
	const struct image_section *section;
	struct span texts;
	const struct image_section
	        *only; /* symbols of this section, from its start; NULL: of all */
	bool linked; /* at the addresses that the file was linked for, not at file offsets */
};

/* File offset by segment; in objects without segments (.o, .ko) by section. */
static bool offset_of(const struct reader *r, const struct image_elf_symbol *y, uint64_t *offset)
{
	const struct image_section *s;

	if (r->linked) {
		*offset = y->value;
		return true;
	}
	if (r->object->nsegments > 0) {
		return image_elf_offset(r->object, y->value, offset);
	}
	if (y->section >= r->object->nsections) {
		return false;
	}
	s = &r->object->sections[y->section];
	*offset = y->value - s->addr + s->offset;
	return y->value >= s->addr && y->value - s->addr <= s->size;
}

static bool is_wanted(const struct reader *r, const struct image_elf_symbol *y)
{
	const struct image_section *s;

	if (y->section == SHN_UNDEF || y->section >= SHN_LORESERVE ||
	        y->section >= r->from->nsections) {
		return false;
	}
	s = &r->from->sections[y->section];
	if (r->only != NULL && r->only != s) {
		return false;
	}
	switch (y->info & 15) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
	case STT_OBJECT: return (s->flags & SHF_ALLOC) != 0;
	/* Labels of assembly code; in data they are mostly the linker's. */
	case STT_NOTYPE: return (s->flags & SHF_EXECINSTR) != 0;
	default: return false;
	}
}

/* In code of Arm, "$x", "$d.12" and so on mark instructions and data; they name nothing. */
static bool is_mark(const struct image_elf *e, struct span name)
{
	return (e->machine == EM_AARCH64 || e->machine == EM_ARM) && name.n >= 2 &&
	       name.p[0] == '$' && strchr("adtx", name.p[1]) != NULL &&
	       (name.n == 2 || name.p[2] == '.');
}

static uint8_t binding_of(uint8_t info)
{
	switch (info >> 4) {
	case STB_LOCAL: return SYMBOL_LOCAL;
	case STB_WEAK: return SYMBOL_WEAK;
	default: return SYMBOL_GLOBAL;
	}
}

static void read_symbol(struct reader *r, size_t i)
{
	struct image_elf_symbol y = image_elf_symbol_at(r->from, r->section, i);
	struct raw_symbol s = {.binding = binding_of(y.info), .type = y.info & 15};
	struct span name;

	if (!is_wanted(r, &y) || !offset_of(r, &y, &s.start)) {
		return;
	}
	name = image_elf_text(r->texts, y.name);
	if (name.n == 0 || name.n > UINT32_MAX / 2) {
		r->b->skipped++;
		return;
	}
	if (is_mark(r->from, name)) {
		return;
	}
	s.end = y.size > UINT64_MAX - s.start ? UINT64_MAX : s.start + y.size;
	s.name = (const char *)name.p;
	s.name_size = (uint32_t)name.n;
	builder_add(r->b, &s);
}

static void read_symbols(struct reader *r)
{
	const struct image_section *s = image_elf_symbols(r->from, SHT_SYMTAB, 1);
	size_t n;

	r->b->last_size = SYMBOL_LAST_SIZE;
	if (s == NULL) {
		s = image_elf_symbols(r->from, SHT_DYNSYM, 1);
	}
	if (s == NULL) {
		return;
	}
	r->section = s;
	r->texts = image_elf_names(r->from, s);
	n = image_elf_symbol_count(r->from, s);
	for (size_t i = 1; i < n; i++) {
		read_symbol(r, i);
	}
}

void builder_read_kernel(struct symbol_builder *b, const struct image_elf *kernel)
{
	struct reader r = {.b = b, .object = kernel, .from = kernel, .linked = true};

	read_symbols(&r);
}

void builder_read_module(struct symbol_builder *b, const struct image_elf *module)
{
	struct reader r = {.b = b, .object = module, .from = module, .linked = true};

	r.only = image_elf_section(module, ".text");
	if (module->type == ET_REL && r.only != NULL) {
		read_symbols(&r);
	}
}

bool builder_find(const struct symbol_builder *b, const char *name, uint64_t *address)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < b->count; i++) {
		if (b->raw[i].name_size == n && memcmp(b->raw[i].name, name, n) == 0) {
			*address = b->raw[i].start;
			return true;
		}
	}
	return false;
}

void builder_read_elf_symbols(
        struct symbol_builder *b, const struct image_elf *object, const struct image_elf *from)
{
	struct reader r = {.b = b, .object = object, .from = from};

	read_symbols(&r);
}

void builder_read_elf(
        struct symbol_builder *b, const struct image_elf *object, const struct image_elf *from)
{
	builder_read_elf_symbols(b, object, from);
	builder_read_plt(b, object);
}
