/* SPDX-License-Identifier: MIT */
/*
 * A package of split debug information, with the program that it belongs to:
 *
 *	u32  bytes of the program, little-endian
 *	     program: an ELF file with skeletons of units
 *	     package
 *
 * Each unit that is found can be walked by libdw.
 */
#define _GNU_SOURCE /* memfd_create */
#include "core/span.h"
#include "symbol/line_package.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define DIES_MAX 256u /* of a unit: damaged ones may be endless */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int file_with(const char *name, const uint8_t *bytes, size_t n)
{
	int fd = memfd_create(name, 0);

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n) {
		abort();
	}
	return fd;
}

static void walk(Dwarf_Die *unit)
{
	Dwarf_Die die;
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;
	unsigned n = 0;

	if (dwarf_child(unit, &die) != 0) {
		return;
	}
	do {
		(void)dwarf_diename(&die);
		while ((at = dwarf_ranges(&die, at, &base, &low, &high)) > 0 && n < DIES_MAX) {
			n++;
		}
	} while (++n < DIES_MAX && dwarf_siblingof(&die, &die) == 0);
}

static void read_units(Dwarf *program, const struct line_package *p)
{
	struct line_view view = {0};
	Dwarf_CU *cu = NULL;
	Dwarf_Die skeleton, unit;
	uint8_t type;

	while (dwarf_get_units(program, cu, &cu, NULL, &type, &skeleton, NULL) == 0) {
		if (line_view_unit(&view, p, &skeleton, &unit) > 0) {
			walk(&unit);
		}
	}
	line_view_fini(&view);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct line_package *p = NULL;
	uint32_t n = size >= 4 ? load_u32(data, false) : 0;
	Dwarf *dwarf;
	int program, package;
	char path[64];

	if (size < 4 || n > size - 4) {
		return 0;
	}
	(void)elf_version(EV_CURRENT);
	program = file_with("program", data + 4, n);
	package = file_with("package", data + 4 + n, size - 4 - n);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", package);
	dwarf = dwarf_begin(program, DWARF_C_READ);
	if (dwarf != NULL && line_package_open(path, dwarf_getelf(dwarf), &p) >= 0 && p != NULL) {
		read_units(dwarf, p);
	}
	line_package_free(p);
	(void)dwarf_end(dwarf);
	(void)close(package);
	(void)close(program);
	return 0;
}
