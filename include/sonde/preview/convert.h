/* SPDX-License-Identifier: MIT */
/* Rewriting of recordings: another container, byte order or compression; repair of damaged ones. */
#ifndef SONDE_PREVIEW_CONVERT_H
#define SONDE_PREVIEW_CONVERT_H

#include <sonde/write.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sonde_convert_options {
	size_t size; /* sizeof(struct sonde_convert_options) of the caller */
	/* 0: as the input, version 1 as version 2; to standard output a stream */
	enum sonde_container container;
	enum sonde_byte_order order; /* ignored unless set_order */
	int set_order; /* 0: as the input */
	int compress; /* zstd level; 0: not compressed; -1: as the input, 9 at most */
	int whole; /* leave out records that do not fit their fields, and samples of no event */
	int check_owner; /* refuse files that belong neither to this user nor to root */
	char *message; /* NULL, or where words about a failure are put */
	size_t message_size;
	sonde_diag_fn on_diag; /* NULL: diagnostics are only counted */
	void *diag_arg;
	uint64_t records, left_out; /* out: records written, and left out for `whole` */
};

/*
 * Writes all good records of the recording at `path` to `output`, with its events, features and
 * trace data. What makes no sense is reported and left out. 0; 1: written, but part of the input
 * was damaged or missing; SONDE_EARG: output is the input; or as sonde_file_open and
 * sonde_writer_open. A damaged input gives a whole output.
 */
SONDE_API int sonde_convert(
        const char *path, const char *output, struct sonde_convert_options *options);

#ifdef __cplusplus
}
#endif

#endif
