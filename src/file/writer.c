/* SPDX-License-Identifier: MIT */
#include "file/writer.h"

#include "abi/abi.h"
#include "core/span.h"
#include "record/feature_write.h"
#include "record/record.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define IOV_MOST    1024 /* pieces that one call takes: IOV_MAX of Linux */
#define RECORD_MOST 0xfff8u /* bytes, the largest multiple of 8 that a record's size can say */
#define STREAM_LAST 32u /* number of the empty feature behind the features: perf 6.1's */

static int write_failed(struct error *err, uint64_t at)
{
	return error_set(err, SONDE_EIO, at, "cannot write the output: %s%s", strerror(errno),
	        errno == ENOSPC ? "; what was written so far is kept" : "");
}

static int write_at(int fd, const void *data, size_t n, uint64_t at, struct error *err)
{
	const char *p = data;
	ssize_t got;

	while (n > 0) {
		got = pwrite(fd, p, n, (off_t)at);
		if (got < 0 && errno == EINTR) {
			continue;
		}
		if (got <= 0) {
			return write_failed(err, at);
		}
		p += got;
		n -= (size_t)got;
		at += (uint64_t)got;
	}
	return 0;
}

static int write_header(struct file_writer *w, uint64_t data_size, struct error *err)
{
	uint64_t header[FILE_HEADER_SIZE / 8] = {
	        FILE_MAGIC2,
	        FILE_HEADER_SIZE,
	        WRITER_ATTR_SIZE + 16,
	        w->attrs_at,
	        w->attrs_size,
	        w->data_at,
	        data_size,
	        w->finished ? 0 : FILE_UNFINISHED,
	        0,
	        w->features[0],
	        w->features[1],
	        w->features[2],
	        w->features[3],
	};

	return write_at(w->fd, header, sizeof(header), 0, err);
}

int file_writer_start(struct file_writer *w, int fd, const struct file_writer_event *events,
        size_t nevents, struct error *err)
{
	struct text t = {0};
	uint8_t attr[ATTR_SIZE_NOW];
	uint64_t at = FILE_HEADER_SIZE;
	size_t i;
	int rc;

	*w = (struct file_writer){.fd = fd};
	for (i = 0; i < nevents; i++) {
		text_bytes(&t, (const char *)events[i].ids, events[i].nids * 8);
	}
	w->attrs_at = at + t.n;
	for (i = 0; i < nevents; i++) {
		record_attr_encode(events[i].attr, attr);
		text_bytes(&t, (const char *)attr, WRITER_ATTR_SIZE);
		feature_put_u64(&t, at);
		feature_put_u64(&t, events[i].nids * 8);
		at += events[i].nids * 8;
	}
	w->attrs_size = nevents * (WRITER_ATTR_SIZE + 16);
	w->data_at = w->attrs_at + w->attrs_size;
	if (t.failed) {
		rc = error_nomem(err);
	} else {
		rc = write_header(w, 0, err);
	}
	if (rc >= 0) {
		rc = write_at(fd, t.p, t.n, FILE_HEADER_SIZE, err);
	}
	text_fini(&t);
	return rc;
}

static void put_record_header(struct text *t, uint32_t type, size_t size)
{
	uint8_t header[RECORD_HEADER_SIZE] = {0};

	store_u32(header, type, false);
	store_u16(header + 6, (uint16_t)size, false);
	text_bytes(t, (const char *)header, sizeof(header));
}

/* Begins and ends the records of a stream; nobody else has two in a row. */
static void put_two_rounds(struct text *t)
{
	put_record_header(t, RECORD_FINISHED_ROUND, RECORD_HEADER_SIZE);
	put_record_header(t, RECORD_FINISHED_ROUND, RECORD_HEADER_SIZE);
}

static int write_stream(struct file_writer *w, struct text *t, struct error *err)
{
	struct iovec iov = {.iov_base = t->p, .iov_len = t->n};
	int rc = t->failed ? error_nomem(err) : file_writer_append(w, &iov, 1, err);

	text_fini(t);
	return rc;
}

int file_writer_start_stream(struct file_writer *w, int fd, const struct file_writer_event *events,
        size_t nevents, struct error *err)
{
	uint8_t attr[ATTR_SIZE_NOW];
	struct text t = {0};
	size_t i, size;

	*w = (struct file_writer){.fd = fd, .stream = true};
	feature_put_u64(&t, FILE_MAGIC2);
	feature_put_u64(&t, PIPE_HEADER_SIZE);
	for (i = 0; i < nevents; i++) {
		size = RECORD_HEADER_SIZE + WRITER_ATTR_SIZE + events[i].nids * 8;
		if (size > RECORD_MOST) {
			text_fini(&t);
			return error_set(err, SONDE_ELIMIT, NO_OFFSET,
			        "event %zu has %zu ids, more than a stream can hold: write to a "
			        "file",
			        i, events[i].nids);
		}
		put_record_header(&t, RECORD_HEADER_ATTR, size);
		record_attr_encode(events[i].attr, attr);
		text_bytes(&t, (const char *)attr, WRITER_ATTR_SIZE);
		text_bytes(&t, (const char *)events[i].ids, events[i].nids * 8);
	}
	put_two_rounds(&t);
	return write_stream(w, &t, err);
}

/* Features that a stream has as records of their own, or not at all. */
static bool feature_streams(unsigned bit)
{
	return bit != FEATURE_TRACING_DATA && bit != FEATURE_BUILD_ID && bit != FEATURE_AUXTRACE &&
	       bit != FEATURE_DIR_FORMAT && bit != FEATURE_BRANCH_STACK &&
	       bit != FEATURE_SAMPLE_TIME;
}

