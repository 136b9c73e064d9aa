/* SPDX-License-Identifier: MIT */
/* The build-id cache: objects that samples hit are stored for later reports. */
#ifndef SONDE_HOST_CACHE_H
#define SONDE_HOST_CACHE_H

#include "core/span.h"

#include <stdbool.h>

/*
 * Stores the objects of entries of the feature BUILD_ID in the folder `path`, which is created if
 * missing. root: descriptor of the directory that contains proc. Ends early when stopped(arg)
 * returns true. False with errno: the cache cannot be written.
 */
bool host_cache_fill(
        const char *path, int root, struct span build_ids, bool (*stopped)(void *arg), void *arg);

#endif
