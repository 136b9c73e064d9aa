/* SPDX-License-Identifier: MIT */
/* A file that is written front to back through a buffer. */
#ifndef SONDE_FILE_SINK_H
#define SONDE_FILE_SINK_H

#include "core/status.h"

#include <stdbool.h>

struct sink {
	int fd; /* -1: not open */
	bool owned; /* closed with the sink */
	char *path; /* for messages */
	uint8_t *buffer;
	size_t n; /* bytes in the buffer */
	uint64_t at; /* offset behind all that was put, the buffer included */
};

/* Creates or empties the file; "-" is standard output. SONDE_EIO, SONDE_EPERM, SONDE_ENOENT,
 * SONDE_ENOMEM. */
int sink_open(struct sink *s, const char *path, struct error *err);
int sink_put(struct sink *s, const void *data, size_t n, struct error *err);
int sink_flush(struct sink *s, struct error *err);
/* Writes over what is there already, in seekable files; the buffer must be flushed. */
int sink_patch(struct sink *s, const void *data, size_t n, uint64_t at, struct error *err);
/* Gives up what is still in the buffer: flush first. */
void sink_close(struct sink *s);

#endif