int file_writer_stream_features(struct file_writer *w, const struct file_writer_feature *features,
        size_t n, struct error *err)
{
	const struct file_writer_feature *tracing = NULL;
	struct text t = {0};
	size_t i, size;

	for (i = 0; i < n; i++) {
		size = RECORD_HEADER_SIZE + 8 + (features[i].bytes.n + 7) / 8 * 8;
		tracing = features[i].bit == FEATURE_TRACING_DATA ? &features[i] : tracing;
		if (!feature_streams(features[i].bit) || size > RECORD_MOST) {
			continue;
		}
		put_record_header(&t, RECORD_HEADER_FEATURE, size);
		feature_put_u64(&t, features[i].bit);
		text_bytes(&t, features[i].bytes.p, features[i].bytes.n);
		text_fill(&t, '\0', size - RECORD_HEADER_SIZE - 8 - features[i].bytes.n);
	}
	put_record_header(&t, RECORD_HEADER_FEATURE, RECORD_HEADER_SIZE + 8);
	feature_put_u64(&t, STREAM_LAST);
	if (tracing != NULL) {
		size = (tracing->bytes.n + 7) / 8 * 8;
		put_record_header(&t, RECORD_TRACING_DATA, RECORD_HEADER_SIZE + 8);
		feature_put_u32(&t, (uint32_t)size);
		feature_put_u32(&t, 0);
		text_bytes(&t, tracing->bytes.p, tracing->bytes.n);
		text_fill(&t, '\0', size - tracing->bytes.n);
	}
	return write_stream(w, &t, err);
}

int file_writer_finish_stream(struct file_writer *w, struct error *err)
{
	struct text t = {0};

	put_two_rounds(&t);
	return write_stream(w, &t, err);
}

void file_writer_start_bare(struct file_writer *w, int fd)
{
	*w = (struct file_writer){.fd = fd};
}

/* A pipe that somebody else made non-blocking is full: waits for the reader. */
static bool wait_for_room(const struct file_writer *w)
{
	struct pollfd p = {.fd = w->fd, .events = POLLOUT};

	return w->stream && errno == EAGAIN && (poll(&p, 1, -1) >= 0 || errno == EINTR);
}

int file_writer_append(struct file_writer *w, struct iovec *iov, int n, struct error *err)
{
	ssize_t got;

	while (n > 0) {
		got = w->stream ? writev(w->fd, iov, n < IOV_MOST ? n : IOV_MOST)
		                : pwritev(w->fd, iov, n < IOV_MOST ? n : IOV_MOST,
		                          (off_t)(w->data_at + w->data_size));
		if (got < 0 && (errno == EINTR || wait_for_room(w))) {
			continue;
		}
		if (got < 0) {
			return write_failed(err, w->data_at + w->data_size);
		}
		w->data_size += (uint64_t)got;
		while (n > 0 && (size_t)got >= iov->iov_len) {
			got -= (ssize_t)iov->iov_len;
			iov++;
			n--;
		}
		if (n > 0) {
			iov->iov_base = (char *)iov->iov_base + got;
			iov->iov_len -= (size_t)got;
		}
	}
	return 0;
}

int file_writer_mark(struct file_writer *w, struct error *err)
{
	w->marked = w->data_size;
	if (w->marked - w->far[1] >= WRITER_ROOM) {
		w->far[0] = w->far[1];
		w->far[1] = w->marked;
	}
	if (w->stream || w->data_at == 0) {
		return 0;
	}
	return write_at(w->fd, &w->data_size, 8, 48, err);
}

int file_writer_trim(struct file_writer *w, bool room, struct error *err)
{
	uint8_t header[RECORD_HEADER_SIZE + 8];
	uint64_t end = w->data_size;
	uint64_t size;

	if (w->stream) {
		return 0;
	}
	w->data_size = room ? w->far[0] : w->marked;
	while (!room && end - w->data_size >= sizeof(header) &&
	        pread(w->fd, header, sizeof(header), (off_t)(w->data_at + w->data_size)) ==
	                (ssize_t)sizeof(header)) {
		size = load_u16(header + 6, false);
		if (size < RECORD_HEADER_SIZE) {
			break;
		}
		if (load_u32(header, false) == RECORD_AUXTRACE) { /* trace stands behind it */
			size += load_u64(header + RECORD_HEADER_SIZE, false);
		}
		if (size > end - w->data_size) {
			break;
		}
		w->data_size += size;
	}
	if (ftruncate(w->fd, (off_t)(w->data_at + w->data_size)) != 0) {
		return write_failed(err, w->data_at + w->data_size);
	}
	if (w->data_at == 0) {
		return 0;
	}
	memset(w->features, 0, sizeof(w->features));
	w->finished = true; /* the recorder has said why it ends */
	return write_header(w, w->data_size, err);
}

int file_writer_describe(struct file_writer *w, const struct file_writer_feature *features,
        size_t n, struct error *err)
{
	uint64_t table = w->data_at + w->data_size;
	uint64_t at = table + n * 16;
	struct text t = {0};
	size_t i;
	int rc;

	for (i = 0; i < n; i++) {
		feature_put_u64(&t, at);
		feature_put_u64(&t, features[i].bytes.n);
		at += features[i].bytes.n;
		w->features[features[i].bit / 64] |= 1ULL << (features[i].bit % 64);
	}
	for (i = 0; i < n; i++) {
		text_bytes(&t, features[i].bytes.p, features[i].bytes.n);
	}
	rc = t.failed ? error_nomem(err) : write_at(w->fd, t.p, t.n, table, err);
	text_fini(&t);
	return rc < 0 ? rc : write_header(w, w->data_size, err);
}

int file_writer_finish(struct file_writer *w, const struct file_writer_feature *features, size_t n,
        struct error *err)
{
	w->finished = true;
	return file_writer_describe(w, features, n, err);
}
