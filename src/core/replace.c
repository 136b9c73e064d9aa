/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "core/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define DIRECTLY    (O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC)
#define FOLDERS_MAX 16 /* folders that are open at once while a tree is removed */

/* Returns PATH.NUMBER with a number that no other file has; NULL: no memory. */
static char *temporary_name(const char *path)
{
	size_t n = strlen(path) + 18;
	char *name = malloc(n);
	unsigned long long number;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number)) {
		number = (unsigned long long)getpid();
	}
	if (name != NULL) {
		(void)snprintf(name, n, "%s.%016llx", path, number);
	}
	return name;
}

/* The new file belongs to the same user as the old one, as far as this user may do that. */
static bool take_over(int fd, const struct stat *old)
{
	int ignored = fchown(fd, old->st_uid, old->st_gid);

	(void)ignored;
	return fchmod(fd, old->st_mode & 0777) == 0;
}

static int open_temporary(struct replace *r, const struct stat *old, unsigned mode)
{
	int fd;

	r->temporary = temporary_name(r->path);
	if (r->temporary == NULL) {
		errno = ENOMEM;
		return -1;
	}
	fd = open(r->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, (mode_t)mode);
	if (fd >= 0 && old != NULL && !take_over(fd, old)) {
		(void)unlink(r->temporary);
		(void)close(fd);
		fd = -1;
	}
	if (fd < 0) {
		int why = errno;

		free(r->temporary);
		r->temporary = NULL;
		errno = why;
	}
	return fd;
}

/* A file without a name in the folder of the output; -1: the system has none. */
static int open_nameless(const char *path, const struct stat *old, unsigned mode)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
	int fd = -1;

	/* it gets its name by its descriptor there */
	if (folder != NULL && access("/proc/self/fd", X_OK) == 0) {
		fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, (mode_t)mode);
	}
	free(folder);
	if (fd >= 0 && old != NULL && !take_over(fd, old)) {
		(void)close(fd);
		fd = -1;
	}
	return fd;
}

/* Opens r->path, whose file is *old if it exists. Returns a descriptor of the caller. */
static int open_unfinished(struct replace *r, const struct stat *old, unsigned mode)
{
	r->fd = open_nameless(r->path, old, mode);
	if (r->fd < 0) {
		return open_temporary(r, old, mode);
	}
	r->nameless = true;
	return fcntl(r->fd, F_DUPFD_CLOEXEC, 0);
}

const char *replace_path(const struct replace *r, char *room)
{
	if (!r->nameless) {
		return r->temporary;
	}
	(void)snprintf(room, REPLACE_PATH_MAX, "/proc/self/fd/%d", r->fd);
	return room;
}

int replace_open(struct replace *r, const char *path, unsigned mode)
{
	struct stat old;
	bool exists = stat(path, &old) == 0;
	int fd;

	*r = (struct replace){0};
	if (exists && (!S_ISREG(old.st_mode) || access(path, W_OK) != 0)) {
		return open(path, O_WRONLY | O_CLOEXEC);
	}
	r->path = exists ? realpath(path, NULL) : strdup(path);
	fd = r->path != NULL ? open_unfinished(r, exists ? &old : NULL, mode) : -1;
	if (fd < 0 && exists && (errno == EACCES || errno == EPERM || errno == EROFS)) {
		fd = open(path, DIRECTLY, (mode_t)mode);
	}
	if (fd < 0) {
		int why = errno;

		replace_abandon(r);
		errno = why;
	}
	return fd;
}

static void forget_nameless(struct replace *r)
{
	if (r->nameless) {
		(void)close(r->fd);
	}
	r->nameless = false;
}

/* Gives a file without a name this one. */
static bool link_nameless(const struct replace *r, const char *name)
{
	char from[REPLACE_PATH_MAX];

	return linkat(AT_FDCWD, replace_path(r, from), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
}

bool replace_commit(struct replace *r)
{
	if (r->nameless) {
		char *name = temporary_name(r->path);

		if (name == NULL || !link_nameless(r, name)) {
			errno = name == NULL ? ENOMEM : errno;
			free(name);
			return false;
		}
		r->temporary = name;
		forget_nameless(r);
	}
	if (r->temporary != NULL && rename(r->temporary, r->path) != 0) {
		return false;
	}
	free(r->temporary);
	r->temporary = NULL;
	return true;
}

bool replace_commit_new(struct replace *r)
{
	bool linked;

	if (r->temporary == NULL && !r->nameless) {
		return true;
	}
	linked = r->nameless ? link_nameless(r, r->path) : link(r->temporary, r->path) == 0;
	if (!linked && errno == EEXIST && access(r->path, F_OK) == 0) {
		errno = EEXIST;
		return false;
	}
	if (!linked) { /* no links in this file system, or one to nothing has this name */
		return replace_commit(r);
	}
	if (r->temporary != NULL) {
		(void)unlink(r->temporary);
	}
	free(r->temporary);
	r->temporary = NULL;
	forget_nameless(r);
	return true;
}

void replace_abandon(struct replace *r)
{
	if (r->temporary != NULL) {
		(void)unlink(r->temporary);
	}
	forget_nameless(r);
	free(r->temporary);
	free(r->path);
	*r = (struct replace){0};
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	(void)remove(path);
	return 0;
}

void replace_remove_folder(const char *path)
{
	(void)nftw(path, remove_entry, FOLDERS_MAX, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
