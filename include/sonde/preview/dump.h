/* SPDX-License-Identifier: MIT */
/* Every record of a recording with its place, its fields by name and, when asked, its bytes. */
#ifndef SONDE_PREVIEW_DUMP_H
#define SONDE_PREVIEW_DUMP_H

#include <sonde/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sonde_dump_options {
	size_t size; /* sizeof(struct sonde_dump_options) of the caller */
	bool json; /* one JSON document, doc/json.md, in place of lines of text */
	bool raw; /* the bytes of each record too */
	bool check_owner; /* refuse files that belong neither to this user nor to root */
	const char *types; /* "SAMPLE,MMAP2,71": these types only; NULL: all */
	char *message; /* NULL, or room for words about a failure, message_size bytes */
	size_t message_size;
	sonde_diag_fn on_diag; /* NULL: diagnostics are only counted */
	void *diag_arg;
	const char *temp_dir; /* as of struct sonde_file_options */
};

/*
 * Opens the file at path and prints its records. 0; 1: printed, but part of the file is missing;
 * SONDE_EARG: an unknown type; or as sonde_file_open, or SONDE_EOUTPUT.
 */
SONDE_API int sonde_dump_print(const char *path, const struct sonde_dump_options *options,
        sonde_write_fn write, void *arg);

#ifdef __cplusplus
}
#endif

#endif
