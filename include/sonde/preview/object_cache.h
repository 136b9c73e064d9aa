/* SPDX-License-Identifier: MIT */
/*
 * The cache of objects by build id, which perf and Sonde share (~/.debug): recorders fill it, and
 * reports find the objects of old recordings in it. Any number of programs may use it at once.
 *
 *	struct sonde_object_cache *c = sonde_object_cache_new("/home/me/.debug");
 *	int rc = c ? sonde_object_cache_add(c, "/usr/bin/ls", 0) : SONDE_ENOMEM;
 *	... c ? sonde_object_cache_error(c)->text : ... ...
 *	sonde_object_cache_free(c);
 */
#ifndef SONDE_PREVIEW_OBJECT_CACHE_H
#define SONDE_PREVIEW_OBJECT_CACHE_H

#include <sonde/base.h>

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sonde_object_cache;

/* Returns a new handle of the cache in `folder`, which is created when something is added; NULL: out
 * of memory. Free with sonde_object_cache_free. */
SONDE_API struct sonde_object_cache *sonde_object_cache_new(const char *folder);
SONDE_API void sonde_object_cache_free(struct sonde_object_cache *c); /* NULL is fine */

/* The last failure; never NULL; valid as long as the handle. */
SONDE_API const struct sonde_error *sonde_object_cache_error(const struct sonde_object_cache *c);

enum sonde_object_cache_flags {
	SONDE_OBJECT_CACHE_REPLACE =
	        1 /* also if the build id is there: the file may have changed */
};

/*
 * Files are named as on the system. A process whose mount namespace is used instead: 0, the
 * caller's. SONDE_EARG: there is no such process.
 */
SONDE_API int sonde_object_cache_namespace(struct sonde_object_cache *c, int pid);

/*
 * Adds a file with a build id, under its path without symbolic links; flags: of enum
 * sonde_object_cache_flags. 1: added; 0: it was there; SONDE_ENOENT, SONDE_EPERM, SONDE_EIO;
 * SONDE_EFORMAT: the file has no build id.
 */
SONDE_API int sonde_object_cache_add(
        struct sonde_object_cache *c, const char *path, unsigned flags);

/* Removes the object with the build id of a file. 1: removed; 0: it was not there; else as
 * sonde_object_cache_add. */
SONDE_API int sonde_object_cache_remove(struct sonde_object_cache *c, const char *path);

/* Removes all objects of a path, whatever their build ids. The number of them, or SONDE_EIO. */
SONDE_API int sonde_object_cache_purge(struct sonde_object_cache *c, const char *path);
/* Removes all objects. The number of them, or SONDE_EIO. */
SONDE_API int sonde_object_cache_purge_all(struct sonde_object_cache *c);

/*
 * Calls fn for each object, in the order of build ids: hex is the build id, path the object's name,
 * such as "/usr/bin/ls" or "[kernel.kallsyms]". A negative result stops. 0, that result, SONDE_EIO,
 * SONDE_ENOMEM.
 */
typedef int (*sonde_object_cache_fn)(void *arg, const char *hex, const char *path);
SONDE_API int sonde_object_cache_list(
        struct sonde_object_cache *c, sonde_object_cache_fn fn, void *arg);

/* The last build id that a function found, in hexadecimal digits; "": none. Valid until the next
 * call. */
SONDE_API const char *sonde_object_cache_last_id(const struct sonde_object_cache *c);

#ifdef __cplusplus
}
#endif

#endif
