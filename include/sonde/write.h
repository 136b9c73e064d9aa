/* SPDX-License-Identifier: MIT */
/*
 * Writing perf.data: files that perf and Sonde read, from any program.
 *
 *	struct sonde_writer *w = sonde_writer_new(NULL);
 *	struct sonde_attr attr = {.type = SONDE_TYPE_SOFTWARE, ...};
 *	int rc = w ? sonde_writer_event(w, &attr, NULL, 0, "my-event") : SONDE_ENOMEM;
 *
 *	if (rc >= 0) rc = sonde_writer_open(w, "perf.data");
 *	... sonde_writer_comm(), sonde_writer_mmap(), sonde_writer_sample() ...
 *	if (rc >= 0) rc = sonde_writer_close(w);
 *	sonde_writer_free(w);
 *
 * Events come first, then the file is opened, then records in any order, then it is closed.
 * Records are written as they come, in constant memory; only features wait for the end of a
 * seekable file. A handle that failed stays failed: every later call returns the same status.
 */
#ifndef SONDE_WRITE_H
#define SONDE_WRITE_H

#include <sonde/attr.h>
#include <sonde/file.h>
#include <sonde/sample.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sonde_byte_order { SONDE_ORDER_HOST = 0, SONDE_ORDER_LITTLE, SONDE_ORDER_BIG };

struct sonde_writer_options {
	size_t size; /* sizeof(struct sonde_writer_options) of the caller */
	enum sonde_container container; /* 0: SONDE_CONTAINER_FILE */
	enum sonde_byte_order order; /* of what is written */
	int compress; /* zstd level 1 to 22 for the kernel's records; 0: not compressed */
};

struct sonde_writer;

/* A new handle; options may be NULL. NULL: no memory. Free with sonde_writer_free, which leaves an
 * unfinished output as an interrupted recording. */
SONDE_API struct sonde_writer *sonde_writer_new(const struct sonde_writer_options *options);
SONDE_API void sonde_writer_free(struct sonde_writer *w); /* NULL is fine */

/* The last failure; never NULL. Lives as long as the handle. */
SONDE_API const struct sonde_error *sonde_writer_error(const struct sonde_writer *w);

/*
 * Adds an event, before opening. The attr's size may be 0: the newest. ids may be NULL: the event's
 * number + 1 is its id. name may be NULL: readers make one. The event's number, or SONDE_ENOMEM.
 */
SONDE_API int sonde_writer_event(struct sonde_writer *w, const struct sonde_attr *attr,
        const uint64_t *ids, size_t nids, const char *name);

/* The same with the bytes of an attr, in the file's byte order, 64 bytes or more;
 * ids in host order. */
SONDE_API int sonde_writer_event_bytes(struct sonde_writer *w, const void *attr, size_t n,
        const uint64_t *ids, size_t nids, const char *name);

/*
 * Sets header feature `bit` (1 .. 255) to n bytes in the file's byte order, in place of what was
 * set before; before opening, or for seekable files before closing. SONDE_EARG: too late.
 */
SONDE_API int sonde_writer_feature(
        struct sonde_writer *w, unsigned bit, const void *bytes, size_t n);

/*
 * Creates the output and writes what comes first. path: a file, a directory that is made, or "-"
 * for standard output: a stream, or a file where it is an empty one. SONDE_EIO, SONDE_EPERM,
 * SONDE_ENOENT, SONDE_ELIMIT (streams cannot hold an event of more than 8,000 ids), SONDE_EARG
 * (standard output is no file, nothing was written), SONDE_EOUTPUT (standard output failed),
 * SONDE_EUNSUPPORTED.
 */
SONDE_API int sonde_writer_open(struct sonde_writer *w, const char *path);

/* The same over a descriptor of the caller, which stays open: for a stream, or for a file when it is
 * an empty file. SONDE_EARG: it cannot hold the container, nothing was written. */
SONDE_API int sonde_writer_open_fd(struct sonde_writer *w, int fd);

/*
 * The same for a stream whose bytes go to `write`, in order, some hundred KB at a time: bytes, not
 * text. It is called until the writer is closed or freed. SONDE_EARG: the container is no stream;
 * SONDE_EOUTPUT from this and later functions: `write` returned a negative number.
 */
SONDE_API int sonde_writer_open_function(struct sonde_writer *w, sonde_write_fn write, void *arg);

/*
 * Appends the bytes of one record, header included, in the file's byte order; what follows the record
 * outside its size (AUXTRACE, TRACING_DATA) is the payload. stream: 0, in directories n for data.n-1.
 */
SONDE_API int sonde_writer_record(struct sonde_writer *w, uint32_t stream, const void *bytes,
        size_t n, const void *payload, size_t payload_n);

/* The same for the records that most programs need. Texts are cut at 4,000 bytes. */
SONDE_API int sonde_writer_comm(
        struct sonde_writer *w, uint32_t pid, uint32_t tid, const char *name, uint64_t time);

struct sonde_writer_mapping {
	uint32_t pid, tid;
	uint64_t addr, len, pgoff; /* bytes */
	uint32_t prot, flags; /* as mmap(2); PROT_EXEC is 4 */
	const char *path;
	uint64_t time; /* ns */
};
SONDE_API int sonde_writer_mmap(struct sonde_writer *w, const struct sonde_writer_mapping *m);

/*
 * A sample of an event, with the fields that its sample_type names, from s; registers are as many
 * as the attr's masks say. s->id 0 means the event's first id. Trace data is filled up with
 * zeros to a multiple of 8 bytes. SONDE_EARG: an event without GROUP has not just one count, or
 * there are branches and not the counters that its branch_sample_type names; SONDE_ELIMIT: longer
 * than a record can be.
 */
SONDE_API int sonde_writer_sample(struct sonde_writer *w, int event, const struct sonde_sample *s);

/* Writes buffered records and the header. 0 or the status of the first failure. */
SONDE_API int sonde_writer_close(struct sonde_writer *w);

#ifdef __cplusplus
}
#endif

#endif
