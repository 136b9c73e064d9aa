/* SPDX-License-Identifier: MIT */
/* Recordings that were packed with gzip, xz or zstd. */
#ifndef SONDE_FILE_UNWRAP_H
#define SONDE_FILE_UNWRAP_H

#include "file/source.h"

/*
 * Unpacks *s into a spool that takes its place, when it is packed; else leaves it. What cannot be
 * unpacked to its end is a diagnostic. SONDE_EUNSUPPORTED (not in this build), SONDE_ENOMEM,
 * SONDE_EIO, with the reason in err.
 */
int source_unwrap(struct source *s, const char *path, struct diag_sink *diags, struct error *err);

#endif
