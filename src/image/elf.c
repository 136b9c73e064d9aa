/* SPDX-License-Identifier: MIT */
/*
 * A read-only view of ELF bytes, 32 and 64 bit, either byte order, every access checked.
 *
 *	e_ident  0: 7f 'E' 'L' 'F'   4: class (1: 32, 2: 64 bit)   5: data (1: little, 2: big)
 *	field          32-bit offset, size    64-bit offset, size
 *	e_type         16, 2                  16, 2
 *	e_machine      18, 2                  18, 2
 *	e_phoff        28, 4                  32, 8
 *	e_shoff        32, 4                  40, 8
 *	e_phentsize    42, 2                  54, 2
 *	e_phnum        44, 2                  56, 2
 *	e_shentsize    46, 2                  58, 2
 *	e_shnum        48, 2                  60, 2
 *	e_shstrndx     50, 2                  62, 2
 *
 * If e_shnum is 0 and e_shoff is set, the number of sections is the sh_size of section 0; if
 * e_shstrndx is 0xffff, the index is its sh_link.
 */
#include "image/image.h"

#include <elf.h>
#include <stdlib.h>

struct header {
	uint64_t phoff;
	uint64_t shoff;
	uint64_t shnum;
	uint32_t shstrndx;
	uint16_t phentsize;
	uint16_t phnum;
	uint16_t shentsize;
};

static uint64_t word(struct cursor *c, bool is64)
{
	return is64 ? cursor_u64(c) : cursor_u32(c);
}

/*
 * Returns bytes [offset, offset + n) of the file, or an empty span (with a valid pointer, for
 * cursors).
 */
static struct span part(struct span bytes, uint64_t offset, uint64_t n)
{
	if (offset > bytes.n || n > bytes.n - offset) {
		return (struct span){.p = bytes.p, .n = 0};
	}
	return (struct span){.p = bytes.p + offset, .n = (size_t)n};
}

static bool read_header(struct image_elf *e, struct header *h)
{
	struct cursor c;

	if (e->bytes.n < EI_NIDENT || memcmp(e->bytes.p, ELFMAG, SELFMAG) != 0) {
		return false;
	}
	if (e->bytes.p[EI_CLASS] != ELFCLASS32 && e->bytes.p[EI_CLASS] != ELFCLASS64) {
		return false;
	}
	if (e->bytes.p[EI_DATA] != ELFDATA2LSB && e->bytes.p[EI_DATA] != ELFDATA2MSB) {
		return false;
	}
	e->is64 = e->bytes.p[EI_CLASS] == ELFCLASS64;
	e->swap = (e->bytes.p[EI_DATA] == ELFDATA2MSB) != HOST_BIG_ENDIAN;
	c = cursor_make(e->bytes, e->swap);
	cursor_take(&c, EI_NIDENT);
	e->type = cursor_u16(&c);
	e->machine = cursor_u16(&c);
	cursor_u32(&c); /* e_version */
	word(&c, e->is64); /* e_entry */
	h->phoff = word(&c, e->is64);
	h->shoff = word(&c, e->is64);
	cursor_u32(&c); /* e_flags */
	cursor_u16(&c); /* e_ehsize */
	h->phentsize = cursor_u16(&c);
	h->phnum = cursor_u16(&c);
	h->shentsize = cursor_u16(&c);
	h->shnum = cursor_u16(&c);
	h->shstrndx = cursor_u16(&c);
	return !c.bad;
}

static struct image_section read_section(struct span raw, bool swap, bool is64, uint32_t *name)
{
	struct cursor c = cursor_make(raw, swap);
	struct image_section s = {.name = ""};

	*name = cursor_u32(&c);
	s.type = cursor_u32(&c);
	s.flags = word(&c, is64);
	s.addr = word(&c, is64);
	s.offset = word(&c, is64);
	s.size = word(&c, is64);
	s.link = cursor_u32(&c);
	cursor_u32(&c); /* sh_info */
	word(&c, is64); /* sh_addralign */
	s.entsize = word(&c, is64);
	return s;
}

