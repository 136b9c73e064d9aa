/* SPDX-License-Identifier: MIT */
/*
 * A package has the sections of many .dwo files, one after the other in each section. Its index says
 * where the parts of a unit are, found by the number that its skeleton has too (DWARF 5, 7.3.5; before
 * that, a GNU extension with other numbers of columns).
 *
 *	view:  bytes of the package | addresses, ranges of the program | inflated sections | abbreviations,
 *	       headers
 *
 * The view is a private mapping. What a skeleton says is put into the unit's DIE: sections begin where
 * the skeleton's bases are, so that all bases are the default ones; its low address, to which ranges
 * are relative, takes the place of the unit's number, which has eight bytes too. They are in the header
 * of DWARF 5, and in an attribute before.
 */
#include "symbol/line_package.h"

#include "core/status.h"

#include <dwarf.h>
#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROWS_MAX   (1u << 24)
#define NUMBER     8u /* bytes of a unit's number, and of an address */
#define WORK_EXTRA 16u /* an abbreviation becomes at most this much longer */
#define HEADER_4   11u /* bytes before the DIE of a unit of DWARF 4, of DWARF 5 */
#define HEADER_5   12u

enum part { INFO, ABBREV, STR_OFFSETS, RNGLISTS, INDEXED, STR = INDEXED, ADDR, RANGES, PARTS };

static const char *const part_names[PARTS] = {".debug_info", ".debug_abbrev", ".debug_str_offsets",
        ".debug_rnglists", ".debug_str", ".debug_addr", ".debug_ranges"};

/* Bytes of a section, and where they are in a view. */
struct place {
	struct span bytes;
	uint64_t at;
	bool is_copied; /* it is not in the package's file as it is needed */
};

struct line_package {
	int fd;
	Elf *elf;
	struct span file;
	bool swap;
	struct place parts[PARTS];
	/* the index */
	uint32_t nslots, nunits, ncolumns;
	unsigned version;
	const uint8_t *numbers, *rows, *offsets, *sizes;
	unsigned columns[INDEXED]; /* place of each part in a row; UINT_MAX: none */
	uint64_t work; /* where abbreviations and headers are in a view */
	size_t size; /* of a view */
};

void line_package_free(struct line_package *p)
{
	if (p == NULL) {
		return;
	}
	(void)elf_end(p->elf);
	if (p->fd >= 0) {
		(void)close(p->fd);
	}
	free(p);
}

/* Finds a section by name and ending, inflated if needed; false: there is none. */
static bool section_find(Elf *elf, const char *name, const char *ending, struct place *out)
{
	char wanted[64];
	Elf_Scn *section = NULL;
	Elf_Data *data;
	GElf_Shdr h;
	size_t names;

	(void)snprintf(wanted, sizeof(wanted), "%s%s", name, ending);
	if (elf_getshdrstrndx(elf, &names) != 0) {
		return false;
	}
	while ((section = elf_nextscn(elf, section)) != NULL) {
		const char *found = gelf_getshdr(section, &h) != NULL
		                            ? elf_strptr(elf, names, h.sh_name)
		                            : NULL;

		if (found == NULL || strcmp(found, wanted) != 0 || h.sh_type == SHT_NOBITS) {
			continue;
		}
		out->is_copied = (h.sh_flags & SHF_COMPRESSED) != 0;
		out->at = h.sh_offset;
		if (out->is_copied && elf_compress(section, 0, 0) < 0) {
			return false;
		}
		data = elf_rawdata(section, NULL);
		if (data == NULL || data->d_buf == NULL) {
			return false;
		}
		out->bytes = (struct span){.p = data->d_buf, .n = data->d_size};
		return true;
	}
	return false;
}

/* The part that a column has; PARTS: one that is not needed. */
static enum part column_part(unsigned version, uint32_t id)
{
	static const uint8_t ids[INDEXED] = {1, 3, 6, 8};

	for (unsigned i = 0; i < INDEXED; i++) {
		if (ids[i] == id && (i != RNGLISTS || version == 5)) { /* before: macros */
			return i;
		}
	}
	return PARTS;
}

