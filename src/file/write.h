/* SPDX-License-Identifier: MIT */
/* Private to file: what write.c and write_record.c share. */
#ifndef SONDE_FILE_WRITE_H
#define SONDE_FILE_WRITE_H

#include "abi/abi.h"
#include "core/replace.h"
#include "file/packer.h"
#include "file/writer.h"
#include "record/record.h"

#include <sonde/write.h>

struct write_event {
	uint8_t *attr; /* in the file's byte order */
	size_t attr_size; /* bytes */
	uint64_t *ids; /* host order */
	size_t nids;
	char *name; /* NULL: none */
	struct record_plan plan;
};

/* One output file. */
struct write_stream {
	struct file_writer file;
	char *path; /* for messages */
	bool owned; /* the writer closes the descriptor */
	struct packer *packer; /* NULL: no compression */
};

struct sonde_writer {
	struct sonde_writer_options o;
	struct error error;
	bool swap; /* the file's byte order is not the host's */
	bool whole; /* a named output that is not closed is removed */
	bool opened, closed;
	struct replace replace; /* the output file, with `whole` */
	char *directory; /* NULL: a single file */
	bool directory_made; /* by this writer */
	struct write_event *events;
	size_t nevents, events_cap;
	struct file_writer_feature *features; /* in rising order of bits */
	size_t nfeatures, features_cap;
	struct write_stream *streams; /* 0: the main file */
	size_t nstreams, streams_cap;
	struct text places; /* of AUXTRACE records: u64 offset, size */
	struct text scratch;
};

#define RECORD_SIZE_MAX 0xfff8u /* bytes */

/*
 * Makes a named output appear as a whole or not at all: call it before opening. A writer that is freed
 * before it was closed then leaves nothing.
 */
void write_whole(struct sonde_writer *w);

/* For wrong calls: SONDE_EARG. */
int write_misuse(struct sonde_writer *w, const char *text);

/* Public functions begin with it: after a failure all calls fail with its status. */
#define WRITER_TRY(w, expr)                                                                        \
	do {                                                                                       \
		int try_rc_ = error_status(&(w)->error) < 0 ? error_status(&(w)->error) : (expr);  \
		if (try_rc_ < 0) {                                                                 \
			return error_ensure(&(w)->error, try_rc_);                                 \
		}                                                                                  \
	} while (0)

/* Appends a record in the file's byte order. */
int write_record_put(struct sonde_writer *w, uint32_t stream, struct span r, struct span payload);

#endif
