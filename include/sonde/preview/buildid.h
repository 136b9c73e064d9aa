/* SPDX-License-Identifier: MIT */
/* Build ids of what a recording ran, as perf buildid-list prints them. */
#ifndef SONDE_PREVIEW_BUILDID_H
#define SONDE_PREVIEW_BUILDID_H

#include <sonde/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sonde_buildid_options {
	size_t size; /* sizeof(struct sonde_buildid_options) of the caller */
	bool with_hits; /* only objects that samples fell into */
	bool json; /* as JSON, see doc/json.md */
	bool check_owner; /* refuse a file that belongs neither to this user nor to root */
	char *message; /* NULL, or room for words about a failure, message_size bytes */
	size_t message_size;
	sonde_diag_fn on_diag; /* NULL: diagnostics are only counted */
	void *diag_arg;
	const char *temp_dir; /* as of struct sonde_file_options */
};

/*
 * Opens the recording at path and prints a line for each object: its build id, or blanks, and its
 * name. Without with_hits these are the objects that the recorder listed; a recording without such
 * a list is read as with with_hits. 0; 1: printed, but part of the file is missing; or as
 * sonde_session_open, or SONDE_EOUTPUT.
 */
SONDE_API int sonde_buildid_print(const char *path, const struct sonde_buildid_options *options,
        sonde_write_fn write, void *arg);

/*
 * The build id of an ELF file, or of the running kernel when path is NULL, as hexadecimal text into
 * hex, cut to size - 1 characters and a NUL; 41 bytes hold those of today. How many characters it
 * has; 0: it has none, or the file is not ELF or cannot be read (hex is "").
 */
SONDE_API size_t sonde_buildid_of(const char *path, char *hex, size_t size);

#ifdef __cplusplus
}
#endif

#endif
