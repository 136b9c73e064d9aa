/* SPDX-License-Identifier: MIT */
/*
 * Names of the entries of .plt, .plt.sec and .plt.got, `f@plt`, in x86-64 and AArch64 objects.
 *
 * An entry jumps to the address in its slot of the GOT, and the relocation of that slot, in
 * .rela.plt or .rela.dyn, names the function in .dynsym. So names are found by reading the entry's
 * instructions, whatever the linker made in front of the entries, between them and of their order:
 *
 *	x86-64   [endbr64] [bnd] jmp *SLOT(%rip)              8 or 16 bytes
 *	         endbr64 push $I; [bnd] jmp .plt              16: lazy, I: index in .rela.plt
 *	AArch64  [bti c] adrp x16, PAGE; ldr x17, [x16, #N]   16; 24 with bti, or with autia1716
 *
 * A slot that an ifunc's resolver fills (IRELATIVE) has no function: as in perf, its entry is "@plt".
 */
#include "core/array.h"
#include "image/image.h"
#include "symbol/builder.h"

#include <elf.h>
#include <stdlib.h>

struct slot {
	uint64_t address;
	uint32_t symbol; /* index in .dynsym; 0, of a symbol without name: of an ifunc */
};

struct plt {
	struct symbol_builder *b;
	const struct image_elf *e;
	const struct image_section *dyn;
	struct span texts;
	struct slot *slots; /* sorted by address */
	size_t count;
	size_t cap;
};

/* An entry as its instructions describe it. size 0: these bytes are none. */
struct entry {
	uint64_t slot;
	uint64_t size;
};

/* Of the relocations that fill a slot with the address of a function. */
static bool fills_slot(uint16_t machine, uint32_t type)
{
	if (machine == EM_X86_64) {
		return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT ||
		       type == R_X86_64_IRELATIVE;
	}
	return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT ||
	       type == R_AARCH64_IRELATIVE;
}

static int slot_compare(const void *pa, const void *pb)
{
	const struct slot *a = pa;
	const struct slot *b = pb;

	if (a->address != b->address) {
		return a->address < b->address ? -1 : 1;
	}
	return a->symbol < b->symbol ? -1 : a->symbol > b->symbol;
}

static void read_slots(struct plt *p, const char *section)
{
	const struct image_section *rela = image_elf_section(p->e, section);
	struct cursor c;

	if (rela == NULL || rela->type != SHT_RELA) {
		return;
	}
	c = cursor_make(image_elf_section_bytes(p->e, rela), p->e->swap);
	while (cursor_left(&c) >= sizeof(Elf64_Rela)) {
		struct slot s = {.address = cursor_u64(&c)};
		uint64_t info = cursor_u64(&c);

		cursor_u64(&c);
		s.symbol = (uint32_t)ELF64_R_SYM(info);
		if (!fills_slot(p->e->machine, (uint32_t)info)) {
			continue;
		}
		if (!array_reserve(&p->slots, &p->cap, p->count + 1, sizeof(*p->slots))) {
			p->b->failed = true;
			return;
		}
		p->slots[p->count++] = s;
	}
}

/* The slot of relocation i of .rela.plt, 0 if there is none. */
static uint64_t slot_of_index(const struct image_elf *e, uint32_t i)
{
	const struct image_section *rela = image_elf_section(e, ".rela.plt");
	struct span bytes = rela != NULL ? image_elf_section_bytes(e, rela) : (struct span){0};

	return i < bytes.n / sizeof(Elf64_Rela)
	               ? load_u64(bytes.p + (size_t)i * sizeof(Elf64_Rela), e->swap)
	               : 0;
}

/* Instructions are little-endian, on any machine that reads them. */
static uint32_t code_u32(struct span code, size_t at)
{
	return at + 4 <= code.n ? load_u32(code.p + at, HOST_BIG_ENDIAN) : 0;
}

static struct entry entry_x86(const struct image_elf *e, struct span code, uint64_t address)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	bool marked = code.n >= 4 && memcmp(code.p, endbr64, sizeof(endbr64)) == 0;
	size_t at = marked ? 4 : 0;

	if (marked && code.n >= 16 && code.p[4] == 0x68) {
		return (struct entry){.slot = slot_of_index(e, code_u32(code, 5)), .size = 16};
	}
	at += code.n > at && code.p[at] == 0xf2;
	if (code.n < at + 6 || code.p[at] != 0xff || code.p[at + 1] != 0x25) {
		return (struct entry){0};
	}
	return (struct entry){
	        .slot = address + at + 6 + (uint64_t)(int64_t)(int32_t)code_u32(code, at + 2),
	        .size = 8};
}

