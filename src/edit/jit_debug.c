/* SPDX-License-Identifier: MIT */
/*
 * Source lines of JIT-compiled code as DWARF 4, which names one unit for each function:
 *
 *	.debug_abbrev   1: DW_TAG_compile_unit {name string, stmt_list, low_pc, high_pc data8}
 *	.debug_line     header; set_address, {set_file advance_pc advance_line copy}, end_sequence
 */
#include "core/array.h"
#include "edit/jit_elf.h"

#include <stdlib.h>

#define LINE_BASE   0xfbu /* -5 */
#define LINE_RANGE  14u
#define OPCODE_BASE 13u

enum {
	LNS_COPY = 1,
	LNS_ADVANCE_PC = 2,
	LNS_ADVANCE_LINE = 3,
	LNS_SET_FILE = 4,
	LNE_END_SEQUENCE = 1,
	LNE_SET_ADDRESS = 2,
	LNE_SET_DISCRIMINATOR = 4
};

struct row {
	uint64_t address;
	uint32_t order; /* of entries with one address the last is valid */
	uint32_t file; /* from 1 on */
	uint32_t line, discriminator;
};

struct rows {
	struct row *items;
	size_t n, cap;
	const char **files;
	size_t nfiles, files_cap;
};

/* A writer of numbers. */
struct put {
	struct text *out;
	bool swap;
	unsigned address_size; /* bytes */
};

static void put_number(const struct put *p, uint64_t v, unsigned n)
{
	char bytes[8];
	bool big = p->swap != HOST_BIG_ENDIAN;

	for (unsigned i = 0; i < n; i++) {
		bytes[big ? n - 1 - i : i] = (char)(v >> (8 * i) & 0xff);
	}
	text_bytes(p->out, bytes, n);
}

static void put_uleb(const struct put *p, uint64_t v)
{
	for (; v > 0x7f; v >>= 7) {
		text_char(p->out, (char)(v | 0x80));
	}
	text_char(p->out, (char)v);
}

static void put_sleb(const struct put *p, int64_t v)
{
	uint8_t byte, sign;

	do {
		byte = (uint8_t)v & 0x7f;
		sign = byte & 0x40;
		v >>= 7;
		text_char(p->out, (char)(byte | 0x80));
	} while (sign != 0 ? v != -1 : v != 0);
	if (!p->out->failed) {
		p->out->p[p->out->n - 1] = (char)byte;
	}
}

static void put_text(const struct put *p, const char *s)
{
	text_bytes(p->out, s, strlen(s) + 1);
}

/* Sets the 4 bytes at an offset to the size of what follows them. */
static void set_size(const struct put *p, size_t at)
{
	if (!p->out->failed) {
		store_u32((uint8_t *)p->out->p + at, (uint32_t)(p->out->n - at - 4), p->swap);
	}
}

/* ---- rows ---- */

static void rows_fini(struct rows *r)
{
	free(r->items);
	free(r->files);
}

/* Returns the number of a file, 0: out of memory. Lines of one file mostly follow each other. */
static uint32_t file_number(struct rows *r, const char *name)
{
	for (size_t i = r->nfiles; i > 0; i--) {
		if (r->files[i - 1] == name || strcmp(r->files[i - 1], name) == 0) {
			return (uint32_t)i;
		}
	}
	if (!array_reserve(&r->files, &r->files_cap, r->nfiles + 1, sizeof(*r->files))) {
		return 0;
	}
	r->files[r->nfiles++] = name;
	return (uint32_t)r->nfiles;
}

static int by_address(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return x->address != y->address ? (x->address < y->address ? -1 : 1)
	                                : (x->order < y->order ? -1 : x->order > y->order);
}

/* Reads the lines inside of the code, sorted, one for each address. */
static int rows_read(struct rows *r, const struct frame_resolver *f, uint32_t code, uint64_t end)
{
	struct frame_jit_lines lines = {0};
	size_t kept = 0;

	while (frame_jit_next_line(f, code, &lines)) {
		struct row row = {.address = lines.address,
		        .order = (uint32_t)r->n,
		        .line = lines.line.line,
		        .discriminator = lines.line.discriminator};

		if (row.address < FRAME_JIT_START || row.address >= end) {
			continue;
		}
		row.file = file_number(r, lines.line.file);
		if (row.file == 0 ||
		        !array_reserve(&r->items, &r->cap, r->n + 1, sizeof(*r->items))) {
			return SONDE_ENOMEM;
		}
		r->items[r->n++] = row;
	}
	if (r->n != 0) {
		qsort(r->items, r->n, sizeof(*r->items), by_address);
	}
	for (size_t i = 0; i < r->n; i++) {
		if (i + 1 == r->n || r->items[i + 1].address != r->items[i].address) {
			r->items[kept++] = r->items[i];
		}
	}
	r->n = kept;
	return 0;
}

/* ---- sections ---- */

static void put_extended(const struct put *p, uint8_t op, size_t n)
{
	text_char(p->out, '\0');
	put_uleb(p, 1 + n);
	text_char(p->out, (char)op);
}

static size_t uleb_size(uint64_t v)
{
	size_t n = 1;

	for (; v > 0x7f; v >>= 7) {
		n++;
	}
	return n;
}

