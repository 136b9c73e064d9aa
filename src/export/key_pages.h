/* SPDX-License-Identifier: MIT */
/* The index of a column of numbers as pages of SQLite's file format. */
#ifndef SONDE_EXPORT_KEY_PAGES_H
#define SONDE_EXPORT_KEY_PAGES_H

#include "export/page_file.h"
#include "export/runs.h"

/*
 * Ends the sort of an index, and writes its pages. root: number of its root page, which stays as it is
 * if there are no keys. 0; SONDE_ENOMEM; SONDE_EOUTPUT, with the reason in errno.
 */
int key_pages_write(struct runs *runs, int scratch, struct page_file *f, uint32_t root);

#endif
