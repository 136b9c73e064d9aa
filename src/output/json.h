/* SPDX-License-Identifier: MIT */
/*
 * JSON, written piece by piece: objects and arrays opened and closed, members with a key (NULL
 * inside arrays). What stands in a layout of fields becomes members named after them.
 */
#ifndef SONDE_OUTPUT_JSON_H
#define SONDE_OUTPUT_JSON_H

#include "core/text.h"
#include "record/layout.h"

#define JSON_DEPTH 32u

/* `out` set is ready. */
struct json {
	struct text *out;
	unsigned depth;
	bool more[JSON_DEPTH]; /* this object or array has a member already */
	char close[JSON_DEPTH]; /* '}' or ']' */
};

/* The document: an object that names its schema, "sonde-KIND", and its version (doc/json.md). */
void json_begin(struct json *j, const char *kind, unsigned version);
void json_end(struct json *j); /* closes all, and the line */

void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_close(struct json *j);

void json_u64(struct json *j, const char *key, uint64_t v);
void json_s64(struct json *j, const char *key, int64_t v);
void json_bool(struct json *j, const char *key, bool v);
void json_text(struct json *j, const char *key, const char *s); /* NULL: null */
void json_bytes(struct json *j, const char *key, struct span bytes); /* hexadecimal */

/* An object of the fields of a walk that was begun; false: a field did not fit. */
bool json_fields(struct json *j, const char *key, const struct layout_walk *walk);

#endif
