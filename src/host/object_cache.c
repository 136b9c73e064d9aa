/* SPDX-License-Identifier: MIT */
/*
 * Adding to, listing and removing from the build-id cache, which cache.c draws. A link
 * .build-id/xx/REST is removed before the files that it leads to: a reader never finds a link to an
 * object that is half there.
 */
#define _GNU_SOURCE
#include "core/array.h"
#include "core/status.h"
#include "host/cache_inside.h"
#include "symbol/remote.h"

#include <sonde/preview/object_cache.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINKS ".build-id"

/* An object of the list. */
struct entry {
	char id[2 * IMAGE_BUILD_ID_MAX + 1];
	char *target; /* PATH/ID below the cache's folder */
};

struct entries {
	struct entry *items;
	size_t n, cap;
};

struct sonde_object_cache {
	char *folder;
	int process; /* whose files are used; 0: the caller's */
	struct error error;
	struct cache cache;
	struct symbol_remote *remote; /* servers of debug files; NULL: none are asked */
	char last_folder[PATH_MAX];
};

struct sonde_object_cache *sonde_object_cache_new(const char *folder)
{
	struct sonde_object_cache *c = calloc(1, sizeof(*c));

	if (c == NULL) {
		return NULL;
	}
	c->folder = strdup(folder);
	c->cache.dir = -1;
	c->cache.root = AT_FDCWD;
	if (c->folder == NULL) {
		free(c);
		return NULL;
	}
	return c;
}

void sonde_object_cache_free(struct sonde_object_cache *c)
{
	if (c == NULL) {
		return;
	}
	if (c->cache.dir >= 0) {
		(void)close(c->cache.dir);
	}
	symbol_remote_free(c->remote);
	free(c->folder);
	free(c);
}

const struct sonde_error *sonde_object_cache_error(const struct sonde_object_cache *c)
{
	return error_show(&c->error);
}

const char *sonde_object_cache_last_id(const struct sonde_object_cache *c)
{
	return c->cache.id;
}

const char *sonde_object_cache_last_folder(const struct sonde_object_cache *c)
{
	return c->last_folder;
}

int sonde_object_cache_debuginfod(struct sonde_object_cache *c, sonde_download_fn fn, void *arg)
{
	if (c->remote == NULL) {
		c->remote = symbol_remote_new(fn, arg);
	}
	return c->remote != NULL ? 0 : error_nomem(&c->error);
}

int sonde_object_cache_namespace(struct sonde_object_cache *c, int pid)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/root", pid);
	if (pid < 0 || (pid != 0 && access(path, X_OK) != 0)) {
		return error_set(&c->error, SONDE_EARG, NO_OFFSET,
		        "the files of process %d cannot be read: %s", pid,
		        pid < 0 ? "no such process" : strerror(errno));
	}
	c->process = pid;
	return 0;
}

/* ---- one file ---- */

/* The path of a file as all processes see it: *source to read it, *name to store it. */
struct file_names {
	char source[PATH_MAX + 64], name[PATH_MAX];
};

static int names_find(struct sonde_object_cache *c, const char *path, struct file_names *out)
{
	char root[64] = "";
	const char *found;

	if (c->process != 0) {
		(void)snprintf(root, sizeof(root), "/proc/%d/root", c->process);
		if (!cache_format(out->name, sizeof(out->name), "%s", path)) {
			return error_errno(&c->error, SONDE_EARG, errno, "%s", path);
		}
	} else {
		found = realpath(path, out->name);
		if (found == NULL) {
			return error_errno(
			        &c->error, status_of_errno(errno), errno, "cannot read %s", path);
		}
	}
	if (out->name[0] != '/' || strstr(out->name, "/../") != NULL) {
		return error_set(&c->error, SONDE_EARG, NO_OFFSET,
		        "%s: a file of another process needs a path from its root, without '..'",
		        path);
	}
	(void)snprintf(out->source, sizeof(out->source), "%s%s", root, out->name);
	return 0;
}

