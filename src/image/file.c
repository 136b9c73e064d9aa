/* SPDX-License-Identifier: MIT */
/* Files mapped read-only, and text files read as a whole. */
#include "image/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int map_fd(struct image_file *f, int fd, const char *path, struct error *err)
{
	struct stat st;
	void *map;

	if (fstat(fd, &st) != 0) {
		return error_errno(err, SONDE_EIO, errno, "cannot stat %s", path);
	}
	/*
	 * Other files, such as devices and pipes, could block for ever or change while being read.
	 */
	if (!S_ISREG(st.st_mode)) {
		return error_set(err, SONDE_EFORMAT, NO_OFFSET, "%s is not a regular file", path);
	}
	if (st.st_size <= 0) {
		return error_set(err, SONDE_EFORMAT, NO_OFFSET, "%s is empty", path);
	}
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED) {
		return error_errno(err, SONDE_EIO, errno, "cannot map %s", path);
	}
	f->kept = image_kept_new((size_t)st.st_size);
	if (f->kept == NULL) {
		(void)munmap(map, (size_t)st.st_size);
		return error_nomem(err);
	}
	f->map = map;
	f->uid = st.st_uid;
	f->bytes = (struct span){.p = map, .n = (size_t)st.st_size};
	return SONDE_OK;
}

int image_file_open(struct image_file *f, const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int rc;

	*f = (struct image_file){0};
	if (fd < 0) {
		return error_errno(err,
		        errno == ENOENT || errno == ENOTDIR ? SONDE_ENOENT : SONDE_EIO, errno,
		        "cannot open %s", path);
	}
	rc = map_fd(f, fd, path, err);
	close(fd);
	return rc;
}

void image_file_close(struct image_file *f)
{
	if (f->map != NULL) {
		munmap(f->map, f->bytes.n);
	}
	free(f->kept);
	*f = (struct image_file){0};
}

/* Larger files are not text. */
#define TEXT_MAX ((size_t)1 << 30)

static int read_all(struct image_text *t, int fd, const char *path, struct error *err)
{
	size_t cap = 0;
	ssize_t got = 1;

	while (got != 0) {
		if (t->size == cap) {
			uint8_t *more;

			if (cap >= TEXT_MAX) {
				return error_set(
				        err, SONDE_ELIMIT, NO_OFFSET, "%s is over 1 GiB", path);
			}
			cap = cap == 0 ? 65536 : cap * 2;
			more = realloc(t->bytes, cap);
			if (more == NULL) {
				return error_nomem(err);
			}
			t->bytes = more;
		}
		got = read(fd, t->bytes + t->size, cap - t->size);
		if (got < 0 && errno != EINTR) {
			return error_errno(err, SONDE_EIO, errno, "cannot read %s", path);
		}
		t->size += got > 0 ? (size_t)got : 0;
	}
	return SONDE_OK;
}

int image_text_read(struct image_text *t, const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	int rc;

	*t = (struct image_text){0};
	if (fd < 0) {
		return error_errno(err,
		        errno == ENOENT || errno == ENOTDIR ? SONDE_ENOENT : SONDE_EIO, errno,
		        "cannot open %s", path);
	}
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return error_set(err, SONDE_EFORMAT, NO_OFFSET, "%s is not a regular file", path);
	}
	t->uid = st.st_uid;
	rc = read_all(t, fd, path, err);
	close(fd);
	if (rc < 0) {
		free(t->bytes);
		*t = (struct image_text){0};
	}
	return rc;
}

size_t image_head_read(const char *path, uint8_t *out, size_t n)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t at = 0;
	ssize_t got = fd < 0 ? -1 : 1;

	while (got > 0 && at < n) {
		got = read(fd, out + at, n - at);
		at += got > 0 ? (size_t)got : 0;
	}
	if (fd >= 0) {
		(void)close(fd);
	}
	return at;
}
