/* SPDX-License-Identifier: MIT */
/*
 * Private to symbol: reads the debug information of one file. lines_dwarf.c does so through libdw;
 * lines_none.c replaces it in builds without libdw. An index of lines on disk would be a third
 * implementation. Not safe for use by several threads.
 */
#ifndef SONDE_SYMBOL_LINES_READER_H
#define SONDE_SYMBOL_LINES_READER_H

#include "symbol/lines.h"

struct lines_reader;

/* size: of the file. *out is NULL if there is nothing to read. SONDE_ENOMEM. */
int lines_reader_open(const char *path, size_t size, struct lines_reader **out);
void lines_reader_close(struct lines_reader *r); /* accepts NULL */

/*
 * Fills the frames of a virtual address; returns 1, or 0 if the debug information has no line for
 * it. Texts are valid until the next call. SONDE_ENOMEM.
 */
int lines_reader_find(struct lines_reader *r, uint64_t address, struct lines_place *out);

/* As lines_rows, with virtual addresses. */
int lines_reader_rows(struct lines_reader *r, lines_row_fn fn, void *arg);

#endif
