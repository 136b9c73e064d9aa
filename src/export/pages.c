/* SPDX-License-Identifier: MIT */
/*
 * Numbers are big-endian; a varint has 7 bits a byte, highest first, and 8 in a 9th byte.
 *
 *	leaf page       0x0d, u16 0, u16 cells, u16 start of the first cell in the page, u8 0,
 *	                u16 start of each cell, free space, cells
 *	cell            varint size of the record, varint id, record
 *	record          varint size of the header, type of each column, columns; types are: 0 NULL, as the id
 *	                is stored, 1 to 4: as many bytes, 5: six, 6: eight, 8: the number 0, 9: the number 1
 *	interior page   0x05, u16 0, u16 cells, u16 start, u8 0, u32 last child, u16 start of each cell, cells:
 *	                u32 child, varint largest id in it
 *
 * The page with the byte at 1 GiB of the file stays empty. The first page has the number of pages at offset
 * 28, and the page size at 16.
 */
#include "export/pages.h"

#include "core/array.h"
#include "core/fd.h"
#include "core/status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEAF          0x0du
#define INTERIOR      0x05u
#define LEAF_HEAD     8u
#define INTERIOR_HEAD 12u
#define CELL_MAX      (EXPORT_COLUMNS_MAX * 9 + 16) /* bytes */
#define CHILDREN_MAX  512u /* of an interior page: each takes at most 15 bytes */
#define WAITING       16384u /* rows that wait for one with a lower id */
#define BUFFER        64u /* pages that are written at once */
#define LOCK_PAGE     ((UINT32_C(1) << 30) / PAGES_SIZE + 1)

struct cell { /* of a leaf; n 0: none */
	uint32_t n;
	uint8_t bytes[CELL_MAX];
};

struct child { /* a page */
	uint64_t last; /* the largest id in it */
	uint32_t page; /* from 0, before it is in the database: in the order of writing */
};

struct table {
	uint64_t next; /* id of the next row in the leaf */
	struct cell *waiting; /* [WAITING], by id; NULL: no row had to wait */
	size_t nwaiting;
	uint8_t leaf[PAGES_SIZE];
	size_t ncells, start; /* of the leaf: cells, offset of the first one */
	struct child *leaves;
	size_t n, cap;
};

struct pages {
	int scratch;
	uint32_t written; /* pages, those of the buffer too */
	size_t buffered; /* pages in the buffer */
	struct table *tables[EXPORT_TABLES]; /* NULL: no rows */
	uint8_t buffer[BUFFER][PAGES_SIZE];
};

struct pages *export_pages_new(int scratch)
{
	struct pages *p = calloc(1, sizeof(*p));

	if (p != NULL) {
		p->scratch = scratch;
	}
	return p;
}

void export_pages_free(struct pages *p)
{
	if (p == NULL) {
		return;
	}
	for (size_t i = 0; i < EXPORT_TABLES; i++) {
		if (p->tables[i] != NULL) {
			free(p->tables[i]->waiting);
			free(p->tables[i]->leaves);
			free(p->tables[i]);
		}
	}
	fd_close(&p->scratch);
	free(p);
}

/* ---- bytes ---- */

static void put_u16(uint8_t *at, size_t v)
{
	at[0] = (uint8_t)(v >> 8);
	at[1] = (uint8_t)v;
}

static void put_u32(uint8_t *at, uint32_t v)
{
	put_u16(at, v >> 16);
	put_u16(at + 2, v & 0xffff);
}

static void put_u64(uint8_t *at, uint64_t v)
{
	put_u32(at, (uint32_t)(v >> 32));
	put_u32(at + 4, (uint32_t)v);
}

