/* SPDX-License-Identifier: MIT */
/*
 * Counts of source lines. Each row of a line table has the highest count of its code. Rows of a
 * line in one function, such as the parts of a loop's head, count as the one that ran most often; those
 * of different functions, such as copies of an inline function, are added.
 */
#include "ptview/cover.h"

#include "core/array.h"

#include <stdlib.h>
#include <string.h>

struct row {
	uint32_t file, line, function;
	uint64_t count;
};

struct start { /* of a function, and the row that has it */
	uint64_t address;
	uint32_t function, file, line;
};

struct reading {
	struct cover *c;
	uint32_t object;
	const char *last; /* path of the last row */
	uint32_t file;
	struct row *rows;
	size_t nrows, rows_cap;
	struct start *starts; /* of the object, by address */
	size_t nstarts, starts_cap;
};

static int start_order(const void *a, const void *b)
{
	const struct start *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* Lists the functions of the object. */
static int read_starts(struct reading *r)
{
	const struct symbol_table *table = frame_symbols(r->c->names.frames.resolver, r->object);

	r->nstarts = 0;
	for (size_t i = 0; table != NULL && i < symbol_table_count(table); i++) {
		const struct symbol *s = symbol_table_at(table, i);
		int64_t function = ptview_function_of(&r->c->names, r->object, s);

		if (function < 0 || !array_reserve(&r->starts, &r->starts_cap, r->nstarts + 1,
		                            sizeof(*r->starts))) {
			return SONDE_ENOMEM;
		}
		r->starts[r->nstarts++] = (struct start){
		        .address = s->start, .function = (uint32_t)function, .file = UINT32_MAX};
	}
	if (r->nstarts != 0) {
		qsort(r->starts, r->nstarts, sizeof(*r->starts), start_order);
	}
	return table != NULL ? 0 : SONDE_ENOMEM;
}

/* The last function that starts at or before an address; NULL: none. */
static struct start *start_before(const struct reading *r, uint64_t address)
{
	size_t low = 0, high = r->nstarts;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->starts[middle].address > address) {
			high = middle;
		} else {
			low = middle + 1;
		}
	}
	return low != 0 ? &r->starts[low - 1] : NULL;
}

static uint64_t highest_count(const struct reading *r, uint64_t start, uint64_t end)
{
	const struct cover *c = r->c;
	uint64_t count = 0;

	for (size_t i = cover_block_after(c, r->object, start); i < c->nblocks; i++) {
		const struct cover_block *b = &c->blocks[i];

		if (b->object != r->object || b->start >= end) {
			break;
		}
		count = b->count > count ? b->count : count;
	}
	return count;
}

static int each_row(void *arg, const struct lines_row *row)
{
	struct reading *r = arg;
	struct start *s = start_before(r, row->start);

	if (r->last == NULL || strcmp(r->last, row->file) != 0) {
		r->file = intern_add(&r->c->paths, row->file, strlen(row->file));
		if (r->file == INTERN_NONE) {
			return SONDE_ENOMEM;
		}
		r->last = intern_text(&r->c->paths, r->file);
	}
	if (s != NULL && s->address == row->start && s->file == UINT32_MAX) {
		s->file = r->file;
		s->line = row->line;
	}
	if (!array_reserve(&r->rows, &r->rows_cap, r->nrows + 1, sizeof(*r->rows))) {
		return SONDE_ENOMEM;
	}
	r->rows[r->nrows++] = (struct row){.file = r->file,
	        .line = row->line,
	        .function = s != NULL ? s->function : UINT32_MAX,
	        .count = highest_count(r, row->start, row->end)};
	return 0;
}

/* Keeps the functions whose line is known. */
static int keep_places(struct reading *r)
{
	struct cover *c = r->c;

	for (size_t i = 0; i < r->nstarts; i++) {
		const struct start *s = &r->starts[i];

		if (s->file == UINT32_MAX) {
			continue;
		}
		if (!array_reserve(
		            &c->places, &c->places_cap, c->nplaces + 1, sizeof(*c->places))) {
			return SONDE_ENOMEM;
		}
		c->places[c->nplaces++] = (struct cover_place){
		        .file = s->file, .line = s->line, .function = s->function};
	}
	return 0;
}

static int row_order(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->file != y->file) {
		return x->file < y->file ? -1 : 1;
	}
	if (x->line != y->line) {
		return x->line < y->line ? -1 : 1;
	}
	return (x->function > y->function) - (x->function < y->function);
}

/* Makes lines of sorted rows. */
static int sum_rows(struct cover *c, const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n;) {
		struct cover_line line = {.file = rows[i].file, .line = rows[i].line};

		while (i < n && rows[i].file == line.file && rows[i].line == line.line) {
			uint32_t function = rows[i].function;
			uint64_t most = 0;

			for (; i < n && rows[i].file == line.file && rows[i].line == line.line &&
			        rows[i].function == function;
			        i++) {
				most = rows[i].count > most ? rows[i].count : most;
			}
			line.count += most;
		}
		if (!array_reserve(&c->lines, &c->lines_cap, c->nlines + 1, sizeof(*c->lines))) {
			return SONDE_ENOMEM;
		}
		c->lines[c->nlines++] = line;
	}
	return 0;
}

