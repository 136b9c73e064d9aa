/* SPDX-License-Identifier: MIT */
/*
 * For tests: prints sonde's names of addresses.
 *
 *   lookup [-k|-M|-m|-v] [-n] [-K FILE] NAME < addresses in hex
 *     -k kernel  -M module  -m perf map  -v vdso  -n raw names  -K another kallsyms
 *
 * One line each: SYMBOL+0xOFFSET, or [unknown].
 */
#include "symbol/symbol.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void answer(const struct symbol_table *t, uint64_t addr)
{
	const struct symbol *s = symbol_table_find(t, addr);

	if (s == NULL) {
		puts("[unknown]");
		return;
	}
	printf("%s+0x%" PRIx64 "\n", symbol_name(t, s), addr - s->start);
}

static int usage(void)
{
	(void)fputs("usage: lookup [-k|-M|-m|-v] [-n] [-K kallsyms] NAME < addresses\n", stderr);
	return 2;
}

int main(int argc, char **argv)
{
	struct symbol_request req = {.kind = SYMBOL_ELF, .demangle = true};
	struct error err = {0};
	struct symbol_table *t;
	char line[64];
	int c;

	req.running_kernel = true;
	while ((c = getopt(argc, argv, "kMmvnK:")) != -1) {
		switch (c) {
		case 'k': req.kind = SYMBOL_KERNEL; break;
		case 'M': req.kind = SYMBOL_MODULE; break;
		case 'm': req.kind = SYMBOL_PERF_MAP; break;
		case 'v': req.kind = SYMBOL_VDSO; break;
		case 'n': req.demangle = false; break;
		case 'K': req.kallsyms = optarg; break;
		default: return usage();
		}
	}
	if (optind + 1 != argc) {
		return usage();
	}
	req.path = argv[optind];
	if (symbol_table_load(&req, &t, &err) < 0) {
		(void)fprintf(stderr, "lookup: %s\n", err.text);
		return 1;
	}
	(void)fprintf(stderr, "%zu symbols\n", symbol_table_count(t));
	while (fgets(line, sizeof(line), stdin) != NULL) {
		answer(t, strtoull(line, NULL, 16));
	}
	symbol_table_free(t);
	return 0;
}
