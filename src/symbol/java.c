/* SPDX-License-Identifier: MIT */
/*
 * Names of Java methods, as the JVM's agent for perf writes them: the class's descriptor, the method
 * and its descriptor (Java Virtual Machine Specification, 4.3).
 *
 *	Ljava/lang/String;getChars(II[CI)V    java.lang.String.getChars(int, int, char[], int)
 *
 * As in perf 6.1, the result is without the returned type, there is no dot before <init>, and an
 * array of objects is shown as its elements are.
 */
#include "symbol/symbol.h"

#define ARRAYS_MAX 255u /* dimensions, as the specification says */

static const char *primitive(char c)
{
	switch (c) {
	case 'B': return "byte";
	case 'C': return "char";
	case 'D': return "double";
	case 'F': return "float";
	case 'I': return "int";
	case 'J': return "long";
	case 'S': return "short";
	case 'Z': return "boolean";
	default: return NULL;
	}
}

/* Takes "Lname;": the class's name with dots. */
static bool take_class(struct span *rest, struct text *out)
{
	const uint8_t *end = rest->n != 0 ? memchr(rest->p, ';', rest->n) : NULL;
	size_t n = end != NULL ? (size_t)(end - rest->p) : 0;

	if (n == 0 || rest->p[0] != 'L') {
		return false;
	}
	for (size_t i = 1; i < n; i++) {
		char c = (char)rest->p[i];

		if (c == '(' || c == ')') {
			return false;
		}
		text_char(out, (char)(c == '/' ? '.' : c));
	}
	*rest = (struct span){rest->p + n + 1, rest->n - n - 1};
	return true;
}

static bool take_type(struct span *rest, struct text *out)
{
	unsigned arrays = 0;
	const char *name;

	while (rest->n != 0 && rest->p[0] == '[' && arrays < ARRAYS_MAX) {
		*rest = (struct span){rest->p + 1, rest->n - 1};
		arrays++;
	}
	name = rest->n != 0 ? primitive((char)rest->p[0]) : NULL;
	if (name == NULL) {
		return take_class(rest, out);
	}
	*rest = (struct span){rest->p + 1, rest->n - 1};
	text_str(out, name);
	for (; arrays != 0; arrays--) {
		text_str(out, "[]");
	}
	return true;
}

static bool take_arguments(struct span *rest, struct text *out)
{
	for (unsigned i = 0; rest->n != 0 && rest->p[0] != ')'; i++) {
		text_str(out, i != 0 ? ", " : "");
		if (!take_type(rest, out)) {
			return false;
		}
	}
	return rest->n != 0;
}

static bool demangle(struct span rest, struct text *out)
{
	const uint8_t *open;
	size_t n;

	if (!take_class(&rest, out)) {
		return false;
	}
	open = rest.n != 0 ? memchr(rest.p, '(', rest.n) : NULL;
	n = open != NULL ? (size_t)(open - rest.p) : 0;
	if (n == 0 || memchr(rest.p, ';', n) != NULL) {
		return false;
	}
	text_str(out, rest.p[0] == '<' ? "" : ".");
	text_bytes(out, (const char *)rest.p, n);
	text_char(out, '(');
	rest = (struct span){open + 1, rest.n - n - 1};
	if (!take_arguments(&rest, out)) {
		return false;
	}
	text_char(out, ')');
	return true;
}

int symbol_demangle_java(const char *name, size_t n, struct text *out)
{
	size_t start = out->n;

	if (demangle((struct span){(const uint8_t *)name, n}, out)) {
		return out->failed ? SONDE_ENOMEM : 1;
	}
	out->n = start;
	return out->failed ? SONDE_ENOMEM : 0;
}
