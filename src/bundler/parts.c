/* SPDX-License-Identifier: MIT */
/*
 * ELF objects reduced to what reports read: symbols, source lines, unwinding tables and code.
 *
 *	as in the object   ELF header, program headers, executable segments, notes, and the loaded sections
 *	                   that are needed, all at their offsets, as recorded addresses are offsets too;
 *	                   zero bytes between them, nothing after the last of them
 *	after that         sections that are not loaded: symbol tables and debug information
 *	at the end         section headers, with the same numbers
 *
 * Loaded sections after the last needed one and other sections become SHT_NOBITS.
 */
#include "bundler/inside.h"

#include "image/image.h"

#include <elf.h>
#include <stdlib.h>

#define ALIGNMENT 16u

struct parts {
	const struct image_elf *elf;
	struct span in;
	uint8_t *out;
	uint64_t size; /* of out, so far */
	uint64_t loaded; /* end of what stays at its offset */
	uint64_t phoff, shoff;
	uint32_t names; /* number of the section with names */
	uint16_t phentsize, phnum, shentsize;
	bool code; /* it has code: it is not a separate debug file */
};

/* Offsets of header fields of a class. */
struct layout {
	uint8_t address; /* bytes of an address */
	uint8_t phoff, shoff, phentsize, phnum, shentsize, shstrndx, header;
	uint8_t p_flags, p_offset, p_filesz, p_header;
	uint8_t sh_offset, sh_size, sh_header;
};

static const struct layout layouts[] = {
        {.address = 4,
                .phoff = 28,
                .shoff = 32,
                .phentsize = 42,
                .phnum = 44,
                .shentsize = 46,
                .shstrndx = 50,
                .header = 52,
                .p_flags = 24,
                .p_offset = 4,
                .p_filesz = 16,
                .p_header = 32,
                .sh_offset = 16,
                .sh_size = 20,
                .sh_header = 40},
        {.address = 8,
                .phoff = 32,
                .shoff = 40,
                .phentsize = 54,
                .phnum = 56,
                .shentsize = 58,
                .shstrndx = 62,
                .header = 64,
                .p_flags = 4,
                .p_offset = 8,
                .p_filesz = 32,
                .p_header = 56,
                .sh_offset = 24,
                .sh_size = 32,
                .sh_header = 64},
};

static const struct layout *layout_of(const struct parts *p)
{
	return &layouts[p->elf->is64];
}

static uint64_t address_at(const struct parts *p, const uint8_t *at)
{
	return p->elf->is64 ? load_u64(at, p->elf->swap) : load_u32(at, p->elf->swap);
}

static void address_put(const struct parts *p, uint8_t *at, uint64_t value)
{
	if (p->elf->is64) {
		store_u64(at, value, p->elf->swap);
	} else {
		store_u32(at, (uint32_t)value, p->elf->swap);
	}
}

static bool is_one_of(const char *name, const char *const *names)
{
	while (*names != NULL && strcmp(name, *names) != 0) {
		names++;
	}
	return *names != NULL;
}

/* Debug information that lines, inlined functions and unwinding need. */
static bool is_needed_debug(const char *name)
{
	static const char *const needed[] = {"info", "types", "abbrev", "line", "line_str", "str",
	        "str_offsets", "addr", "ranges", "rnglists", "aranges", "frame", "cu_index",
	        "tu_index", NULL};
	const char *word = strncmp(name, ".debug_", 7) == 0    ? name + 7
	                   : strncmp(name, ".zdebug_", 8) == 0 ? name + 8
	                                                       : NULL;
	char plain[32];
	size_t n;

	if (word == NULL) {
		return false;
	}
	n = strlen(word);
	if (n > 4 && strcmp(word + n - 4, ".dwo") == 0) {
		n -= 4;
	}
	if (n >= sizeof(plain)) {
		return false;
	}
	memcpy(plain, word, n);
	plain[n] = '\0';
	return is_one_of(plain, needed);
}

