/* SPDX-License-Identifier: MIT */
/*
 * Private to symbol: our own files in the cache folder that the session names. A file is written
 * beside its final name and renamed, so that a reader sees an old one or a new one, never a part,
 * and two processes may write the same one at once.
 */
#ifndef SONDE_SYMBOL_STORE_H
#define SONDE_SYMBOL_STORE_H

#include "image/image.h"

#define STORE_NAME_MAX 64

/*
 * Maps a stored file of at most `limit` bytes. false: there is none, or not this user alone may
 * write it.
 */
bool store_open(const char *folder, const char *name, uint64_t limit, struct image_file *out);

/* Stores a file in place of an older one. Creates the folder. A failure is ignored. */
void store_save(const char *folder, const char *name, const void *bytes, size_t n);

/*
 * Removes those files whose name begins with `start` that were stored or used longest ago, until
 * the others have at most `limit` bytes.
 */
void store_bound(const char *folder, const char *start, uint64_t limit);

/* Of all bytes from the given one on. */
uint64_t store_checksum(struct span bytes, size_t from);

#endif
