/* SPDX-License-Identifier: MIT */
/* Text made from the header of a recording and its features. */
#ifndef SONDE_INSPECT_OF_FILE_H
#define SONDE_INSPECT_OF_FILE_H

#include "core/text.h"
#include "file/file.h"

struct inspect_of_file {
	const char *path;
	bool check_owner;
	const char *temp_dir;
	sonde_diag_fn on_diag; /* NULL: diagnostics are only counted */
	void *diag_arg;
	char *message; /* NULL, or a buffer for the text of a failure */
	size_t message_size;
	void (*put)(struct text *out, const struct file *f, const void *options);
	const void *options;
};

/*
 * Writes the reason why options are wrong to the message buffer (may be NULL); returns its status.
 */
int inspect_misuse(const struct error *why, char *message, size_t message_size);

/*
 * Opens the file, lets put() build the text and passes it to write(). Returns 0; 1: part of the
 * file is missing; a negative status: of file_open(), of write(), or SONDE_ENOMEM.
 */
int inspect_of_file(const struct inspect_of_file *job, sonde_write_fn write, void *arg);

#endif