static int read_sections(struct image_elf *e, struct header *h, struct error *err)
{
	size_t entry = e->is64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	struct span first;
	struct span texts = {0};
	uint32_t name;

	if (h->shoff == 0 || h->shentsize < entry) {
		return SONDE_OK;
	}
	first = part(e->bytes, h->shoff, entry);
	if (first.n == 0) {
		return SONDE_OK;
	}
	if (h->shnum == 0 || h->shstrndx == SHN_XINDEX) {
		struct image_section zero = read_section(first, e->swap, e->is64, &name);

		h->shnum = h->shnum == 0 ? zero.size : h->shnum;
		h->shstrndx = h->shstrndx == SHN_XINDEX ? zero.link : h->shstrndx;
	}
	/* Reduce a count to what the bytes can hold. */
	if (h->shnum > (e->bytes.n - h->shoff) / h->shentsize) {
		h->shnum = (e->bytes.n - h->shoff) / h->shentsize;
	}
	e->sections = calloc((size_t)h->shnum + 1, sizeof(*e->sections));
	if (e->sections == NULL) {
		return error_nomem(err);
	}
	e->nsections = (size_t)h->shnum;
	for (size_t i = 0; i < e->nsections; i++) {
		struct span raw = part(e->bytes, h->shoff + i * h->shentsize, entry);

		e->sections[i] = read_section(raw, e->swap, e->is64, &name);
		if (i == h->shstrndx) {
			texts = image_elf_section_bytes(e, &e->sections[i]);
		}
	}
	for (size_t i = 0; i < e->nsections; i++) {
		struct span raw = part(e->bytes, h->shoff + i * h->shentsize, 4);

		struct span named = {0};

		if (raw.n != 0) {
			named = image_elf_text(texts, load_u32(raw.p, e->swap));
		}
		e->sections[i].name = named.p != NULL ? (const char *)named.p : "";
	}
	return SONDE_OK;
}

/* Reads one program header; searches notes for the build id. */
static void read_segment(struct image_elf *e, struct span raw)
{
	struct cursor c = cursor_make(raw, e->swap);
	struct image_segment s = {0};
	uint32_t type = cursor_u32(&c);

	if (e->is64) {
		cursor_u32(&c); /* p_flags */
	}
	s.offset = word(&c, e->is64);
	s.vaddr = word(&c, e->is64);
	word(&c, e->is64); /* p_paddr */
	s.filesz = word(&c, e->is64);
	s.memsz = word(&c, e->is64);
	if (type == PT_NOTE && e->build_id.size == 0) {
		image_build_id_of_notes(part(e->bytes, s.offset, s.filesz), e->swap, &e->build_id);
	}
	if (type == PT_LOAD) {
		e->segments[e->nsegments++] = s;
	}
}

static int read_segments(struct image_elf *e, const struct header *h, struct error *err)
{
	size_t entry = e->is64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	uint64_t n = h->phnum;

	if (h->phoff == 0 || h->phoff > e->bytes.n || h->phentsize < entry) {
		return SONDE_OK;
	}
	if (n > (e->bytes.n - h->phoff) / h->phentsize) {
		n = (e->bytes.n - h->phoff) / h->phentsize;
	}
	e->segments = calloc((size_t)n + 1, sizeof(*e->segments));
	if (e->segments == NULL) {
		return error_nomem(err);
	}
	for (uint64_t i = 0; i < n; i++) {
		read_segment(e, part(e->bytes, h->phoff + i * h->phentsize, entry));
	}
	return SONDE_OK;
}

/* Sections first: a separate debug file has the note in a section, and wrong segments. */
static void find_build_id(struct image_elf *e)
{
	for (size_t i = 0; i < e->nsections; i++) {
		const struct image_section *s = &e->sections[i];
		struct image_build_id id = {0};

		if (s->type == SHT_NOTE &&
		        image_build_id_of_notes(image_elf_section_bytes(e, s), e->swap, &id)) {
			e->build_id = id;
			return;
		}
	}
}

int image_elf_open(struct image_elf *e, struct span bytes, struct error *err)
{
	struct header h = {0};
	int rc;

	*e = (struct image_elf){.bytes = bytes};
	if (!read_header(e, &h)) {
		return error_set(err, SONDE_EFORMAT, 0, "not an ELF file");
	}
	rc = read_sections(e, &h, err);
	if (rc == SONDE_OK) {
		rc = read_segments(e, &h, err);
	}
	if (rc < 0) {
		image_elf_close(e);
		return rc;
	}
	find_build_id(e);
	return SONDE_OK;
}

void image_elf_close(struct image_elf *e)
{
	free(e->sections);
	free(e->segments);
	*e = (struct image_elf){0};
}

const struct image_section *image_elf_section(const struct image_elf *e, const char *name)
{
	for (size_t i = 0; i < e->nsections; i++) {
		if (strcmp(e->sections[i].name, name) == 0) {
			return &e->sections[i];
		}
	}
	return NULL;
}

struct span image_elf_section_bytes(const struct image_elf *e, const struct image_section *s)
{
	/*
	 * Compressed bytes are not the contents; no section that is read here is ever compressed.
	 */
	if (s->type == SHT_NOBITS || (s->flags & SHF_COMPRESSED) != 0) {
		return (struct span){.p = e->bytes.p, .n = 0};
	}
	return part(e->bytes, s->offset, s->size);
}

struct span image_elf_text(struct span texts, uint64_t offset)
{
	const uint8_t *end = NULL;