static struct entry entry_aarch64(const struct image_elf *e, struct span code, uint64_t address)
{
	size_t at = code_u32(code, 0) == 0xd503245f ? 4 : 0; /* bti c */
	uint32_t adrp = code_u32(code, at);
	uint32_t ldr = code_u32(code, at + 4);
	bool signs = code_u32(code, at + 12) == 0xd503219f; /* autia1716 */
	uint64_t pages;

	(void)e;
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211) {
		return (struct entry){0};
	}
	/* 21 bits of pages, signed: the higher 19 at bit 5, the lower 2 at bit 29. */
	pages = (uint64_t)((adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3));
	pages = (pages ^ 1u << 20) - (1u << 20);
	return (struct entry){.slot = ((address + at) & ~(uint64_t)4095) + (pages << 12) +
	                              (uint64_t)(ldr >> 10 & 0xfff) * 8,
	        .size = at != 0 || signs ? 24 : 16};
}

static void add_entry(struct plt *p, uint64_t offset, const struct entry *e)
{
	struct raw_symbol s = {.start = offset,
	        .end = offset + e->size,
	        .type = STT_FUNC,
	        .binding = SYMBOL_GLOBAL,
	        .plt = true};
	struct image_elf_symbol y;
	struct span name;
	size_t low = 0;

	for (size_t high = p->count; low < high;) {
		size_t middle = low + (high - low) / 2;

		if (p->slots[middle].address < e->slot) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	if (low == p->count || p->slots[low].address != e->slot ||
	        p->slots[low].symbol >= image_elf_symbol_count(p->e, p->dyn)) {
		return;
	}
	y = image_elf_symbol_at(p->e, p->dyn, p->slots[low].symbol);
	name = image_elf_text(p->texts, y.name);
	if (name.p != NULL && name.n < UINT32_MAX / 2) {
		s.name = (const char *)name.p;
		s.name_size = (uint32_t)name.n;
		builder_add(p->b, &s);
	}
}

/* Entries of x86-64 are as far apart as the section says: 8 bytes in some .plt.got, else 16. */
static void read_entries(struct plt *p, const struct image_section *s)
{
	bool x86 = p->e->machine == EM_X86_64;
	size_t step = !x86 ? 4 : s->entsize == 8 ? 8 : 16;
	struct span code = image_elf_section_bytes(p->e, s);
	size_t at = 0;

	while (at + 8 <= code.n) {
		struct span rest = {.p = code.p + at, .n = code.n - at};
		struct entry e = x86 ? entry_x86(p->e, rest, s->addr + at)
		                     : entry_aarch64(p->e, rest, s->addr + at);

		if (x86 && e.size != 0) {
			e.size = step;
		}
		if (e.size > rest.n) {
			e.size = rest.n;
		}
		if (e.size != 0) {
			add_entry(p, s->offset + at, &e);
		}
		at += e.size != 0 ? (size_t)e.size : step;
	}
}

void builder_read_plt(struct symbol_builder *b, const struct image_elf *e)
{
	static const char *const sections[] = {".plt", ".plt.sec", ".plt.got"};
	struct plt p = {.b = b, .e = e, .dyn = image_elf_symbols(e, SHT_DYNSYM, 1)};

	if (p.dyn == NULL || !e->is64 || (e->machine != EM_X86_64 && e->machine != EM_AARCH64)) {
		return;
	}
	p.texts = image_elf_names(e, p.dyn);
	read_slots(&p, ".rela.plt");
	if (image_elf_section(e, ".plt.got") != NULL) { /* .rela.dyn can be very long */
		read_slots(&p, ".rela.dyn");
	}
	if (p.count != 0) {
		qsort(p.slots, p.count, sizeof(*p.slots), slot_compare);
	}
	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		const struct image_section *s = image_elf_section(e, sections[i]);

		if (s != NULL && p.count != 0) {
			read_entries(&p, s);
		}
	}
	free(p.slots);
}