/* Whether symbols of the object have their names in section i. */
static bool has_names(const struct image_elf *e, size_t i)
{
	for (size_t k = 0; k < e->nsections; k++) {
		const struct image_section *s = &e->sections[k];

		if ((s->type == SHT_SYMTAB || s->type == SHT_DYNSYM) && s->link == i) {
			return true;
		}
	}
	return false;
}

static bool is_needed(const struct parts *p, size_t i)
{
	static const char *const names[] = {".eh_frame", ".eh_frame_hdr", ".plt", ".plt.sec",
	        ".plt.got", ".rela.plt", ".rel.plt", ".rela.dyn", ".rel.dyn", ".opd",
	        ".note.gnu.build-id", "note.gnu.build-id", ".gnu_debuglink", ".gnu_debugaltlink",
	        ".gnu_debugdata", NULL};
	const struct image_section *s = &p->elf->sections[i];

	switch (s->type) {
	case SHT_SYMTAB:
	case SHT_DYNSYM:
	case SHT_SYMTAB_SHNDX:
	case SHT_DYNAMIC: return true;
	case SHT_NULL:
	case SHT_NOBITS: return false;
	default: break;
	}
	return (s->flags & SHF_EXECINSTR) != 0 ||
	       (s->type == SHT_NOTE && (s->flags & SHF_ALLOC) != 0) || i == p->names ||
	       is_one_of(s->name, names) || is_needed_debug(s->name) || has_names(p->elf, i);
}

/* Copies bytes to their own offset; false: they are not in the object. */
static bool stay(struct parts *p, uint64_t offset, uint64_t n)
{
	if (offset > p->in.n || n > p->in.n - offset) {
		return false;
	}
	memcpy(p->out + offset, p->in.p + offset, (size_t)n);
	p->loaded = offset + n > p->loaded ? offset + n : p->loaded;
	return true;
}

static bool segment_stay(struct parts *p, const uint8_t *header)
{
	const struct layout *l = layout_of(p);
	uint32_t type = load_u32(header, p->elf->swap);
	bool code = type == PT_LOAD && (load_u32(header + l->p_flags, p->elf->swap) & PF_X) != 0;

	if (!code && type != PT_NOTE && type != PT_DYNAMIC && type != PT_GNU_EH_FRAME) {
		return true;
	}
	return stay(p, address_at(p, header + l->p_offset), address_at(p, header + l->p_filesz));
}

/* Copies what stays at its offset. */
static bool loaded_copy(struct parts *p)
{
	const struct image_elf *e = p->elf;
	const struct layout *l = layout_of(p);
	bool fits = stay(p, 0, l->header) && stay(p, p->phoff, (uint64_t)p->phnum * p->phentsize);

	/* in a separate debug file the program headers are those of the object */
	for (size_t i = 0; i < p->phnum && fits && p->code; i++) {
		fits = segment_stay(p, p->in.p + p->phoff + i * p->phentsize);
	}
	for (size_t i = 0; i < e->nsections && fits; i++) {
		const struct image_section *s = &e->sections[i];

		if ((s->flags & SHF_ALLOC) != 0 && is_needed(p, i)) {
			fits = stay(p, s->offset, s->size);
		}
	}
	p->size = p->loaded;
	return fits;
}

