/* SPDX-License-Identifier: MIT */
/*
 * Writes the seekable form of perf.data front to back:
 *
 *	0    header, 104 bytes, written at once with data.size 0, and again at the end
 *	104  ids of every event (u64 each)
 *	     attrs: 128 bytes of attr and a section {offset, size} for its ids, 144 together
 *	     data: records
 *	     table of sections of the features that are set, then their payloads
 *
 * Until it is finished the offset of the section of event types, which is empty, is FILE_UNFINISHED:
 * a recorder that is killed leaves a file with that mark, and perhaps with data.size 0 or too small;
 * readers go to the end of the file (doc/decisions/0010). Streams have FINISHED_ROUND twice in front
 * of their first records, and again as their last ones when they are finished.
 */
#ifndef SONDE_FILE_WRITER_H
#define SONDE_FILE_WRITER_H

#include "core/status.h"
#include "core/text.h"

#include <sonde/attr.h>

#include <stdbool.h>
#include <sys/uio.h>

#define WRITER_ROOM      65536u /* bytes that features need at most, most often */
#define WRITER_ATTR_SIZE 128u /* the newest form that perf 6.1 takes */

struct file_writer {
	int fd; /* owned by the caller */
	bool stream; /* written front to back: no header to come back to */
	bool finished; /* the header has no FILE_UNFINISHED */
	uint64_t attrs_at, attrs_size;
	uint64_t data_at, data_size; /* bytes */
	uint64_t marked; /* of them, what the header says */
	uint64_t far[2]; /* older marks: the first is WRITER_ROOM bytes behind the last one, or 0 */
	uint64_t features[4];
};

struct file_writer_event {
	const struct sonde_attr *attr;
	const uint64_t *ids;
	size_t nids;
};

struct file_writer_feature {
	unsigned bit;
	struct text bytes;
};

/* Writes header, ids and attrs to an empty file. SONDE_EIO, SONDE_ENOMEM. */
int file_writer_start(struct file_writer *w, int fd, const struct file_writer_event *events,
        size_t nevents, struct error *err);

/*
 * The same for a stream: its header and an ATTR record for each event; SONDE_ELIMIT: an event has
 * more ids than a record can hold. Then come the features and the end mark behind them.
 */
int file_writer_start_stream(struct file_writer *w, int fd, const struct file_writer_event *events,
        size_t nevents, struct error *err);
int file_writer_stream_features(struct file_writer *w, const struct file_writer_feature *features,
        size_t n, struct error *err);

/* Records without anything around them: a further file of a directory. */
void file_writer_start_bare(struct file_writer *w, int fd);

/* Appends records; iov is used up. SONDE_EIO with the reason. */
int file_writer_append(struct file_writer *w, struct iovec *iov, int n, struct error *err);

/*
 * After a failure: cuts off what is no whole record behind the last mark, and says the size in the
 * header. room: cuts off WRITER_ROOM bytes of records as well, for what must come behind them.
 * SONDE_EIO.
 */
int file_writer_trim(struct file_writer *w, bool room, struct error *err);

/* Puts the size that is known so far into the header; nothing to do where there is none. */
int file_writer_mark(struct file_writer *w, struct error *err);

/* Writes the features, in rising order of their bits, and a header that is still unfinished. More
 * records may follow, over the features. */
int file_writer_describe(struct file_writer *w, const struct file_writer_feature *features,
        size_t n, struct error *err);

/* The same with the final header. */
int file_writer_finish(struct file_writer *w, const struct file_writer_feature *features, size_t n,
        struct error *err);

/* The end of a stream. */
int file_writer_finish_stream(struct file_writer *w, struct error *err);

#endif
