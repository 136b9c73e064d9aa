/* SPDX-License-Identifier: MIT */
/* The build-id cache: objects that samples hit are kept for readers. */
#ifndef SONDE_HOST_CACHE_H
#define SONDE_HOST_CACHE_H

#include "core/span.h"

#include <stdbool.h>

/*
 * Puts the objects of these entries of the feature BUILD_ID into the folder `path`, which is made
 * where it is missing. root: where proc is. Ends early when stopped(arg) says so. False with errno:
 * the cache cannot be written.
 */
bool host_cache_fill(
        const char *path, int root, struct span build_ids, bool (*stopped)(void *arg), void *arg);

#endif
