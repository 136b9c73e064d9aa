/* SPDX-License-Identifier: MIT */
/*
 * Lines and functions of one unit, through libdw:
 *
 *	line table -> runs: addresses with one file and line
 *	subprogram > block > inlined > inlined -> nodes, and the addresses of each, flat
 */
#include "symbol/line_unit.h"

#include "core/array.h"

#include <dwarf.h>
#include <stdlib.h>

#define LEVELS_MAX 4096u
#define FILES_MAX  (1u << 24)

void line_reader_fini(struct line_reader *r)
{
	dwarf_end(r->dwarf);
	line_view_fini(&r->view);
	intern_fini(&r->texts);
	arena_fini(&r->paths);
	covers_fini(&r->covers);
	covers_fini(&r->functions);
	free(r->runs);
	free(r->files);
	free(r->levels);
	*r = (struct line_reader){0};
}

/* Id of a text + 1; 0: it is unknown. */
static int text_id(struct line_reader *r, const char *text, uint32_t *out)
{
	uint32_t id;

	*out = 0;
	if (text == NULL || *text == '\0') {
		return 0;
	}
	id = intern_add(&r->texts, text, strlen(text));
	if (id == INTERN_NONE) {
		return SONDE_ENOMEM;
	}
	*out = id + 1;
	return 0;
}

/*
 * libdw has put the unit's folder before a relative name, unless that is relative too. Then this
 * does. NULL: out of memory.
 */
