/* SPDX-License-Identifier: MIT */
/*
 * A directory is removed only if it contains a recording (see directory.c) and nothing else:
 * `data`, which begins as a perf.data file, data.N, and kcore_dir with the three files that --kcore
 * writes; all of them regular files.
 */
#define _GNU_SOURCE
#include "file/room.h"

#include "abi/abi.h"
#include "core/span.h"
#include "core/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define KCORE_FOLDER "kcore_dir"

/* Contents of a directory: NUL-terminated names, and the first name that no recording has. */
struct folder {
	int fd;
	struct text names;
	bool data; /* has the file `data` */
	char stranger[NAME_MAX + 1]; /* "": none */
};

static int cannot(struct error *err, const char *what, const char *path)
{
	return error_errno(err, status_of_errno(errno), errno, "cannot %s '%s'", what, path);
}

/* An empty file counts: a recorder that found no space left it. */
static bool begins_as_recording(int dir, const char *name)
{
	uint8_t magic[8];
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, magic, sizeof(magic));

	if (fd >= 0) {
		(void)close(fd);
	}
	return got == 0 ||
	       (got == (ssize_t)sizeof(magic) && (load_u64(magic, false) == FILE_MAGIC2 ||
	                                                 load_u64(magic, true) == FILE_MAGIC2));
}

static bool is_number(const char *s)
{
	return *s != '\0' && s[strspn(s, "0123456789")] == '\0';
}

static bool fits_recording(struct folder *f, const char *name)
{
	struct stat st;

	if (fstatat(f->fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode)) {
		return false;
	}
	if (strcmp(name, "data") == 0) {
		f->data = begins_as_recording(f->fd, name);
		return f->data;
	}
	return strncmp(name, "data.", 5) == 0 && is_number(name + 5);
}

