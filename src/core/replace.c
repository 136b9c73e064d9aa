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
	fd = r->path != NULL ? open_temporary(r, exists ? &old : NULL, mode) : -1;
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

bool replace_commit(struct replace *r)
{
	if (r->temporary != NULL && rename(r->temporary, r->path) != 0) {
		return false;
	}
	free(r->temporary);
	r->temporary = NULL;
	return true;
}

bool replace_commit_new(struct replace *r)
{
	if (r->temporary == NULL) {
		return true;
	}
	if (link(r->temporary, r->path) == 0) {
		(void)unlink(r->temporary);
	} else if (errno == EEXIST && access(r->path, F_OK) == 0) {
		errno = EEXIST;
		return false;
	} else { /* no links in this file system, or one to nothing has this name */
		return replace_commit(r);
	}
	free(r->temporary);
	r->temporary = NULL;
	return true;
}

void replace_abandon(struct replace *r)
{
	if (r->temporary != NULL) {
		(void)unlink(r->temporary);
	}
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
