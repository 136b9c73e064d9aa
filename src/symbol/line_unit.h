/* SPDX-License-Identifier: MIT */
/* Private to symbol: the parts of a line index that one unit of the debug information gives. */
#ifndef SONDE_SYMBOL_LINE_UNIT_H
#define SONDE_SYMBOL_LINE_UNIT_H

#include "core/intern.h"
#include "symbol/cover.h"
#include "symbol/line_index.h"
#include "symbol/line_package.h"

#include <elfutils/libdw.h>

/* Addresses with one line. */
struct line_run {
	uint64_t start, end;
	uint32_t file; /* id of its text + 1 */
	uint32_t line;
	bool doubtful; /* its start may be the last row of a sequence that ends there */
};

/* A DIE whose children are being read. */
struct line_level {
	Dwarf_Die at; /* the current child */
	uint32_t node; /* the function around it */
};

/* What a thread that reads units has. Its texts are those of all units that it reads. */
struct line_reader {
	Dwarf *dwarf;
	const struct line_package *package; /* of all readers; NULL: none */
	struct line_view view; /* of it */
	struct intern texts;
	struct arena paths;
	uint64_t budget; /* rows and ranges that may still be read: units can share them, and a
	                    damaged file could have many units with the same large table */
	struct covers covers, functions; /* functions: flat */
	struct line_run *runs; /* of the unit's line table, sorted */
	size_t nruns, runs_cap;
	uint32_t *files; /* texts of the unit's table of files, id + 1; UINT32_MAX: not read yet */
	size_t nfiles, files_cap;
	struct line_level *levels;
	size_t nlevels, levels_cap;
	Dwarf_Off furthest; /* the DIE that was read last; the next ones are after it */
};

void line_reader_fini(struct line_reader *r);

/* Nodes of a unit. Texts are ids of the reader + 1; parents are numbers in the unit. */
struct line_nodes {
	struct line_node *v; /* the first one is an unknown function */
	size_t n, cap;
};

/*
 * Reads the line table and functions of a unit into the reader's runs and functions, whose values
 * are nodes. SONDE_ENOMEM; damage makes parts missing.
 */
int line_unit_read(struct line_reader *r, Dwarf_Die *unit, struct line_nodes *nodes);

#endif
