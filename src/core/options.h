/* SPDX-License-Identifier: MIT */
/* Option structs of callers, who may be older or newer than this library. */
#ifndef SONDE_CORE_OPTIONS_H
#define SONDE_CORE_OPTIONS_H

#include "core/status.h"

/*
 * Copies the option struct `given`, whose first member is its size as the caller knows it, into `own`
 * of n bytes, which holds the defaults. Members that the caller does not know keep theirs; NULL: all
 * do. SONDE_EARG, with the reason in err: the size is not set, or members that this version does not
 * know are set; those that it knows are copied all the same.
 */
int options_copy(void *own, size_t n, const void *given, struct error *err);

#endif
