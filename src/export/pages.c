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
#include "export/key_pages.h"
#include "export/page_bytes.h"
#include "export/page_file.h"

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

struct cell { /* of a leaf; n 0: none */
	uint32_t n;
	uint64_t keys[PAGES_INDEXES]; /* of the table's indexes */
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

struct index_keys { /* of an index that grows with its table */
	size_t table, column;
	uint32_t root;
	struct runs runs;
};

struct pages {
	int scratch, runs;
	struct index_keys indexes[PAGES_INDEXES];
	size_t nindexes;
	uint32_t written; /* pages, those of the buffer too */
	size_t buffered; /* pages in the buffer */
	struct table *tables[EXPORT_TABLES]; /* NULL: no rows */
	uint8_t buffer[BUFFER][PAGES_SIZE];
};

struct pages *export_pages_new(int scratch, int runs)
{
	struct pages *p = calloc(1, sizeof(*p));

	if (p != NULL) {
		p->scratch = scratch;
		p->runs = runs;
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
	for (size_t i = 0; i < p->nindexes; i++) {
		runs_fini(&p->indexes[i].runs);
	}
	fd_close(&p->scratch);
	fd_close(&p->runs);
	free(p);
}

void export_pages_index(struct pages *p, size_t table, size_t column, uint32_t root)
{
	p->indexes[p->nindexes++] =
	        (struct index_keys){.table = table, .column = column, .root = root};
}

/* ---- cells ---- */

/* The body of the record is written 8 bytes at a time, which the next column overwrites. */
static void make_cell(const struct pages *pages, struct cell *c,
        const struct sonde_export_table *table, const struct sonde_export_value *values)
{
	const size_t n = table->ncolumns;
	uint8_t record[CELL_MAX], *types = record + 1, *body = record + 1 + n, *p;
	size_t size;

	for (size_t i = 0; i < pages->nindexes; i++) {
		if (pages->indexes[i].table == table->number) {
			c->keys[i] = (uint64_t)values[pages->indexes[i].column].number;
		}
	}
	record[0] = (uint8_t)(n + 1);
	types[0] = 0;
	for (size_t i = 1; i < n; i++) {
		unsigned bytes = page_number_size(values[i].number, &types[i]);

		page_u64(body, (uint64_t)values[i].number << (64 - 8 * bytes) % 64);
		body += bytes;
	}
	size = (size_t)(body - record);
	p = page_varint(c->bytes, size);
	p = page_varint(p, (uint64_t)values[0].number);
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
	page_u16(t->leaf + 3, t->ncells);
	page_u16(t->leaf + 5, t->start);
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

static int add_keys(struct pages *p, const struct table *t, const struct cell *c)
{
	for (size_t i = 0; i < p->nindexes; i++) {
		struct index_keys *index = &p->indexes[i];

		if (p->tables[index->table] == t) {
			TRY(runs_add(&index->runs, p->runs, c->keys[i], t->next));
		}
	}
	return 0;
}

/* The row with the id t->next. */
static int add_cell(struct pages *p, struct table *t, const struct cell *c)
{
	TRY(add_keys(p, t, c));
	if (LEAF_HEAD + 2 * (t->ncells + 1) + c->n > t->start) {
		TRY(end_leaf(p, t));
	}
	t->start -= c->n;
	memcpy(t->leaf + t->start, c->bytes, c->n);
	page_u16(t->leaf + LEAF_HEAD + 2 * t->ncells++, t->start);
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
	make_cell(p, &t->waiting[id % WAITING], table, values);
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
	make_cell(p, &cell, table, values);
	TRY(add_cell(p, t, &cell));
	return take_turns(p, t);
}

/* ---- the pages above ---- */

/* children: at least 2; their pages have numbers of the database. */
static void make_interior(uint8_t *page, const struct child *children, size_t n)
{
	size_t start = PAGES_SIZE;

	memset(page, 0, PAGES_SIZE);
	page[0] = INTERIOR;
	for (size_t i = 0; i + 1 < n; i++) {
		uint8_t cell[16];
		size_t size;

		page_u32(cell, children[i].page);
		size = (size_t)(page_varint(cell + 4, children[i].last) - cell);
		start -= size;
		memcpy(page + start, cell, size);
		page_u16(page + INTERIOR_HEAD + 2 * i, start);
	}
	page_u16(page + 3, n - 1);
	page_u16(page + 5, start);
	page_u32(page + 8, children[n - 1].page);
}

/* Replaces the children by their parents, of which each has as many, or one more. */
static int add_level(struct page_file *f, struct table *t)
{
	size_t nparents = (t->n + CHILDREN_MAX - 1) / CHILDREN_MAX;
	uint8_t page[PAGES_SIZE];
	size_t at = 0;

	for (size_t i = 0; i < nparents; i++) {
		size_t end = t->n * (i + 1) / nparents;
		uint32_t number;

		make_interior(page, t->leaves + at, end - at);
		TRY(page_file_add(f, page, &number));
		t->leaves[i] = (struct child){.last = t->leaves[end - 1].last, .page = number};
		at = end;
	}
	t->n = nparents;
	return 0;
}

static int write_root(struct page_file *f, struct table *t, uint32_t root)
{
	uint8_t page[PAGES_SIZE];

	if (t->n == 0) { /* one leaf, which is the root */
		return page_file_write(f, root, t->leaf, 1) ? 0 : SONDE_EOUTPUT;
	}
	for (size_t i = 0; i < t->n; i++) {
		t->leaves[i].page = page_file_number(f, t->leaves[i].page);
	}
	while (t->n > CHILDREN_MAX) {
		TRY(add_level(f, t));
	}
	make_interior(page, t->leaves, t->n);
	return page_file_write(f, root, page, 1) ? 0 : SONDE_EOUTPUT;
}

/* Copies the leaves to the end of the database. */
static int copy_leaves(struct pages *p, struct page_file *f)
{
	size_t n;

	for (uint32_t i = 0; i < p->written; i += (uint32_t)n) {
		uint32_t to = page_file_number(f, i);

		n = p->written - i < BUFFER ? p->written - i : BUFFER;
		while (page_file_number(f, i + (uint32_t)n - 1) !=
		        to + n - 1) { /* the empty page */
			n--;
		}
		if (!page_file_read(p->scratch, i + 1, p->buffer, n) ||
		        !page_file_write(f, to, p->buffer, n)) {
			return SONDE_EOUTPUT;
		}
	}
	f->added = p->written;
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
	struct page_file f;

	TRY(end_tables(p));
	TRY(page_file_open(&f, database));
	TRY(copy_leaves(p, &f));
	for (size_t i = 0; i < EXPORT_TABLES; i++) {
		TRY(p->tables[i] != NULL ? write_root(&f, p->tables[i], roots[i]) : 0);
	}
	for (size_t i = 0; i < p->nindexes; i++) {
		TRY(key_pages_write(&p->indexes[i].runs, p->runs, &f, p->indexes[i].root));
	}
	return page_file_end(&f);
}
