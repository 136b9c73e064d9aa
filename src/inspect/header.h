/* SPDX-License-Identifier: MIT */
/* The header of a recording as text. */
#ifndef SONDE_INSPECT_HEADER_H
#define SONDE_INSPECT_HEADER_H

#include "core/text.h"

struct file;
struct sonde_session;

/* Prints comment lines; full: with topologies, caches and memory blocks, which are long. */
void inspect_header(struct text *out, const struct file *f, bool full);

void inspect_session_header(struct text *out, const struct sonde_session *s, bool full);

/* The same and every field of every feature, as JSON (doc/json.md). */
void inspect_session_header_json(struct text *out, const struct sonde_session *s);

#endif
