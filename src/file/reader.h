/* SPDX-License-Identifier: MIT */
/* Access to the inside of a sonde_file, for layers that work with a caller's handle. */
#ifndef SONDE_FILE_READER_H
#define SONDE_FILE_READER_H

#include "file/file.h"

#include <sonde/file.h>

/* The open file and its sink of diagnostics; valid as long as the handle. */
struct file *reader_file(struct sonde_file *f);

/* Begins reading, after reader_file was opened with file_open and file_inflate. */
void reader_begin(struct sonde_file *f);

/*
 * Makes a handle on the same input whose events can be changed (file_set_event), for
 * sonde_file_decode and others; `of` must outlive it. NULL: out of memory. Free with
 * sonde_file_free.
 */
struct sonde_file *reader_view(const struct sonde_file *of);

#endif
