/* SPDX-License-Identifier: MIT */
/* Private to cache.c, object_cache.c and object_kcore.c: writing of one object. */
#ifndef SONDE_HOST_CACHE_INSIDE_H
#define SONDE_HOST_CACHE_INSIDE_H

#include "core/status.h"
#include "image/image.h"

#include <limits.h>
#include <stdbool.h>

struct cache {
	int root; /* descriptor of the directory that contains proc */
	int dir; /* descriptor of the cache; -1: not open */
	char id[2 * IMAGE_BUILD_ID_MAX + 1]; /* of the current object, in hex */
	const char *name;
	const char *source; /* path of its file; NULL: the name */
	const char *leaf; /* "elf", "kallsyms", "vdso" or "debug" */
	char folder[PATH_MAX]; /* NAME/ID, without a leading slash */
	char temporary[64]; /* a unique name */
	unsigned made;
};

/* As snprintf; false with errno: it does not fit. */
bool cache_format(char *out, size_t n, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* Opens the cache's folder, creating it and its parents; -1 with errno. */
int cache_open(const char *path);
/* Sets c->id. */
void cache_set_id(struct cache *c, const uint8_t *id, size_t n);
/* Whether the cache has the object with c->id. */
bool cache_has(const struct cache *c);
/* Stores the object of name, id and leaf, and replaces it if it is there. False with errno. */
bool cache_put(struct cache *c);
/* Creates the folders of a path, except for its last component. False with errno. */
bool cache_make_folders(int dir, char *path);

/*
 * Stores the kcore, kallsyms and modules of a folder, by the whole path of kcore. 1: stored; 0: the
 * same kernel is there, and `again` is false; c->folder is its folder. Failures are those of
 * host_kcore_copy, and SONDE_EFORMAT: no build id is beside the folder.
 */
int cache_kcore_add(struct cache *c, const char *path, bool again, struct error *err);
/* Removes all copies of kernels. The number of them; -1 with errno. */
int cache_kcores_remove(const struct cache *c);

#endif
