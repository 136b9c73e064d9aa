/* SPDX-License-Identifier: MIT */
/*
 * DWARF through libdw. The ranges of all units are read once, so that .debug_aranges, which some
 * compilers do not write, is not needed:
 *
 *	address -> unit -> row of its line table            file and line of the innermost function
 *	              \--> subprogram > inlined > inlined   functions, and where each was inlined
 */
#include "core/arena.h"
#include "core/array.h"
#include "core/search.h"
#include "symbol/lines_reader.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * libdw keeps every line table that it has read. After this many rows it is closed and opened
 * again, which bounds its memory to about 200 MB.
 */
#define ROWS_MAX (4u << 20)

struct unit_range {
	uint64_t start, end;
	Dwarf_Off unit; /* offset of its DIE */
};

struct lines_reader {
	char *path;
	size_t size; /* of the file */
	Dwarf *dwarf;
	struct unit_range *ranges; /* sorted by start */
	size_t n, cap;
	size_t rows; /* of the line tables read since dwarf was opened */
	Dwarf_Off last; /* unit of the last line table */
	struct arena paths; /* of the last place, where a unit's folder is relative */
};

static void dwarf_close(struct lines_reader *r)
{
	dwarf_end(r->dwarf);
	r->dwarf = NULL;
}

static bool dwarf_open(struct lines_reader *r)
{
	int fd = open(r->path, O_RDONLY | O_CLOEXEC);

	r->rows = 0;
	r->last = 0;
	if (fd >= 0) {
		r->dwarf = dwarf_begin(fd, DWARF_C_READ);
		(void)close(fd); /* libelf has mapped the file */
	}
	return r->dwarf != NULL;
}

static int unit_add(struct lines_reader *r, Dwarf_Die *unit)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(unit, at, &base, &start, &end)) > 0) {
		/* units can share a list of ranges: the sum is bounded by the file's size */
		if (start >= end || r->n >= r->size) {
			continue;
		}
		if (!array_reserve(&r->ranges, &r->cap, r->n + 1, sizeof(*r->ranges))) {
			return SONDE_ENOMEM;
		}
		r->ranges[r->n++] = (struct unit_range){start, end, dwarf_dieoffset(unit)};
	}
	return 0;
}

static int range_order(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	if (x->start != y->start) {
		return x->start < y->start ? -1 : 1;
	}
	return x->unit < y->unit ? -1 : x->unit > y->unit;
}

static int units_read(struct lines_reader *r)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die, split;
	uint8_t type;

	while (dwarf_get_units(r->dwarf, cu, &cu, NULL, &type, &die, &split) == 0) {
		if (type == DW_UT_compile || type == DW_UT_skeleton) {
			TRY(unit_add(r, &die));
		}
	}
	if (r->n != 0) {
		qsort(r->ranges, r->n, sizeof(*r->ranges), range_order);
	}
	return 0;
}

int lines_reader_open(const char *path, size_t size, struct lines_reader **out)
{
	struct lines_reader *r = calloc(1, sizeof(*r));
	int rc;

	*out = NULL;
	if (r == NULL) {
		return SONDE_ENOMEM;
	}
	r->size = size;
	r->path = strdup(path);
	if (r->path == NULL) {
		free(r);
		return SONDE_ENOMEM;
	}
	(void)elf_version(EV_CURRENT);
	rc = dwarf_open(r) ? units_read(r) : 0;
	if (rc < 0 || r->n == 0) {
		lines_reader_close(r);
		return rc;
	}
	*out = r;
	return 0;
}

void lines_reader_close(struct lines_reader *r)
{
	if (r != NULL) {
		dwarf_close(r);
		arena_fini(&r->paths);
		free(r->ranges);
		free(r->path);
		free(r);
	}
}

/* Returns the unit that contains an address; false: none. */
static bool unit_find(const struct lines_reader *r, uint64_t address, Dwarf_Off *unit)
{
	size_t i = SEARCH_LAST(r->ranges, r->n, start, address);

	if (r->n == 0 || address < r->ranges[i].start || address >= r->ranges[i].end) {
		return false;
	}
	*unit = r->ranges[i].unit;
	return true;
}

