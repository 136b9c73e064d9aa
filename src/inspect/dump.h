/* SPDX-License-Identifier: MIT */
/* The two forms of a record's fields: text in a line, and a JSON object. */
#ifndef SONDE_INSPECT_DUMP_H
#define SONDE_INSPECT_DUMP_H

#include "core/json.h"
#include "record/layout.h"

/* Appends all fields: ` name=value ...`. */
void dump_fields_text(struct text *out, struct record_walk *w);

/* The same as an object; raw: with all bytes of long fields. False: a field did not fit. */
bool dump_fields_json(struct json *j, const char *key, struct record_walk *w, bool raw);

/* 16 bytes a line, after their offset and before their printable characters. */
void dump_hex(struct text *out, struct span bytes);

#endif
