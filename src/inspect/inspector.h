/* SPDX-License-Identifier: MIT */
/* The handle of all functions that print a recording, and what they share. */
#ifndef SONDE_INSPECT_INSPECTOR_H
#define SONDE_INSPECT_INSPECTOR_H

#include "core/options.h"
#include "core/text.h"
#include "file/file.h"

#include <sonde/preview/inspect.h>

struct sonde_inspector {
	struct sonde_inspector_options options;
	int status; /* negative: the options are invalid */
	struct error error;
};

/* Forgets the last failure, and copies the options of a call, see options_copy. */
int inspector_begin(struct sonde_inspector *in, void *own, size_t n, const void *given);

/* Prepares a file, of zeros, for file_open; diags must be valid as long as the file. */
void inspector_file_init(const struct sonde_inspector *in, struct file *f, struct diag_sink *diags);

/* Keeps the error of a failure that is not the handle's own yet. Returns rc. */
int inspector_failed(struct sonde_inspector *in, int rc, const struct error *error);

/* Whether diagnostics report missing data: 1, 0. */
int inspector_part_missing(const struct diag_sink *diags);

/* Passes the text to the caller, and frees it. */
int inspector_write(struct sonde_inspector *in, struct text *out, sonde_write_fn write, void *arg);

/*
 * Opens the file, lets put() build the text from the header and its features, and passes it to
 * write(). Returns 0; 1: part of the file is missing; a negative status.
 */
int inspector_print(struct sonde_inspector *in, const char *path,
        void (*put)(struct text *out, const struct file *f, const void *options),
        const void *options, sonde_write_fn write, void *arg);

#endif
