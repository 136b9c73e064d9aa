/* SPDX-License-Identifier: MIT */
/*
 * COMPRESSED records: a zstd stream, cut into records wherever one is full. A record ends where a
 * piece was flushed, so that it inflates to at most PACKER_INFLATED_MAX bytes; a frame ends every
 * few MiB, so that the stream can be read in parallel.
 */
#ifndef SONDE_FILE_PACKER_H
#define SONDE_FILE_PACKER_H

#include "core/status.h"

#include <stdbool.h>

/* The most that one COMPRESSED record holds when inflated, in bytes. */
#define PACKER_INFLATED_MAX (512u << 10)
/* The most that is put at once, in bytes. */
#define PACKER_PUT_MAX (PACKER_INFLATED_MAX / 2)

struct packer;

/* Where records go. */
struct packer_out {
	int (*put)(void *arg, const void *bytes, size_t n, struct error *err);
	void *arg;
};

/* swap: headers in the other byte order. SONDE_ENOMEM; SONDE_EUNSUPPORTED in a build without zstd.
 */
int packer_new(struct packer **out, int level, bool swap, struct error *err);
void packer_free(struct packer *p); /* NULL is fine */

/* Bytes that can be put before something is written. */
size_t packer_room(const struct packer *p);

/* Takes whole records, or parts of one for all of which there is room. */
int packer_put(struct packer *p, const void *bytes, size_t n, const struct packer_out *to,
        struct error *err);
/* Writes what is held back; what is put later continues the stream. */
int packer_flush(struct packer *p, const struct packer_out *to, struct error *err);

/* Adds bytes in and out so far. */
void packer_counts(const struct packer *p, uint64_t *in, uint64_t *out);

#endif
