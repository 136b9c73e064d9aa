/* SPDX-License-Identifier: MIT */
/*
 * The build-id cache: objects that samples hit are stored for later reports, also after a program
 * was rebuilt. The layout is the one that perf 6.1 leaves on disk:
 *
 *	PATH/ID/elf                     a hard link to the file, or a copy of it
 *	[kernel.kallsyms]/ID/kallsyms   a copy of /proc/kallsyms
 *	[vdso]/ID/vdso
 *	.build-id/xx/rest               link to ../../PATH/ID; ID without its first byte
 *
 * Other recorders may write at the same time: every file and link is created under a unique name
 * and then renamed.
 */
#define _GNU_SOURCE
#include "host/cache.h"

#include "core/fd.h"
#include "core/text.h"
#include "host/cache_inside.h"
#include "proc/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* An entry of the feature BUILD_ID: header (8), pid (4), id (20), its size (1), 3 unused, name. */
#define ENTRY_SIZE    6u
#define ENTRY_ID      12u
#define ENTRY_ID_SIZE 32u
#define ENTRY_NAME    36u

#define COPY_MOST ((size_t)1 << 30) /* bytes that one call copies */

bool cache_format(char *out, size_t n, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(out, n, fmt, ap);
	va_end(ap);
	if (len < 0 || (size_t)len >= n) {
		errno = ENAMETOOLONG;
		return false;
	}
	return true;
}

bool cache_make_folders(int dir, char *path)
{
	char *slash;

	for (slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdirat(dir, path, 0755) != 0 && errno != EEXIST) {
			return false;
		}
		*slash = '/';
	}
	return true;
}

/* Renames the temporary file to its name; the temporary name is removed in any case. */
static bool move_to(const struct cache *c, const char *name)
{
	bool good = renameat(c->dir, c->temporary, c->dir, name) == 0;
	int why = errno;

	(void)unlinkat(c->dir, c->temporary, 0); /* needed if both names are the same file */
	errno = why;
	return good;
}

