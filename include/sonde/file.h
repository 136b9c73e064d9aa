/* SPDX-License-Identifier: MIT */
/*
 * Reads a perf.data record by record, in the order of the input, with its attrs and header
 * features. The same call opens all containers: seekable files (versions 1 and 2), pipe streams,
 * directories, all of these in gzip, xz or zstd, and compressed records. Bytes are returned
 * unchanged, in the writer's byte order, see big_endian of struct sonde_file_info.
 *
 *	struct sonde_file *f = sonde_file_new(NULL);
 *	const struct sonde_raw_record *r;
 *	int rc = f ? sonde_file_open(f, "perf.data") : SONDE_ENOMEM;
 *
 *	while (rc >= 0 && (rc = sonde_file_next(f, &r)) > 0) {
 *		... r->type, r->bytes, r->size ...
 *	}
 *	sonde_file_free(f);
 */
#ifndef SONDE_FILE_PUBLIC_H
#define SONDE_FILE_PUBLIC_H

#include <sonde/attr.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sonde_file;

struct sonde_file_options {
	size_t size; /* sizeof(struct sonde_file_options) of the caller */
	sonde_diag_fn on_diag; /* NULL: diagnostics are only counted */
	void *diag_arg;
	bool gaps; /* sonde_file_next also returns skipped bytes, as items with `gap` set */
	/* Folder for a temporary file without a name, for what cannot be mapped: pipes, what was
	   compressed. NULL: /var/tmp, or /tmp. */
	const char *temp_dir;
};

enum sonde_container {
	SONDE_CONTAINER_FILE = 1, /* seekable, with a header that has the offsets of all sections */
	SONDE_CONTAINER_PIPE, /* a stream of records */
	SONDE_CONTAINER_DIRECTORY /* `data` and data.0, data.1, ... */
};

/* Contents of the header. Offsets and sizes are in bytes of the main file. */
struct sonde_file_info {
	enum sonde_container container;
	int version; /* 1 "PERFFILE", 2 "PERFILE2" */
	bool big_endian; /* the writer's byte order */
	bool swapped; /* the writer's byte order is not this machine's */
	bool interrupted; /* the recorder did not end; features may be missing */
	bool truncated; /* the input is shorter than its header says */
	uint64_t header_size;
	uint64_t attr_size; /* of one entry of the attrs section; 0 in pipes */
	uint64_t data_offset, data_size;
	uint64_t feature_bits[4]; /* bit n: feature n is present and readable */
	size_t streams; /* files with records: 1, more in directories */
};

/*
 * One record as in the input. Pointers are valid until the handle is freed; they are not aligned.
 * For a record from a compressed one, `offset` is that of the compressed record, and `inside` is the
 * offset in its uncompressed data.
 */
struct sonde_raw_record {
	uint32_t type;
	uint16_t misc;
	size_t size; /* bytes, including the header of 8 bytes, without the payload */
	const void *bytes; /* the header first: u32 type, u16 misc, u16 size */
	/* Trace data or format texts after the record, which its size does not include: types
	   AUXTRACE and TRACING_DATA. */
	const void *payload;
	uint64_t payload_size; /* bytes; 0: no payload */
	const char *file; /* path of the file that contains it */
	uint32_t stream; /* 0: the main file; 1, 2, ...: data.0, data.1, ... in rising order */
	bool inflated; /* from a compressed record */
	uint64_t offset; /* bytes from that file's start */
	uint64_t inside; /* bytes; 0 if `inflated` is false */
	uint64_t position; /* rises with every item; the order of the input */
	const char *gap; /* NULL: a record; else the reason why these bytes were skipped (type 0) */
};

/* A new handle; options may be NULL. NULL: no memory. Free with sonde_file_free. */
SONDE_API struct sonde_file *sonde_file_new(const struct sonde_file_options *options);
SONDE_API void sonde_file_free(struct sonde_file *f); /* NULL is fine */

/* The last failure; never NULL. Lives as long as the handle. */
SONDE_API const struct sonde_error *sonde_file_error(const struct sonde_file *f);

/*
 * Opens a recording: path of a file, directory, FIFO or device, or "-" for standard input. Input
 * that cannot be mapped is copied to memory, or, if it is longer than 4 MiB, to a temporary file
 * without a name. 0, or SONDE_ENOENT, SONDE_EPERM, SONDE_EIO, SONDE_EFORMAT, SONDE_EUNSUPPORTED
 * (packed by a program for which this build has no library), SONDE_ELIMIT (the path is too long, too
 * many open files), SONDE_EARG (invalid options, or the handle has opened a file before),
 * SONDE_ENOMEM.
 */
SONDE_API int sonde_file_open(struct sonde_file *f, const char *path);

/* Contents of the header; all 0 before opening. Valid as long as the handle. */
SONDE_API const struct sonde_file_info *sonde_file_get_info(const struct sonde_file *f);

/*
 * The next record in the order of the input: the main file, then data.0, data.1, ...; a compressed
 * record is followed by the records that it contains. 1: *r is valid until the next call, its
 * pointers until the handle is freed; 0: end; SONDE_EARG: no file is open. Bytes that are not a
 * record are skipped; on_diag receives their offset and number.
 */
SONDE_API int sonde_file_next(struct sonde_file *f, const struct sonde_raw_record **r);
/* Makes sonde_file_next return the first record again. */
SONDE_API void sonde_file_rewind(struct sonde_file *f);

/* The number of diagnostics of a kind. If not 0 for TRUNCATED or DAMAGED, input was not read. */
SONDE_API uint64_t sonde_file_diags(const struct sonde_file *f, enum sonde_diag_kind kind);

/*
 * The number of events (attrs), which are known after opening, also for streams; name and attr of an
 * event, numbered from 0. They live as long as the handle; NULL: there is no such event.
 */
SONDE_API size_t sonde_file_events(const struct sonde_file *f);
SONDE_API const char *sonde_file_event_name(const struct sonde_file *f, size_t event);
SONDE_API const struct sonde_attr *sonde_file_event_attr(const struct sonde_file *f, size_t event);
/* The bytes of the attr as in the input, *n of them: fields that struct sonde_attr lacks too. */
SONDE_API const void *sonde_file_event_bytes(const struct sonde_file *f, size_t event, size_t *n);
/* The *n ids of the event, in host byte order. */
SONDE_API const uint64_t *sonde_file_event_ids(const struct sonde_file *f, size_t event, size_t *n);

/* The number of the event of a record; -1: unknown. */
SONDE_API long sonde_file_record_event(
        const struct sonde_file *f, const struct sonde_raw_record *r);

/*
 * The *n bytes of header feature `bit` (0 .. 255), in the writer's byte order. NULL: the file does
 * not have the feature. A feature of 0 bytes, which is a mark, is not NULL.
 */
SONDE_API const void *sonde_file_feature(const struct sonde_file *f, unsigned bit, size_t *n);

#ifdef __cplusplus
}
#endif

#endif
