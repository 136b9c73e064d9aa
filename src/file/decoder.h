/* SPDX-License-Identifier: MIT */
/*
 * Compressed formats, one table each, so that everything else is written once. A build without the
 * library has a table without functions.
 */
#ifndef SONDE_FILE_DECODER_H
#define SONDE_FILE_DECODER_H

#include "core/span.h"

struct decoder_ops {
	const char *name; /* of the format and of the command that unpacks it */
	const char *library;
	void *(*start)(void); /* NULL here: not in this build. NULL returned: no memory */
	/*
	 * Writes at most cap bytes to out and moves *in behind what was used. Returns their number;
	 * 0: all of *in is used up and nothing is left to write; -1: the input is damaged.
	 */
	long (*next)(void *state, struct span *in, uint8_t *out, size_t cap);
	bool (*at_end)(const void *state); /* what was read so far is whole */
	void (*stop)(void *state);
};

extern const struct decoder_ops decoder_gzip;
extern const struct decoder_ops decoder_xz;
extern const struct decoder_ops decoder_zstd;

#endif
