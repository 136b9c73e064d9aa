/* SPDX-License-Identifier: MIT */
/*
 * The functions of an object with call frame information, sorted by address: the table that the
 * linker made in .eh_frame_hdr, or one made here by reading all entries of a section. Rows are made
 * when they are needed: running the program of one function takes less than a microsecond, and few
 * functions of a large object are ever on a sampled stack.
 */
#include "core/array.h"
#include "image/inflate.h"
#include "unwind/cfi.h"

#include <stdlib.h>

#define EM_X86_64  62u
#define EM_AARCH64 183u

#define HEADER_VERSION    1u
#define HEADER_TABLE      0x3bu /* DW_EH_PE_datarel | DW_EH_PE_sdata4: what linkers write */
#define HEADER_ENTRY_SIZE 8u /* s32 start, s32 address of the entry; both from the header on */

struct function {
	uint64_t start;
	uint64_t offset; /* of its entry in the section */
};

struct frames { /* a section and its functions */
	struct cfi_section section;
	uint8_t *inflated; /* its contents, if they are compressed in the file; else NULL */
	struct span header; /* sorted entries of .eh_frame_hdr; empty: the array is used */
	uint64_t header_address; /* of .eh_frame_hdr */
	struct function *functions; /* sorted by start */
	size_t n, cap;
};

struct unwind_table {
	enum unwind_machine machine;
	struct image_segment *segments;
	size_t nsegments;
	struct frames frames[2]; /* .eh_frame, .debug_frame; those with rows */
	size_t nframes;
};

static enum unwind_machine machine_of(const struct image_elf *e)
{
	if (!e->is64) {
		return UNWIND_OTHER;
	}
	return e->machine == EM_X86_64    ? UNWIND_X86_64
	       : e->machine == EM_AARCH64 ? UNWIND_AARCH64
	                                  : UNWIND_OTHER;
}

/* Finds the sorted table in .eh_frame_hdr (Linux Standard Base, ".eh_frame_hdr"). */
static bool header_find(const struct image_elf *e, struct frames *f)
{
	const struct image_section *s = image_elf_section(e, ".eh_frame_hdr");
	struct cfi_section header;
	unsigned frame, count, table;
	uint64_t n;
	struct cursor c;

	if (s == NULL) {
		return false;
	}
	header = (struct cfi_section){.bytes = image_elf_section_bytes(e, s),
	        .address = s->addr,
	        .data = s->addr,
	        .swap = e->swap};
	c = cursor_make(header.bytes, e->swap);
	if (cursor_u8(&c) != HEADER_VERSION) {
		return false;
	}
	frame = cursor_u8(&c);
	count = cursor_u8(&c);
	table = cursor_u8(&c);
	if (table != HEADER_TABLE || frame == DW_EH_PE_OMIT || count == DW_EH_PE_OMIT) {
		return false;
	}
	if (cfi_pointer(&c, &header, frame, 8) != f->section.address) {
		return false;
	}
	n = cfi_pointer(&c, &header, count, 8);
	if (c.bad || n == 0 || n > cursor_left(&c) / HEADER_ENTRY_SIZE) {
		return false;
	}
	f->header = (struct span){c.p, (size_t)n * HEADER_ENTRY_SIZE};
	f->header_address = s->addr;
	return true;
}

static int function_compare(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->start != y->start) {
		return x->start < y->start ? -1 : 1;
	}
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int functions_read(struct frames *f)
{
	uint64_t offset = 0, at = 0;
	struct cfi_fde fde;
	enum cfi_entry kind;

	while ((kind = cfi_read(&f->section, &offset, &fde)) != CFI_END) {
		if (kind == CFI_FDE) {
			if (!array_reserve(
			            &f->functions, &f->cap, f->n + 1, sizeof(*f->functions))) {
				return SONDE_ENOMEM;
			}
			f->functions[f->n++] = (struct function){.start = fde.start, .offset = at};
		}
		at = offset;
	}
	if (f->n != 0) {
		qsort(f->functions, f->n, sizeof(*f->functions), function_compare);
		array_fit(&f->functions, &f->cap, f->n, sizeof(*f->functions));
	}
	return 0;
}

/* Adds a section of an ELF file, if it has one with this name. */
static int frames_add(
        struct unwind_table *t, const struct image_elf *e, const char *name, bool debug)
{
	const struct image_section *s = e != NULL ? image_elf_section(e, name) : NULL;
	const struct image_section *text = s != NULL ? image_elf_section(e, ".text") : NULL;
	struct frames *f = &t->frames[t->nframes];
	int rc;

