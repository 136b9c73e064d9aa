/* SPDX-License-Identifier: MIT */
/*
 * Sources of bytes: a map of a file, or a spool. A spool is an unnamed temporary file for input
 * that cannot be mapped (pipes, compressed data); a small one stays in memory.
 */
#ifndef SONDE_FILE_SOURCE_H
#define SONDE_FILE_SOURCE_H

#include "core/span.h"
#include "core/status.h"

/* Bytes that are valid until source_close. Empty when zero-initialised. */
struct source {
	struct span bytes;
	void *map; /* unmapped by source_close; NULL: nothing */
	void *heap; /* freed by source_close */
};

/* Arguments and results of source_open. */
struct source_open {
	const char *path; /* "-" is standard input */
	const int *fd; /* NULL: open path; else read this descriptor, which stays open */
	bool check_owner; /* refuse files of users other than this one and root */
	const char *temp_dir; /* of a spool */
	int64_t modified; /* result: last change in seconds since 1970; 0: unknown */
};

/*
 * Maps a file, or copies a pipe, FIFO or device to a spool. SONDE_ENOENT, SONDE_EPERM, SONDE_EIO,
 * SONDE_ENOMEM with the reason in err.
 */
int source_open(struct source *s, struct source_open *how, struct error *err);
/* Returns the pages of mapped bytes to the system; they are read again when used. */
void source_forget(const struct source *s);
void source_close(struct source *s);

#define SPOOL_MEMORY ((size_t)4 << 20) /* bytes; a larger spool is a temporary file */

/* Empty when zero-initialised. */
struct spool {
	uint8_t *buffer; /* bytes that are not in the file yet */
	size_t n, cap;
	uint64_t size; /* in bytes */
	int fd; /* valid when on_disk */
	bool on_disk;
	const char *temp_dir; /* where the file is made; NULL: /var/tmp or /tmp */
};

/* Appends bytes; SONDE_ENOMEM, SONDE_EIO with the reason and advice in err. */
int spool_append(struct spool *s, const void *p, size_t n, struct error *err);
/* Turns the spool into a source; the spool is empty afterwards, even after a failure. */
int spool_finish(struct spool *s, struct source *out, struct error *err);
void spool_fini(struct spool *s);

#endif
