/* SPDX-License-Identifier: MIT */
/*
 * Symbols of ELF objects, at file offsets: .symtab if present, else .dynsym; and names for the
 * entries of .plt.
 *
 * PLT: after a header, entry i belongs to relocation i of .rela.plt:
 *
 *	.plt   header | entry 0 | entry 1 | ...        x86-64: 16 bytes each, AArch64: header 32
 *	.rela.plt  r_offset r_info r_addend            r_info >> 32: index in .dynsym
 */
#include "image/image.h"
#include "symbol/builder.h"

#include <elf.h>

struct reader {
	struct symbol_builder *b;
	const struct image_elf *object; /* file offsets are those of this file */
	const struct image_elf *from; /* symbols are read from this file */
	const struct image_section *section;
	struct span texts;
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

static uint64_t plt_header_size(const struct image_elf *e)
{
	return e->machine == EM_AARCH64 ? 32 : 16;
}

/* For x86-64 and AArch64, which both use Elf64_Rela. */
static void read_plt(struct symbol_builder *b, const struct image_elf *e)
{
	const struct image_section *plt = image_elf_section(e, ".plt");
	const struct image_section *rela = image_elf_section(e, ".rela.plt");
	const struct image_section *dyn;
	struct span texts;
	struct cursor c;
	uint64_t at;

	if (plt == NULL || rela == NULL || !e->is64 || rela->link >= e->nsections) {
		return;
	}
	dyn = &e->sections[rela->link];
	texts = image_elf_names(e, dyn);
	c = cursor_make(image_elf_section_bytes(e, rela), e->swap);
	at = plt_header_size(e);
	while (cursor_left(&c) >= sizeof(Elf64_Rela) && at < plt->size && plt->size - at >= 16) {
		struct raw_symbol s = {.start = plt->offset + at,
		        .end = plt->offset + at + 16,
		        .type = STT_FUNC,
		        .binding = SYMBOL_GLOBAL,
		        .plt = true};
		uint64_t index;

		cursor_u64(&c);
		index = cursor_u64(&c) >> 32;
		cursor_u64(&c);
		at += 16;
		if (index < image_elf_symbol_count(e, dyn)) {
			struct image_elf_symbol y = image_elf_symbol_at(e, dyn, (size_t)index);
			struct span name = image_elf_text(texts, y.name);

			s.name = (const char *)name.p;
			s.name_size = name.n < UINT32_MAX / 2 ? (uint32_t)name.n : 0;
		}
		builder_add(b, &s);
	}
}

static void read_symbols(struct reader *r)
{
	const struct image_section *s = image_elf_symbols(r->from, SHT_SYMTAB, 1);
	size_t n;

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

void builder_read_elf(
        struct symbol_builder *b, const struct image_elf *object, const struct image_elf *from)
{
	struct reader r = {.b = b, .object = object, .from = from};

	read_symbols(&r);
	/* As perf: an object without symbols of its own gets no PLT names either. */
	if (b->count > 0) {
		read_plt(b, object);
	}
}
