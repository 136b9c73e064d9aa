/* SPDX-License-Identifier: MIT */
/*
 * Decompressors, one table of functions for each format. A build without the library has a table
 * without functions.
 */
#ifndef SONDE_FILE_DECODER_H
#define SONDE_FILE_DECODER_H

#include "core/span.h"

struct decoder_ops {
	const char *name; /* of the format, and of the command that unpacks it */
	const char *library;
	void *(*start)(void); /* NULL: not in this build. A returned NULL: out of memory */
	/*
	 * Writes at most cap bytes to out and advances *in past the bytes it used. Returns the
	 * number of bytes written; 0: all of *in is used and nothing is left to write; -1: the
	 * input is damaged.
	 */
	long (*next)(void *state, struct span *in, uint8_t *out, size_t cap);
	bool (*at_end)(const void *state); /* whether the input read so far is complete */
	void (*stop)(void *state);
};

extern const struct decoder_ops decoder_gzip;
extern const struct decoder_ops decoder_xz;
extern const struct decoder_ops decoder_zstd;

#endif
