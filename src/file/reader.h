/* SPDX-License-Identifier: MIT */
/* The inside of sonde/file.h, for layers that work with a caller's handle. */
#ifndef SONDE_FILE_READER_H
#define SONDE_FILE_READER_H

#include "file/file.h"

#include <sonde/file.h>

/* What the handle reads, with the sink of its diagnostics. Lives as long as the handle. */
struct file *reader_file(struct sonde_file *f);

#endif