static void put_program(const struct put *p, const struct rows *r, uint64_t end)
{
	uint64_t address = r->items[0].address;
	uint32_t file = 1, line = 1;

	put_extended(p, LNE_SET_ADDRESS, p->address_size);
	put_number(p, address, p->address_size);
	for (size_t i = 0; i < r->n; i++) {
		const struct row *row = &r->items[i];

		if (row->file != file) {
			text_char(p->out, LNS_SET_FILE);
			put_uleb(p, row->file);
		}
		text_char(p->out, LNS_ADVANCE_PC);
		put_uleb(p, row->address - address);
		text_char(p->out, LNS_ADVANCE_LINE);
		put_sleb(p, (int64_t)row->line - (int64_t)line);
		if (row->discriminator != 0) {
			put_extended(p, LNE_SET_DISCRIMINATOR, uleb_size(row->discriminator));
			put_uleb(p, row->discriminator);
		}
		text_char(p->out, LNS_COPY);
		address = row->address;
		file = row->file;
		line = row->line;
	}
	text_char(p->out, LNS_ADVANCE_PC);
	put_uleb(p, end - address);
	put_extended(p, LNE_END_SEQUENCE, 0);
}

static void put_line(const struct put *p, const struct rows *r, uint64_t end)
{
	/* operands of the opcodes 1 to 12 */
	static const char operands[OPCODE_BASE - 1] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
	size_t header;

	put_number(p, 0, 4);
	put_number(p, 4, 2); /* version */
	header = p->out->n;
	put_number(p, 0, 4);
	text_char(p->out, 1); /* bytes of the shortest instruction */
	text_char(p->out, 1); /* operations in an instruction */
	text_char(p->out, 1); /* rows begin statements */
	text_char(p->out, (char)LINE_BASE);
	text_char(p->out, LINE_RANGE);
	text_char(p->out, OPCODE_BASE);
	text_bytes(p->out, operands, sizeof(operands));
	text_char(p->out, '\0'); /* no folders */
	for (size_t i = 0; i < r->nfiles; i++) {
		put_text(p, r->files[i]);
		text_fill(p->out, '\0', 3); /* folder, time, size */
	}
	text_char(p->out, '\0');
	set_size(p, header);
	put_program(p, r, end);
	set_size(p, 0);
}

static void put_abbrev(const struct put *p)
{
	static const uint8_t bytes[] = {1, 0x11, 0, /* compile_unit without children */
	        0x03, 0x08, /* name: string */
	        0x10, 0x17, /* stmt_list: sec_offset */
	        0x11, 0x01, /* low_pc: addr */
	        0x12, 0x07, /* high_pc: data8 */
	        0, 0, 0};

	text_bytes(p->out, (const char *)bytes, sizeof(bytes));
}

static void put_info(const struct put *p, const char *file, uint64_t size)
{
	put_number(p, 0, 4);
	put_number(p, 4, 2); /* version */
	put_number(p, 0, 4); /* offset in .debug_abbrev */
	put_number(p, p->address_size, 1);
	put_uleb(p, 1);
	put_text(p, file);
	put_number(p, 0, 4);
	put_number(p, FRAME_JIT_START, p->address_size);
	put_number(p, size, 8);
	set_size(p, 0);
}

static void put_aranges(const struct put *p, uint64_t size)
{
	const size_t pair = 2 * (size_t)p->address_size;

	put_number(p, 0, 4);
	put_number(p, 2, 2); /* version */
	put_number(p, 0, 4); /* offset in .debug_info */
	put_number(p, p->address_size, 1);
	put_number(p, 0, 1); /* no segments */
	text_fill(p->out, '\0', (pair - p->out->n % pair) % pair);
	put_number(p, FRAME_JIT_START, p->address_size);
	put_number(p, size, p->address_size);
	text_fill(p->out, '\0', pair);
	set_size(p, 0);
}

int jit_debug_make(struct jit_debug *d, const struct frame_resolver *f, uint32_t code)
{
	const struct frame_jit_code c = frame_jit_code_at(f, code);
	struct put p = {.swap = c.swap, .address_size = c.kind.is64 ? 8 : 4};
	uint64_t end = FRAME_JIT_START + c.bytes.n;
	struct rows rows = {0};
	int rc = rows_read(&rows, f, code, end);

	*d = (struct jit_debug){0};
	if (rc >= 0 && rows.n != 0) {
		p.out = &d->line;
		put_line(&p, &rows, end);
		p.out = &d->abbrev;
		put_abbrev(&p);
		p.out = &d->info;
		put_info(&p, rows.files[0], c.bytes.n);
		p.out = &d->aranges;
		put_aranges(&p, c.bytes.n);
	}
	rows_fini(&rows);
	return rc < 0 || d->line.failed || d->abbrev.failed || d->info.failed || d->aranges.failed
	               ? SONDE_ENOMEM
	               : 0;
}

void jit_debug_fini(struct jit_debug *d)
{
	text_fini(&d->line);
	text_fini(&d->info);
	text_fini(&d->abbrev);
	text_fini(&d->aranges);
}