static const char *path_of(struct line_reader *r, Dwarf_Die *unit, const char *name)
{
	Dwarf_Attribute value;
	const char *folder = NULL;
	char *path;
	size_t n;

	if (name[0] != '/' && dwarf_attr(unit, DW_AT_comp_dir, &value) != NULL) {
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

/* Forgets the files of the unit before. */
static int files_begin(struct line_reader *r, size_t n)
{
	n = n < FILES_MAX ? n : FILES_MAX;
	if (!array_reserve(&r->files, &r->files_cap, n + 1, sizeof(*r->files))) {
		return SONDE_ENOMEM;
	}
	memset(r->files, 0xff, n * sizeof(*r->files));
	r->nfiles = n;
	arena_fini(&r->paths);
	return 0;
}

static int file_id(
        struct line_reader *r, Dwarf_Die *unit, Dwarf_Files *files, size_t i, uint32_t *out)
{
	const char *name;

	*out = 0;
	if (i >= r->nfiles) {
		return 0;
	}
	if (r->files[i] == UINT32_MAX) {
		name = dwarf_filesrc(files, i, NULL, NULL);
		if (name != NULL) {
			name = path_of(r, unit, name);
			if (name == NULL) {
				return SONDE_ENOMEM;
			}
		}
		TRY(text_id(r, name, &r->files[i]));
	}
	*out = r->files[i];
	return 0;
}

static bool budget_take(struct line_reader *r)
{
	if (r->budget == 0) {
		return false;
	}
	r->budget--;
	return true;
}

/* Of several rows at one address the last one counts. */
static int run_add(struct line_reader *r, Dwarf_Die *unit, Dwarf_Line *line, Dwarf_Line *next)
{
	struct line_run run = {0};
	Dwarf_Files *files;
	size_t file = 0;
	int number = 0;
	bool end = true;

	if (dwarf_lineaddr(line, &run.start) != 0 || dwarf_lineaddr(next, &run.end) != 0 ||
	        run.start >= run.end || dwarf_lineendsequence(line, &end) != 0 || end ||
	        dwarf_line_file(line, &files, &file) != 0) {
		return 0;
	}
	(void)dwarf_lineno(line, &number);
	run.line = number > 0 ? (uint32_t)number : 0;
	TRY(file_id(r, unit, files, file, &run.file));
	if (!array_reserve(&r->runs, &r->runs_cap, r->nruns + 1, sizeof(*r->runs))) {
		return SONDE_ENOMEM;
	}
	r->runs[r->nruns++] = run;
	return 0;
}

/*
 * libdw sorts rows by address and puts ends first, so that a row at the end of its sequence, which
 * has no code, is after it, as if it went on until the next sequence.
 */
static bool is_end_at(Dwarf_Line *line, uint64_t address)
{
	Dwarf_Addr at;
	bool end;

	return dwarf_lineaddr(line, &at) == 0 && dwarf_lineendsequence(line, &end) == 0 && end &&
	       at == address;
}

static int runs_read(struct line_reader *r, Dwarf_Die *unit)
{
	Dwarf_Lines *lines;
	size_t n = 0;

	r->nruns = 0;
	if (dwarf_getsrclines(unit, &lines, &n) != 0) {
		return 0;
	}
	for (size_t i = 0; i + 1 < n && budget_take(r); i++) {
		size_t before = r->nruns;

		TRY(run_add(r, unit, dwarf_onesrcline(lines, i), dwarf_onesrcline(lines, i + 1)));
		if (r->nruns > before && i != 0) {
			r->runs[before].doubtful =
			        is_end_at(dwarf_onesrcline(lines, i - 1), r->runs[before].start);
		}
	}
	return 0;
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

static bool is_function(int tag)
{
	return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_entry_point;
}

/* Whether functions can be among the children of a DIE that is none itself. */
static bool is_around(int tag, bool types)
{
	static const uint8_t always[] = {DW_TAG_namespace, DW_TAG_module, DW_TAG_lexical_block,
	        DW_TAG_try_block, DW_TAG_catch_block};
	static const uint8_t in_types[] = {DW_TAG_structure_type, DW_TAG_class_type,
	        DW_TAG_union_type, DW_TAG_enumeration_type};
	bool found = false;

	for (size_t i = 0; i < sizeof(always); i++) {
		found = found || tag == always[i];
	}
	for (size_t i = 0; types && i < sizeof(in_types); i++) {
		found = found || tag == in_types[i];
	}
	return found;
}

/* Adds the addresses of a function; *any: it has some. */
static int covers_read(struct line_reader *r, Dwarf_Die *die, uint32_t node, bool *any)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	*any = false;
	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (start >= end) {
			continue;
		}
		if (!budget_take(r)) {
			break;
		}
		/* inner functions win, and of several at one depth the first one */
		TRY(covers_add(&r->covers,
		        &(struct cover){.start = start,
		                .end = end,
		                .rank = (uint64_t)r->nlevels << 32 | (UINT32_MAX - r->covers.n),
		                .value = node}));
		*any = true;
	}
	return 0;
}

/* Adds a function that has code. Returns 1, 0 if it has none, SONDE_ENOMEM. */
static int function_add(struct line_reader *r, Dwarf_Die *unit, Dwarf_Files *files,
        struct line_nodes *nodes, struct line_level *level)
{
	struct line_node node = {0};
	bool any;

	if (!array_reserve(&nodes->v, &nodes->cap, nodes->n + 1, sizeof(*nodes->v))) {
		return SONDE_ENOMEM;
	}
	TRY(covers_read(r, &level->at, (uint32_t)nodes->n, &any));
	if (!any || nodes->n >= UINT32_MAX) {
		return 0;
	}
	TRY(text_id(r, die_name(&level->at), &node.function));
	if (dwarf_tag(&level->at) == DW_TAG_inlined_subroutine) {
		uint64_t file = die_number(&level->at, DW_AT_call_file);

		node.parent = level->node;
		node.line = (uint32_t)die_number(&level->at, DW_AT_call_line);
		if (files != NULL && file != 0) {
			TRY(file_id(r, unit, files, (size_t)file, &node.file));
		}
	}
	nodes->v[nodes->n++] = node;
	return 1;
}

/* Opens the children of a DIE; false: it has none that follow what was read, or no room. */
static int level_open(struct line_reader *r, Dwarf_Die *die, uint32_t node)
{
	Dwarf_Die child;

	if (r->nlevels >= LEVELS_MAX || dwarf_child(die, &child) != 0 ||
	        dwarf_dieoffset(&child) <= r->furthest) {
		return 0;
	}
	if (!array_reserve(&r->levels, &r->levels_cap, r->nlevels + 1, sizeof(*r->levels))) {
		return SONDE_ENOMEM;
	}
	r->levels[r->nlevels++] = (struct line_level){.at = child, .node = node};
	return 1;
}

/*
 * Moves to the next DIE that was not read. In a file without damage, siblings and children have larger
 * offsets than their DIE, so each DIE is read once.
 */
static void level_next(struct line_reader *r)
{
	while (r->nlevels != 0) {
		Dwarf_Die *at = &r->levels[r->nlevels - 1].at;

		if (dwarf_siblingof(at, at) == 0 && dwarf_dieoffset(at) > r->furthest) {
			return;
		}
		r->nlevels--;
	}
}

/* Whether functions can be inside of types: not in C. */
static bool has_member_functions(Dwarf_Die *unit)
{
	static const uint16_t c[] = {
	        DW_LANG_C, DW_LANG_C89, DW_LANG_C99, DW_LANG_C11, DW_LANG_Mips_Assembler};
	int language = dwarf_srclang(unit);

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		if (language == c[i]) {
			return false;
		}
	}
	return true;
}

