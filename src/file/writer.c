/* SPDX-License-Identifier: MIT */
#include "file/writer.h"

#include "abi/abi.h"
#include "record/record.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#define IOV_MOST    1024 /* most pieces for one call: IOV_MAX of Linux */
#define RECORD_MOST 0xfff8u /* bytes, the largest multiple of 8 that fits into a record's size */
/*
 * Number of the empty feature that ends the features: perf 6.1's, or a larger one for newer
 * features.
 */
#define STREAM_LAST 32u

/* ---- bytes ---- */

static int output_failed(const struct file_writer *w, uint64_t at, struct error *err)
{
	bool full = errno == ENOSPC || errno == EDQUOT;
	const char *name = "the output", *hint = "";

	if (w->name != NULL) {
		name = w->name;
		hint = full              ? "; make room or write to another file system"
		       : errno == ESPIPE ? "; only a stream can be written here (--to pipe)"
		                         : "";
	} else if (w->standard) {
		name = "standard output";
	} else if (full) {
		hint = "; what was written so far is kept";
	}
	(void)error_set(
	        err, w->standard ? SONDE_EOUTPUT : SONDE_EIO, at, "%s%s", strerror(errno), hint);
	return error_wrap(err, "cannot write %s", name);
}

static int write_at(
        const struct file_writer *w, const void *data, size_t n, uint64_t at, struct error *err)
{
	const char *p = data;
	ssize_t got;

	while (n > 0) {
		got = pwrite(w->fd, p, n, (off_t)at);
		if (got < 0 && errno == EINTR) {
			continue;
		}
		if (got <= 0) {
			return output_failed(w, at, err);
		}
		p += got;
		n -= (size_t)got;
		at += (uint64_t)got;
	}
	return 0;
}

/* Waits until a full pipe, which someone made non-blocking, has room. */
static bool wait_for_room(const struct file_writer *w)
{
	struct pollfd p = {.fd = w->fd, .events = POLLOUT};

	return w->stream && errno == EAGAIN && (poll(&p, 1, -1) >= 0 || errno == EINTR);
}

static int call_pieces(struct file_writer *w, const struct iovec *iov, int n, struct error *err)
{
	for (int i = 0; i < n; i++) {
		if (iov[i].iov_len != 0 &&
		        w->put(w->put_arg, iov[i].iov_base, iov[i].iov_len) < 0) {
			return error_plain(err, SONDE_EOUTPUT);
		}
		w->data_size += iov[i].iov_len;
	}
	return 0;
}