static bool index_read(struct line_package *p, struct span bytes)
{
	struct cursor c = cursor_make(bytes, p->swap);

	p->version = load_u16(cursor_left(&c) >= 4 ? c.p : (const uint8_t[4]){0}, p->swap);
	p->version = p->version == 5 ? 5 : cursor_left(&c) >= 4 ? load_u32(c.p, p->swap) : 0;
	(void)cursor_take(&c, 4);
	p->ncolumns = cursor_u32(&c);
	p->nunits = cursor_u32(&c);
	p->nslots = cursor_u32(&c);
	if ((p->version != 2 && p->version != 5) || p->ncolumns == 0 || p->ncolumns > 64 ||
	        p->nunits > ROWS_MAX || p->nslots == 0 || p->nslots > ROWS_MAX ||
	        (p->nslots & (p->nslots - 1)) != 0) {
		return false;
	}
	p->numbers = cursor_take(&c, (size_t)p->nslots * NUMBER);
	p->rows = cursor_take(&c, (size_t)p->nslots * 4);
	for (unsigned i = 0; i < INDEXED; i++) {
		p->columns[i] = UINT32_MAX;
	}
	for (unsigned i = 0; i < p->ncolumns; i++) {
		enum part part = column_part(p->version, cursor_u32(&c));

		if (part != PARTS) {
			p->columns[part] = i;
		}
	}
	p->offsets = cursor_take(&c, (size_t)p->nunits * p->ncolumns * 4);
	p->sizes = cursor_take(&c, (size_t)p->nunits * p->ncolumns * 4);
	return !c.bad && p->columns[INFO] != UINT32_MAX && p->columns[ABBREV] != UINT32_MAX;
}

/* Says where everything is in a view. */
static void layout(struct line_package *p)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t at = (p->file.n + page - 1) / page * page;
	uint64_t names = 1;

	for (unsigned i = 0; i < PARTS; i++) {
		struct place *s = &p->parts[i];

		if (s->is_copied) {
			s->at = at;
			at = (at + s->bytes.n + 7) & ~(uint64_t)7;
		}
		names += strlen(part_names[i]) + 1;
	}
	p->work = at;
	p->size = at + p->parts[ABBREV].bytes.n + WORK_EXTRA + (PARTS + 2) * sizeof(Elf64_Shdr) +
	          8 + names;
}

static bool package_read(struct line_package *p, Elf *skeletons)
{
	struct place index = {0};
	size_t n = 0;
	const char *file = p->elf != NULL ? elf_rawfile(p->elf, &n) : NULL;

	if (file == NULL || n < sizeof(Elf64_Ehdr) || file[EI_CLASS] != ELFCLASS64) {
		return false;
	}
	p->file = (struct span){.p = (const uint8_t *)file, .n = n};
	p->swap = (file[EI_DATA] == ELFDATA2MSB) != HOST_BIG_ENDIAN;
	if (!section_find(p->elf, ".debug_cu_index", "", &index) || !index_read(p, index.bytes)) {
		return false;
	}
	for (unsigned i = 0; i < PARTS; i++) {
		bool own = i != ADDR && i != RANGES;

		(void)section_find(
		        own ? p->elf : skeletons, part_names[i], own ? ".dwo" : "", &p->parts[i]);
		p->parts[i].is_copied |= !own;
		if (!p->parts[i].is_copied &&
		        (p->parts[i].at > n || p->parts[i].bytes.n > n - p->parts[i].at)) {
			p->parts[i].bytes.n = 0;
		}
	}
	layout(p);
	return true;
}

int line_package_open(const char *path, Elf *skeletons, struct line_package **out)
{
	struct line_package *p = calloc(1, sizeof(*p));

	*out = NULL;
	if (p == NULL) {
		return SONDE_ENOMEM;
	}
	p->fd = open(path, O_RDONLY | O_CLOEXEC);
	p->elf = p->fd >= 0 ? elf_begin(p->fd, ELF_C_READ_MMAP, NULL) : NULL;
	if (package_read(p, skeletons)) {
		*out = p;
	} else {
		line_package_free(p);
	}
	return 0;
}

/* Forgets the unit. */
static void view_close(struct line_view *v)
{
	(void)dwarf_end(v->dwarf);
	(void)elf_end(v->elf);
	v->dwarf = NULL;
	v->elf = NULL;
}

