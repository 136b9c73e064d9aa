/* SPDX-License-Identifier: MIT */
/* Names of registers by their bit in sample_regs_user: <asm/perf_regs.h> of each machine. */
#include "record/record.h"

#include <string.h>

static const char *const x86[] = {"AX", "BX", "CX", "DX", "SI", "DI", "BP", "SP", "IP", "FLAGS",
        "CS", "SS", "DS", "ES", "FS", "GS", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15"};

static const char *const arm64[] = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9",
        "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22",
        "x23", "x24", "x25", "x26", "x27", "x28", "x29", "lr", "sp", "pc"};

static const char *const arm[] = {"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10",
        "fp", "ip", "sp", "lr", "pc"};

static bool starts(const char *s, const char *with)
{
	return strncmp(s, with, strlen(with)) == 0;
}

const char *const *record_reg_names(const char *machine, size_t *n)
{
	*n = 0;
	if (machine == NULL) {
		return NULL;
	}
	if (starts(machine, "x86") ||
	        (strlen(machine) == 4 && machine[0] == 'i' && starts(machine + 2, "86"))) {
		*n = sizeof(x86) / sizeof(x86[0]);
		return x86;
	}
	if (starts(machine, "aarch64") || starts(machine, "arm64")) {
		*n = sizeof(arm64) / sizeof(arm64[0]);
		return arm64;
	}
	if (starts(machine, "arm")) {
		*n = sizeof(arm) / sizeof(arm[0]);
		return arm;
	}
	return NULL;
}
