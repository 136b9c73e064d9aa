/* SPDX-License-Identifier: MIT */
/*
 * Demangles names of C++ and Rust (both manglings), without parameters, of D, which have none without
 * them, and of Java.
 */
#include "symbol/symbol.h"

#include <libiberty/demangle.h>
#include <stdlib.h>

/* Longer names take the demangler too much memory, and are unreadable anyway. */
#define MANGLED_MAX 65536

/*
 * Types in a name of D that refer to earlier ones ("Q" and a distance in base 26, whose last digit is
 * a small letter): each can double the result. Names with more are left as they are.
 */
#define D_REFERENCES_MAX 24u
#define D_MANGLED_MAX    4096u

/* Of the type demangle_callbackref: receives the next part of a demangled name. */
static void part_add(const char *part, size_t n, void *name)
{
	text_bytes(name, part, n);
}

/* Whether the text at `at` refers to an earlier type; names that are referred to begin with a digit. */
static bool refers_to_type(const char *name, size_t at)
{
	size_t distance = 0, i = at + 1;

	for (; name[i] >= 'A' && name[i] <= 'Z' && distance <= D_MANGLED_MAX; i++) {
		distance = distance * 26 + (size_t)(name[i] - 'A');
	}
	if (name[at] != 'Q' || name[i] < 'a' || name[i] > 'z') {
		return false;
	}
	distance = distance * 26 + (size_t)(name[i] - 'a');
	return distance != 0 && distance <= at &&
	       (name[at - distance] < '0' || name[at - distance] > '9');
}

static bool d_demangle(const char *mangled, struct text *out)
{
	unsigned references = 0;
	char *name;

	if (mangled[0] != '_' || mangled[1] != 'D') {
		return false;
	}
	for (size_t i = 0; mangled[i] != '\0'; i++) {
		references += refers_to_type(mangled, i);
		if (i >= D_MANGLED_MAX || references > D_REFERENCES_MAX) {
			return false;
		}
	}
	name = dlang_demangle(mangled, DMGL_NO_OPTS);
	if (name == NULL) {
		return false;
	}
	text_str(out, name);
	free(name);
	return true;
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
	return d_demangle(mangled, out);
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
	if (!found && !out->failed) {
		return symbol_demangle_java(name, n, out);
	}
	return out->failed ? SONDE_ENOMEM : found;
}