void line_view_fini(struct line_view *v)
{
	view_close(v);
	if (v->bytes != NULL) {
		(void)munmap(v->bytes, v->size);
	}
	*v = (struct line_view){0};
}

static int view_open(struct line_view *v, const struct line_package *p)
{
	void *all = mmap(NULL, p->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (all == MAP_FAILED) {
		return SONDE_ENOMEM;
	}
	v->bytes = all;
	v->size = p->size;
	if (mmap(all, p->file.n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, p->fd, 0) ==
	        MAP_FAILED) {
		return SONDE_ENOMEM;
	}
	for (unsigned i = 0; i < PARTS; i++) {
		const struct place *s = &p->parts[i];

		if (s->is_copied && s->bytes.n != 0) {
			memcpy(v->bytes + s->at, s->bytes.p, s->bytes.n);
		}
	}
	return 0;
}

/* A range of a view. */
struct range {
	uint64_t at, n;
};

/* The range of a section from `from` on; empty: it has none. */
static struct range range_from(const struct place *s, uint64_t from, uint64_t n)
{
	if (from > s->bytes.n || n > s->bytes.n - from) {
		return (struct range){0};
	}
	return (struct range){.at = s->at + from, .n = n};
}

static struct range range_rest(const struct place *s, uint64_t from)
{
	return from <= s->bytes.n ? range_from(s, from, s->bytes.n - from) : (struct range){0};
}

/* Finds the parts of a unit by its number. */
static bool unit_find(const struct line_package *p, uint64_t number, struct range parts[PARTS])
{
	uint32_t mask = p->nslots - 1, step = (uint32_t)(number >> 32 & mask) | 1;
	uint32_t slot = (uint32_t)(number & mask), row = 0;

	for (uint32_t i = 0; i < p->nslots; i++, slot = (slot + step) & mask) {
		row = load_u32(p->rows + (size_t)slot * 4, p->swap);
		if (row == 0 || load_u64(p->numbers + (size_t)slot * NUMBER, p->swap) == number) {
			break;
		}
		row = 0;
	}
	if (row == 0 || row > p->nunits) {
		return false;
	}
	for (unsigned i = 0; i < INDEXED; i++) {
		size_t cell = (size_t)(row - 1) * p->ncolumns + p->columns[i];

		if (p->columns[i] != UINT32_MAX) {
			parts[i] =
			        range_from(&p->parts[i], load_u32(p->offsets + cell * 4, p->swap),
			                load_u32(p->sizes + cell * 4, p->swap));
		}
	}
	return parts[INFO].n != 0 && parts[ABBREV].n != 0;
}

static uint64_t take_uleb(struct cursor *c)
{
	uint64_t v = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = cursor_u8(c);
		v |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
		shift += 7;
	} while ((byte & 0x80) != 0 && !c->bad);
	return v;
}

/* Passes over the value of an attribute; false: of a form that units' DIEs do not have. */
static bool skip_value(struct cursor *c, uint64_t form)
{
	static const struct {
		uint16_t form;
		uint8_t size; /* 0: LEB128 */
	} sizes[] = {{DW_FORM_data1, 1}, {DW_FORM_data2, 2}, {DW_FORM_data4, 4}, {DW_FORM_data8, 8},
	        {DW_FORM_sec_offset, 4}, {DW_FORM_strp, 4}, {DW_FORM_addr, NUMBER},
	        {DW_FORM_flag, 1}, {DW_FORM_udata, 0}, {DW_FORM_sdata, 0},
	        {DW_FORM_GNU_str_index, 0}, {DW_FORM_GNU_addr_index, 0}};

	if (form == DW_FORM_flag_present) {
		return true;
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		if (sizes[i].form == form && sizes[i].size != 0) {
			return cursor_take(c, sizes[i].size) != NULL;
		}
		if (sizes[i].form == form) {
			(void)take_uleb(c);
			return !c->bad;
		}
	}
	return false;
}