	if (offset < texts.n) {
		end = memchr(texts.p + offset, 0, texts.n - (size_t)offset);
	}
	return end != NULL
	               ? (struct span){texts.p + offset, (size_t)(end - texts.p) - (size_t)offset}
	               : (struct span){NULL, 0};
}

const struct image_section *image_elf_symbols(
        const struct image_elf *e, uint32_t type, size_t least)
{
	for (size_t i = 0; i < e->nsections; i++) {
		if (e->sections[i].type == type &&
		        image_elf_symbol_count(e, &e->sections[i]) >= least) {
			return &e->sections[i];
		}
	}
	return NULL;
}

struct span image_elf_names(const struct image_elf *e, const struct image_section *s)
{
	return s->link < e->nsections ? image_elf_section_bytes(e, &e->sections[s->link])
	                              : (struct span){0};
}

size_t image_elf_symbol_count(const struct image_elf *e, const struct image_section *s)
{
	return image_elf_section_bytes(e, s).n / (e->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
}

struct image_elf_symbol image_elf_symbol_at(
        const struct image_elf *e, const struct image_section *s, size_t i)
{
	size_t entry = e->is64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	struct cursor c = cursor_make(part(e->bytes, s->offset + i * entry, entry), e->swap);
	struct image_elf_symbol y = {.name = cursor_u32(&c)};

	if (!e->is64) {
		y.value = cursor_u32(&c);
		y.size = cursor_u32(&c);
	}
	y.info = cursor_u8(&c);
	cursor_u8(&c); /* st_other */
	y.section = cursor_u16(&c);
	if (e->is64) {
		y.value = cursor_u64(&c);
		y.size = cursor_u64(&c);
	}
	return y;
}

bool image_elf_offset(const struct image_elf *e, uint64_t vaddr, uint64_t *offset)
{
	for (size_t i = 0; i < e->nsegments; i++) {
		const struct image_segment *s = &e->segments[i];

		if (vaddr >= s->vaddr && vaddr - s->vaddr < s->memsz) {
			*offset = vaddr - s->vaddr + s->offset;
			return true;
		}
	}
	return false;
}

const char *image_elf_debuglink(const struct image_elf *e)
{
	const struct image_section *s = image_elf_section(e, ".gnu_debuglink");
	struct span text;

	if (s == NULL) {
		return NULL;
	}
	text = image_elf_text(image_elf_section_bytes(e, s), 0);
	/* A name with a slash would point outside of the folders for debug files. */
	return text.n == 0 || memchr(text.p, '/', text.n) != NULL ? NULL : (const char *)text.p;
}

/* CRC-32 with the reflected polynomial of IEEE 802.3, as .gnu_debuglink has it. */
static uint32_t crc32_of(struct span bytes)
{
	uint32_t of_byte[256];
	uint32_t crc = UINT32_MAX;

	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (unsigned bit = 0; bit < 8; bit++) {
			c = (c & 1) != 0 ? c >> 1 ^ 0xedb88320 : c >> 1;
		}
		of_byte[i] = c;
	}
	for (size_t i = 0; i < bytes.n; i++) {
		crc = crc >> 8 ^ of_byte[(crc ^ bytes.p[i]) & 255];
	}
	return ~crc;
}

bool image_elf_debuglink_fits(const struct image_elf *e, struct span file)
{
	const struct image_section *s = image_elf_section(e, ".gnu_debuglink");
	struct span bytes = s != NULL ? image_elf_section_bytes(e, s) : (struct span){0};
	size_t at = image_elf_text(bytes, 0).n + 1; /* the text with its NUL, padded to 4 bytes */

	at = (at + 3) & ~(size_t)3;
	return at <= bytes.n && bytes.n - at >= 4 &&
	       load_u32(bytes.p + at, e->swap) == crc32_of(file);
}

#define INNER_MAX ((size_t)256 << 20) /* most bytes of an unpacked .gnu_debugdata */

int image_inner_open(struct image_inner *in, const struct image_elf *e)
{
	const struct image_section *s = image_elf_section(e, ".gnu_debugdata");
	struct error err = {0};
	struct span bytes;
	int rc;

	*in = (struct image_inner){0};
	rc = s != NULL ? image_unpack_xz(
	                         image_elf_section_bytes(e, s), INNER_MAX, &in->bytes, &bytes.n)
	               : 0;
	if (rc <= 0) {
		return rc;
	}
	bytes.p = in->bytes;
	rc = image_elf_open(&in->elf, bytes, &err);
	if (rc < 0) {
		image_inner_close(in);
	}
	return rc == SONDE_ENOMEM ? rc : rc >= 0;
}

void image_inner_close(struct image_inner *in)
{
	image_elf_close(&in->elf);
	free(in->bytes);
	*in = (struct image_inner){0};
}
