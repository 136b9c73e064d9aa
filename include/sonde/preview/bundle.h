/* SPDX-License-Identifier: MIT */
/*
 * Bundles: a recording with what is needed to show it elsewhere, in one file that everything that reads
 * recordings opens (doc/format.md).
 *
 *	struct sonde_bundler *b = sonde_bundler_new(NULL);
 *	int rc = b ? sonde_bundler_write(b, "perf.data", "perf.data.bundle") : SONDE_ENOMEM;
 *	... b ? sonde_bundler_error(b)->text : ... ...
 *	sonde_bundler_free(b);
 */
#ifndef SONDE_PREVIEW_BUNDLE_H
#define SONDE_PREVIEW_BUNDLE_H

#include <sonde/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A file that the recording needs; the texts are valid during the call. */
struct sonde_bundle_file {
	const char *path; /* of the object in the recording */
	const char *member; /* its name in the bundle; NULL: it was not found */
	uint64_t size; /* in bytes */
	const char *reason; /* why it was not found; NULL: it was */
};
typedef void (*sonde_bundle_fn)(void *arg, const struct sonde_bundle_file *file);

struct sonde_bundler_options {
	size_t size; /* sizeof(struct sonde_bundler_options) of the caller */
	/* How the recording is opened, and where objects are looked for: symfs, caches. NULL: the
	   defaults. It must be valid as long as the handle. */
	const struct sonde_session_options *session;
	/* All mapped objects, not only those in which samples, their callers, branches and data are.
	   A recording with traces or copies of stacks needs them all anyway. */
	bool all;
	/* Also the source files of the functions in which samples are, for annotate and srccode. */
	bool sources;
	sonde_bundle_fn on_file; /* called for each file; NULL: none */
	void *file_arg;
	/* Of objects only symbols, source lines, unwinding tables and code: all that reports and the
	   decoding of traces need. */
	bool parts;
};

struct sonde_bundler;

/* Returns a new handle; options may be NULL. NULL: out of memory. Free with sonde_bundler_free. */
SONDE_API struct sonde_bundler *sonde_bundler_new(const struct sonde_bundler_options *options);
SONDE_API void sonde_bundler_free(struct sonde_bundler *b); /* NULL is fine */

/* The last failure; never NULL; valid as long as the handle. */
SONDE_API const struct sonde_error *sonde_bundler_error(const struct sonde_bundler *b);

/*
 * Writes the recording `input` and the files that it needs to `output`, which appears, or is replaced,
 * when it is whole; once a handle. "-" is standard input or output. 0; 1: part of the recording
 * could not be read. SONDE_EARG: wrong options, or the output is the input or no regular file;
 * SONDE_EOUTPUT: it cannot be written; as sonde_session_open.
 */
SONDE_API int sonde_bundler_write(struct sonde_bundler *b, const char *input, const char *output);

/* Bytes of the bundle that was written. */
SONDE_API uint64_t sonde_bundler_size(const struct sonde_bundler *b);

#ifdef __cplusplus
}
#endif

#endif