/* Reads the line tables of all objects with blocks. */
static int read_objects(struct reading *r)
{
	const struct cover *c = r->c;

	for (size_t i = 0; i < c->nblocks; i = cover_block_after(c, r->object, UINT64_MAX - 1)) {
		r->object = c->blocks[i].object;
		r->last = NULL;
		if (r->object == FRAME_NOWHERE) {
			break;
		}
		TRY(read_starts(r));
		TRY(frame_rows(c->names.frames.resolver, r->object, each_row, r));
		TRY(keep_places(r));
	}
	return 0;
}

struct ranked {
	const char *path;
	uint32_t file;
};

static int path_order(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return strcmp(x->path, y->path);
}

static int line_order(const void *a, const void *b)
{
	const struct cover_line *x = a, *y = b;

	if (x->file != y->file) {
		return x->file < y->file ? -1 : 1;
	}
	return (x->line > y->line) - (x->line < y->line);
}

static int place_order(const void *a, const void *b)
{
	const struct cover_place *x = a, *y = b;

	if (x->file != y->file) {
		return x->file < y->file ? -1 : 1;
	}
	if (x->line != y->line) {
		return x->line < y->line ? -1 : 1;
	}
	return (x->function > y->function) - (x->function < y->function);
}

/* Keeps the places of a file that stays, and numbers them anew; *at: the next place. */
static void keep_file_places(struct cover *c, uint32_t rank, size_t *at, size_t *kept)
{
	for (; *at < c->nplaces && c->places[*at].file <= rank; ++*at) {
		if (c->places[*at].file == rank) {
			c->places[*kept] = c->places[*at];
			c->places[(*kept)++].file = (uint32_t)c->nfiles;
		}
	}
}

/* Groups the sorted lines by file, and leaves out files of which none ran unless all are wanted. */
static void make_files(struct cover *c, const struct ranked *by_path, bool all)
{
	size_t kept = 0, place = 0, kept_places = 0;

	for (size_t i = 0, n; i < c->nlines; i += n) {
		uint32_t rank = c->lines[i].file;
		struct cover_file f = {.first = kept, .path = by_path[rank].path};

		for (n = 0; i + n < c->nlines && c->lines[i + n].file == rank; n++) {
			f.ran += c->lines[i + n].count != 0;
		}
		if (f.ran == 0 && !all) {
			continue;
		}
		keep_file_places(c, rank, &place, &kept_places);
		for (f.n = 0; f.n < n; f.n++) {
			c->lines[kept] = c->lines[i + f.n];
			c->lines[kept++].file = (uint32_t)c->nfiles;
		}
		c->files[c->nfiles++] = f;
	}
	c->nlines = kept;
	c->nplaces = kept_places;
}

/* Sorts lines and places by path and number. rank, by_path: room for all files. */
static void order_all(struct cover *c, uint32_t *rank, struct ranked *by_path, bool all)
{
	for (uint32_t i = 0; i < c->paths.count; i++) {
		by_path[i] = (struct ranked){intern_text(&c->paths, i), i};
	}
	qsort(by_path, c->paths.count, sizeof(*by_path), path_order);
	for (uint32_t i = 0; i < c->paths.count; i++) {
		rank[by_path[i].file] = i;
	}
	for (size_t i = 0; i < c->nlines; i++) {
		c->lines[i].file = rank[c->lines[i].file];
	}
	for (size_t i = 0; i < c->nplaces; i++) {
		c->places[i].file = rank[c->places[i].file];
	}
	qsort(c->lines, c->nlines, sizeof(*c->lines), line_order);
	if (c->nplaces != 0) {
		qsort(c->places, c->nplaces, sizeof(*c->places), place_order);
	}
	make_files(c, by_path, all);
}

static int make_order(struct cover *c, bool all)
{
	uint32_t *rank = calloc(c->paths.count + 1, sizeof(*rank));
	struct ranked *by_path = calloc(c->paths.count + 1, sizeof(*by_path));
	int rc = SONDE_ENOMEM;

	c->files = calloc(c->paths.count + 1, sizeof(*c->files));
	if (rank != NULL && by_path != NULL && c->files != NULL) {
		order_all(c, rank, by_path, all);
		rc = 0;
	}
	free(rank);
	free(by_path);
	return rc;
}

int cover_lines(struct cover *c, bool all)
{
	struct reading r = {.c = c};
	int rc = read_objects(&r);

	if (rc >= 0 && r.nrows != 0) {
		qsort(r.rows, r.nrows, sizeof(*r.rows), row_order);
		rc = sum_rows(c, r.rows, r.nrows);
	}
	free(r.rows);
	free(r.starts);
	return rc >= 0 && c->nlines != 0 ? make_order(c, all) : rc;
}