static uint8_t *put_varint(uint8_t *at, uint64_t v)
{
	unsigned n = 1;

	if (v < 0x80) {
		*at = (uint8_t)v;
		return at + 1;
	}
	if (v >> 56 != 0) {
		at[8] = (uint8_t)v;
		v >>= 8;
		for (n = 8; n > 0; n--, v >>= 7) {
			at[n - 1] = (uint8_t)(v | 0x80);
		}
		return at + 9;
	}
	while (v >> (7 * n) != 0) {
		n++;
	}
	for (unsigned i = n; i > 0; i--, v >>= 7) {
		at[i - 1] = (uint8_t)((v & 0x7f) | (i != n ? 0x80 : 0));
	}
	return at + n;
}

/* Bytes of a number, and its type. */
static unsigned size_of(int64_t v, uint8_t *type)
{
	static const uint8_t types[] = {0, 1, 2, 3, 4, 5, 5, 6, 6};
	static const uint8_t sizes[] = {0, 1, 2, 3, 4, 6, 6, 8, 8};
	uint64_t bits = v < 0 ? ~(uint64_t)v : (uint64_t)v;
	unsigned n;

	if (bits == (uint64_t)v && bits <= 1) {
		*type = (uint8_t)(8 + bits);
		return 0;
	}
	n = bits == 0 ? 1 : (unsigned)(64 - __builtin_clzll(bits)) / 8 + 1; /* with the sign */
	*type = types[n];
	return sizes[n];
}

/* The body of the record is written 8 bytes at a time, which the next column overwrites. */
static void make_cell(struct cell *c, const struct sonde_export_value *values, size_t n)
{
	uint8_t record[CELL_MAX], *types = record + 1, *body = record + 1 + n, *p;
	size_t size;

	record[0] = (uint8_t)(n + 1);
	types[0] = 0;
	for (size_t i = 1; i < n; i++) {
		unsigned bytes = size_of(values[i].number, &types[i]);

		put_u64(body, (uint64_t)values[i].number << (64 - 8 * bytes) % 64);
		body += bytes;
	}
	size = (size_t)(body - record);
	p = put_varint(c->bytes, size);
	p = put_varint(p, (uint64_t)values[0].number);
	memcpy(p, record, size);
	c->n = (uint32_t)((size_t)(p - c->bytes) + size);
}

/* ---- leaves ---- */

static int write_all(struct pages *p)
{
	size_t n = p->buffered;

	p->buffered = 0;
	return fd_write(p->scratch, p->buffer, n * PAGES_SIZE) ? 0 : SONDE_EOUTPUT;
}

/* Fills in the header of the leaf. */
static void end_page(struct table *t)
{
	t->leaf[0] = LEAF;
	put_u16(t->leaf + 3, t->ncells);
	put_u16(t->leaf + 5, t->start);
}

/* The leaf has rows. */
static int end_leaf(struct pages *p, struct table *t)
{
	if (!array_reserve(&t->leaves, &t->cap, t->n + 1, sizeof(*t->leaves))) {
		return SONDE_ENOMEM;
	}
	t->leaves[t->n++] = (struct child){.last = t->next - 1, .page = p->written++};
	end_page(t);
	memcpy(p->buffer[p->buffered], t->leaf, PAGES_SIZE);
	t->ncells = 0;
	t->start = PAGES_SIZE;
	memset(t->leaf, 0, PAGES_SIZE);
	return ++p->buffered == BUFFER ? write_all(p) : 0;
}

/* The row with the id t->next. */
static int add_cell(struct pages *p, struct table *t, const struct cell *c)
{
	if (LEAF_HEAD + 2 * (t->ncells + 1) + c->n > t->start) {
		TRY(end_leaf(p, t));
	}
	t->start -= c->n;
	memcpy(t->leaf + t->start, c->bytes, c->n);
	put_u16(t->leaf + LEAF_HEAD + 2 * t->ncells++, t->start);
	t->next++;
	return 0;
}

