/* SPDX-License-Identifier: MIT */
#include "cmd/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMPORARY_SUFFIX ".XXXXXX"

/* Sets the permissions of any new file, as mkstemp sets those of the owner only. */
static void give_usual_mode(int fd)
{
	mode_t mask = umask(0);

	(void)umask(mask);
	(void)fchmod(fd, 0666 & ~mask);
}

static int open_temporary(struct target *t)
{
	size_t n = strlen(t->path) + sizeof(TEMPORARY_SUFFIX);

	t->temporary = malloc(n);
	if (t->temporary == NULL) {
		return -ENOMEM;
	}
	(void)snprintf(t->temporary, n, "%s" TEMPORARY_SUFFIX, t->path);
	t->fd = mkstemp(t->temporary);
	if (t->fd < 0) {
		n = (size_t)errno;
		free(t->temporary);
		t->temporary = NULL;
		return -(int)n;
	}
	give_usual_mode(t->fd);
	return 0;
}

int target_open(struct target *t, const char *path)
{
	struct stat st;

	*t = (struct target){.fd = -1};
	if (strcmp(path, "-") == 0) {
		t->fd = STDOUT_FILENO;
		return 0;
	}
	t->path = realpath(path, NULL);
	if (t->path == NULL) {
		t->path = strdup(path);
	}
	if (t->path == NULL) {
		return -ENOMEM;
	}
	if (stat(t->path, &st) == 0 && !S_ISREG(st.st_mode)) {
		t->fd = open(t->path, O_WRONLY | O_CLOEXEC);
		return t->fd < 0 ? -errno : 0;
	}
	return open_temporary(t);
}

int target_close(struct target *t, bool finished)
{
	int rc = 0;

	if (t->fd > STDOUT_FILENO && close(t->fd) < 0) {
		rc = -errno;
	}
	if (t->temporary != NULL) {
		if (finished && rc == 0 && rename(t->temporary, t->path) < 0) {
			rc = -errno;
		}
		if (!finished || rc < 0) {
			(void)unlink(t->temporary);
		}
	}
	free(t->temporary);
	free(t->path);
	return rc;
}
