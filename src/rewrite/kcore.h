/* SPDX-License-Identifier: MIT */
/*
 * kcore_dir, kcore_dir__PID: copies of a kernel's memory and symbols in the directory of a
 * recording.
 */
#ifndef SONDE_REWRITE_KCORE_H
#define SONDE_REWRITE_KCORE_H

#include "bundle/bundle.h"
#include "core/status.h"

#include <stdbool.h>

/* Whether the directory, or the one in a bundle, has any. */
bool kcore_there(const char *folder);
bool kcore_bundled(const struct bundle *b);

/* Copies them to another directory. SONDE_EIO, SONDE_EPERM, SONDE_ENOMEM. */
int kcore_copy(const char *from, const char *to, struct error *err);
int kcore_unpack(const struct bundle *b, const char *to, struct error *err);

#endif
