/* SPDX-License-Identifier: MIT */
/* Demangles names of C++ and Rust (both manglings), without parameters. */
#include "symbol/symbol.h"

#include <libiberty/demangle.h>
#include <stdlib.h>

/* Longer names take the demangler too much memory, and are unreadable anyway. */
#define MANGLED_MAX 65536

/* Of the type demangle_callbackref: receives the next part of a demangled name. */
static void part_add(const char *part, size_t n, void *name)
{
	text_bytes(name, part, n);
}

/* Legacy Rust names are valid C++ names as well, so Rust comes first. */
static bool name_demangle(const char *mangled, struct text *out)
{
	size_t start = out->n;

	if (rust_demangle_callback(mangled, DMGL_NO_OPTS, part_add, out) != 0) {
		return true;
	}
	out->n = start;
	if (cplus_demangle_v3_callback(mangled, DMGL_NO_OPTS, part_add, out) != 0) {
		return true;
	}
	out->n = start;
	return false;
}

/*
 * The demangler's functions with callbacks: those that return a string return NULL both for a name
 * that is not mangled and when they run out of memory.
 */
int symbol_demangle(const char *name, size_t n, struct text *out)
{
	const char *suffix = memchr(name, '@', n);
	size_t mangled_size = suffix != NULL ? (size_t)(suffix - name) : n;
	char *mangled;
	bool found;

	if (n > MANGLED_MAX) {
		return 0;
	}
	mangled = strndup(name, mangled_size);
	if (mangled == NULL) {
		return SONDE_ENOMEM;
	}
	found = name_demangle(mangled, out);
	free(mangled);
	if (found) {
		text_bytes(out, name + mangled_size, n - mangled_size);
	}
	return out->failed ? SONDE_ENOMEM : found;
}
