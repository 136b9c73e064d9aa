/* SPDX-License-Identifier: MIT */
/* Unpacks recordings that are packed with gzip, xz or zstd. */
#ifndef SONDE_FILE_UNWRAP_H
#define SONDE_FILE_UNWRAP_H

#include "file/source.h"

/*
 * If *s is packed, replaces it by a spool with the unpacked bytes. Input that cannot be unpacked to
 * its end is reported as a diagnostic. SONDE_EUNSUPPORTED (not in this build), SONDE_ENOMEM,
 * SONDE_EIO, with the reason in err.
 */
int source_unwrap(struct source *s, const struct source_open *how, struct diag_sink *diags,
        struct error *err);

#endif