	if (s == NULL) {
		return 0;
	}
	*f = (struct frames){.section = {
	                             .bytes = image_elf_section_bytes(e, s),
	                             .address = s->addr,
	                             .text = text != NULL ? text->addr : 0,
	                             .debug = debug,
	                             .swap = e->swap,
	                             .machine = t->machine,
	                     }};
	if (f->section.bytes.n == 0) {
		TRY(image_elf_section_inflate(e, s, &f->inflated, &f->section.bytes.n));
		f->section.bytes.p = f->inflated;
	}
	if (f->section.bytes.n == 0) {
		return 0;
	}
	if (!debug && header_find(e, f)) {
		t->nframes++;
		return 0;
	}
	rc = functions_read(f);
	if (rc < 0 || f->n == 0) {
		free(f->functions);
		free(f->inflated);
		*f = (struct frames){0};
		return rc;
	}
	t->nframes++;
	return 0;
}

int unwind_table_new(const struct unwind_source *source, struct unwind_table **out)
{
	const struct image_elf *e = source->object;
	struct unwind_table *t = calloc(1, sizeof(*t));
	size_t before;
	int rc;

	*out = t;
	if (t == NULL) {
		return SONDE_ENOMEM;
	}
	t->machine = machine_of(e);
	if (t->machine == UNWIND_OTHER) {
		return 0;
	}
	if (e->nsegments != 0) {
		t->segments = malloc(e->nsegments * sizeof(*t->segments));
		if (t->segments == NULL) {
			goto nomem;
		}
		memcpy(t->segments, e->segments, e->nsegments * sizeof(*t->segments));
		t->nsegments = e->nsegments;
	}
	rc = frames_add(t, e, ".eh_frame", false);
	before = t->nframes;
	rc = rc < 0 ? rc : frames_add(t, e, ".debug_frame", true);
	if (rc >= 0 && t->nframes == before) {
		rc = frames_add(t, source->debug, ".debug_frame", true);
	}
	if (rc >= 0) {
		return 0;
	}
nomem:
	unwind_table_free(t);
	*out = NULL;
	return SONDE_ENOMEM;
}

void unwind_table_free(struct unwind_table *t)
{
	if (t == NULL) {
		return;
	}
	for (size_t i = 0; i < t->nframes; i++) {
		free(t->frames[i].functions);
		free(t->frames[i].inflated);
	}
	free(t->segments);
	free(t);
}

enum unwind_machine unwind_table_machine(const struct unwind_table *t)
{
	return t->machine;
}

bool unwind_table_address(const struct unwind_table *t, uint64_t offset, uint64_t *address)
{
	for (size_t i = 0; i < t->nsegments; i++) {
		const struct image_segment *s = &t->segments[i];

		if (offset >= s->offset && offset - s->offset < s->filesz) {
			*address = offset - s->offset + s->vaddr;
			return true;
		}
	}
	return false;
}

/* Returns the offset of the entry whose function may contain the address; false: none. */
static bool header_search(const struct frames *f, uint64_t address, uint64_t *offset)
{
	bool swap = f->section.swap;
	size_t low = 0, high = f->header.n / HEADER_ENTRY_SIZE;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		uint32_t start = load_u32(f->header.p + mid * HEADER_ENTRY_SIZE, swap);

		if (f->header_address + (uint64_t)(int64_t)(int32_t)start <= address) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	if (low == 0) {
		return false;
	}
	*offset = f->header_address +
	          (uint64_t)(int64_t)(int32_t)load_u32(
	                  f->header.p + (low - 1) * HEADER_ENTRY_SIZE + 4, swap) -
	          f->section.address;
	return true;
}

static bool functions_search(const struct frames *f, uint64_t address, uint64_t *offset)
{
	size_t low = 0, high = f->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (f->functions[mid].start <= address) {
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	if (low == 0) {
		return false;
	}
	*offset = f->functions[low - 1].offset;
	return true;
}

bool unwind_table_row(const struct unwind_table *t, uint64_t address, struct unwind_row *row)
{
	struct cfi_fde fde;
	uint64_t offset;

	for (size_t i = 0; i < t->nframes; i++) {
		const struct frames *f = &t->frames[i];
		bool found = f->header.n != 0 ? header_search(f, address, &offset)
		                              : functions_search(f, address, &offset);

		if (found && cfi_read(&f->section, &offset, &fde) == CFI_FDE &&
		        address >= fde.start && address < fde.end) {
			return cfi_run(&f->section, &fde, address, row);
		}
	}
	return false;
}

struct cursor unwind_table_expression(
        const struct unwind_table *t, const struct unwind_row *row, int32_t value)
{
	struct span bytes = {NULL, 0};
	bool swap = false;

	for (size_t i = 0; i < t->nframes; i++) {
		const struct cfi_section *s = &t->frames[i].section;

		if (s->debug == row->debug_frame && value >= 0 && (size_t)value < s->bytes.n) {
			bytes = (struct span){s->bytes.p + value, s->bytes.n - (size_t)value};
			swap = s->swap;
		}
	}
	return cursor_make(bytes, swap);
}
