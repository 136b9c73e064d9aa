/* SPDX-License-Identifier: MIT */
#include "rewrite/kcore.h"

#include "core/fd.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "kcore_dir"
#define PIECE  (1u << 20) /* bytes copied at once */

static int failed(const char *what, const char *name, struct error *err)
{
	return error_errno(err, errno == EACCES || errno == EPERM ? SONDE_EPERM : SONDE_EIO, errno,
	        "cannot %s %s", what, name);
}

/* Returns the next entry of a folder except "." and ".."; NULL at the end. */
static const char *entry_next(DIR *folder)
{
	const struct dirent *entry;

	while ((entry = readdir(folder)) != NULL) {
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
			return entry->d_name;
		}
	}
	return NULL;
}

bool kcore_there(const char *folder)
{
	DIR *d = opendir(folder);
	const char *name = NULL;

	while (d != NULL && (name = entry_next(d)) != NULL) {
		if (strncmp(name, PREFIX, strlen(PREFIX)) == 0) {
			break;
		}
	}
	if (d != NULL) {
		(void)closedir(d);
	}
	return name != NULL;
}

static int bytes_copy(int from, int to, const char *name, struct error *err)
{
	char *piece = malloc(PIECE);
	ssize_t got = 0;
	int rc = piece != NULL ? 0 : error_nomem(err);

	while (rc >= 0 && (got = read(from, piece, PIECE)) > 0) {
		rc = fd_write(to, piece, (size_t)got) ? 0 : failed("write", name, err);
	}
	if (rc >= 0 && got < 0) {
		rc = failed("read", name, err);
	}
	free(piece);
	return rc;
}

/* Regular files only: other files do not belong there, and reading a FIFO could block for ever. */
static int file_copy(int from_dir, int to_dir, const char *name, struct error *err)
{
	int from = openat(from_dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	int to, rc;

	if (from < 0 || fstat(from, &st) < 0) {
		rc = failed("open", name, err);
	} else if (!S_ISREG(st.st_mode)) {
		rc = 0;
	} else {
		to = openat(to_dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		rc = to >= 0 ? bytes_copy(from, to, name, err) : failed("create", name, err);
		if (to >= 0 && close(to) < 0 && rc >= 0) {
			rc = failed("write", name, err);
		}
	}
	if (from >= 0) {
		(void)close(from);
	}
	return rc;
}

/* Copies one kcore_dir with its files. */
static int folder_copy(int from_dir, int to_dir, const char *name, struct error *err)
{
	int from = openat(from_dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	DIR *files = from >= 0 ? fdopendir(from) : NULL;
	int to = -1, rc = 0;
	const char *file;

	if (files == NULL) {
		rc = failed("open", name, err);
		if (from >= 0) {
			(void)close(from);
		}
		return rc;
	}
	if (mkdirat(to_dir, name, 0700) < 0 ||
	        (to = openat(to_dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
		rc = failed("make", name, err);
	}
	while (rc >= 0 && (file = entry_next(files)) != NULL) {
		rc = file_copy(from, to, file, err);
	}
	if (to >= 0) {
		(void)close(to);
	}
	(void)closedir(files);
	return rc;
}

int kcore_copy(const char *from, const char *to, struct error *err)
{
	DIR *entries = opendir(from);
	int out = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *name;
	int rc = 0;

	if (entries == NULL || out < 0) {
		rc = failed("open", entries == NULL ? from : to, err);
	}
	while (entries != NULL && rc >= 0 && (name = entry_next(entries)) != NULL) {
		if (strncmp(name, PREFIX, strlen(PREFIX)) == 0) {
			rc = folder_copy(dirfd(entries), out, name, err);
		}
	}
	if (entries != NULL) {
		(void)closedir(entries);
	}
	if (out >= 0) {
		(void)close(out);
	}
	return rc;
}

/* Splits the name of a file in kcore_dir; NULL: it is another member. */
static const char *member_file(const struct bundle_member *m, char folder[BUNDLE_NAME_MAX])
{
	const char *start = BUNDLE_RECORDING "/" PREFIX;
	const char *name, *slash;

	if (strncmp(m->name, start, strlen(start)) != 0) {
		return NULL;
	}
	name = m->name + strlen(BUNDLE_RECORDING "/");
	slash = strchr(name, '/');
	if (slash == NULL || strchr(slash + 1, '/') != NULL) {
		return NULL;
	}
	(void)snprintf(folder, BUNDLE_NAME_MAX, "%.*s", (int)(slash - name), name);
	return slash + 1;
}

bool kcore_bundled(const struct bundle *b)
{
	char folder[BUNDLE_NAME_MAX];

	for (size_t i = 0; i < bundle_count(b); i++) {
		if (member_file(bundle_at(b, i), folder) != NULL) {
			return true;
		}
	}
	return false;
}

static int member_unpack(int out, const struct bundle_member *m, struct error *err)
{
	char folder[BUNDLE_NAME_MAX];
	const char *name = member_file(m, folder);
	int in = -1, to, rc = 0;

	if (name == NULL) {
		return 0;
	}
	if ((mkdirat(out, folder, 0700) < 0 && errno != EEXIST) ||
	        (in = openat(out, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0) {
		return failed("make", folder, err);
	}
	to = openat(in, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (to < 0) {
		rc = failed("create", name, err);
	} else if (!fd_write(to, m->bytes.p, m->bytes.n)) {
		rc = failed("write", name, err);
	}
	if (to >= 0 && close(to) < 0 && rc >= 0) {
		rc = failed("write", name, err);
	}
	(void)close(in);
	return rc;
}

int kcore_unpack(const struct bundle *b, const char *to, struct error *err)
{
	int out = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = out >= 0 ? 0 : failed("open", to, err);

	for (size_t i = 0; i < bundle_count(b) && rc >= 0; i++) {
		rc = member_unpack(out, bundle_at(b, i), err);
	}
	if (out >= 0) {
		(void)close(out);
	}
	return rc;
}
