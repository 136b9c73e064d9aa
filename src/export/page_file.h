/* SPDX-License-Identifier: MIT */
/* Pages at the end of a SQLite database, which no connection has open. */
#ifndef SONDE_EXPORT_PAGE_FILE_H
#define SONDE_EXPORT_PAGE_FILE_H

#include "export/pages.h"

struct page_file {
	int fd;
	uint32_t old; /* pages that the database had */
	uint32_t added; /* pages after them */
	uint8_t first[PAGES_SIZE]; /* the first page */
};

/* All of these: 0, or SONDE_EOUTPUT with the reason in errno. */

/* errno 0: the file is no database of this page size. fd is not closed by this. */
int page_file_open(struct page_file *f, int fd);
/* Writes a page after the others; *number: its number in the database. */
int page_file_add(struct page_file *f, const uint8_t *page, uint32_t *number);
/* Says in the first page how many there are. */
int page_file_end(struct page_file *f);

/* The number of the i-th page, from 0, of those that follow the old ones; without the empty one. */
uint32_t page_file_number(const struct page_file *f, uint32_t page);
/* Writes n pages from this number on. False with errno. */
bool page_file_write(const struct page_file *f, uint32_t number, const void *pages, size_t n);
/* Reads them from any file of pages. False with errno; 0: the file ends before. */
bool page_file_read(int fd, uint32_t number, void *pages, size_t n);

#endif
