/* SPDX-License-Identifier: MIT */
/*
 * COMPRESSED records: a zstd stream, cut into records when one is full. A record ends where a piece
 * was flushed, so that it inflates to at most PACKER_INFLATED_MAX bytes. A frame ends every few
 * MiB, so that the stream can be read in parallel.
 */
#ifndef SONDE_FILE_PACKER_H
#define SONDE_FILE_PACKER_H

#include "core/status.h"

#include <stdbool.h>

/* Most bytes that one COMPRESSED record inflates to. */
#define PACKER_INFLATED_MAX (512u << 10)
/* Most bytes for one call of packer_put. */
#define PACKER_PUT_MAX (PACKER_INFLATED_MAX / 2)

struct packer;

/* Function that writes records. */
struct packer_out {
	int (*put)(void *arg, const void *bytes, size_t n, struct error *err);
	void *arg;
};

/*
 * swap: headers in the other byte order. SONDE_ENOMEM; SONDE_EUNSUPPORTED in a build without zstd.
 */
int packer_new(struct packer **out, int level, bool swap, struct error *err);
void packer_free(struct packer *p); /* accepts NULL */

/* Bytes that can be put before records are written. */
size_t packer_room(const struct packer *p);

/* Compresses whole records, or parts of one if packer_room is enough for all parts. */
int packer_put(struct packer *p, const void *bytes, size_t n, const struct packer_out *to,
        struct error *err);
/* Writes what is buffered; later input continues the stream. */
int packer_flush(struct packer *p, const struct packer_out *to, struct error *err);

/* Adds the bytes read and written so far. */
void packer_counts(const struct packer *p, uint64_t *in, uint64_t *out);

#endif