/* Moves to the attributes of an abbreviation; false: there is none with that code. */
static bool abbreviation_find(struct cursor *c, uint64_t code)
{
	while (!c->bad) {
		uint64_t found = take_uleb(c), name, form;

		(void)take_uleb(c);
		(void)cursor_u8(c);
		if (found == code || found == 0) {
			return found != 0 && !c->bad;
		}
		do {
			name = take_uleb(c);
			form = take_uleb(c);
			if (form == DW_FORM_implicit_const) {
				(void)take_uleb(c);
			}
		} while ((name | form) != 0 && !c->bad);
	}
	return false;
}

/* A unit while it is made whole. */
struct change {
	struct line_view *v;
	const struct line_package *p;
	struct range *parts;
	uint64_t low; /* address */
	size_t header;
};

/* Copies the abbreviations to the view's work space, with `n` bytes instead of `cut` of them. */
static void abbreviations_put(
        const struct change *c, size_t at, size_t cut, const uint8_t *bytes, size_t n)
{
	struct range *r = &c->parts[ABBREV];
	uint8_t *to = c->v->bytes + c->p->work;
	const uint8_t *from = c->v->bytes + r->at;

	memcpy(to, from, at);
	memcpy(to + at, bytes, n);
	memcpy(to + at + n, from + at + cut, r->n - at - cut);
	*r = (struct range){.at = c->p->work, .n = r->n - cut + n};
}

/*
 * DWARF 5: the header of a whole unit has no number. The DIE begins in its place, and has an address
 * before its other attributes.
 */
static bool change_5(const struct change *c, uint8_t *unit, struct cursor die, struct cursor abbrev)
{
	static const uint8_t low[] = {DW_AT_low_pc, DW_FORM_addr};
	const uint8_t *start = c->v->bytes + c->parts[ABBREV].at, *code = die.p;
	size_t n;

	if (unit[6] != DW_UT_split_compile || !abbreviation_find(&abbrev, take_uleb(&die))) {
		return false;
	}
	n = (size_t)(die.p - code);
	unit[6] = DW_UT_compile;
	memmove(unit + HEADER_5, code, n);
	store_u64(unit + HEADER_5 + n, c->low, c->p->swap);
	abbreviations_put(c, (size_t)(abbrev.p - start), 0, low, sizeof(low));
	return true;
}

/* DWARF 4: the attribute with the number becomes the address. */
static bool change_4(const struct change *c, struct cursor die, struct cursor abbrev)
{
	static const uint8_t low[] = {DW_AT_low_pc, DW_FORM_addr};
	const uint8_t *start = c->v->bytes + c->parts[ABBREV].at;

	if (!abbreviation_find(&abbrev, take_uleb(&die))) {
		return false;
	}
	while (!die.bad && !abbrev.bad) {
		const uint8_t *at = abbrev.p;
		uint64_t name = take_uleb(&abbrev), form = take_uleb(&abbrev);

		if (name == DW_AT_GNU_dwo_id && form == DW_FORM_data8 &&
		        cursor_left(&die) >= NUMBER) {
			store_u64(c->v->bytes + (die.p - c->v->bytes), c->low, c->p->swap);
			abbreviations_put(
			        c, (size_t)(at - start), (size_t)(abbrev.p - at), low, sizeof(low));
			return true;
		}
		if ((name | form) == 0 || !skip_value(&die, form)) {
			return false;
		}
	}
	return false;
}

static bool unit_change(struct change *c, unsigned version)
{
	const struct range *info = &c->parts[INFO];
	uint8_t *unit = c->v->bytes + info->at;
	struct cursor die = cursor_make((struct span){.p = unit, .n = info->n}, c->p->swap);
	struct cursor abbrev = cursor_make(
	        (struct span){.p = c->v->bytes + c->parts[ABBREV].at, .n = c->parts[ABBREV].n},
	        c->p->swap);

	c->header = version == 5 ? HEADER_5 : HEADER_4;
	if (cursor_u32(&die) == UINT32_MAX || cursor_u16(&die) != version ||
	        cursor_take(&die, c->header - 6 + (version == 5 ? NUMBER : 0)) == NULL) {
		return false;
	}
	return version == 5 ? change_5(c, unit, die, abbrev) : change_4(c, die, abbrev);
}

