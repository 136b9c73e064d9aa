/* SPDX-License-Identifier: MIT */
#include "frame/module.h"

#include "core/index.h"
#include "frame/search.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#define HOOK "__fentry__"

static const uint8_t nop[5] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

/* A module's file while it is relocated. */
struct linking {
	const struct image_elf *elf;
	const struct image_section *text, *symbols;
	struct span names;
	struct frame_module *out;
	uint64_t base; /* run-time address of the text */
	uint64_t *addresses; /* of the kernel's symbols, by number; 0: unknown */
	struct index undefined; /* numbers of symbols that are not in the file, by their names */
};

static struct span name_of(const struct linking *l, size_t symbol)
{
	struct image_elf_symbol y = image_elf_symbol_at(l->elf, l->symbols, symbol);

	return image_elf_text(l->names, y.name);
}

static int list_undefined(struct linking *l, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		struct span name = name_of(l, i);
		uint32_t hash = (uint32_t)hash_bytes(name.p, name.n);
		size_t at = hash;

		if (name.n == 0 ||
		        image_elf_symbol_at(l->elf, l->symbols, i).section != SHN_UNDEF) {
			continue;
		}
		TRY(index_room(&l->undefined));
		while (index_next(&l->undefined, hash, &at) != INDEX_NONE) {
			at++;
		}
		index_put(&l->undefined, hash, at, (uint32_t)i);
	}
	return 0;
}

/* Gives a symbol of the kernel's its address where the module names it. */
static void bind(struct linking *l, const char *name, uint64_t address)
{
	size_t n = strlen(name);
	uint32_t hash = (uint32_t)hash_bytes(name, n), id;
	size_t at = hash;

	while ((id = index_next(&l->undefined, hash, &at)) != INDEX_NONE) {
		struct span wanted = name_of(l, id);

		if (wanted.n == n && memcmp(wanted.p, name, n) == 0) {
			l->addresses[id] = address;
		}
		at++;
	}
}

/* Finds the addresses of symbols that the kernel has. */
static int find_undefined(struct linking *l, const struct frame_resolver *r, bool guest)
{
	for (uint32_t i = 0; i < timeline_objects(r->timeline); i++) {
		const struct timeline_object *o = timeline_object(r->timeline, i);
		const struct symbol_table *table;

		if (o->kind != TIMELINE_KERNEL || o->guest != guest) {
			continue;
		}
		table = frame_symbols(r, i);
		for (size_t k = 0; table != NULL && k < symbol_table_count(table); k++) {
			const struct symbol *s = symbol_table_at(table, k);
			const char *name = symbol_name(table, s);

			if (name == NULL) {
				return SONDE_ENOMEM;
			}
			bind(l, name, s->start);
		}
		return table != NULL ? 0 : SONDE_ENOMEM;
	}
	return 0;
}

static void put(struct linking *l, uint64_t offset, uint64_t value, size_t size)
{
	for (size_t i = 0; i < size && offset < l->out->size && i < l->out->size - offset; i++) {
		l->out->text[offset + i] = (uint8_t)(value >> 8 * i);
	}
}

/* u64 offset; u32 type, symbol; i64 addend */
static void relocate(struct linking *l, const uint8_t *entry, size_t nsymbols)
{
	uint64_t offset = load_u64(entry, false);
	uint32_t type = load_u32(entry + 8, false), symbol = load_u32(entry + 12, false);
	uint64_t addend = load_u64(entry + 16, false);
	struct image_elf_symbol y;
	struct span name;
	uint64_t to;

	if (symbol >= nsymbols || offset >= l->out->size) {
		return;
	}
	y = image_elf_symbol_at(l->elf, l->symbols, symbol);
	name = name_of(l, symbol);
	if (name.n == strlen(HOOK) && memcmp(name.p, HOOK, name.n) == 0 && offset != 0 &&
	        l->out->size - offset >= 4) {
		memcpy(l->out->text + offset - 1, nop, sizeof(nop));
		return;
	}
	to = y.section == (size_t)(l->text - l->elf->sections) ? l->base + y.value
	                                                       : l->addresses[symbol];
	if (to == 0) {
		return;
	}
	switch (type) {
	case R_X86_64_PC32:
	case R_X86_64_PLT32: put(l, offset, to + addend - (l->base + offset), 4); break;
	case R_X86_64_32:
	case R_X86_64_32S: put(l, offset, to + addend, 4); break;
	case R_X86_64_64: put(l, offset, to + addend, 8); break;
	default: break;
	}
}

static int link_text(struct linking *l, const struct frame_resolver *r, bool guest)
{
	const struct image_section *s = image_elf_section(l->elf, ".rela.text");
	struct span entries = s != NULL ? image_elf_section_bytes(l->elf, s) : (struct span){0};
	size_t n;

	l->symbols = image_elf_symbols(l->elf, SHT_SYMTAB, 1);
	if (entries.n == 0 || l->symbols == NULL) {
		return 0;
	}
	l->names = image_elf_names(l->elf, l->symbols);
	n = image_elf_symbol_count(l->elf, l->symbols);
	l->addresses = calloc(n + 1, sizeof(*l->addresses));
	if (l->addresses == NULL) {
		return SONDE_ENOMEM;
	}
	TRY(list_undefined(l, n));
	TRY(find_undefined(l, r, guest));
	for (size_t i = 0; i < entries.n / sizeof(Elf64_Rela); i++) {
		relocate(l, entries.p + i * sizeof(Elf64_Rela), n);
	}
	return 0;
}

/* Copies and links the text of a module. 0, or SONDE_ENOMEM. */
static int take_text(struct frame_module *m, const struct frame_resolver *r,
        const struct timeline_object *o, const struct image_elf *elf)
{
	struct linking l = {.elf = elf, .out = m, .base = o->base};
	struct span bytes;
	int rc;

	l.text = image_elf_section(elf, ".text");
	if (elf->machine != EM_X86_64 || !elf->is64 || elf->swap || l.text == NULL) {
		return 0;
	}
	bytes = image_elf_section_bytes(elf, l.text);
	if (bytes.n == 0) {
		return 0;
	}
	m->text = malloc(bytes.n);
	if (m->text == NULL) {
		return SONDE_ENOMEM;
	}
	memcpy(m->text, bytes.p, bytes.n);
	m->size = bytes.n;
	rc = elf->type == ET_REL ? link_text(&l, r, o->guest) : 0;
	free(l.addresses);
	index_fini(&l.undefined);
	return rc;
}

int frame_module_open(struct frame_module *m, const struct frame_resolver *r, uint32_t object)
{
	const struct timeline_object *o = timeline_object(r->timeline, object);
	struct symbol_file file = {0};
	struct symbol_search search;
	int rc = 0;

	if (timeline_text(r->timeline, o->name)[0] != '/') {
		return 0; /* only the module's name is known */
	}
	frame_search_init(r, object, &search);
	if (symbol_file_open_object(&search, &file)) {
		rc = take_text(m, r, o, &file.elf);
		symbol_file_close(&file);
	}
	return search.failed ? SONDE_ENOMEM : rc;
}
