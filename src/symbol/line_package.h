/* SPDX-License-Identifier: MIT */
/*
 * Private to symbol: packages of split debug information (PROGRAM.dwp), which libdw does not read.
 *
 * libdw reads each unit through a view of the package: the same bytes with another ELF header, whose
 * sections are the parts of that unit alone.
 */
#ifndef SONDE_SYMBOL_LINE_PACKAGE_H
#define SONDE_SYMBOL_LINE_PACKAGE_H

#include "core/span.h"

#include <elfutils/libdw.h>

/* Never changes after it was opened. */
struct line_package;

/*
 * Opens the package of a file with skeletons of units. *out: NULL if it cannot be read. SONDE_ENOMEM.
 */
int line_package_open(const char *path, Elf *skeletons, struct line_package **out);
void line_package_free(struct line_package *p); /* accepts NULL */

/* What a thread has of a package: the unit that it reads. Empty when zero-initialised. */
struct line_view {
	uint8_t *bytes;
	size_t size;
	Elf *elf;
	Dwarf *dwarf;
};

void line_view_fini(struct line_view *v);

/*
 * Finds the unit of a skeleton, valid until the next call with the same view. 1; 0: there is none;
 * SONDE_ENOMEM.
 */
int line_view_unit(
        struct line_view *v, const struct line_package *p, Dwarf_Die *skeleton, Dwarf_Die *out);

#endif
