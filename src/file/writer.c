/* SPDX-License-Identifier: MIT */
#include "file/writer.h"

#include "abi/abi.h"
#include "record/feature_write.h"
#include "record/record.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

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
	        0,
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

int file_writer_append(struct file_writer *w, struct iovec *iov, int n, struct error *err)
{
	ssize_t got;

	while (n > 0) {
		got = pwritev(w->fd, iov, n, (off_t)(w->data_at + w->data_size));
		if (got < 0 && errno == EINTR) {
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
	return write_at(w->fd, &w->data_size, 8, 48, err);
}

int file_writer_finish(struct file_writer *w, const struct file_writer_feature *features, size_t n,
        struct error *err)
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
