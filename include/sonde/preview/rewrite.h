/* SPDX-License-Identifier: MIT */
/*
 * Rewriting of recordings: source -> stages -> writer. The records of a recording pass through any
 * number of stages, and the records that leave the last one are written as a recording: in another
 * container, byte order or compression if the options request it. Records that no stage changes
 * keep their bytes. Without stages this is a conversion.
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
 * A rewriter is used once: open it, add stages, write. After a failure every later call returns the
 * same status.
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
	/* 0: as the input, but version 2 for version 1, and a stream on standard output,
	 * descriptors and functions */
	enum sonde_container container;
	enum sonde_byte_order order; /* SONDE_ORDER_HOST (0): as the input */
	int compress; /* zstd level 1 to 22; 0: as the input, 9 at most; SONDE_REWRITE_PLAIN */
	bool whole; /* omit records too short for their fields, and samples without an event */
	bool check_owner; /* refuse files that belong neither to this user nor to root */
	sonde_diag_fn on_diag; /* NULL: diagnostics are only counted */
	void *diag_arg;
	const char *temp_dir; /* as in struct sonde_file_options */
	/* As in struct sonde_session_options. */
	void (*on_progress)(void *arg, uint64_t done, uint64_t total);
	void *progress_arg;
};

struct sonde_rewriter;

/* Returns a new handle; options may be NULL. NULL: out of memory. Free with sonde_rewriter_free,
 * which removes an unfinished output. */
SONDE_API struct sonde_rewriter *sonde_rewriter_new(const struct sonde_rewriter_options *options);
SONDE_API void sonde_rewriter_free(struct sonde_rewriter *rw); /* NULL is fine */

/* The last failure; never NULL; valid as long as the handle. */
SONDE_API const struct sonde_error *sonde_rewriter_error(const struct sonde_rewriter *rw);

/* Opens the input. 0; SONDE_EARG: an input is open already; else as sonde_file_open. */
SONDE_API int sonde_rewriter_open(struct sonde_rewriter *rw, const char *path);

/*
 * The callbacks of a stage. NULL: none; records pass unchanged. Each returns 0 or more, or a
 * negative status, which ends the rewriting and is returned by the function that writes. A stage
 * that returns a status of its own sets its text with sonde_rewriter_fail.
 *
 * Records come in the order and byte order of the input, decompressed. Records and features that
 * describe the container (ATTR, EVENT_TYPE, FEATURE, TRACING_DATA and COMPRESSED records, the
 * features COMPRESSED, DIR_FORMAT and AUXTRACE) do not pass through stages: the writer makes new
 * ones. *r is valid during the call, the data that it points to until the handle is freed.
 */
struct sonde_rewriter_stage {
	size_t size; /* sizeof(struct sonde_rewriter_stage) of the caller */
	void *arg; /* passed to each call */
	/* Called for each record of the input before anything is written: for a stage that must
	 * know the whole recording. Costs a second pass over the input. */
	int (*look)(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r);
	/* Called once, before the first record: can change events and header features. */
	int (*begin)(void *arg, struct sonde_rewriter *rw);
	/* Called for each record that the previous stage passed on. Only records that this callback
	 * passes on with sonde_rewriter_put reach the next stage: so it can drop, change and add
	 * records. */
	int (*record)(void *arg, struct sonde_rewriter *rw, const struct sonde_raw_record *r);
	/* Called once, after the last record: can still add records. */
	int (*end)(void *arg, struct sonde_rewriter *rw);
};

/* Adds a stage after the ones added before. *stage is copied; the caller owns `arg`. 0;
 * SONDE_EARG: writing has begun; SONDE_ENOMEM. */
SONDE_API int sonde_rewriter_add(
        struct sonde_rewriter *rw, const struct sonde_rewriter_stage *stage);