/* Adds bytes at the end; false: there is no room, as sections of the object overlap. */
static bool add(struct parts *p, uint64_t offset, uint64_t n, uint64_t *at)
{
	*at = (p->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (*at > p->in.n || n > p->in.n - *at || offset > p->in.n || n > p->in.n - offset) {
		return false;
	}
	memcpy(p->out + *at, p->in.p + offset, (size_t)n);
	p->size = *at + n;
	return true;
}

/* Copies a section that is not loaded, or drops it; `header`: its new header. */
static bool section_move(struct parts *p, size_t i, uint8_t *header)
{
	const struct layout *l = layout_of(p);
	const struct image_section *s = &p->elf->sections[i];
	uint64_t at = p->loaded;

	if (s->type == SHT_NULL || s->type == SHT_NOBITS) {
		return true;
	}
	if ((s->flags & SHF_ALLOC) != 0) {
		if (s->offset >= p->loaded || s->size > p->loaded - s->offset) {
			store_u32(header + 4, SHT_NOBITS, p->elf->swap);
		}
		return true;
	}
	if (is_needed(p, i)) {
		if (!add(p, s->offset, s->size, &at)) {
			return false;
		}
	} else {
		store_u32(header + 4, SHT_NOBITS, p->elf->swap);
		address_put(p, header + l->sh_size, 0);
	}
	address_put(p, header + l->sh_offset, at);
	return true;
}

/* Segments end where the bytes end that stay. */
static void segments_cut(struct parts *p)
{
	const struct layout *l = layout_of(p);

	for (size_t i = 0; i < p->phnum && p->code; i++) {
		uint8_t *header = p->out + p->phoff + i * p->phentsize;
		uint64_t offset = address_at(p, header + l->p_offset);
		uint64_t n = address_at(p, header + l->p_filesz);
		uint64_t most = offset < p->loaded ? p->loaded - offset : 0;

		address_put(p, header + l->p_filesz, n < most ? n : most);
	}
}

static bool reduce(struct parts *p)
{
	size_t table = p->elf->nsections * p->shentsize;
	uint8_t *headers = malloc(table);
	bool fits = headers != NULL && loaded_copy(p);
	uint64_t at;

	if (headers != NULL) {
		memcpy(headers, p->in.p + p->shoff, table);
	}
	for (size_t i = 0; i < p->elf->nsections && fits; i++) {
		fits = section_move(p, i, headers + i * p->shentsize);
	}
	fits = fits && add(p, p->shoff, table, &at);
	if (fits) {
		memcpy(p->out + at, headers, table);
		address_put(p, p->out + layout_of(p)->shoff, at);
		segments_cut(p);
	}
	free(headers);
	return fits;
}

/* Reads the headers; false: the object cannot be reduced. */
static bool headers_read(struct parts *p)
{
	const struct image_elf *e = p->elf;
	const struct layout *l = layout_of(p);
	const uint8_t *h = p->in.p;
	uint64_t table;

	if (p->in.n < l->header || e->nsections == 0 || e->type == ET_REL) {
		return false;
	}
	p->phoff = address_at(p, h + l->phoff);
	p->shoff = address_at(p, h + l->shoff);
	p->phentsize = load_u16(h + l->phentsize, e->swap);
	p->phnum = load_u16(h + l->phnum, e->swap);
	p->shentsize = load_u16(h + l->shentsize, e->swap);
	p->names = load_u16(h + l->shstrndx, e->swap);
	table = e->nsections * (uint64_t)p->shentsize;
	for (size_t i = 0; i < e->nsections; i++) {
		p->code = p->code || ((e->sections[i].flags & SHF_EXECINSTR) != 0 &&
		                             e->sections[i].type != SHT_NOBITS);
	}
	return (p->phnum == 0 || (p->phentsize >= l->p_header && p->phoff >= l->header)) &&
	       p->shentsize >= l->sh_header && p->shoff <= p->in.n && table <= p->in.n - p->shoff &&
	       p->names != SHN_XINDEX;
}

int bundler_parts(const struct image_elf *elf, struct span *out, uint8_t **memory)
{
	struct parts p = {.elf = elf, .in = *out};

	*memory = NULL;
	if (!headers_read(&p)) {
		return 0;
	}
	p.out = calloc(1, p.in.n);
	if (p.out == NULL) {
		return SONDE_ENOMEM;
	}
	if (!reduce(&p)) {
		free(p.out);
		return 0;
	}
	*memory = p.out;
	*out = (struct span){p.out, (size_t)p.size};
	return 0;
}
