/* SPDX-License-Identifier: MIT */
/*
 * Writes the containers of recordings, front to back; doc/format.md draws them.
 *
 * Seekable file:
 *	0    header, 104 bytes, first with data.size 0 in one write with ids and attrs, and again at
 *	     the end
 *	104  ids of every event (u64 each)
 *	     attrs: an attr and a section {offset, size} for its ids, for each event
 *	     data: records
 *	     table of sections of the features that are set, then their payloads
 *
 * Stream: 16 bytes of header, an ATTR record for each event, FEATURE records that an empty one
 * ends, TRACING_DATA and BUILD_ID records; then the other records.
 *
 * A recorder sets `marks`. Until its file is finished, the offset of the (empty) section of event
 * types is FILE_UNFINISHED; if it is killed, data.size may be 0 or too small and readers read up to
 * the end of the file (doc/decisions/0010). In its streams FINISHED_ROUND comes twice before the
 * first record, and again as the last two records when they are finished.
 */
#ifndef SONDE_FILE_WRITER_H
#define SONDE_FILE_WRITER_H

#include "core/span.h"
#include "core/status.h"
#include "core/text.h"

#include <sonde/attr.h>
#include <sys/uio.h>

#define WRITER_ROOM      65536u /* bytes that are usually enough for the features */
#define WRITER_BUFFER    (256u << 10) /* bytes */
#define WRITER_ATTR_SIZE 128u /* the newest attr that perf 6.1 reads */

/* Set `fd` or `put` and other options, then start. Members after `standard` are read-only. */
struct file_writer {
	int fd; /* owned by the caller */
	sonde_write_fn put; /* writes a stream instead of fd; NULL: not used */
	void *put_arg;
	const char *name; /* for messages; NULL: "the output" of a recorder */
	bool stream; /* written front to back: the header cannot be rewritten */
	bool swap; /* the output's byte order is not the host's */
	bool marks; /* mark the file as unfinished until it is finished */
	bool standard; /* fd is standard output: failures are SONDE_EOUTPUT */
	bool finished; /* the header has no FILE_UNFINISHED */
	uint64_t attrs_at, attrs_size, entry_size; /* bytes */
	uint64_t data_at, data_size; /* bytes, without buffered ones */
	uint64_t marked; /* data size in the header */
	uint64_t far[2]; /* older marks: the first is WRITER_ROOM bytes before the last one, or 0 */
	uint64_t features[4];
	uint8_t *buffer; /* of file_writer_put */
	size_t held; /* bytes in the buffer */
	size_t room; /* size of the buffer */
};

struct file_writer_event {
	const struct sonde_attr *attr; /* NULL: in bytes, in the byte order of the output */
	struct span bytes;
	const uint64_t *ids; /* host order */
	size_t nids;
};

struct file_writer_feature {
	unsigned bit;
	struct text bytes;
};

/* Appends a number, in the other byte order with `swap`. */
void file_put_u32(struct text *t, uint32_t v, bool swap);
void file_put_u64(struct text *t, uint64_t v, bool swap);

/*
 * Writes everything that comes before the records: to an empty file, or to a stream. SONDE_EIO,
 * SONDE_EOUTPUT, SONDE_ENOMEM; SONDE_ELIMIT: an event has more ids than fit into a record of a
 * stream. For a stream, write its features next.
 */
int file_writer_start(struct file_writer *w, const struct file_writer_event *events, size_t nevents,
        struct error *err);
int file_writer_stream_features(struct file_writer *w, const struct file_writer_feature *features,
        size_t n, struct error *err);

/*
 * Appends records; changes iov. A writer that was not started writes a further file of a directory:
 * only records. SONDE_EIO, SONDE_EOUTPUT with the reason.
 */
int file_writer_append(struct file_writer *w, struct iovec *iov, int n, struct error *err);

/* file_writer_put when its buffer is full. */
int file_writer_put_flushed(struct file_writer *w, const void *bytes, size_t n, struct error *err);

/*
 * Appends 1 byte or more through a buffer, which file_writer_fini frees. SONDE_EIO, SONDE_EOUTPUT,
 * SONDE_ENOMEM.
 */
static inline int file_writer_put(
        struct file_writer *w, const void *bytes, size_t n, struct error *err)
{
	if (n > w->room - w->held) {
		return file_writer_put_flushed(w, bytes, n, err);
	}
	memcpy(w->buffer + w->held, bytes, n);
	w->held += n;
	return 0;
}

int file_writer_flush(struct file_writer *w, struct error *err);
void file_writer_fini(struct file_writer *w);

/* Offset after all bytes that were put. */
static inline uint64_t file_writer_at(const struct file_writer *w)
{
	return w->data_at + w->data_size + w->held;
}

/*
 * After a failure: cuts off incomplete records after the last mark, and writes the size to the
 * header. room: also cuts off WRITER_ROOM bytes of records, to make room for what must follow.
 * SONDE_EIO.
 */
int file_writer_trim(struct file_writer *w, bool room, struct error *err);

/* Writes the current size to the header, if there is one. */
int file_writer_mark(struct file_writer *w, struct error *err);

/*
 * Writes the features, in rising order of their bits, and a header that is still marked as
 * unfinished. More records may follow; they overwrite the features.
 */
int file_writer_describe(struct file_writer *w, const struct file_writer_feature *features,
        size_t n, struct error *err);

/* As file_writer_describe, with the final header; a stream has no features at its end. */
int file_writer_finish(struct file_writer *w, const struct file_writer_feature *features, size_t n,
        struct error *err);

#endif
