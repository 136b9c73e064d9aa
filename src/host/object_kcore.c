/* SPDX-License-Identifier: MIT */
/*
 * Copies of kernels in the build-id cache, as perf 6.1 leaves them on disk:
 *
 *	[kernel.kcore]/ID/YYYYMMDDhhmmsscc/     local time, with hundredths of a second
 *		kcore, kallsyms, modules
 *
 * ID is the build id in sys/kernel/notes beside the folder of the original (proc). A kernel whose
 * modules are elsewhere, or that was loaded at another address, has another folder. Folders are
 * filled under a unique name and then renamed, so that readers find whole copies only.
 */
#define _GNU_SOURCE
#include "core/array.h"
#include "core/status.h"
#include "host/cache_inside.h"
#include "host/kcore.h"
#include "proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define KCORES "[kernel.kcore]"
#define TRIES  100u /* other writers may take the names of this second */

static const char *const leaves[] = {"kcore", "kallsyms", "modules"};

#define LEAVES (sizeof(leaves) / sizeof(leaves[0]))

struct module {
	char name[64];
	unsigned long long at;
};

struct modules {
	struct module *items;
	size_t n, cap;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct module *)a)->name, ((const struct module *)b)->name);
}

/* Reads names and addresses, in the order of names. False: no memory, or no file. */
static bool modules_read(const struct host_kcore_source *s, struct modules *m)
{
	char line[1024], path[PATH_MAX];
	FILE *f;
	bool good = true;

	(void)snprintf(path, sizeof(path), "%s/modules", s->folder);
	f = proc_open_stream(s->root, path);
	if (f == NULL) {
		return false;
	}
	while (good && fgets(line, sizeof(line), f) != NULL) {
		struct module one;

		if (sscanf(line, "%63s %*s %*s %*s %*s %llx", one.name, &one.at) != 2) {
			continue;
		}
		good = array_reserve(&m->items, &m->cap, m->n + 1, sizeof(*m->items));
		if (good) {
			m->items[m->n++] = one;
		}
	}
	(void)fclose(f);
	if (m->n != 0) {
		qsort(m->items, m->n, sizeof(*m->items), by_name);
	}
	return good;
}

static bool modules_same(const struct modules *a, const struct modules *b)
{
	bool same = a->n == b->n;

	for (size_t i = 0; same && i < a->n; i++) {
		same = strcmp(a->items[i].name, b->items[i].name) == 0 &&
		       a->items[i].at == b->items[i].at;
	}
	return same;
}

/* Whether two copies are of the same kernel and modules, at the same addresses. */
static bool same_kernel(const struct host_kcore_source *a, const struct host_kcore_source *b)
{
	struct proc_kernel first, second;
	struct modules m = {0}, n = {0};
	bool same = proc_kernel_text_in(a->root, a->folder, &first) &&
	            proc_kernel_text_in(b->root, b->folder, &second) &&
	            first.start == second.start && modules_read(a, &m) && modules_read(b, &n) &&
	            modules_same(&m, &n);

	free(m.items);
	free(n.items);
	return same;
}

/* Opens a folder below the cache as a list; NULL with errno. */
static DIR *list_open(const struct cache *c, const char *path)
{
	int fd = openat(c->dir, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;

	if (d == NULL && fd >= 0) {
		(void)close(fd);
	}
	return d;
}

/* Finds a copy of the same kernel and writes its path to c->folder. */
static bool same_find(struct cache *c, const struct host_kcore_source *s)
{
	const struct dirent *d;
	bool found = false;
	char id[PATH_MAX];
	DIR *list;

	(void)snprintf(id, sizeof(id), KCORES "/%s", c->id);
	list = list_open(c, id);
	while (list != NULL && !found && (d = proc_next_entry(list)) != NULL) {
		if (cache_format(c->folder, sizeof(c->folder), "%s/%s", id, d->d_name)) {
			found = same_kernel(s, &(struct host_kcore_source){c->dir, c->folder});
		}
	}
	proc_close_dir(list);
	return found;
}

/* Removes the files of a copy, and its folder. False with errno: something is still there. */
static bool copy_remove(int dir, const char *folder)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < LEAVES; i++) {
		if (!cache_format(path, sizeof(path), "%s/%s", folder, leaves[i]) ||
		        (unlinkat(dir, path, 0) != 0 && errno != ENOENT)) {
			return false;
		}
	}
	return unlinkat(dir, folder, AT_REMOVEDIR) == 0 || errno == ENOENT;
}