static bool put_bytes(const struct cache *c, const void *bytes, size_t n, mode_t mode)
{
	int fd = openat(c->dir, c->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	bool good = fd >= 0 && fd_write(fd, bytes, n);
	int why = errno;

	if (fd >= 0) {
		(void)close(fd);
	}
	errno = why;
	return good;
}

static const char *source_of(const struct cache *c)
{
	return c->source != NULL ? c->source : c->name;
}

static bool copy_file(const struct cache *c)
{
	int from = open(source_of(c), O_RDONLY | O_CLOEXEC);
	int to = from < 0 ? -1
	                  : openat(c->dir, c->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
	                            0755);
	ssize_t got = to < 0 ? -1 : 1;
	char bytes[65536];
	int why;

	while (got > 0) {
		got = copy_file_range(from, NULL, to, NULL, COPY_MOST, 0);
		if (got < 0 && (errno == EXDEV || errno == EINVAL || errno == ENOSYS ||
		                       errno == EOPNOTSUPP)) {
			got = read(from, bytes, sizeof(bytes));
			got = got > 0 && !fd_write(to, bytes, (size_t)got) ? -1 : got;
		}
	}
	why = errno;
	if (to >= 0) {
		(void)close(to);
	}
	if (from >= 0) {
		(void)close(from);
	}
	errno = why;
	return got == 0;
}

static bool put_kallsyms(const struct cache *c)
{
	struct text t = {0};
	bool good = proc_read_file(c->root, "proc/kallsyms", &t) && !t.failed &&
	            put_bytes(c, t.p, t.n, 0644);
	int why = errno;

	text_fini(&t);
	errno = why;
	return good;
}

/* Writes the object's bytes under the temporary name. */
static bool put_object(const struct cache *c)
{
	struct span vdso = image_vdso();

	if (strcmp(c->leaf, "kallsyms") == 0) {
		return put_kallsyms(c);
	}
	if (strcmp(c->leaf, "vdso") == 0) {
		return put_bytes(c, vdso.p, vdso.n, 0644);
	}
	return linkat(AT_FDCWD, source_of(c), c->dir, c->temporary, AT_SYMLINK_FOLLOW) == 0 ||
	       copy_file(c);
}

static bool add(struct cache *c)
{
	char name[PATH_MAX], target[PATH_MAX], link[128];

	if (!cache_format(name, sizeof(name), "%s/%s", c->folder, c->leaf) ||
	        !cache_format(target, sizeof(target), "../../%s", c->folder) ||
	        !cache_format(link, sizeof(link), ".build-id/%.2s/%s", c->id, c->id + 2) ||
	        !cache_format(c->temporary, sizeof(c->temporary), ".sonde-%ld-%u", (long)getpid(),
	                c->made++) ||
	        !cache_make_folders(c->dir, name) || !cache_make_folders(c->dir, link)) {
		return false;
	}
	if (!put_object(c)) {
		int why = errno;

		(void)unlinkat(c->dir, c->temporary, 0);
		errno = why;
		return false;
	}
	return move_to(c, name) && symlinkat(target, c->dir, c->temporary) == 0 && move_to(c, link);
}

/*
 * Names come from the kernel and contain no "..". The vdso and the kernel have names that are no
 * paths; modules have names without a file.
 */
static bool choose(struct cache *c)
{
	struct proc_kernel text;

	if (strcmp(c->name, "[kernel.kallsyms]") == 0) {
		c->leaf = "kallsyms";
		return proc_kernel_text(c->root, &text); /* addresses are not hidden */
	}
	if (strcmp(c->name, "[vdso]") == 0) {
		c->leaf = "vdso";
		return image_vdso().n != 0;
	}
	c->leaf = "elf";
	return c->name[0] == '/' && strstr(c->name, "/../") == NULL &&
	       strstr(c->name, "//") == NULL;
}

bool cache_has(const struct cache *c)
{
	char path[160];

	return cache_format(
	               path, sizeof(path), ".build-id/%.2s/%s/%s", c->id, c->id + 2, c->leaf) &&
	       faccessat(c->dir, path, F_OK, 0) == 0;
}

void cache_set_id(struct cache *c, const uint8_t *id, size_t n)
{
	c->id[0] = '\0';
	for (size_t i = 0; i < n && i < IMAGE_BUILD_ID_MAX; i++) {
		(void)snprintf(c->id + 2 * i, 3, "%02x", id[i]);
	}
}

bool cache_put(struct cache *c)
{
	return cache_format(c->folder, sizeof(c->folder), "%s/%s", c->name + (c->name[0] == '/'),
	               c->id) &&
	       add(c);
}

/* False: the cache cannot be written. */
static bool add_entry(struct cache *c, const uint8_t *entry)
{
	size_t n = entry[ENTRY_ID_SIZE];

	n = n <= IMAGE_BUILD_ID_MAX ? n : IMAGE_BUILD_ID_MAX;
	cache_set_id(c, entry + ENTRY_ID, n);
	c->name = (const char *)entry + ENTRY_NAME;
	if (n < 2 || !choose(c) || cache_has(c)) {
		return true;
	}
	return cache_put(c);
}

/* Opens the cache's folder, creating it and its parents. */
int cache_open(const char *path)
{
	char whole[PATH_MAX];

	if (!cache_format(whole, sizeof(whole), "%s/", path + (path[0] == '/'))) {
		return -1;
	}
	if (path[0] == '/') {
		int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		bool good = cache_make_folders(root, whole);

		(void)close(root);
		if (!good) {
			return -1;
		}
	} else if (!cache_make_folders(AT_FDCWD, whole)) {
		return -1;
	}
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

bool host_cache_fill(
        const char *path, int root, struct span build_ids, bool (*stopped)(void *arg), void *arg)
{
	struct cache *c = calloc(1, sizeof(*c));
	bool good;
	int why;

	if (c == NULL) {
		return false;
	}
	c->root = root;
	c->dir = cache_open(path);
	good = c->dir >= 0;
	for (size_t at = 0, size; good && at + ENTRY_NAME < build_ids.n; at += size) {
		size = load_u16(build_ids.p + at + ENTRY_SIZE, false);
		if (stopped(arg)) {
			break;
		}
		good = add_entry(c, build_ids.p + at);
	}
	why = errno;
	if (c->dir >= 0) {
		(void)close(c->dir);
	}
	free(c);
	errno = why;
	return good;
}