/* Opens libdw's handle, anew if it has read many line tables, and counts those of the unit. */
static bool unit_open(struct lines_reader *r, Dwarf_Off offset, Dwarf_Die *unit)
{
	Dwarf_Lines *lines;
	size_t n;

	if (r->dwarf != NULL && r->rows > ROWS_MAX && offset != r->last) {
		dwarf_close(r);
	}
	if ((r->dwarf == NULL && !dwarf_open(r)) || dwarf_offdie(r->dwarf, offset, unit) == NULL) {
		return false;
	}
	if (offset != r->last && dwarf_getsrclines(unit, &lines, &n) == 0) {
		r->rows += n;
		r->last = offset;
	}
	return true;
}

static const char *die_name(Dwarf_Die *die)
{
	Dwarf_Attribute value;
	Dwarf_Attribute *a = dwarf_attr_integrate(die, DW_AT_linkage_name, &value);

	if (a == NULL) {
		a = dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &value);
	}
	return a != NULL ? dwarf_formstring(a) : dwarf_diename(die);
}

static uint64_t die_number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute value;
	Dwarf_Word number = 0;

	if (dwarf_attr(die, name, &value) == NULL || dwarf_formudata(&value, &number) != 0) {
		return 0;
	}
	return number;
}

/* Whether a DIE can contain code without an address range of its own. */
static bool is_scope(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_module;
}

static bool is_code(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
	       tag == DW_TAG_catch_block || tag == DW_TAG_entry_point;
}

/* A search through the children of a DIE, and those of the namespaces among them. */
struct search {
	Dwarf_Die at;
	Dwarf_Die above[LINES_DEPTH]; /* open namespaces */
	unsigned n;
};

/* Moves to the next sibling, or to that of the innermost open namespace; false: end. */
static bool search_next(struct search *s)
{
	for (;;) {
		Dwarf_Off before = dwarf_dieoffset(&s->at);

		/* a sibling in front of its DIE would never end */
		if (dwarf_siblingof(&s->at, &s->at) == 0 && dwarf_dieoffset(&s->at) > before) {
			return true;
		}
		if (s->n == 0) {
			return false;
		}
		s->at = s->above[--s->n];
	}
}

/* Replaces *die by the code below it that contains the address; false: there is none. */
static bool code_below(Dwarf_Die *die, uint64_t address)
{
	struct search s = {.n = 0};
	bool more = dwarf_child(die, &s.at) == 0;
	Dwarf_Die child;

	while (more) {
		int tag = dwarf_tag(&s.at);

		if (is_code(tag) && dwarf_haspc(&s.at, address) > 0) {
			*die = s.at;
			return true;
		}
		if (is_scope(tag) && s.n < LINES_DEPTH && dwarf_child(&s.at, &child) == 0) {
			s.above[s.n++] = s.at;
			s.at = child;
		} else {
			more = search_next(&s);
		}
	}
	return false;
}

/*
 * libdw has put the unit's folder before a relative name, unless that is relative too. Then this
 * does, on failure of memory with NULL, which counts as unknown.
 */
static const char *path_of(struct lines_reader *r, Dwarf_Die *unit, const char *name)
{
	Dwarf_Attribute value;
	const char *folder = NULL;
	char *path;
	size_t n;

	if (name != NULL && name[0] != '/' && dwarf_attr(unit, DW_AT_comp_dir, &value) != NULL) {
		folder = dwarf_formstring(&value);
	}
	if (folder == NULL || folder[0] == '\0') {
		return name;
	}
	n = strlen(folder);
	path = arena_alloc(&r->paths, n + strlen(name) + 2);
	if (path == NULL) {
		return NULL;
	}
	memcpy(path, folder, n);
	path[n] = '/';
	memcpy(path + n + 1, name, strlen(name) + 1);
	return path;
}

/* The names of functions at an address; each one's call is where the next one was inlined. */
static void functions_fill(
        struct lines_reader *r, Dwarf_Die *unit, uint64_t address, struct lines_place *out)
{
	struct lines_frame chain[LINES_DEPTH]; /* outermost first; file and line of its call */
	Dwarf_Files *files = NULL;
	Dwarf_Die die = *unit;
	size_t nfiles = 0;
	unsigned n = 0;