static int id_find(struct sonde_object_cache *c, const char *path, const struct file_names *names,
        struct image_build_id *id)
{
	int n;

	c->cache.id[0] = '\0';
	if (access(names->source, R_OK) != 0) {
		return error_errno(
		        &c->error, status_of_errno(errno), errno, "cannot read %s", path);
	}
	n = image_build_id_of_file(names->source, id->bytes);
	if (n < 0) {
		return error_nomem(&c->error);
	}
	if (n < 2) {
		return error_set(&c->error, SONDE_EFORMAT, NO_OFFSET,
		        "%s has no build id; link it with --build-id", path);
	}
	id->size = (uint8_t)n;
	cache_set_id(&c->cache, id->bytes, id->size);
	return 0;
}

/* Opens the folder; with `make` it is created. 0: there is none. */
static int folder_open(struct sonde_object_cache *c, bool make)
{
	if (c->cache.dir < 0) {
		c->cache.dir = make ? cache_open(c->folder)
		                    : open(c->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	if (c->cache.dir >= 0) {
		return 1;
	}
	return !make && errno == ENOENT ? 0
	                                : error_errno(&c->error, status_of_errno(errno), errno,
	                                          "cannot open the cache %s", c->folder);
}

/*
 * Finds the debug file of an object, among those that are installed, then on servers. The same root
 * is used as for the object.
 */
static bool debug_find(struct sonde_object_cache *c, const struct image_build_id *id,
        const char *name, char path[IMAGE_PATH_MAX])
{
	char root[64];
	const char *roots[] = {root};
	const struct image_where where = {
	        .path = name, .id = *id, .roots = {roots, c->process != 0}};

	(void)snprintf(root, sizeof(root), "/proc/%d/root", c->process);
	if (image_place_name(&where, IMAGE_PLACE_DEBUG_ID, 0, path, IMAGE_PATH_MAX) &&
	        access(path, R_OK) == 0) {
		return true;
	}
	return c->remote != NULL &&
	       symbol_remote_find(c->remote, id, SYMBOL_REMOTE_DEBUG, name, path);
}

/* Adds the debug file of the object that the cache has now. False with errno: it cannot be written. */
static bool debug_add(struct sonde_object_cache *c, const struct image_build_id *id, bool replace)
{
	char path[IMAGE_PATH_MAX];

	c->cache.leaf = "debug";
	if ((!replace && cache_has(&c->cache)) || !debug_find(c, id, c->cache.name, path)) {
		return true;
	}
	c->cache.source = path;
	return cache_put(&c->cache);
}

static int file_add(struct sonde_object_cache *c, const char *path, bool replace)
{
	struct image_build_id id = {0};
	struct file_names names;
	bool good, found;

	TRY(names_find(c, path, &names));
	TRY(id_find(c, path, &names, &id));
	TRY(folder_open(c, true));
	c->cache.name = names.name;
	c->cache.source = names.source;
	c->cache.leaf = "elf";
	found = !replace && cache_has(&c->cache);
	good = (found || cache_put(&c->cache)) && debug_add(c, &id, replace);
	return good ? !found
	            : error_errno(&c->error, SONDE_EIO, errno, "cannot write %s into the cache %s",
	                      path, c->folder);
}

int sonde_object_cache_add(struct sonde_object_cache *c, const char *path, unsigned flags)
{
	return file_add(c, path, (flags & SONDE_OBJECT_CACHE_REPLACE) != 0);
}

int sonde_object_cache_add_kcore(struct sonde_object_cache *c, const char *path, unsigned flags)
{
	struct file_names names;
	int rc;

	c->last_folder[0] = c->cache.id[0] = '\0';
	TRY(names_find(c, path, &names));
	TRY(folder_open(c, true));
	rc = cache_kcore_add(
	        &c->cache, names.source, (flags & SONDE_OBJECT_CACHE_REPLACE) != 0, &c->error);
	if (rc >= 0) {
		(void)cache_format(c->last_folder, sizeof(c->last_folder), "%s/%s", c->folder,
		        c->cache.folder);
	}
	return rc;
}

/* ---- the list ---- */

static int by_id(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->id, ((const struct entry *)b)->id);
}

static void entries_fini(struct entries *list)
{
	for (size_t i = 0; i < list->n; i++) {
		free(list->items[i].target);
	}
	free(list->items);
}

static bool is_hex(const char *s, size_t least, size_t most)
{
	size_t n = strspn(s, "0123456789abcdef");

	return s[n] == '\0' && n >= least && n <= most;
}

/*
 * Whether a link leads to a folder of the cache, "../../PATH/ID": nothing outside of it may be
 * removed, whoever wrote the link.
 */
static bool is_inside(const char *target, const char *id)
{
	size_t n = strlen(target), len = strlen(id);

	return strncmp(target, "../../", 6) == 0 && target[6] != '/' && n > 6 + len + 1 &&
	       strcmp(target + n - len, id) == 0 && target[n - len - 1] == '/' &&
	       strstr(target + 6, "/../") == NULL && strncmp(target + 6, "../", 3) != 0;
}

/* Adds the object of a link, if it is there as a whole. */
static int entry_add(
        struct sonde_object_cache *c, struct entries *list, const char *first, const char *rest)
{
	char link[64], target[PATH_MAX];
	struct entry e = {.target = NULL};
	struct stat st;
	ssize_t n;

	(void)snprintf(link, sizeof(link), LINKS "/%.2s/%.40s", first, rest);
	(void)snprintf(e.id, sizeof(e.id), "%.2s%.38s", first, rest);
	n = readlinkat(c->cache.dir, link, target, sizeof(target) - 1);
	if (n < 0 || fstatat(c->cache.dir, link, &st, 0) != 0) {
		return 0;
	}
	target[n] = '\0';
	if (!is_inside(target, e.id)) {
		return 0;
	}
	e.target = strdup(target + 6);
	if (e.target == NULL ||
	        !array_reserve(&list->items, &list->cap, list->n + 1, sizeof(*list->items))) {
		free(e.target);
		return error_nomem(&c->error);
	}
	list->items[list->n++] = e;
	return 0;
}

/* Reads the links below .build-id/xx. */
static int links_read(struct sonde_object_cache *c, struct entries *list, const char *first)
{
	char path[64];
	struct dirent *d;
	DIR *dir;
	int fd, rc = 0;

	(void)snprintf(path, sizeof(path), LINKS "/%.2s", first);
	fd = openat(c->cache.dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (dir == NULL) {
		if (fd >= 0) {
			(void)close(fd);
		}
		return 0; /* another program removed it */
	}
	while (rc >= 0 && (d = readdir(dir)) != NULL) {
		if (is_hex(d->d_name, 2, 2 * (size_t)IMAGE_BUILD_ID_MAX - 2)) {
			rc = entry_add(c, list, first, d->d_name);
		}
	}
	(void)closedir(dir);
	return rc;
}

static int entries_read(struct sonde_object_cache *c, struct entries *list)
{
	struct dirent *d;
	DIR *dir;
	int fd, rc = folder_open(c, false);

	if (rc <= 0) {
		return rc;
	}
	fd = openat(c->cache.dir, LINKS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd >= 0 ? fdopendir(fd) : NULL;
	if (dir == NULL) {
		rc = errno == ENOENT ? 0
		                     : error_errno(&c->error, SONDE_EIO, errno,
		                               "cannot read %s/" LINKS, c->folder);
		if (fd >= 0) {
			(void)close(fd);
		}
		return rc;
	}
	while (rc >= 0 && (d = readdir(dir)) != NULL) {
		if (is_hex(d->d_name, 2, 2)) {
			rc = links_read(c, list, d->d_name);
		}
	}
	(void)closedir(dir);
	if (rc >= 0 && list->n != 0) {
		qsort(list->items, list->n, sizeof(*list->items), by_id);
	}
	return rc >= 0 ? 0 : rc;
}

/* Writes the object's name: "/PATH", or "[NAME]". */
static void name_of(const struct entry *e, char name[PATH_MAX + 1])
{
	size_t n = strlen(e->target) - strlen(e->id) - 1;

	(void)snprintf(
	        name, PATH_MAX + 1, "%s%.*s", e->target[0] == '[' ? "" : "/", (int)n, e->target);
}

int sonde_object_cache_list(struct sonde_object_cache *c, sonde_object_cache_fn fn, void *arg)
{
	struct entries list = {0};
	char name[PATH_MAX + 1];
	int rc = entries_read(c, &list);

	for (size_t i = 0; rc >= 0 && i < list.n; i++) {
		name_of(&list.items[i], name);
		rc = fn(arg, list.items[i].id, name);
	}
	entries_fini(&list);
	return rc < 0 ? rc : 0;
}

/* ---- removing ---- */

/* Removes link, files and folder of an object. False with errno: something is still there. */
static bool entry_remove(struct sonde_object_cache *c, const struct entry *e)
{
	static const char *const leaves[] = {"elf", "kallsyms", "vdso", "debug", "probes"};
	char path[PATH_MAX];

	if (!cache_format(path, sizeof(path), LINKS "/%.2s/%s", e->id, e->id + 2) ||
	        (unlinkat(c->cache.dir, path, 0) != 0 && errno != ENOENT)) {
		return false;
	}
	for (size_t i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++) {
		if (!cache_format(path, sizeof(path), "%s/%s", e->target, leaves[i]) ||
		        (unlinkat(c->cache.dir, path, 0) != 0 && errno != ENOENT)) {
			return false;
		}
	}
	return unlinkat(c->cache.dir, e->target, AT_REMOVEDIR) == 0 || errno == ENOENT;
}

/* Which objects to remove; NULL: all of them. */
struct choice {
	const char *id, *name;
};

static int entries_remove(struct sonde_object_cache *c, struct choice choice)
{
	struct entries list = {0};
	char name[PATH_MAX + 1];
	int removed = 0, rc = entries_read(c, &list);

	for (size_t i = 0; rc >= 0 && i < list.n; i++) {
		const struct entry *e = &list.items[i];

		name_of(e, name);
		if ((choice.id != NULL && strcmp(choice.id, e->id) != 0) ||
		        (choice.name != NULL && strcmp(choice.name, name) != 0)) {
			continue;
		}
		if (!entry_remove(c, e)) {
			rc = error_errno(&c->error, SONDE_EIO, errno,
			        "cannot remove %s from the cache %s", name, c->folder);
		}
		removed++;
	}
	entries_fini(&list);
	return rc < 0 ? rc : removed;
}

int sonde_object_cache_remove(struct sonde_object_cache *c, const char *path)
{
	struct image_build_id id = {0};
	struct file_names names;

	TRY(names_find(c, path, &names));
	TRY(id_find(c, path, &names, &id));
	return entries_remove(c, (struct choice){.id = c->cache.id});
}

/* The file may be gone: then the path is taken as it is. */
int sonde_object_cache_purge(struct sonde_object_cache *c, const char *path)
{
	char name[PATH_MAX];
	const char *found = c->process == 0 && path[0] != '[' ? realpath(path, name) : NULL;

	return entries_remove(c, (struct choice){.name = found != NULL ? found : path});
}

int sonde_object_cache_purge_all(struct sonde_object_cache *c)
{
	int objects = entries_remove(c, (struct choice){.id = NULL});
	int kernels = objects >= 0 && c->cache.dir >= 0 ? cache_kcores_remove(&c->cache) : 0;

	if (kernels < 0) {
		return error_errno(&c->error, SONDE_EIO, errno,
		        "cannot remove all copies of kernels from the cache %s", c->folder);
	}
	return objects < 0 ? objects : objects + kernels;
}
