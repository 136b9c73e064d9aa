/* SPDX-License-Identifier: MIT */
/* Replaces lines_dwarf.c in a build without libdw: no line is known. */
#include "symbol/lines_reader.h"

int lines_reader_open(const char *path, size_t size, struct lines_reader **out)
{
	(void)path;
	(void)size;
	*out = NULL;
	return 0;
}

void lines_reader_close(struct lines_reader *r)
{
	(void)r;
}

int lines_reader_find(struct lines_reader *r, uint64_t address, struct lines_place *out)
{
	(void)r;
	(void)address;
	(void)out;
	return 0;
}

int lines_reader_rows(struct lines_reader *r, lines_row_fn fn, void *arg)
{
	(void)r;
	(void)fn;
	(void)arg;
	return 0;
}

bool lines_supported(void)
{
	return false;
}