static bool fits_kcore(struct folder *f, const char *name)
{
	struct stat st;

	return fstatat(f->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
	       (strcmp(name, "kcore") == 0 || strcmp(name, "kallsyms") == 0 ||
	               strcmp(name, "modules") == 0);
}

static int read_names(struct folder *f, const char *name,
        bool (*fits)(struct folder *, const char *name), struct error *err)
{
	const struct dirent *e;
	int fd = openat(f->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (dir == NULL) {
		int rc = cannot(err, "read the folder", name);

		if (fd >= 0) {
			(void)close(fd);
		}
		return rc;
	}
	while ((e = readdir(dir)) != NULL && f->stranger[0] == '\0') {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) {
			continue;
		}
		if (!fits(f, e->d_name) &&
		        !(fits == fits_recording && strcmp(e->d_name, KCORE_FOLDER) == 0)) {
			(void)snprintf(f->stranger, sizeof(f->stranger), "%s", e->d_name);
		}
		text_bytes(&f->names, e->d_name, strlen(e->d_name) + 1);
	}
	(void)closedir(dir);
	return f->names.failed ? error_nomem(err) : 0;
}

static void folder_close(struct folder *f)
{
	if (f->fd >= 0) {
		(void)close(f->fd);
	}
	text_fini(&f->names);
}

/* Opens a directory and reads its names. `at` may be AT_FDCWD. */
static int folder_open(struct folder *f, int at, const char *name,
        bool (*fits)(struct folder *, const char *name), struct error *err)
{
	*f = (struct folder){
	        .fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
	if (f->fd < 0) {
		return cannot(err, "read the folder", name);
	}
	return read_names(f, name, fits, err);
}

static bool has_name(const struct folder *f, const char *name)
{
	const char *p = f->names.p;

	for (; p != NULL && p < f->names.p + f->names.n; p += strlen(p) + 1) {
		if (strcmp(p, name) == 0) {
			return true;
		}
	}
	return false;
}

/* A recording, with its copy of the kernel if there is one. */
struct tree {
	struct folder top, kcore;
};

static void tree_close(struct tree *t)
{
	folder_close(&t->top);
	folder_close(&t->kcore);
}

/* Reads the tree; SONDE_EFORMAT: neither empty nor a recording. Close it in any case. */
static int tree_open(struct tree *t, const char *path, struct error *err)
{
	const char *stranger = t->top.stranger;

	*t = (struct tree){.top.fd = -1, .kcore.fd = -1};
	TRY(folder_open(&t->top, AT_FDCWD, path, fits_recording, err));
	if (t->top.stranger[0] == '\0' && has_name(&t->top, KCORE_FOLDER)) {
		int rc = folder_open(&t->kcore, t->top.fd, KCORE_FOLDER, fits_kcore, err);

		if (rc == SONDE_ENOMEM) {
			return rc;
		}
		stranger = rc < 0 ? KCORE_FOLDER : t->kcore.stranger;
	}
	if (stranger[0] != '\0') {
		return error_set(err, SONDE_EFORMAT, NO_OFFSET,
		        "the folder '%s' holds '%s', which is not part of a recording", path,
		        stranger);
	}
	if (t->top.names.n != 0 && !t->top.data) {
		return error_set(err, SONDE_EFORMAT, NO_OFFSET,
		        "the folder '%s' has no file 'data', so it is not a recording", path);
	}
	return 0;
}

static bool may_remove(const struct folder *f)
{
	return f->fd < 0 || f->names.n == 0 || faccessat(f->fd, ".", W_OK | X_OK, AT_EACCESS) == 0;
}

/* Removes the files that were checked, none that were created later. */
static bool remove_names(const struct folder *f)
{
	const char *p = f->names.p;
	bool good = true;

	for (; p != NULL && p < f->names.p + f->names.n; p += strlen(p) + 1) {
		good &= strcmp(p, KCORE_FOLDER) == 0 || unlinkat(f->fd, p, 0) == 0;
	}
	return good;
}

static int tree_remove(const struct tree *t, const char *path, struct error *err)
{
	if (!may_remove(&t->top) || !may_remove(&t->kcore)) {
		return cannot(err, "remove files of", path);
	}
	if (!remove_names(&t->kcore) ||
	        (t->kcore.fd >= 0 && unlinkat(t->top.fd, KCORE_FOLDER, AT_REMOVEDIR) != 0) ||
	        !remove_names(&t->top) || rmdir(path) != 0) {
		return cannot(err, "remove", path);
	}
	return 0;
}

/* Appends advice to the reason. */
static int refuse(struct error *err, int rc, const char *advice)
{
	return rc != SONDE_ENOMEM ? error_append(err, "; %s", advice) : rc;
}

/* Checks the directory that would be renamed. */
static int check_folder(const char *path, struct error *err)
{
	struct tree t;
	int rc = tree_open(&t, path, err);

	tree_close(&t);
	return rc < 0 ? refuse(err, rc, "name another output with -o") : 0;
}

/* folder: the new `old` is a directory, which rename(2) does not put over a file. */
static int remove_old(const char *old, bool folder, struct error *err)
{
	struct stat st;
	struct tree t;
	int rc;

	if (lstat(old, &st) != 0) {
		return errno == ENOENT ? 0 : cannot(err, "look at", old);
	}
	if (!S_ISDIR(st.st_mode)) {
		return !folder || unlink(old) == 0 ? 0 : cannot(err, "remove", old);
	}
	rc = tree_open(&t, old, err);
	rc = rc < 0 ? rc : tree_remove(&t, old, err);
	tree_close(&t);
	return rc < 0 ? refuse(err, rc, "move it away, or name another output with -o") : 0;
}

int file_make_room(const char *path, struct error *err)
{
	size_t len = strlen(path);
	struct stat st, link;
	char old[PATH_MAX];
	bool folder;

	if (len > 0 && path[len - 1] == '/') {
		return error_set(err, SONDE_EIO, NO_OFFSET,
		        "cannot create '%s': the name of an output must not end in '/'", path);
	}
	if (stat(path, &st) != 0 || lstat(path, &link) != 0 ||
	        (S_ISREG(st.st_mode) && st.st_size == 0) ||
	        (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))) {
		return 0;
	}
	if (snprintf(old, sizeof(old), "%s.old", path) >= (int)sizeof(old)) {
		return error_set(err, SONDE_ELIMIT, NO_OFFSET, "the name '%s' is too long", path);
	}
	folder = S_ISDIR(link.st_mode);
	if (folder) {
		TRY(check_folder(path, err));
	}
	TRY(remove_old(old, folder, err));
	if (rename(path, old) != 0) {
		return error_errno(err, status_of_errno(errno), errno, "cannot rename '%s' to '%s'",
		        path, old);
	}
	return 0;
}
