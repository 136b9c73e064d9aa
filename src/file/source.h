/* SPDX-License-Identifier: MIT */
/*
 * Where bytes come from: a map of a file, or a spool: a temporary file without a name that takes
 * what cannot be mapped (pipes, what was compressed). A small spool stays in memory.
 */
#ifndef SONDE_FILE_SOURCE_H
#define SONDE_FILE_SOURCE_H

#include "core/span.h"
#include "core/status.h"

/* Bytes that stay until source_close. Zero-initialised is empty. */
struct source {
	struct span bytes;
	void *map; /* what to unmap; NULL: nothing */
	void *heap; /* what to free */
};

/* How to open. */
struct source_open {
	const char *path; /* "-" is standard input */
	bool check_owner; /* refuse a file that is neither ours nor root's */
	int64_t modified; /* set: time of the last change in seconds since 1970; 0: none */
};

/*
 * Maps a file, or copies a pipe, FIFO or device to a spool. SONDE_ENOENT, SONDE_EPERM,
 * SONDE_EIO, SONDE_ENOMEM with the reason in err.
 */
int source_open(struct source *s, struct source_open *how, struct error *err);
/* Gives the memory of mapped bytes back to the system; they are read again where they are touched.
 */
void source_forget(const struct source *s);
void source_close(struct source *s);

#define SPOOL_MEMORY ((size_t)4 << 20) /* bytes; more goes to a temporary file */

/* Zero-initialised is an empty spool. */
struct spool {
	uint8_t *buffer; /* what is not in the file yet */
	size_t n, cap;
	uint64_t size; /* bytes so far */
	int fd; /* valid when on_disk */
	bool on_disk;
};

/* Appends; SONDE_ENOMEM, SONDE_EIO with the reason and what to do in err. */
int spool_append(struct spool *s, const void *p, size_t n, struct error *err);
/* Turns the spool into a source; the spool is empty after that, whatever happens. */
int spool_finish(struct spool *s, struct source *out, struct error *err);
void spool_fini(struct spool *s);

#endif
