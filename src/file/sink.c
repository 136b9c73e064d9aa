/* SPDX-License-Identifier: MIT */
#include "file/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER (256u << 10)

static int failed(struct sink *s, const char *what, struct error *err)
{
	int status = !s->owned                                             ? SONDE_EOUTPUT
	             : errno == EACCES || errno == EPERM || errno == EROFS ? SONDE_EPERM
	             : errno == ENOENT                                     ? SONDE_ENOENT
	                                                                   : SONDE_EIO;
	const char *hint = errno == ENOSPC || errno == EDQUOT
	                           ? "; make room or write to another file system"
	                   : errno == ESPIPE ? "; only a stream can be written here (--to pipe)"
	                                     : "";

	return error_set(
	        err, status, s->at, "cannot %s %s: %s%s", what, s->path, strerror(errno), hint);
}

int sink_open(struct sink *s, const char *path, struct error *err)
{
	bool standard = strcmp(path, "-") == 0;

	*s = (struct sink){.fd = -1};
	s->owned = !standard;
	s->path = strdup(standard ? "standard output" : path);
	s->buffer = malloc(BUFFER);
	if (s->path == NULL || s->buffer == NULL) {
		sink_close(s);
		return error_nomem(err);
	}
	s->fd = standard ? STDOUT_FILENO
	                 : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (s->fd < 0) {
		int rc = failed(s, "create", err);

		sink_close(s);
		return rc;
	}
	return 0;
}

static int write_all(struct sink *s, const uint8_t *p, size_t n, struct error *err)
{
	while (n != 0) {
		ssize_t got = write(s->fd, p, n);

		if (got < 0 && errno == EINTR) {
			continue;
		}
		if (got < 0) {
			return failed(s, "write", err);
		}
		p += got;
		n -= (size_t)got;
	}
	return 0;
}

int sink_flush(struct sink *s, struct error *err)
{
	size_t n = s->n;

	s->n = 0;
	return write_all(s, s->buffer, n, err);
}

int sink_put(struct sink *s, const void *data, size_t n, struct error *err)
{
	s->at += n;
	if (n > BUFFER - s->n) {
		TRY(sink_flush(s, err));
	}
	if (n > BUFFER) {
		return write_all(s, data, n, err);
	}
	if (n != 0) {
		memcpy(s->buffer + s->n, data, n);
		s->n += n;
	}
	return 0;
}

int sink_patch(struct sink *s, const void *data, size_t n, uint64_t at, struct error *err)
{
	const uint8_t *p = data;

	while (n != 0) {
		ssize_t got = pwrite(s->fd, p, n, (off_t)at);

		if (got < 0 && errno == EINTR) {
			continue;
		}
		if (got < 0) {
			return failed(s, "write", err);
		}
		p += got;
		at += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

void sink_close(struct sink *s)
{
	if (s->owned && s->fd >= 0) {
		(void)close(s->fd);
	}
	free(s->path);
	free(s->buffer);
	*s = (struct sink){.fd = -1};
}
