/* SPDX-License-Identifier: MIT */
/* The events of a recording as text, as perf evlist prints them. */
#ifndef SONDE_PREVIEW_EVLIST_H
#define SONDE_PREVIEW_EVLIST_H

#include <sonde/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum sonde_evlist_mode {
	SONDE_EVLIST_NAMES = 0,
	SONDE_EVLIST_FREQ, /* with period or frequency */
	SONDE_EVLIST_DETAIL, /* with everything that the attr says */
	SONDE_EVLIST_GROUPS /* groups as {a,b} */
};

struct sonde_evlist_options {
	size_t size; /* sizeof(struct sonde_evlist_options) of the caller */
	enum sonde_evlist_mode mode;
	char *message; /* NULL, or room for words about a failure, message_size bytes */
	size_t message_size;
	sonde_diag_fn on_diag; /* NULL: diagnostics are only counted */
	void *diag_arg;
	bool check_owner; /* refuse a file that belongs neither to this user nor to root */
	bool json; /* everything as JSON, see doc/json.md */
	bool trace_fields; /* with the fields of tracepoints */
	const char *temp_dir; /* as of struct sonde_file_options */
};

/*
 * Opens the file at path and prints its events. 0; 1: printed, but part of the file is missing; or
 * as sonde_session_open, or SONDE_EOUTPUT.
 */
SONDE_API int sonde_evlist_print(const char *path, const struct sonde_evlist_options *options,
        sonde_write_fn write, void *arg);

#ifdef __cplusplus
}
#endif

#endif
