/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "bundler/inside.h"

#include "core/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINK_TRIES 100u

static int failed(const struct bundler_output *o, const char *what, struct error *err)
{
	return error_errno(err, SONDE_EOUTPUT, errno, "cannot %s %s", what, o->path);
}

/* Opens a file without a name in the folder of the output; -1: the system has no such files. */
static int open_nameless(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash == NULL   ? strdup(".")
	               : slash == path ? strdup("/")
	                               : strndup(path, (size_t)(slash - path));
	int fd = -1;

	/* the file gets its name by its descriptor there */
	if (folder != NULL && access("/proc/self/fd", X_OK) == 0) {
		fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	}
	free(folder);
	return fd;
}

int bundler_output_open(struct bundler_output *o, const char *path, struct error *err)
{
	struct stat st;
	size_t n = strlen(path) + sizeof(".XXXXXX");

	*o = (struct bundler_output){.fd = STDOUT_FILENO};
	if (strcmp(path, "-") == 0) {
		return 0;
	}
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		o->fd = -1;
		return error_set(err, SONDE_EARG, NO_OFFSET,
		        "%s is no regular file: the output would replace it", path);
	}
	o->path = strdup(path);
	o->fd = o->path != NULL ? open_nameless(path) : -1;
	if (o->fd >= 0) {
		return 0;
	}
	o->temporary = malloc(n);
	if (o->path == NULL || o->temporary == NULL) {
		return error_nomem(err);
	}
	(void)snprintf(o->temporary, n, "%s.XXXXXX", path);
	o->fd = mkostemp(o->temporary, O_CLOEXEC);
	if (o->fd < 0) {
		free(o->temporary);
		o->temporary = NULL;
		return failed(o, "create", err);
	}
	return 0;
}

/* Gives a file without a name a temporary one. */
static bool link_temporary(struct bundler_output *o)
{
	char from[64];
	size_t n = strlen(o->path) + 32;

	o->temporary = malloc(n);
	if (o->temporary == NULL) {
		return false;
	}
	(void)snprintf(from, sizeof(from), "/proc/self/fd/%d", o->fd);
	for (unsigned i = 0; i < LINK_TRIES; i++) {
		(void)snprintf(o->temporary, n, "%s.%ld.%u", o->path, (long)getpid(), i);
		if (linkat(AT_FDCWD, from, AT_FDCWD, o->temporary, AT_SYMLINK_FOLLOW) == 0) {
			return true;
		}
		if (errno != EEXIST) {
			break;
		}
	}
	free(o->temporary);
	o->temporary = NULL;
	return false;
}

int bundler_output_finish(struct bundler_output *o, struct error *err)
{
	if (o->path == NULL) {
		return 0;
	}
	if ((o->temporary == NULL && !link_temporary(o)) || rename(o->temporary, o->path) != 0) {
		return failed(o, "create", err);
	}
	free(o->temporary);
	o->temporary = NULL;
	return 0;
}

void bundler_output_close(struct bundler_output *o)
{
	if (o->temporary != NULL) {
		(void)unlink(o->temporary);
	}
	if (o->path != NULL) {
		fd_close(&o->fd);
	}
	free(o->temporary);
	free(o->path);
	*o = (struct bundler_output){.fd = -1};
}
