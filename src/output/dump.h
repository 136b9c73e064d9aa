/* SPDX-License-Identifier: MIT */
/* The two ways to write the fields of a record: words in a line, and a JSON object. */
#ifndef SONDE_OUTPUT_DUMP_H
#define SONDE_OUTPUT_DUMP_H

#include "core/text.h"
#include "record/layout.h"

/* Appends all fields: ` name=value ...`, or `"name":value,...` with the outer braces. */
void dump_fields_text(struct text *out, struct record_walk *w);
void dump_fields_json(struct text *out, struct record_walk *w, bool raw);

/* 16 bytes a line, with their offset in front and the printable ones behind. */
void dump_hex(struct text *out, struct span bytes);

/* A JSON string; bytes that are no UTF-8 become U+FFFD. */
void dump_json_string(struct text *out, const char *s, size_t n);
void dump_json_hex(struct text *out, struct span bytes);

#endif
