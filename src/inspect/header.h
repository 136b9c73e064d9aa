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

/*
 * Prints the features of a pipe stream, which are among its records; nothing for a file. As in perf,
 * -I without --header prints them, and --header with --quiet.
 */
void inspect_stream_features(struct text *out, const struct sonde_session *s, bool full);

/* The header and every field of every feature, as JSON (doc/json.md). */
void inspect_session_header_json(struct text *out, const struct sonde_session *s);

#endif