	(void)dwarf_getsrcfiles(unit, &files, &nfiles);
	while (n < LINES_DEPTH && code_below(&die, address)) {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_inlined_subroutine || tag == DW_TAG_subprogram) {
			uint64_t file = die_number(&die, DW_AT_call_file);

			if (tag == DW_TAG_subprogram) {
				n = 0; /* a function inside a function, which is not inlined */
			}
			chain[n++] = (struct lines_frame){.function = die_name(&die),
			        .file = file != 0 && file < nfiles
			                        ? path_of(r, unit,
			                                  dwarf_filesrc(files, file, NULL, NULL))
			                        : NULL,
			        .line = (uint32_t)die_number(&die, DW_AT_call_line)};
		}
	}
	for (unsigned i = 0; i < n; i++) {
		struct lines_frame *to = &out->frames[i];

		to->function = chain[n - 1 - i].function;
		if (i > 0) {
			to->file = chain[n - i].file;
			to->line = chain[n - i].line;
		}
	}
	out->n = n > 0 ? n : 1;
}

int lines_reader_find(struct lines_reader *r, uint64_t address, struct lines_place *out)
{
	Dwarf_Die unit, split, *code = &unit;
	Dwarf_Line *line;
	Dwarf_Off offset;
	int number = 0;

	out->n = 1;
	out->frames[0] = (struct lines_frame){0};
	arena_fini(&r->paths);
	if (!unit_find(r, address, &offset) || !unit_open(r, offset, &unit)) {
		return 0;
	}
	line = dwarf_getsrc_die(&unit, address);
	if (line != NULL) {
		(void)dwarf_lineno(line, &number);
		out->frames[0].file = path_of(r, &unit, dwarf_linesrc(line, NULL, NULL));
		out->frames[0].line = number > 0 ? (uint32_t)number : 0;
	}
	if (dwarf_cu_info(unit.cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) == 0 &&
	        split.addr != NULL) {
		code = &split;
	}
	functions_fill(r, code, address, out);
	return out->frames[0].file != NULL;
}

/* The row that begins with a line; its end is the address of the next one. */
static bool row_read(Dwarf_Line *line, Dwarf_Line *next, struct lines_row *row)
{
	bool ends = true;
	int number = 0;
	Dwarf_Addr start, end;

	if (dwarf_lineendsequence(line, &ends) != 0 || ends || dwarf_lineno(line, &number) != 0 ||
	        dwarf_lineaddr(line, &start) != 0 || dwarf_lineaddr(next, &end) != 0) {
		return false;
	}
	*row = (struct lines_row){.start = start, .end = end, .line = (uint32_t)number};
	return number > 0 && start < end;
}

static int unit_rows(struct lines_reader *r, Dwarf_Die *unit, lines_row_fn fn, void *arg)
{
	const char *last = NULL, *path = NULL;
	Dwarf_Lines *lines;
	struct lines_row row;
	size_t n;

	if (dwarf_getsrclines(unit, &lines, &n) != 0) {
		return 0;
	}
	for (size_t i = 0; i + 1 < n; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		const char *name;

		if (!row_read(line, dwarf_onesrcline(lines, i + 1), &row)) {
			continue;
		}
		name = dwarf_linesrc(line, NULL, NULL);
		if (name != last) {
			arena_fini(&r->paths);
			path = path_of(r, unit, name);
			last = name;
		}
		row.file = path;
		if (path != NULL) {
			TRY(fn(arg, &row));
		}
	}
	return 0;
}

static int offset_order(const void *a, const void *b)
{
	const Dwarf_Off *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int lines_reader_rows(struct lines_reader *r, lines_row_fn fn, void *arg)
{
	Dwarf_Off *units = calloc(r->n, sizeof(*units));
	Dwarf_Die unit;
	int rc = units != NULL ? 0 : SONDE_ENOMEM;

	for (size_t i = 0; rc == 0 && i < r->n; i++) {
		units[i] = r->ranges[i].unit;
	}
	if (rc == 0) {
		qsort(units, r->n, sizeof(*units), offset_order);
	}
	for (size_t i = 0; rc >= 0 && i < r->n; i++) {
		bool again = i != 0 && units[i] == units[i - 1];

		if (!again && unit_open(r, units[i], &unit)) {
			rc = unit_rows(r, &unit, fn, arg);
		}
	}
	free(units);
	return rc;
}

bool lines_supported(void)
{
	return true;
}
