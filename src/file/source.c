/* SPDX-License-Identifier: MIT */
#include "file/source.h"

#include "core/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_SIZE ((size_t)256 << 10)

static int open_failed(struct error *err, const char *path, int code)
{
	int status = error_errno(err, status_of_errno(code), code, "cannot open %s", path);

	if (code == ENOENT) {
		return error_append(
		        err, "; record one with: sonde record COMMAND, or name one with -i FILE");
	}
	return status != SONDE_EPERM
	               ? status
	               : error_append(err, "; recordings are readable by their owner only");
}

/* Opens an unnamed file in temp_dir, /var/tmp (usually on a disk) or /tmp. */
static int open_temporary(const char *temp_dir, struct error *err)
{
	const char *dirs[] = {temp_dir, "/var/tmp", "/tmp"};
	int code = ENOENT;

	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
		char path[PATH_MAX];
		int n;
		int fd;

		if (dirs[i] == NULL || dirs[i][0] == '\0') {
			continue;
		}
		n = snprintf(path, sizeof(path), "%s/sonde-XXXXXX", dirs[i]);
		if (n < 0 || (size_t)n >= sizeof(path)) {
			continue;
		}
		fd = mkstemp(path);
		if (fd >= 0) {
			(void)unlink(path);
			(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
			return fd;
		}
		code = errno;
	}
	(void)error_errno(err, SONDE_EIO, code, "cannot make a temporary file");
	return error_append(err, "; name a folder with room in TMPDIR");
}

static int write_all(int fd, const uint8_t *p, size_t n, struct error *err)
{
	if (fd_write(fd, p, n)) {
		return 0;
	}
	(void)error_errno(err, SONDE_EIO, errno, "cannot write a temporary file");
	return error_append(err, "; name a folder with room in TMPDIR");
}

/* Makes room for n more bytes in the buffer; a large buffer moves to the file first. */
static int spool_room(struct spool *s, size_t n, struct error *err)
{
	size_t cap = s->cap != 0 ? s->cap : READ_SIZE;
	uint8_t *p;

	if (s->n + n > SPOOL_MEMORY) {
		if (!s->on_disk) {
			s->fd = open_temporary(s->temp_dir, err);
			TRY(s->fd);
			s->on_disk = true;
		}
		TRY(write_all(s->fd, s->buffer, s->n, err));
		s->n = 0;
	}
	while (cap < s->n + n) {
		cap *= 2;
	}
	if (cap > s->cap) {
		p = realloc(s->buffer, cap);
		if (p == NULL) {
			return error_nomem(err);
		}
		s->buffer = p;
		s->cap = cap;
	}
	return 0;
}

int spool_append(struct spool *s, const void *p, size_t n, struct error *err)
{
	const uint8_t *bytes = p;

	while (n != 0) {
		size_t part = n < SPOOL_MEMORY / 4 ? n : SPOOL_MEMORY / 4;

		TRY(spool_room(s, part, err));
		memcpy(s->buffer + s->n, bytes, part);
		s->n += part;
		s->size += part;
		bytes += part;
		n -= part;
	}
	return 0;
}

static int map_fd(struct source *out, int fd, uint64_t size)
{
	void *map;

	*out = (struct source){0};
	if (size == 0) {
		return 0;
	}
	if (size > SIZE_MAX) {
		errno = EFBIG;
		return -1;
	}
	map = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED) {
		return -1;
	}
	out->map = map;
	out->bytes = (struct span){map, (size_t)size};
	return 0;
}

int spool_finish(struct spool *s, struct source *out, struct error *err)
{
	int rc = 0;

	*out = (struct source){0};
	if (!s->on_disk) {
		out->heap = s->buffer;
		out->bytes = (struct span){s->buffer, s->n};
		*s = (struct spool){0};
		return 0;
	}
	rc = write_all(s->fd, s->buffer, s->n, err);
	if (rc == 0 && map_fd(out, s->fd, s->size) < 0) {
		rc = error_errno(err, SONDE_EIO, errno, "cannot map a temporary file");
	}
	spool_fini(s);
	return rc;
}

void spool_fini(struct spool *s)
{
	if (s->on_disk) {
		(void)close(s->fd);
	}
	free(s->buffer);
	*s = (struct spool){0};
}

static int copy_fd(struct source *s, int fd, const struct source_open *how, struct error *err)
{
	struct spool spool = {.temp_dir = how->temp_dir};
	int rc;

	for (;;) {
		ssize_t n;

		rc = spool_room(&spool, READ_SIZE, err);
		if (rc < 0) {
			break;
		}
		n = read(fd, spool.buffer + spool.n, READ_SIZE);
		if (n == 0) {
			return spool_finish(&spool, s, err);
		}
		if (n < 0 && errno != EINTR) {
			(void)error_set(err, SONDE_EIO, spool.size, "%s", strerror(errno));
			rc = error_wrap(err, "cannot read %s", how->path);
			break;
		}
		if (n > 0) {
			spool.n += (size_t)n;
			spool.size += (uint64_t)n;
		}
	}
	spool_fini(&spool);
	return rc;
}

static int read_fd(struct source *s, int fd, struct source_open *how, struct error *err)
{
	struct stat st;

	if (fstat(fd, &st) != 0) {
		return open_failed(err, how->path, errno);
	}
	if (S_ISDIR(st.st_mode)) {
		return open_failed(err, how->path, EISDIR);
	}
	how->modified = (int64_t)st.st_mtime;
	if (!S_ISREG(st.st_mode)) {
		return copy_fd(s, fd, how, err);
	}
	if (how->check_owner && st.st_uid != 0 && st.st_uid != geteuid()) {
		return error_set(err, SONDE_EPERM, NO_OFFSET,
		        "%s belongs to another user: read it with -f if you trust it", how->path);
	}
	if (map_fd(s, fd, (uint64_t)st.st_size) < 0) {
		return open_failed(err, how->path, errno);
	}
	return 0;
}

int source_open(struct source *s, struct source_open *how, struct error *err)
{
	int fd;
	int rc;

	*s = (struct source){0};
	if (how->fd != NULL) {
		return read_fd(s, *how->fd, how, err);
	}
	if (strcmp(how->path, "-") == 0) {
		return read_fd(s, STDIN_FILENO, how, err);
	}
	fd = open(how->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		return open_failed(err, how->path, errno);
	}
	rc = read_fd(s, fd, how, err);
	(void)close(fd);
	return rc;
}

void source_forget(const struct source *s)
{
	if (s->map != NULL) {
		(void)madvise(s->map, s->bytes.n, MADV_DONTNEED);
	}
}

void source_close(struct source *s)
{
	if (s->map != NULL) {
		(void)munmap(s->map, s->bytes.n);
	}
	free(s->heap);
	*s = (struct source){0};
}
