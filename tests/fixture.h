/* SPDX-License-Identifier: MIT */
/*
 * A saved machine for tests: a text with many small files becomes a folder, whose descriptor
 * replaces that of "/". The text: lines "=== PATH", each followed by the lines of its file.
 */
#ifndef SONDE_TEST_FIXTURE_H
#define SONDE_TEST_FIXTURE_H

#ifndef _GNU_SOURCE
#error "fixture.h needs _GNU_SOURCE"
#endif

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct fixture {
	char path[64];
	int fd;
};

static inline FILE *fixture_file(const struct fixture *f, char *path)
{
	const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
	char *slash;
	int fd;

	path[strcspn(path, "\n")] = '\0';
	fd = openat(f->fd, path, flags, 0600);
	if (fd >= 0) { /* most files are in the same folder as the one before */
		return fdopen(fd, "w");
	}
	for (slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdirat(f->fd, path, 0700);
		*slash = '/';
	}
	fd = openat(f->fd, path, flags, 0600);
	return fd >= 0 ? fdopen(fd, "w") : NULL;
}

/* Ends the test if the folder cannot be made. */
static inline void fixture_open(struct fixture *f, const char *text_path)
{
	FILE *in = fopen(text_path, "re");
	FILE *out = NULL;
	char line[1024];

	(void)snprintf(f->path, sizeof(f->path), "/tmp/sonde-fixture-XXXXXX");
	if (in == NULL || mkdtemp(f->path) == NULL ||
	        (f->fd = open(f->path, O_PATH | O_DIRECTORY | O_CLOEXEC)) < 0) {
		perror(text_path);
		exit(1);
	}
	while (fgets(line, sizeof(line), in) != NULL) {
		if (strncmp(line, "=== ", 4) == 0) {
			if (out != NULL) {
				(void)fclose(out);
			}
			out = fixture_file(f, line + 4);
			if (out == NULL) {
				perror(line + 4);
				exit(1);
			}
		} else if (out != NULL) {
			(void)fputs(line, out);
		}
	}
	if (out != NULL) {
		(void)fclose(out);
	}
	(void)fclose(in);
}

static inline int fixture_remove(
        const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	return remove(path);
}

static inline void fixture_close(struct fixture *f)
{
	(void)close(f->fd);
	(void)nftw(f->path, fixture_remove, 16, FTW_DEPTH | FTW_PHYS);
}

#endif