/*
 * Passes all records through the stages and writes the recording to `path`: a file, a new
 * directory, or "-" for standard output. A file appears under its name when it is complete; an
 * older one stays until then. Damaged input is reported and omitted. 0; 1: written, but part of the
 * input was damaged or missing; SONDE_EARG: no input is open, it was written already, or the output
 * is the input; SONDE_EFORMAT: the input has no event, which a file needs; else as
 * sonde_writer_open and sonde_writer_record, or the status of a stage.
 */
SONDE_API int sonde_rewriter_write(struct sonde_rewriter *rw, const char *path);

/* The same for a descriptor of the caller, and for a function; see sonde_writer_open_fd and
 * sonde_writer_open_function. */
SONDE_API int sonde_rewriter_write_fd(struct sonde_rewriter *rw, int fd);
SONDE_API int sonde_rewriter_write_function(
        struct sonde_rewriter *rw, sonde_write_fn write, void *arg);

/* Number of written records; number of records and header features that `whole` omitted. */
SONDE_API uint64_t sonde_rewriter_written(const struct sonde_rewriter *rw);
SONDE_API uint64_t sonde_rewriter_left_out(const struct sonde_rewriter *rw);

/* ---- functions for stages ---- */

/*
 * Returns a handle for the recording as the calling stage receives it: sonde_file_decode and
 * sonde_file_record_fields work on its records; events are as the previous stages left them,
 * features as in the input. Do not call sonde_file_next, which the rewriter itself uses. NULL
 * before opening; valid as long as the rewriter.
 */
SONDE_API struct sonde_file *sonde_rewriter_file(struct sonde_rewriter *rw);

/*
 * Passes a record to the next stage, from `record` and `end`: the received one, or another one. The
 * members of *r that are used: bytes and size (in bytes; the header, with the same size, comes
 * first; in the input's byte order), payload and payload_size (trace data of AUXTRACE), stream. The
 * data is borrowed during the call. 0; SONDE_EARG: called from elsewhere, or the size differs from
 * that in the header; else as sonde_writer_record, or the status of a later stage.
 */
SONDE_API int sonde_rewriter_put(struct sonde_rewriter *rw, const struct sonde_raw_record *r);

/*
 * Sets header feature `bit` (1 .. 255) of the output to a copy of n bytes in the input's byte
 * order; bytes NULL removes the feature. Call it from `begin`, and if the output is no stream, also
 * from `record` and `end`. If EVENT_DESC (12) is missing, a repaired recording gets a new list of
 * event names. 0; SONDE_EARG: no such feature, a feature that describes the container, or called
 * too late; SONDE_ENOMEM.
 */
SONDE_API int sonde_rewriter_set_feature(
        struct sonde_rewriter *rw, unsigned bit, const void *bytes, size_t n);

/* An event for sonde_rewriter_set_event. */
struct sonde_rewriter_event {
	size_t size; /* sizeof(struct sonde_rewriter_event) of the caller */
	const void *attr; /* in the input's byte order */
	size_t attr_size; /* bytes, 64 to 32,767 */
	const uint64_t *ids; /* in host byte order; NULL: unchanged; for a new event: none */
	size_t nids;
	const char *name; /* NULL: unchanged */
};

/*
 * Sets event number `event` (from 0) for the later stages and the output; if `event` is the number
 * of events, adds an event. All of *e is copied. The stage must then pass on records of the event
 * in the layout of the new attr. Call it from `begin`. 0; SONDE_EARG: called from elsewhere, no
 * such event, an attr that is too short or too long, or a new event without a name; SONDE_ENOMEM.
 */
SONDE_API int sonde_rewriter_set_event(
        struct sonde_rewriter *rw, size_t event, const struct sonde_rewriter_event *e);

/* Sets the handle's error to `status` (negative) and a copy of `text`. Returns status. */
SONDE_API int sonde_rewriter_fail(struct sonde_rewriter *rw, int status, const char *text);

#ifdef __cplusplus
}
#endif

#endif