/* Adds the next row, if it waits; if not, its turn is over. */
static int take_turn(struct pages *p, struct table *t)
{
	struct cell *c = &t->waiting[t->next % WAITING];

	if (c->n == 0) {
		t->next++;
		return 0;
	}
	TRY(add_cell(p, t, c));
	t->nwaiting--;
	c->n = 0;
	return 0;
}

/* Adds all rows whose turn it is. */
static int take_turns(struct pages *p, struct table *t)
{
	while (t->nwaiting != 0 && t->waiting[t->next % WAITING].n != 0) {
		TRY(take_turn(p, t));
	}
	return 0;
}

static int wait_for_turn(struct pages *p, struct table *t, uint64_t id,
        const struct sonde_export_table *table, const struct sonde_export_value *values)
{
	if (t->waiting == NULL) {
		t->waiting = calloc(WAITING, sizeof(*t->waiting));
		if (t->waiting == NULL) {
			return SONDE_ENOMEM;
		}
	}
	while (id - t->next >= WAITING) {
		if (t->nwaiting == 0) {
			t->next = id;
			break;
		}
		TRY(take_turn(p, t));
	}
	make_cell(&t->waiting[id % WAITING], values, table->ncolumns);
	t->nwaiting++;
	return take_turns(p, t);
}

int export_pages_add(struct pages *p, const struct sonde_export_table *table,
        const struct sonde_export_value *values)
{
	struct table *t = p->tables[table->number];
	uint64_t id = (uint64_t)values[0].number;
	struct cell cell;

	if (t == NULL) {
		t = p->tables[table->number] = calloc(1, sizeof(*t));
		if (t == NULL) {
			return SONDE_ENOMEM;
		}
		t->start = PAGES_SIZE;
	}
	if (id < t->next) {
		return 1;
	}
	if (id > t->next) {
		return wait_for_turn(p, t, id, table, values);
	}
	make_cell(&cell, values, table->ncolumns);
	TRY(add_cell(p, t, &cell));
	return take_turns(p, t);
}

/* ---- the pages above ---- */

/* Numbers of pages in the database: they follow those that it had, without the empty one. */
static uint32_t number_of(uint32_t old, uint32_t page)
{
	uint32_t n = old + 1 + page;

	return n + (old < LOCK_PAGE && n >= LOCK_PAGE);
}

static bool write_pages(int fd, uint32_t number, const void *pages, size_t n)
{
	const uint8_t *bytes = pages;
	off_t at = (off_t)(number - 1) * PAGES_SIZE;

	for (size_t left = n * PAGES_SIZE; left != 0;) {
		ssize_t got = pwrite(fd, bytes, left, at);

		if (got < 0 && errno != EINTR) {
			return false;
		}
		got = got > 0 ? got : 0;
		bytes += got;
		at += got;
		left -= (size_t)got;
	}
	return true;
}

/* errno 0: the file ends before. */
static bool read_pages(int fd, uint32_t number, void *pages, size_t n)
{
	uint8_t *bytes = pages;
	off_t at = (off_t)(number - 1) * PAGES_SIZE;

	for (size_t left = n * PAGES_SIZE; left != 0;) {
		ssize_t got = pread(fd, bytes, left, at);

		if (got == 0 || (got < 0 && errno != EINTR)) {
			errno = got == 0 ? 0 : errno;
			return false;
		}
		got = got > 0 ? got : 0;
		bytes += got;
		at += got;
		left -= (size_t)got;
	}
	return true;
}

/* children: at least 2; their pages have numbers of the database. */
static void make_interior(uint8_t *page, const struct child *children, size_t n)
{
	size_t start = PAGES_SIZE;

	memset(page, 0, PAGES_SIZE);
	page[0] = INTERIOR;
	for (size_t i = 0; i + 1 < n; i++) {
		uint8_t cell[16];
		size_t size;

		put_u32(cell, children[i].page);
		size = (size_t)(put_varint(cell + 4, children[i].last) - cell);
		start -= size;
		memcpy(page + start, cell, size);
		put_u16(page + INTERIOR_HEAD + 2 * i, start);
	}
	put_u16(page + 3, n - 1);
	put_u16(page + 5, start);
	put_u32(page + 8, children[n - 1].page);
}

