/* SPDX-License-Identifier: MIT */
/* The two ways to write the fields of a record: words in a line, and a JSON object. */
#ifndef SONDE_INSPECT_DUMP_H
#define SONDE_INSPECT_DUMP_H

#include "core/json.h"
#include "record/layout.h"

/* Appends all fields: ` name=value ...`. */
void dump_fields_text(struct text *out, struct record_walk *w);

/* The same as an object; raw: with all bytes of long fields. False: a field did not fit. */
bool dump_fields_json(struct json *j, const char *key, struct record_walk *w, bool raw);

/* 16 bytes a line, with their offset in front and the printable ones behind. */
void dump_hex(struct text *out, struct span bytes);

#endif