static int write_pieces(struct file_writer *w, struct iovec *iov, int n, struct error *err)
{
	ssize_t got;

	if (w->put != NULL) {
		return call_pieces(w, iov, n, err);
	}
	while (n > 0) {
		got = w->stream ? writev(w->fd, iov, n < IOV_MOST ? n : IOV_MOST)
		                : pwritev(w->fd, iov, n < IOV_MOST ? n : IOV_MOST,
		                          (off_t)(w->data_at + w->data_size));
		if (got < 0 && (errno == EINTR || wait_for_room(w))) {
			continue;
		}
		if (got < 0) {
			return output_failed(w, w->data_at + w->data_size, err);
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

int file_writer_flush(struct file_writer *w, struct error *err)
{
	struct iovec iov = {.iov_base = w->buffer, .iov_len = w->held};

	if (w->held == 0) {
		return 0;
	}
	w->held = 0;
	return write_pieces(w, &iov, 1, err);
}

int file_writer_append(struct file_writer *w, struct iovec *iov, int n, struct error *err)
{
	TRY(file_writer_flush(w, err));
	return write_pieces(w, iov, n, err);
}

static int append_bytes(struct file_writer *w, const void *bytes, size_t n, struct error *err)
{
	struct iovec iov = {.iov_len = n};

	memcpy(&iov.iov_base, &bytes, sizeof(bytes)); /* iovec has no const; the bytes are not
	                                                 changed */
	return file_writer_append(w, &iov, 1, err);
}

int file_writer_put_flushed(struct file_writer *w, const void *bytes, size_t n, struct error *err)
{
	TRY(file_writer_flush(w, err));
	if (n > WRITER_BUFFER) {
		return append_bytes(w, bytes, n, err);
	}
	if (w->buffer == NULL) {
		w->buffer = malloc(WRITER_BUFFER);
		if (w->buffer == NULL) {
			return error_nomem(err);
		}
		w->room = WRITER_BUFFER;
	}
	return file_writer_put(w, bytes, n, err);
}

void file_writer_fini(struct file_writer *w)
{
	free(w->buffer);
	w->buffer = NULL;
	w->held = w->room = 0;
}

/* ---- numbers and headers in the byte order of the output ---- */

void file_put_u32(struct text *t, uint32_t v, bool swap)
{
	v = swap ? __builtin_bswap32(v) : v;
	text_bytes(t, (const char *)&v, sizeof(v));
}

void file_put_u64(struct text *t, uint64_t v, bool swap)
{
	v = swap ? __builtin_bswap64(v) : v;
	text_bytes(t, (const char *)&v, sizeof(v));
}

static void put_ids(const struct file_writer *w, struct text *t, const struct file_writer_event *e)
{
	for (size_t i = 0; i < e->nids; i++) {
		file_put_u64(t, e->ids[i], w->swap);
	}
}

static void put_record(
        const struct file_writer *w, struct text *t, uint32_t type, uint16_t misc, size_t size)
{
	uint8_t header[RECORD_HEADER_SIZE];

	store_u32(header, type, w->swap);
	store_u16(header + 4, misc, w->swap);
	store_u16(header + 6, (uint16_t)size, w->swap);
	text_bytes(t, (const char *)header, sizeof(header));
}

/* Bytes, padded with zeros to a multiple of 8. */
static void put_padded(struct text *t, const struct text *bytes)
{
	text_bytes(t, bytes->p, bytes->n);
	text_fill(t, '\0', (8 - bytes->n % 8) % 8);
}

/* Appends the text after the records and frees it. */
static int append_text(struct file_writer *w, struct text *t, struct error *err)
{
	int rc = t->failed ? error_nomem(err) : append_bytes(w, t->p, t->n, err);

	text_fini(t);
	return rc;
}

/* The event's attr; room: for one that is not in bytes yet. */
static struct span attr_of(const struct file_writer_event *e, uint8_t room[ATTR_SIZE_NOW])
{
	if (e->attr == NULL) {
		return e->bytes;
	}
	record_attr_encode(e->attr, room);
	return (struct span){room, WRITER_ATTR_SIZE};
}

/* ---- seekable files ---- */

static void store_header(
        const struct file_writer *w, uint64_t data_size, uint8_t to[FILE_HEADER_SIZE])
{
	const uint64_t header[FILE_HEADER_SIZE / 8] = {
	        FILE_MAGIC2,
	        FILE_HEADER_SIZE,
	        w->entry_size,
	        w->attrs_at,
	        w->attrs_size,
	        w->data_at,
	        data_size,
	        w->finished || !w->marks ? 0 : FILE_UNFINISHED,
	        0,
	        w->features[0],
	        w->features[1],
	        w->features[2],
	        w->features[3],
	};

	for (size_t i = 0; i < sizeof(header) / 8; i++) {
		store_u64(to + i * 8, header[i], w->swap);
	}
}

static int write_header(const struct file_writer *w, uint64_t data_size, struct error *err)
{
	uint8_t header[FILE_HEADER_SIZE];

	store_header(w, data_size, header);
	return write_at(w, header, sizeof(header), 0, err);
}

/* All in one write: a recorder that is killed between two would leave a file without events. */
static int start_file(struct file_writer *w, const struct file_writer_event *events, size_t nevents,
        struct error *err)
{
	uint8_t room[ATTR_SIZE_NOW];
	uint64_t at = FILE_HEADER_SIZE;
	size_t longest = ATTR_SIZE_VER0;
	struct text t = {0};
	struct span attr;
	int rc;

	text_fill(&t, '\0', FILE_HEADER_SIZE);
	for (size_t i = 0; i < nevents; i++) {
		attr = attr_of(&events[i], room);
		longest = attr.n > longest ? (attr.n + 7) / 8 * 8 : longest;
		put_ids(w, &t, &events[i]);
	}
	w->entry_size = longest + 16;
	w->attrs_at = t.n;
	w->attrs_size = nevents * w->entry_size;
	w->data_at = w->attrs_at + w->attrs_size;
	for (size_t i = 0; i < nevents; i++) {
		attr = attr_of(&events[i], room);
		text_bytes(&t, (const char *)attr.p, attr.n);
		text_fill(&t, '\0', longest - attr.n);
		file_put_u64(&t, at, w->swap);
		file_put_u64(&t, events[i].nids * 8, w->swap);
		at += events[i].nids * 8;
	}
	if (t.failed) {
		text_fini(&t);
		return error_nomem(err);
	}
	store_header(w, 0, (uint8_t *)t.p);
	rc = write_at(w, t.p, t.n, 0, err);
	text_fini(&t);
	return rc;
}

int file_writer_describe(struct file_writer *w, const struct file_writer_feature *features,
        size_t n, struct error *err)
{
	uint64_t at;
	struct text t = {0};
	int rc;

	TRY(file_writer_flush(w, err));
	at = file_writer_at(w) + n * 16;
	for (size_t i = 0; i < n; i++) {
		file_put_u64(&t, at, w->swap);
		file_put_u64(&t, features[i].bytes.n, w->swap);
		at += features[i].bytes.n;
		w->features[features[i].bit / 64] |= (uint64_t)1 << (features[i].bit % 64);
	}
	for (size_t i = 0; i < n; i++) {
		text_bytes(&t, features[i].bytes.p, features[i].bytes.n);
	}
	rc = t.failed ? error_nomem(err) : write_at(w, t.p, t.n, file_writer_at(w), err);
	text_fini(&t);
	return rc < 0 ? rc : write_header(w, w->data_size, err);
}

int file_writer_mark(struct file_writer *w, struct error *err)
{
	uint8_t size[8];

	TRY(file_writer_flush(w, err));
	w->marked = w->data_size;
	if (w->marked - w->far[1] >= WRITER_ROOM) {
		w->far[0] = w->far[1];
		w->far[1] = w->marked;
	}
	if (w->stream || w->data_at == 0) {
		return 0;
	}
	store_u64(size, w->data_size, w->swap);
	return write_at(w, size, sizeof(size), 48, err);
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
		size = load_u16(header + 6, w->swap);
		if (size < RECORD_HEADER_SIZE) {
			break;
		}
		if (load_u32(header, w->swap) == RECORD_AUXTRACE) { /* the trace data follows it */
			size += load_u64(header + RECORD_HEADER_SIZE, w->swap);
		}
		if (size > end - w->data_size) {
			break;
		}
		w->data_size += size;
	}
	if (ftruncate(w->fd, (off_t)(w->data_at + w->data_size)) != 0) {
		return output_failed(w, w->data_at + w->data_size, err);
	}
	if (w->data_at == 0) {
		return 0;
	}
	memset(w->features, 0, sizeof(w->features));
	w->finished = true; /* the header now shows that the recorder has ended */
	return write_header(w, w->data_size, err);
}

/* ---- streams ---- */

/*
 * Marks the beginning and the end of a recorder's stream; other tools never write two rounds in a
 * row.
 */
static void put_two_rounds(const struct file_writer *w, struct text *t)
{
	put_record(w, t, RECORD_FINISHED_ROUND, 0, RECORD_HEADER_SIZE);
	put_record(w, t, RECORD_FINISHED_ROUND, 0, RECORD_HEADER_SIZE);
}

/*
 * Size of an attr in a stream, where the ids begin after the attr's own size: zeros after that size
 * are padding of an attrs section and are left out.
 */
static size_t attr_length(const struct file_writer *w, struct span attr)
{
	uint32_t claimed = load_u32(attr.p + 4, w->swap);
	size_t n = claimed >= ATTR_SIZE_VER0 && claimed < attr.n ? claimed : attr.n;

	for (size_t i = n; i < attr.n; i++) {
		n = attr.p[i] != 0 ? attr.n : n;
	}
	return n;
}

/* Corrects a wrong size in the attr. False: too many ids for a record. */
static bool put_attr(const struct file_writer *w, struct text *t, const struct file_writer_event *e)
{
	uint8_t room[ATTR_SIZE_NOW];
	struct span attr = attr_of(e, room);
	uint32_t claimed = load_u32(attr.p + 4, w->swap);
	size_t n = attr_length(w, attr), at;

	if (RECORD_HEADER_SIZE + attr.n + e->nids * 8 > RECORD_MOST) {
		return false;
	}
	put_record(w, t, RECORD_HEADER_ATTR, 0, RECORD_HEADER_SIZE + n + e->nids * 8);
	at = t->n;
	text_bytes(t, (const char *)attr.p, n);
	if (n != claimed && !t->failed && (claimed != 0 || n != ATTR_SIZE_VER0)) {
		store_u32((uint8_t *)t->p + at + 4, (uint32_t)n, w->swap);
	}
	put_ids(w, t, e);
	return true;
}

static int start_stream(struct file_writer *w, const struct file_writer_event *events,
        size_t nevents, struct error *err)
{
	struct text t = {0};

	file_put_u64(&t, FILE_MAGIC2, w->swap);
	file_put_u64(&t, PIPE_HEADER_SIZE, w->swap);
	for (size_t i = 0; i < nevents; i++) {
		if (!put_attr(w, &t, &events[i])) {
			text_fini(&t);
			return error_set(err, SONDE_ELIMIT, NO_OFFSET,
			        "event %zu has %zu ids, more than a stream can hold: write to a "
			        "file",
			        i, events[i].nids);
		}
	}
	if (w->marks) {
		put_two_rounds(w, &t);
	}
	return append_text(w, &t, err);
}

static void put_tracing(const struct file_writer *w, struct text *t, const struct text *bytes)
{
	put_record(w, t, RECORD_TRACING_DATA, 0, RECORD_HEADER_SIZE + 8);
	file_put_u32(t, (uint32_t)((bytes->n + 7) / 8 * 8), w->swap);
	file_put_u32(t, 0, w->swap);
	put_padded(t, bytes);
}

/* Entries of the feature are records already, except for their type. */
static void put_build_ids(const struct file_writer *w, struct text *t, const struct text *bytes)
{
	struct cursor c = cursor_make((struct span){(const uint8_t *)bytes->p, bytes->n}, w->swap);

	while (cursor_left(&c) >= RECORD_HEADER_SIZE) {
		uint16_t misc, size;
		struct span body;

		(void)cursor_u32(&c);
		misc = cursor_u16(&c);
		size = cursor_u16(&c);
		body = cursor_bytes(&c, size >= RECORD_HEADER_SIZE ? size - RECORD_HEADER_SIZE : 0);
		if (c.bad || body.n == 0) {
			return;
		}
		put_record(w, t, RECORD_BUILD_ID, misc, size);
		text_bytes(t, (const char *)body.p, body.n);
	}
}

/* Whether a stream has the feature as records of their own, or not at all. */
static bool feature_streams(unsigned bit)
{
	return bit != FEATURE_TRACING_DATA && bit != FEATURE_BUILD_ID && bit != FEATURE_AUXTRACE &&
	       bit != FEATURE_DIR_FORMAT;
}

int file_writer_stream_features(struct file_writer *w, const struct file_writer_feature *features,
        size_t n, struct error *err)
{
	static const struct text none;
	const struct text *tracing = NULL, *build_ids = &none;
	unsigned last = STREAM_LAST;
	struct text t = {0};

	for (size_t i = 0; i < n; i++) {
		const struct text *bytes = &features[i].bytes;
		unsigned bit = features[i].bit;
		size_t size = RECORD_HEADER_SIZE + 8 + (bytes->n + 7) / 8 * 8;

		tracing = bit == FEATURE_TRACING_DATA ? bytes : tracing;
		build_ids = bit == FEATURE_BUILD_ID ? bytes : build_ids;
		if (!feature_streams(bit) || size > RECORD_MOST) {
			continue;
		}
		last = bit >= STREAM_LAST ? bit + 1 : last;
		put_record(w, &t, RECORD_HEADER_FEATURE, 0, size);
		file_put_u64(&t, bit, w->swap);
		put_padded(&t, bytes);
	}
	put_record(w, &t, RECORD_HEADER_FEATURE, 0, RECORD_HEADER_SIZE + 8);
	file_put_u64(&t, last, w->swap);
	if (tracing != NULL) {
		put_tracing(w, &t, tracing);
	}
	put_build_ids(w, &t, build_ids);
	return append_text(w, &t, err);
}

/* ---- both ---- */

int file_writer_start(struct file_writer *w, const struct file_writer_event *events, size_t nevents,
        struct error *err)
{
	return w->stream ? start_stream(w, events, nevents, err)
	                 : start_file(w, events, nevents, err);
}

int file_writer_finish(struct file_writer *w, const struct file_writer_feature *features, size_t n,
        struct error *err)
{
	struct text t = {0};

	w->finished = true;
	if (!w->stream) {
		return file_writer_describe(w, features, n, err);
	}
	if (!w->marks) {
		return file_writer_flush(w, err);
	}
	put_two_rounds(w, &t);
	return append_text(w, &t, err);
}