/* Replaces the children by their parents, of which each has as many, or one more. */
static int add_level(struct pages *p, int database, uint32_t old, struct table *t)
{
	size_t nparents = (t->n + CHILDREN_MAX - 1) / CHILDREN_MAX;
	uint8_t page[PAGES_SIZE];
	size_t at = 0;

	for (size_t i = 0; i < nparents; i++) {
		size_t end = t->n * (i + 1) / nparents;
		uint32_t number = number_of(old, p->written++);

		make_interior(page, t->leaves + at, end - at);
		if (!write_pages(database, number, page, 1)) {
			return SONDE_EOUTPUT;
		}
		t->leaves[i] = (struct child){.last = t->leaves[end - 1].last, .page = number};
		at = end;
	}
	t->n = nparents;
	return 0;
}

static int write_root(struct pages *p, int database, uint32_t old, struct table *t, uint32_t root)
{
	uint8_t page[PAGES_SIZE];

	if (t->n == 0) { /* one leaf, which is the root */
		return write_pages(database, root, t->leaf, 1) ? 0 : SONDE_EOUTPUT;
	}
	for (size_t i = 0; i < t->n; i++) {
		t->leaves[i].page = number_of(old, t->leaves[i].page);
	}
	while (t->n > CHILDREN_MAX) {
		TRY(add_level(p, database, old, t));
	}
	make_interior(page, t->leaves, t->n);
	return write_pages(database, root, page, 1) ? 0 : SONDE_EOUTPUT;
}

/* Copies the leaves to the end of the database. */
static int copy_leaves(struct pages *p, int database, uint32_t old)
{
	size_t n;

	for (uint32_t i = 0; i < p->written; i += (uint32_t)n) {
		uint32_t to = number_of(old, i);

		n = p->written - i < BUFFER ? p->written - i : BUFFER;
		while (number_of(old, i + (uint32_t)n - 1) != to + n - 1) { /* the empty page */
			n--;
		}
		if (!read_pages(p->scratch, i + 1, p->buffer, n) ||
		        !write_pages(database, to, p->buffer, n)) {
			return SONDE_EOUTPUT;
		}
	}
	return 0;
}

/* The last leaf of a table is written, unless it is the only one. */
static int end_tables(struct pages *p)
{
	for (size_t i = 0; i < EXPORT_TABLES; i++) {
		struct table *t = p->tables[i];

		while (t != NULL && t->nwaiting != 0) {
			TRY(take_turn(p, t));
		}
		if (t != NULL && t->n != 0) {
			TRY(end_leaf(p, t));
		} else if (t != NULL) {
			end_page(t);
		}
	}
	return write_all(p);
}

int export_pages_append(struct pages *p, int database, const uint32_t *roots)
{
	uint8_t first[PAGES_SIZE];
	uint32_t old;

	TRY(end_tables(p));
	if (!read_pages(database, 1, first, 1)) {
		return SONDE_EOUTPUT;
	}
	old = (uint32_t)first[28] << 24 | (uint32_t)first[29] << 16 | (uint32_t)first[30] << 8 |
	      first[31];
	if ((first[16] << 8 | first[17]) != PAGES_SIZE || old == 0) {
		errno = 0;
		return SONDE_EOUTPUT;
	}
	TRY(copy_leaves(p, database, old));
	for (size_t i = 0; i < EXPORT_TABLES; i++) {
		TRY(p->tables[i] != NULL ? write_root(p, database, old, p->tables[i], roots[i])
		                         : 0);
	}
	if (p->written == 0) {
		return 0;
	}
	put_u32(first + 28, number_of(old, p->written - 1));
	return write_pages(database, 1, first, 1) ? 0 : SONDE_EOUTPUT;
}
