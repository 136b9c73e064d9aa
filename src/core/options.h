/* SPDX-License-Identifier: MIT */
/* Option structs of callers that were compiled with an older or newer library. */
#ifndef SONDE_CORE_OPTIONS_H
#define SONDE_CORE_OPTIONS_H

#include "core/status.h"

/*
 * Copies the option struct `given`, whose first member is its size in the caller's version, into
 * `own` of n bytes, which holds the defaults. Members that the caller's version lacks keep their
 * defaults; NULL: all do. SONDE_EARG, with the reason in err: the size is 0, or members that this
 * version lacks are set; the others are copied even then.
 */
int options_copy(void *own, size_t n, const void *given, struct error *err);

#endif
