/* SPDX-License-Identifier: MIT */
/* Private to cache.c and object_cache.c: writing of one object. */
#ifndef SONDE_HOST_CACHE_INSIDE_H
#define SONDE_HOST_CACHE_INSIDE_H

#include "image/image.h"

#include <limits.h>
#include <stdbool.h>

struct cache {
	int root; /* descriptor of the directory that contains proc */
	int dir; /* descriptor of the cache; -1: not open */
	char id[2 * IMAGE_BUILD_ID_MAX + 1]; /* of the current object, in hex */
	const char *name;
	const char *source; /* path of its file; NULL: the name */
	const char *leaf; /* "elf", "kallsyms" or "vdso" */
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

#endif
