/* SPDX-License-Identifier: MIT */
/*
 * An ELF file with debug information: addresses of its code have at most LINES_DEPTH functions,
 * a known line has a file, and an address has the same result when it is asked for again.
 */
#define _GNU_SOURCE /* memfd_create */
#include "image/image.h"
#include "symbol/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define ADDRESSES 64u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct lines_place first, again;

static void check_place(void)
{
	if (first.n > LINES_DEPTH || (first.found != LINES_NONE) != (first.n > 0) ||
	        (first.found == LINES_LINE && first.frames[0].file == NULL)) {
		abort();
	}
	if (first.found != again.found || first.n != again.n) {
		abort();
	}
	for (unsigned i = 0; i < first.n; i++) {
		const struct lines_frame *x = &first.frames[i], *y = &again.frames[i];

		if (x->function != y->function || x->file != y->file || x->line != y->line) {
			abort();
		}
	}
}

static void check_lines(const struct symbol_request *req, size_t size)
{
	size_t step = size / ADDRESSES + 1;
	struct symbol_table *table;
	struct lines *lines;
	struct error err = {0};

	if (symbol_table_load(req, &table, &err) >= 0) {
		symbol_table_free(table);
	}
	if (lines_open(req, &lines) < 0) {
		return;
	}
	for (size_t at = 0; at < size; at += step) {
		if (lines_find(lines, at, &first) >= 0 && lines_find(lines, at, &again) >= 0) {
			check_place();
		}
	}
	lines_free(lines);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("object", 0);
	char path[64];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
		abort();
	}
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	check_lines(&(struct symbol_request){.kind = SYMBOL_ELF, .path = path}, size);
	check_lines(&(struct symbol_request){.kind = SYMBOL_KERNEL,
	                    .path = "[kernel.kallsyms]",
	                    .vmlinux = path,
	                    .reference = "main",
	                    .base = 1u << 20},
	        size);
	(void)close(fd);
	return 0;
}