/* Renames the temporary folder to one of the present time. False with errno. */
static bool copy_name(struct cache *c)
{
	struct timespec now;
	struct tm tm;
	char when[32];

	if (clock_gettime(CLOCK_REALTIME, &now) != 0) {
		return false;
	}
	for (unsigned i = 0; i < TRIES; i++) {
		if (localtime_r(&now.tv_sec, &tm) == NULL ||
		        strftime(when, sizeof(when), "%Y%m%d%H%M%S", &tm) == 0 ||
		        !cache_format(c->folder, sizeof(c->folder), KCORES "/%s/%s%02ld", c->id,
		                when, now.tv_nsec / 10000000) ||
		        !cache_make_folders(c->dir, c->folder)) {
			return false;
		}
		if (renameat(c->dir, c->temporary, c->dir, c->folder) == 0) {
			return true;
		}
		if (errno != ENOTEMPTY && errno != EEXIST) {
			return false;
		}
		now.tv_nsec += 10000000;
		now.tv_sec += now.tv_nsec / 1000000000;
		now.tv_nsec %= 1000000000;
	}
	errno = EEXIST;
	return false;
}

/* Copies to a temporary folder and renames it. */
static int copy_add(struct cache *c, const struct host_kcore_source *s, struct error *err)
{
	int dir = -1, rc = 0;

	(void)snprintf(
	        c->temporary, sizeof(c->temporary), ".sonde-%ld-%u", (long)getpid(), c->made++);
	if (mkdirat(c->dir, c->temporary, 0755) != 0) {
		return error_errno(
		        err, status_of_errno(errno), errno, "cannot make a folder in the cache");
	}
	dir = openat(c->dir, c->temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rc = dir >= 0 ? host_kcore_copy_to(s, dir, err)
	              : error_errno(err, status_of_errno(errno), errno,
	                        "cannot open a folder of the cache");
	if (rc >= 0 && !copy_name(c)) {
		rc = error_errno(err, status_of_errno(errno), errno,
		        "cannot rename a folder of the cache to %s", c->folder);
	}
	if (dir >= 0) {
		(void)close(dir);
	}
	if (rc < 0) {
		(void)copy_remove(c->dir, c->temporary);
	}
	return rc;
}

static int id_read(struct cache *c, int root, const char *path, struct error *err)
{
	struct text notes = {0};
	struct image_build_id id = {0};
	bool good = proc_read_file(root, "sys/kernel/notes", &notes) && !notes.failed &&
	            image_build_id_of_notes(
	                    (struct span){.p = (const uint8_t *)notes.p, .n = notes.n}, false, &id);

	text_fini(&notes);
	if (!good || id.size < 2) {
		return error_set(err, SONDE_EFORMAT, NO_OFFSET,
		        "%s: the kernel's build id is unknown: sys/kernel/notes is missing "
		        "beside the folder of kcore, kallsyms and modules",
		        path);
	}
	cache_set_id(c, id.bytes, id.size);
	return 0;
}

int cache_kcore_add(struct cache *c, const char *path, bool again, struct error *err)
{
	char root[PATH_MAX];
	struct host_kcore_source s;
	char *leaf, *folder;
	int rc;

	if (!cache_format(root, sizeof(root), "%s", path)) {
		return error_errno(err, SONDE_EARG, errno, "%s", path);
	}
	leaf = strrchr(root, '/');
	if (leaf == NULL || strcmp(leaf, "/kcore") != 0 || leaf == root) {
		return error_set(err, SONDE_EARG, NO_OFFSET,
		        "%s: name a file \"kcore\" in a folder that has kallsyms and modules too",
		        path);
	}
	*leaf = '\0';
	folder = strrchr(root, '/');
	*folder = '\0';
	s.folder = folder + 1;
	s.root = proc_root_open(root[0] != '\0' ? root : "/");
	if (s.root < 0) {
		return error_errno(
		        err, status_of_errno(errno), errno, "cannot open the folders of %s", path);
	}
	rc = id_read(c, s.root, path, err);
	if (rc >= 0 && (again || !same_find(c, &s))) {
		rc = copy_add(c, &s, err);
		rc = rc < 0 ? rc : 1;
	}
	(void)close(s.root);
	return rc;
}

/* Removes the copies of one kernel. */
static bool kernel_remove(const struct cache *c, const char *id, int *removed)
{
	const struct dirent *d;
	char path[PATH_MAX];
	bool good = true;
	DIR *list;

	if (!cache_format(path, sizeof(path), KCORES "/%s", id)) {
		return false;
	}
	list = list_open(c, path);
	while (list != NULL && good && (d = proc_next_entry(list)) != NULL) {
		good = copy_remove(dirfd(list), d->d_name);
		*removed += good;
	}
	proc_close_dir(list);
	return good && (list == NULL || unlinkat(c->dir, path, AT_REMOVEDIR) == 0);
}

int cache_kcores_remove(const struct cache *c)
{
	const struct dirent *d;
	DIR *list = list_open(c, KCORES);
	bool good = true;
	int removed = 0;

	while (list != NULL && good && (d = proc_next_entry(list)) != NULL) {
		good = kernel_remove(c, d->d_name, &removed);
	}
	proc_close_dir(list);
	return good ? removed : -1;
}
