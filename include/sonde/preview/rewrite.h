/* SPDX-License-Identifier: MIT */
/*
 * Rewriting of recordings: source -> stages -> writer. The records of a recording pass through any
 * number of stages, and what comes out of the last one is written as a recording: in another
 * container, byte order or compression where the options say so. What no stage changes keeps its
 * bytes. Without stages this is a conversion.
 *
 *	static int keep_thread(
 *	        void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r)
 *	{
 *		...
 *		return wanted ? sonde_rewriter_put(rw, r) : 0;
 *	}
 *
 *	struct sonde_rewriter *rw = sonde_rewriter_new(NULL);
 *	struct sonde_rewriter_stage stage = {
 *	        .size = sizeof(stage), .record = keep_thread, .arg = &tid};
 *	int rc = rw ? sonde_rewriter_open(rw, "perf.data") : SONDE_ENOMEM;
 *
 *	if (rc >= 0) rc = sonde_rewriter_add(rw, &stage);
 *	if (rc >= 0) rc = sonde_rewriter_write(rw, "thread.data");
 *	... rw ? sonde_rewriter_error(rw)->text : ... ...
 *	sonde_rewriter_free(rw);
 *
 * A rewriter is used once: opened, given its stages, written. A handle that failed stays failed:
 * every later call returns the same status.
 */
#ifndef SONDE_PREVIEW_REWRITE_H
#define SONDE_PREVIEW_REWRITE_H

#include <sonde/write.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SONDE_REWRITE_PLAIN (-1) /* `compress`: not compressed */

struct sonde_rewriter_options {
	size_t size; /* sizeof(struct sonde_rewriter_options) of the caller */
	/* 0: as the input, version 1 as version 2; to standard output, descriptors and functions a
	 * stream */
	enum sonde_container container;
	enum sonde_byte_order order; /* SONDE_ORDER_HOST (0): as the input */
	int compress; /* zstd level 1 to 22; 0: as the input, 9 at most; SONDE_REWRITE_PLAIN */
	bool whole; /* leave out records that do not fit their fields, and samples of no event */
	bool check_owner; /* refuse files that belong neither to this user nor to root */
	sonde_diag_fn on_diag; /* NULL: diagnostics are only counted */
	void *diag_arg;
	const char *temp_dir; /* as of struct sonde_file_options */
};

struct sonde_rewriter;

/* A new handle; options may be NULL. NULL: no memory. Free with sonde_rewriter_free, which leaves
 * an unfinished output as an interrupted recording. */
SONDE_API struct sonde_rewriter *sonde_rewriter_new(const struct sonde_rewriter_options *options);
SONDE_API void sonde_rewriter_free(struct sonde_rewriter *rw); /* NULL is fine */

/* The last failure; never NULL. Lives as long as the handle. */
SONDE_API const struct sonde_error *sonde_rewriter_error(const struct sonde_rewriter *rw);

/* Opens the input. 0; SONDE_EARG: it has one already; else as sonde_file_open. */
SONDE_API int sonde_rewriter_open(struct sonde_rewriter *rw, const char *path);

/*
 * What a stage does at each step; NULL: nothing, records pass unchanged. Each returns 0 or more, or
 * a negative status, which ends the rewriting and is returned by the function that writes. A stage
 * that ends it of its own accord says why with sonde_rewriter_fail.
 *
 * Records come in the order of the input, as they are in it: in its byte order, compressed ones
 * inflated. What describes the container (ATTR, EVENT_TYPE, FEATURE, TRACING_DATA and COMPRESSED
 * records, the features COMPRESSED, DIR_FORMAT and AUXTRACE) is made by the writer and does not
 * pass through stages. *r is valid during the call; what it points at, until the handle is freed.
 */
struct sonde_rewriter_stage {
	size_t size; /* sizeof(struct sonde_rewriter_stage) of the caller */
	void *arg; /* passed to each call */
	/* Once for each record of the input, as recorded, before anything is written: for a stage
	 * that must know the whole recording. Costs a second pass over the input. */
	int (*look)(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r);
	/* Once, before the first record: events and header features can be changed. */
	int (*begin)(void *arg, struct sonde_rewriter *rw);
	/* Once for each record that the stage before passed on. Only what is passed on with
	 * sonde_rewriter_put goes further: a stage drops, changes and adds records that way. */
	int (*record)(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r);
	/* Once, after the last record: records can still be added. */
	int (*end)(void *arg, struct sonde_rewriter *rw);
};