/* Sections are the parts of the unit; the last one has the names. */
static void headers_put(const struct change *c)
{
	uint64_t at = (c->p->work + c->p->parts[ABBREV].bytes.n + WORK_EXTRA + 7) & ~(uint64_t)7;
	uint64_t names = at + (PARTS + 2) * sizeof(Elf64_Shdr), name = 1;
	uint8_t *file = c->v->bytes;
	bool swap = c->p->swap;

	memset(file + at, 0, names - at);
	for (unsigned i = 0; i <= PARTS; i++) {
		uint8_t *h = file + at + (i + 1) * sizeof(Elf64_Shdr);
		struct range r = i < PARTS ? c->parts[i] : (struct range){.at = names, .n = name};

		store_u32(h + offsetof(Elf64_Shdr, sh_name), i < PARTS ? (uint32_t)name : 0, swap);
		store_u32(h + offsetof(Elf64_Shdr, sh_type),
		        i == PARTS ? SHT_STRTAB
		        : r.n != 0 ? SHT_PROGBITS
		                   : SHT_NULL,
		        swap);
		store_u64(h + offsetof(Elf64_Shdr, sh_offset), r.at, swap);
		store_u64(h + offsetof(Elf64_Shdr, sh_size), r.n, swap);
		store_u64(h + offsetof(Elf64_Shdr, sh_addralign), 1, swap);
		if (i < PARTS) {
			memcpy(file + names + name, part_names[i], strlen(part_names[i]) + 1);
			name += strlen(part_names[i]) + 1;
		}
	}
	store_u64(file + offsetof(Elf64_Ehdr, e_phoff), 0, swap);
	store_u16(file + offsetof(Elf64_Ehdr, e_phnum), 0, swap);
	store_u64(file + offsetof(Elf64_Ehdr, e_shoff), at, swap);
	store_u16(file + offsetof(Elf64_Ehdr, e_shentsize), sizeof(Elf64_Shdr), swap);
	store_u16(file + offsetof(Elf64_Ehdr, e_shnum), PARTS + 2, swap);
	store_u16(file + offsetof(Elf64_Ehdr, e_shstrndx), PARTS + 1, swap);
}

static uint64_t number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute value;
	Dwarf_Word number = 0;

	return dwarf_attr(die, name, &value) != NULL && dwarf_formudata(&value, &number) == 0
	               ? number
	               : 0;
}

int line_view_unit(
        struct line_view *v, const struct line_package *p, Dwarf_Die *skeleton, Dwarf_Die *out)
{
	struct range parts[PARTS] = {0};
	struct change c = {.v = v, .p = p, .parts = parts};
	Dwarf_Half version = 0;
	Dwarf_Addr low = 0;
	uint64_t number = 0;
	uint8_t type = 0, address_size = 0, offset_size = 0;

	view_close(v);
	if (dwarf_cu_info(skeleton->cu, &version, &type, NULL, NULL, &number, &address_size,
	            &offset_size) != 0 ||
	        type != DW_UT_skeleton || (version != 4 && version != 5) ||
	        address_size != NUMBER || offset_size != 4 || !unit_find(p, number, parts)) {
		return 0;
	}
	if (v->bytes == NULL && view_open(v, p) < 0) {
		line_view_fini(v);
		return SONDE_ENOMEM;
	}
	c.low = dwarf_lowpc(skeleton, &low) == 0 ? low : 0;
	if (!unit_change(&c, version)) {
		return 0;
	}
	parts[STR] = range_rest(&p->parts[STR], 0);
	parts[ADDR] = range_rest(&p->parts[ADDR],
	        number_of(skeleton, version == 5 ? DW_AT_addr_base : DW_AT_GNU_addr_base));
	if (version == 4) {
		parts[RANGES] =
		        range_rest(&p->parts[RANGES], number_of(skeleton, DW_AT_GNU_ranges_base));
	}
	headers_put(&c);
	v->elf = elf_memory((char *)v->bytes, v->size);
	v->dwarf = v->elf != NULL ? dwarf_begin_elf(v->elf, DWARF_C_READ, NULL) : NULL;
	return v->dwarf != NULL && dwarf_offdie(v->dwarf, c.header, out) != NULL;
}
