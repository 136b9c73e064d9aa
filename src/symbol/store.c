/* SPDX-License-Identifier: MIT */
#include "symbol/store.h"

#include "core/array.h"
#include "core/fd.h"
#include "core/hash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sonde/preview/cache.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* All files that Sonde stores begin with one of these. */
static const char *const starts[] = {"kernel-symbols", "lines-"};

struct stored {
	char name[STORE_NAME_MAX];
	uint64_t size;
	int64_t used; /* ns since 1970 */
};

struct listing {
	struct stored *files;
	size_t n, cap;
};

uint64_t store_checksum(struct span bytes, size_t from)
{
	uint64_t lanes[4] = {1, 2, 3, 4};
	struct span rest = bytes;

	if (rest.p == NULL || rest.n < from) {
		return 0;
	}
	rest.p += from;
	rest.n -= from;
	for (; rest.n >= 32; rest.p += 32, rest.n -= 32) {
		for (size_t i = 0; i < 4; i++) {
			lanes[i] = hash_step(lanes[i], load_u64(rest.p + i * 8, false));
		}
	}
	lanes[0] = hash_step(lanes[0], hash_bytes(rest.p, rest.n));
	return hash_step(hash_step(lanes[0], lanes[1]), hash_step(lanes[2], lanes[3]));
}

/* Whether this user owns it and nobody else may write it. */
static bool is_ours(int fd, mode_t type, struct stat *st)
{
	return fstat(fd, st) == 0 && (st->st_mode & S_IFMT) == type && st->st_uid == geteuid() &&
	       (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

bool store_open(const char *folder, const char *name, uint64_t limit, struct image_file *out)
{
	char path[IMAGE_PATH_MAX];
	int len = snprintf(path, sizeof(path), "%s/%s", folder, name);
	struct stat st;
	const struct timespec used[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_OMIT}};
	void *map = MAP_FAILED;
	int fd;

	*out = (struct image_file){0};
	if (len < 0 || (size_t)len >= sizeof(path)) {
		return false;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0) {
		return false;
	}
	if (is_ours(fd, S_IFREG, &st) && st.st_size > 0 && (uint64_t)st.st_size <= limit) {
		map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	if (map != MAP_FAILED) {
		*out = (struct image_file){.map = map, .bytes = {map, (size_t)st.st_size}};
		(void)futimens(fd, used); /* store_bound removes what was not used for long */
	}
	(void)close(fd);
	return out->map != NULL;
}

/* Opens the folder, creating it and its parents if missing; negative: failure. */
static int folder_make(const char *folder)
{
	char path[IMAGE_PATH_MAX];
	size_t n = strlen(folder);
	struct stat st;
	int fd;

	if (n == 0 || n >= sizeof(path)) {
		return -1;
	}
	for (size_t i = 1; i <= n; i++) {
		if (folder[i] == '/' || folder[i] == 0) {
			memcpy(path, folder, i);
			path[i] = 0;
			(void)mkdir(path, 0700); /* it exists already, or the open fails */
		}
	}
	fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && !is_ours(fd, S_IFDIR, &st)) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

void store_save(const char *folder, const char *name, const void *bytes, size_t n)
{
	char part[STORE_NAME_MAX + 32];
	int dir = folder_make(folder);
	bool good;
	int fd;

	if (dir < 0) {
		return;
	}
	(void)snprintf(part, sizeof(part), "%s.%ld", name, (long)getpid());
	fd = openat(dir, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0 || errno == EEXIST) { /* EEXIST: the leftover file of a process with the same
	                                     id is removed too */
		good = fd >= 0 && fd_write(fd, bytes, n);
		good = fd >= 0 && close(fd) == 0 && good;
		if (!good || renameat(dir, part, dir, name) != 0) {
			(void)unlinkat(dir, part, 0);
		}
	}
	(void)close(dir);
}

static bool begins(const char *name, const char *start)
{
	return strncmp(name, start, strlen(start)) == 0;
}

static bool is_stored(const char *name)
{
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		if (begins(name, starts[i])) {
			return true;
		}
	}
	return false;
}

static int64_t ns_of(const struct timespec *t)
{
	return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

/* Adds an entry of the folder, if it is a file that Sonde stores. */
static int listing_add(struct listing *l, int dir, const char *name, const char *start)
{
	struct stat st;
	struct stored *f;

	if (!is_stored(name) || !begins(name, start) || strlen(name) >= STORE_NAME_MAX ||
	        fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode) ||
	        st.st_uid != geteuid()) {
		return 0;
	}
	if (!array_reserve(&l->files, &l->cap, l->n + 1, sizeof(*l->files))) {
		return SONDE_ENOMEM;
	}
	f = &l->files[l->n++];
	*f = (struct stored){.size = (uint64_t)st.st_size, .used = ns_of(&st.st_mtim)};
	f->used = f->used > ns_of(&st.st_atim) ? f->used : ns_of(&st.st_atim);
	memcpy(f->name, name, strlen(name) + 1);
	return 0;
}

static int by_use(const void *a, const void *b)
{
	const struct stored *x = a, *y = b;

	if (x->used != y->used) {
		return x->used < y->used ? -1 : 1;
	}
	return strcmp(x->name, y->name);
}

/* Those used longest ago are first. The folder stays open as *dir. */
static int listing_read(struct listing *l, const char *folder, const char *start, DIR **dir)
{
	const struct dirent *entry;
	int rc = 0;

	*dir = opendir(folder);
	while (rc == 0 && *dir != NULL && (entry = readdir(*dir)) != NULL) {
		rc = listing_add(l, dirfd(*dir), entry->d_name, start);
	}
	if (l->n > 1) {
		qsort(l->files, l->n, sizeof(*l->files), by_use);
	}
	return rc;
}

static void listing_fini(struct listing *l, DIR *dir)
{
	free(l->files);
	if (dir != NULL) {
		(void)closedir(dir);
	}
}

void store_bound(const char *folder, const char *start, uint64_t limit)
{
	struct listing l = {0};
	DIR *dir = NULL;
	uint64_t sum = 0;

	if (listing_read(&l, folder, start, &dir) == 0) {
		for (size_t i = 0; i < l.n; i++) {
			sum += l.files[i].size;
		}
		for (size_t i = 0; i < l.n && sum > limit; i++) {
			(void)unlinkat(dirfd(dir), l.files[i].name, 0);
			sum -= l.files[i].size;
		}
	}
	listing_fini(&l, dir);
}

int sonde_cache_list(const char *folder, sonde_cache_fn fn, void *arg)
{
	struct listing l = {0};
	DIR *dir = NULL;
	int rc = listing_read(&l, folder, "", &dir);

	for (size_t i = 0; rc == 0 && i < l.n; i++) {
		rc = fn(arg, l.files[i].name, l.files[i].size, l.files[i].used);
	}
	listing_fini(&l, dir);
	return rc;
}

int sonde_cache_clear(const char *folder)
{
	struct listing l = {0};
	DIR *dir = NULL;
	int rc = listing_read(&l, folder, "", &dir);

	for (size_t i = 0; i < l.n && rc == 0; i++) {
		if (unlinkat(dirfd(dir), l.files[i].name, 0) != 0 && errno != ENOENT) {
			rc = SONDE_EIO;
		}
	}
	listing_fini(&l, dir);
	return rc;
}
