/* SPDX-License-Identifier: MIT */
/*
 * The source lines of an object: address -> file, line, and the functions that were inlined there.
 * Opening reads the whole debug information into an index (line_index.c), or an index that was
 * stored before. Any number of threads may use one handle.
 */
#ifndef SONDE_SYMBOL_LINES_H
#define SONDE_SYMBOL_LINES_H

#include "symbol/symbol.h"

#define LINES_DEPTH 64u /* maximum number of functions at one address */

enum lines_found {
	LINES_NONE, /* nothing is known */
	LINES_FUNCTION, /* a function, perhaps its file, but no line: no debug information */
	LINES_LINE
};

/* One function at an address. */
struct lines_frame {
	const char *function; /* as compiled, perhaps mangled; NULL: unknown */
	const char *file; /* path; NULL: unknown */
	uint32_t line; /* 0: unknown */
};

/* What is known about an address. Texts live as long as the lines. */
struct lines_place {
	enum lines_found found;
	uint64_t address; /* virtual address in the object, as in its disassembly */
	unsigned n; /* at least 1, except for LINES_NONE */
	struct lines_frame frames[LINES_DEPTH]; /* innermost first; the last is not inlined */
};

struct lines;

/* Finds the files of an object; opens them even if they have no line table. SONDE_ENOMEM. */
int lines_open(const struct symbol_request *req, struct lines **out);
void lines_free(struct lines *l); /* accepts NULL */

/* Looks up an address as in symbol.h. SONDE_ENOMEM. */
int lines_find(struct lines *l, uint64_t address, struct lines_place *out);

/*
 * Sets *name to that of the last function symbol at or before an address as in symbol.h, in the same
 * section, as addr2line names code without debug information; NULL: none. SONDE_ENOMEM.
 */
int lines_function_before(struct lines *l, uint64_t address, const char **name);

/* The code from `start` to `end` that belongs to a source line. */
struct lines_row {
	uint64_t start, end; /* addresses as in symbol.h */
	const char *file;
	uint32_t line;
};

typedef int (*lines_row_fn)(void *arg, const struct lines_row *row);

/*
 * Calls fn for all code whose line is known, by address. Returns 0, or the negative result of fn at
 * which it stopped.
 */
int lines_rows(struct lines *l, lines_row_fn fn, void *arg);

/* The part of a path after its last '/'. */
const char *lines_file_name(const char *path);

/* Whether this build can read line tables. */
bool lines_supported(void);

#endif
