/* SPDX-License-Identifier: MIT */
/* The inside of sonde/file.h, for layers that work with a caller's handle. */
#ifndef SONDE_FILE_READER_H
#define SONDE_FILE_READER_H

#include "file/file.h"

#include <sonde/file.h>

/* What the handle reads, with the sink of its diagnostics. Lives as long as the handle. */
struct file *reader_file(struct sonde_file *f);

/*
 * A handle on the same input whose events can be changed (file_set_event), for sonde_file_decode and
 * what else needs them; `of` stays longer. NULL: no memory. Free with sonde_file_free.
 */
struct sonde_file *reader_view(const struct sonde_file *of);

#endif
