/* SPDX-License-Identifier: MIT */
/*
 * The only writer of JSON: opens and closes objects and arrays, and writes members with a key (NULL
 * inside arrays).
 *
 *	json_begin(&j, "list", 1);      {"schema":"sonde-list","version":1,
 *	json_array(&j, "names");        "names":[
 *	json_text(&j, NULL, "cycles");  "cycles"
 *	json_end(&j);                   ]}
 */
#ifndef SONDE_CORE_JSON_H
#define SONDE_CORE_JSON_H

#include "core/span.h"
#include "core/text.h"

#define JSON_DEPTH 32u

/* Ready for use when `out` is set. */
struct json {
	struct text *out;
	bool as_perf; /* as `perf stat -j`: spaces around ':' and after ',', '<' is not escaped */
	bool tabs; /* each item is on a line of its own, with tabs before it, and a blank after ':' */
	bool comma; /* a comma comes before the next item */
	bool on_new_line; /* set by json_line */
	unsigned depth;
	char close[JSON_DEPTH]; /* '}' or ']' */
};

/* Begins a document: an object with its schema, "sonde-KIND", and its version (doc/json.md). */
void json_begin(struct json *j, const char *kind, unsigned version);
void json_end(struct json *j); /* closes everything, and ends the line */

void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_close(struct json *j);

/* The next item, a member or a closing bracket, begins a new line. */
void json_line(struct json *j);

void json_u64(struct json *j, const char *key, uint64_t v);
void json_s64(struct json *j, const char *key, int64_t v);
void json_bool(struct json *j, const char *key, bool v);
void json_text(struct json *j, const char *key, const char *s); /* NULL: null */
void json_string(struct json *j, const char *key, const char *s, size_t n);
void json_hex(struct json *j, const char *key, struct span bytes); /* as a string */

/* Writes a value that is JSON already: a number in the caller's format, or part of a document. */
void json_printf(struct json *j, const char *key, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));
void json_raw(struct json *j, const char *key, const char *s, size_t n);

#endif
