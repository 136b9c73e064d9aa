/* SPDX-License-Identifier: MIT */
/*
 * Tables of a SQLite database that have only numbers and very many rows, written as pages of its file format
 * (https://www.sqlite.org/fileformat2.html). SQLite takes several times as long to insert them.
 *
 *	row -> cell -> leaf page -> a scratch file -> appended to the database, with the pages above them
 *	    -> keys of indexes -> sorted runs in a scratch file -> merged, as pages
 *
 * Rows of a table come almost in the order of their ids, which are dense. Those that come before their
 * turn wait; one that is overtaken by too many others is late: the caller inserts it afterwards.
 */
#ifndef SONDE_EXPORT_PAGES_H
#define SONDE_EXPORT_PAGES_H

#include "export/schema.h"

#define PAGES_SIZE    8192u /* of a page, in bytes */
#define PAGES_INDEXES 2u /* at most */

struct pages;

/* Two new files, empty, for reading and writing, which are closed with this. NULL: out of memory. */
struct pages *export_pages_new(int scratch, int runs);
void export_pages_free(struct pages *p); /* NULL is fine */

/*
 * Makes the index of a column, whose numbers are at least 0, of the rows that are added from here on.
 * root: number of its root page.
 */
void export_pages_index(struct pages *p, size_t table, size_t column, uint32_t root);

/* values: as many as the table has columns; the first is the id. 1: the row is late; 0; SONDE_ENOMEM;
 * SONDE_EOUTPUT, with the reason in errno. */
int export_pages_add(struct pages *p, const struct sonde_export_table *table,
        const struct sonde_export_value *values);

/*
 * Appends all rows to a database that no connection has open. roots: number of the root page of each
 * table, whose contents are replaced; 0: it has no rows here. 0 or as above; errno 0: the file is no
 * database of this page size.
 */
int export_pages_append(struct pages *p, int database, const uint32_t *roots);

#endif
