/* SPDX-License-Identifier: MIT */
/* The inside of a writer (sonde/write.h): what its parts share. */
#ifndef SONDE_FILE_WRITE_H
#define SONDE_FILE_WRITE_H

#include "abi/abi.h"
#include "core/span.h"
#include "core/text.h"
#include "file/packer.h"
#include "file/sink.h"
#include "record/record.h"

#include <sonde/write.h>

struct write_event {
	uint8_t *attr; /* in the file's byte order */
	size_t attr_size; /* bytes */
	uint64_t *ids; /* host order */
	size_t nids;
	char *name; /* NULL: none */
	struct sonde_attr decoded;
	struct record_plan plan;
};

struct write_feature {
	uint8_t *bytes;
	size_t n;
	bool set;
};

struct write_stream {
	struct sink sink;
	struct packer *packer; /* NULL: not compressed */
};

struct write_place { /* of an AUXTRACE record */
	uint64_t offset, size; /* bytes */
};

struct sonde_writer {
	struct sonde_writer_options o;
	struct error error;
	struct sonde_error shown;
	bool swap; /* the file's byte order is not the host's */
	bool opened, closed;
	char *directory; /* NULL: one file */
	struct write_event *events;
	size_t nevents, events_cap;
	struct write_feature features[FEATURE_BITS];
	struct write_stream *streams; /* 0: the main file */
	size_t nstreams, streams_cap;
	struct write_place *places;
	size_t nplaces, places_cap;
	uint64_t attrs_at, attrs_size, entry_size, data_at; /* of a seekable file, bytes */
	struct text scratch;
};

#define RECORD_SIZE_MAX 0xfff8u /* bytes */

/* Keeps the failure for sonde_writer_error; returns its status. */
int write_failed(struct sonde_writer *w, int status);
/* Of a call that makes no sense. */
int write_misuse(struct sonde_writer *w, const char *text);

/* What a public function begins with: the status of the first failure ends all that follow. */
#define WRITER_TRY(w, expr)                                                                        \
	do {                                                                                       \
		int try_rc_ = (w)->shown.status < 0 ? (w)->shown.status : (expr);                  \
		if (try_rc_ < 0) {                                                                 \
			return write_failed((w), try_rc_);                                         \
		}                                                                                  \
	} while (0)

/* Appends a record in the file's byte order. */
int write_record_put(struct sonde_writer *w, uint32_t stream, struct span r, struct span payload);

/* Parts of the containers: write what comes before and behind the records. */
int write_file_start(struct sonde_writer *w);
int write_file_finish(struct sonde_writer *w);
int write_pipe_start(struct sonde_writer *w);

/* Appends numbers in the file's byte order. */
void write_u32(const struct sonde_writer *w, struct text *t, uint32_t v);
void write_u64(const struct sonde_writer *w, struct text *t, uint64_t v);

#endif
