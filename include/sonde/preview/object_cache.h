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
#include <sonde/session.h>

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
 * Fetches the debug files of objects that are added from the servers in $DEBUGINFOD_URLS, through
 * libdebuginfod, if they are not installed. After the first server that fails no more files are asked
 * for. fn is called as for a session, and may be NULL. Otherwise nothing is fetched. SONDE_ENOMEM.
 */
SONDE_API int sonde_object_cache_debuginfod(
        struct sonde_object_cache *c, sonde_download_fn fn, void *arg);

/*
 * Adds a file with a build id, under its path without symbolic links, and its debug file in
 * /usr/lib/debug by build id, if any; flags: of enum sonde_object_cache_flags. 1: added; 0: it was there; SONDE_ENOENT, SONDE_EPERM, SONDE_EIO;
 * SONDE_EFORMAT: the file has no build id.
 */
SONDE_API int sonde_object_cache_add(
        struct sonde_object_cache *c, const char *path, unsigned flags);

/*
 * Adds a copy of a kernel's code, with the files kallsyms and modules beside it: path is
 * "/proc/kcore", or a file "kcore" of a saved system, whose sys/kernel/notes has the build id. 1:
 * added; 0: the cache has the same kernel with the same modules at the same addresses, and flags
 * lack SONDE_OBJECT_CACHE_REPLACE. SONDE_EFORMAT: no build id; SONDE_ENOENT, SONDE_EPERM,
 * SONDE_EUNSUPPORTED, SONDE_EIO, SONDE_ENOMEM.
 */
SONDE_API int sonde_object_cache_add_kcore(
        struct sonde_object_cache *c, const char *path, unsigned flags);
/* The folder of the copy that sonde_object_cache_add_kcore made or found; "": none. Valid until the
 * next call. */
SONDE_API const char *sonde_object_cache_last_folder(const struct sonde_object_cache *c);

/* Removes the object with the build id of a file. 1: removed; 0: it was not there; else as
 * sonde_object_cache_add. */
SONDE_API int sonde_object_cache_remove(struct sonde_object_cache *c, const char *path);

/* Removes all objects of a path, whatever their build ids. The number of them, or SONDE_EIO. */
SONDE_API int sonde_object_cache_purge(struct sonde_object_cache *c, const char *path);
/* Removes all objects and copies of kernels. The number of them, or SONDE_EIO. */
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
