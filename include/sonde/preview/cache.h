/* SPDX-License-Identifier: MIT */
/*
 * The folder in which sessions store symbols and source lines between runs (the member `cache` of
 * struct sonde_session_options). Preview: may change in any release.
 */
#ifndef SONDE_PREVIEW_CACHE_H
#define SONDE_PREVIEW_CACHE_H

#include <sonde/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* size: in bytes; used: when it was stored or used last, in ns since 1970. Not 0: stop. */
typedef int (*sonde_cache_fn)(void *arg, const char *name, uint64_t size, int64_t used);

/*
 * Calls fn for each stored file of this user, the one that was used longest ago first. Returns 0, also
 * if there is no folder, what fn returned, or SONDE_ENOMEM.
 */
SONDE_API int sonde_cache_list(const char *folder, sonde_cache_fn fn, void *arg);

/* Removes all stored files of this user, and nothing else: 0, SONDE_EIO, SONDE_ENOMEM. */
SONDE_API int sonde_cache_clear(const char *folder);

#ifdef __cplusplus
}
#endif

#endif