/* code: the unit, or its part in a split file. */
static int functions_read(
        struct line_reader *r, Dwarf_Die *unit, Dwarf_Die *code, struct line_nodes *nodes)
{
	bool types = has_member_functions(code);
	Dwarf_Files *files = NULL;
	size_t nfiles = 0;

	if (dwarf_getsrcfiles(unit, &files, &nfiles) != 0) {
		files = NULL;
	}
	r->covers.n = 0;
	r->nlevels = 0;
	r->furthest = 0;
	TRY(level_open(r, code, 0));
	while (r->nlevels != 0) {
		struct line_level *level = &r->levels[r->nlevels - 1];
		Dwarf_Die die = level->at;
		int tag = dwarf_tag(&die);
		int open = 0;

		r->furthest = dwarf_dieoffset(&die);
		if (is_function(tag)) {
			TRY(open = function_add(r, unit, files, nodes, level));
			/* the abstract instance of an inlined function has no code, but its local
			 * classes can have member functions with code */
			open = open >= 0
			               ? level_open(r, &die, open > 0 ? (uint32_t)nodes->n - 1 : 0)
			               : open;
		} else if (is_around(tag, types)) {
			open = level_open(r, &die, level->node);
		}
		TRY(open);
		if (open == 0) {
			level_next(r);
		}
	}
	return covers_flatten(&r->covers, &r->functions);
}

/* Finds the DIE with the functions of a unit, which can be in a split file or a package. SONDE_ENOMEM. */
static int code_find(struct line_reader *r, Dwarf_Die *unit, Dwarf_Die *out)
{
	Dwarf_Die split;

	*out = *unit;
	if (r->package != NULL) {
		int rc = line_view_unit(&r->view, r->package, unit, &split);

		if (rc != 0) {
			*out = rc > 0 ? split : *unit;
			return rc < 0 ? rc : 0;
		}
	}
	if (dwarf_cu_info(unit->cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) == 0 &&
	        split.addr != NULL) {
		*out = split;
	}
	return 0;
}

int line_unit_read(struct line_reader *r, Dwarf_Die *unit, struct line_nodes *nodes)
{
	Dwarf_Die code;
	Dwarf_Files *files;
	size_t nfiles = 0;

	if (dwarf_getsrcfiles(unit, &files, &nfiles) != 0) {
		nfiles = 0;
	}
	TRY(files_begin(r, nfiles));
	if (!array_reserve(&nodes->v, &nodes->cap, 1, sizeof(*nodes->v))) {
		return SONDE_ENOMEM;
	}
	nodes->v[0] = (struct line_node){0};
	nodes->n = 1;
	TRY(runs_read(r, unit));
	TRY(code_find(r, unit, &code));
	return functions_read(r, unit, &code, nodes);
}
