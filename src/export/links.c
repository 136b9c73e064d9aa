/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "export/links.h"

#include "core/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
	sqlite3_file base;
	int fd;
};

static int fd_of(sqlite3_file *f)
{
	return ((struct file *)f)->fd;
}

static int file_close(sqlite3_file *f)
{
	fd_close(&((struct file *)f)->fd);
	return SQLITE_OK;
}

static int file_read(sqlite3_file *f, void *out, int size, sqlite3_int64 at)
{
	uint8_t *p = out;

	while (size > 0) {
		ssize_t got = pread(fd_of(f), p, (size_t)size, at);

		if (got < 0 && errno != EINTR) {
			return SQLITE_IOERR_READ;
		}
		if (got == 0) {
			memset(p, 0, (size_t)size);
			return SQLITE_IOERR_SHORT_READ;
		}
		got = got > 0 ? got : 0;
		p += got;
		at += got;
		size -= (int)got;
	}
	return SQLITE_OK;
}

static int file_write(sqlite3_file *f, const void *bytes, int size, sqlite3_int64 at)
{
	const uint8_t *p = bytes;

	while (size > 0) {
		ssize_t got = pwrite(fd_of(f), p, (size_t)size, at);

		if (got < 0 && errno != EINTR) {
			return errno == ENOSPC ? SQLITE_FULL : SQLITE_IOERR_WRITE;
		}
		got = got > 0 ? got : 0;
		p += got;
		at += got;
		size -= (int)got;
	}
	return SQLITE_OK;
}

static int file_truncate(sqlite3_file *f, sqlite3_int64 size)
{
	return ftruncate(fd_of(f), size) == 0 ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
}

static int file_sync(sqlite3_file *f, int flags)
{
	(void)flags;
	return fsync(fd_of(f)) == 0 ? SQLITE_OK : SQLITE_IOERR_FSYNC;
}

static int file_size(sqlite3_file *f, sqlite3_int64 *size)
{
	struct stat st;

	if (fstat(fd_of(f), &st) != 0) {
		return SQLITE_IOERR_FSTAT;
	}
	*size = st.st_size;
	return SQLITE_OK;
}

static int file_lock(sqlite3_file *f, int kind)
{
	(void)f;
	(void)kind;
	return SQLITE_OK;
}

static int file_is_reserved(sqlite3_file *f, int *out)
{
	(void)f;
	*out = 0;
	return SQLITE_OK;
}

static int file_control(sqlite3_file *f, int what, void *arg)
{
	(void)f;
	(void)what;
	(void)arg;
	return SQLITE_NOTFOUND;
}

static int file_sector(sqlite3_file *f)
{
	(void)f;
	return 0; /* as SQLite chooses */
}

static const sqlite3_io_methods methods = {
        .iVersion = 1,
        .xClose = file_close,
        .xRead = file_read,
        .xWrite = file_write,
        .xTruncate = file_truncate,
        .xSync = file_sync,
        .xFileSize = file_size,
        .xLock = file_lock,
        .xUnlock = file_lock,
        .xCheckReservedLock = file_is_reserved,
        .xFileControl = file_control,
        .xSectorSize = file_sector,
        .xDeviceCharacteristics = file_sector,
};

static int links_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *f, int flags, int *given)
{
	struct file *file = (struct file *)f;
	sqlite3_vfs *usual = vfs->pAppData;

	if (path == NULL || (flags & SQLITE_OPEN_MAIN_DB) == 0) {
		return usual->xOpen(usual, path, f, flags, given);
	}
	*file = (struct file){.fd = open(path, O_RDWR | O_CLOEXEC)};
	if (file->fd < 0) {
		return SQLITE_CANTOPEN;
	}
	file->base.pMethods = &methods;
	if (given != NULL) {
		*given = flags;
	}
	return SQLITE_OK;
}

/* SQLite's own resolves links, and this one leads to no path. */
static int links_path(sqlite3_vfs *vfs, const char *path, int size, char *out)
{
	(void)vfs;
	return snprintf(out, (size_t)size, "%s", path) < size ? SQLITE_OK : SQLITE_CANTOPEN;
}

const char *export_links_register(struct export_links *l)
{
	sqlite3_vfs *usual = sqlite3_vfs_find(NULL);

	if (l->registered || usual == NULL) {
		return l->registered ? l->name : NULL;
	}
	(void)snprintf(l->name, sizeof(l->name), "sonde-%p", (void *)l);
	l->vfs = *usual;
	l->vfs.pNext = NULL;
	l->vfs.pAppData = usual; /* for SQLite's temporary files */
	l->vfs.zName = l->name;
	l->vfs.xOpen = links_open;
	l->vfs.xFullPathname = links_path;
	if (l->vfs.szOsFile < (int)sizeof(struct file)) {
		l->vfs.szOsFile = (int)sizeof(struct file);
	}
	l->registered = sqlite3_vfs_register(&l->vfs, 0) == SQLITE_OK;
	return l->registered ? l->name : NULL;
}

void export_links_unregister(struct export_links *l)
{
	if (l->registered) {
		(void)sqlite3_vfs_unregister(&l->vfs);
	}
	l->registered = false;
}
