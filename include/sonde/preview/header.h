/* SPDX-License-Identifier: MIT */
/* What the header of a recording says about the machine, as perf report --header-only prints it. */
#ifndef SONDE_PREVIEW_HEADER_H
#define SONDE_PREVIEW_HEADER_H

#include <sonde/base.h>

#ifdef __cplusplus
extern "C" {
#endif

struct sonde_header_options {
	size_t size; /* sizeof(struct sonde_header_options) of the caller */
	bool full; /* with topologies, caches and memory blocks */
	char *message; /* NULL, or room for words about a failure, message_size bytes */
	size_t message_size;
	sonde_diag_fn on_diag; /* NULL: diagnostics are only counted */
	void *diag_arg;
	bool check_owner; /* refuse a file that belongs neither to this user nor to root */
	bool json; /* everything as JSON, see doc/json.md */
	const char *temp_dir; /* as of struct sonde_file_options */
};

/*
 * Opens the file at path and prints its header. 0; 1: printed, but part of the file is missing; or
 * as sonde_session_open, or SONDE_EOUTPUT.
 */
SONDE_API int sonde_header_print(const char *path, const struct sonde_header_options *options,
        sonde_write_fn write, void *arg);

#ifdef __cplusplus
}
#endif

#endif
