/* SPDX-License-Identifier: MIT */
/* addr2line OBJECT [ADDRESS...]: as `addr2line -f -i -e OBJECT`; addresses also from standard input. */
#include <sonde/preview/symbol.h>

#include <stdio.h>
#include <stdlib.h>

static int print(struct sonde_symbols *s, int object, uint64_t address)
{
	const struct sonde_location *l;
	int rc = sonde_symbols_find(s, object, &address, 1, &l);
	for (size_t i = 0; rc >= 0 && i < l->nfunctions; i++) {
		const struct sonde_source *f = &l->functions[i];
		(void)printf("%s\n%s:", f->function ? f->function : "??", f->file ? f->file : "??");
		(void)(f->line != 0 ? printf("%u\n", f->line) : printf("?\n"));
	}
	if (rc >= 0 && l->nfunctions == 0) {
		(void)printf("%s\n%s:0\n", "??", "??");
	}
	return rc;
}

int main(int argc, char **argv)
{
	struct sonde_symbols_options o = {.size = sizeof(o), .no_demangle = true};
	struct sonde_symbols *s = sonde_symbols_new(&o);
	int object = s && argc > 1 ? sonde_symbols_add_object(s, argv[1]) : SONDE_EARG, rc = object;
	char line[64];
	for (int i = 2; rc >= 0 && i < argc; i++) {
		rc = print(s, object, strtoull(argv[i], NULL, 16));
	}
	while (rc >= 0 && argc == 2 && fgets(line, sizeof(line), stdin) != NULL) {
		rc = print(s, object, strtoull(line, NULL, 16));
	}
	if (rc < 0) {
		(void)fprintf(stderr, "%s\n", s ? sonde_symbols_error(s)->text : "out of memory");
	}
	sonde_symbols_free(s);
	return rc < 0;
}
