/* SPDX-License-Identifier: MIT */
/* Demangles names of C++, Rust (both manglings) and D, without parameters. */
#include "symbol/symbol.h"

#include <libiberty/demangle.h>
#include <stdio.h>
#include <stdlib.h>

/* Longer names take the demangler too much memory, and are unreadable anyway. */
#define MANGLED_MAX 65536

static char *join(char *shown, const char *suffix)
{
	size_t n = strlen(shown) + strlen(suffix) + 1;
	char *out = malloc(n);

	if (out != NULL && snprintf(out, n, "%s%s", shown, suffix) < 0) {
		out[0] = 0;
	}
	free(shown);
	return out;
}

char *symbol_demangle(const char *name)
{
	const char *at = strchr(name, '@');
	char *shown;
	char *bare;

	if (strlen(name) > MANGLED_MAX) {
		return NULL;
	}
	if (at == NULL) {
		return cplus_demangle(name, DMGL_NO_OPTS);
	}
	bare = strndup(name, (size_t)(at - name));
	if (bare == NULL) {
		return NULL;
	}
	shown = cplus_demangle(bare, DMGL_NO_OPTS);
	free(bare);
	return shown != NULL ? join(shown, at) : NULL;
}