/* Adds a stage after those that are there. *stage is copied, `arg` stays the caller's. 0;
 * SONDE_EARG: writing has begun; SONDE_ENOMEM. */
SONDE_API int sonde_rewriter_add(
        struct sonde_rewriter *rw, const struct sonde_rewriter_stage *stage);

/*
 * Runs everything and writes the recording to `path`: a file, a directory that is made, or "-" for
 * standard output. Input that makes no sense is reported and left out. 0; 1: written, but part of
 * the input was damaged or missing; SONDE_EARG: nothing is open, it was written already, or the
 * output is the input; SONDE_EFORMAT: the input has no event and a file must have one; else as
 * sonde_writer_open and sonde_writer_record, or the status of a stage.
 */
SONDE_API int sonde_rewriter_write(struct sonde_rewriter *rw, const char *path);

/* The same to a descriptor of the caller, and to a function; as sonde_writer_open_fd and
 * sonde_writer_open_function. */
SONDE_API int sonde_rewriter_write_fd(struct sonde_rewriter *rw, int fd);
SONDE_API int sonde_rewriter_write_function(
        struct sonde_rewriter *rw, sonde_write_fn write, void *arg);

/* Records that were written; and records and header features that `whole` left out. */
SONDE_API uint64_t sonde_rewriter_written(const struct sonde_rewriter *rw);
SONDE_API uint64_t sonde_rewriter_left_out(const struct sonde_rewriter *rw);

/* ---- for stages ---- */

/*
 * The recording as the stage that calls sees it: sonde_file_decode and sonde_file_record_fields for
 * the records that come to it, events as the stages before left them, features as the input has
 * them. NULL before opening. Lives as long as the handle. Not for sonde_file_next, which the rewriter
 * itself uses.
 */
SONDE_API struct sonde_file *sonde_rewriter_file(struct sonde_rewriter *rw);

/*
 * Passes a record on to the next stage, in `record` and `end`: the one that came, or another. Of *r
 * these are used: bytes and size (in bytes, the header with the right size first, in the input's
 * byte order), payload and payload_size (trace data of AUXTRACE), stream. They are borrowed for
 * the call. 0; SONDE_EARG: at another time, or size and header disagree; else as
 * sonde_writer_record, or the status of a later stage.
 */
SONDE_API int sonde_rewriter_put(struct sonde_rewriter *rw, const struct sonde_raw_record *r);

/*
 * Sets header feature `bit` (1 .. 255) of the output to n bytes in the input's byte order, which
 * are copied; bytes NULL removes it. In `begin`, and where the output is no stream in `record` and
 * `end`. Without EVENT_DESC (12) a repaired recording gets a new list of names. 0; SONDE_EARG: no
 * such feature, one that describes the container, or too late; SONDE_ENOMEM.
 */
SONDE_API int sonde_rewriter_set_feature(
        struct sonde_rewriter *rw, unsigned bit, const void *bytes, size_t n);

/* An event as a stage sets it. */
struct sonde_rewriter_event {
	size_t size; /* sizeof(struct sonde_rewriter_event) of the caller */
	const void *attr; /* in the input's byte order */
	size_t attr_size; /* bytes, 64 to 32,767 */
	const uint64_t *ids; /* host order; NULL: as they were, of a new event none */
	size_t nids;
	const char *name; /* NULL: as it was */
};

/*
 * Sets event number `event` (from 0) for the stages after this one and for the output, or adds one
 * when it is the number of events. All of *e is copied. Records of the event that this stage passes
 * on must have the layout of the new attr. In `begin`. 0; SONDE_EARG: at another time, no such
 * event, an attr too short or long, a new event without a name; SONDE_ENOMEM.
 */
SONDE_API int sonde_rewriter_set_event(
        struct sonde_rewriter *rw, size_t event, const struct sonde_rewriter_event *e);

/* Sets the handle's error to `status` (negative) and a copy of `text`. Returns status. */
SONDE_API int sonde_rewriter_fail(struct sonde_rewriter *rw, int status, const char *text);

#ifdef __cplusplus
}
#endif

#endif
