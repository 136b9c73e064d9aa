/* SPDX-License-Identifier: MIT */
/* Threads that read rings into files of their own (--threads): data.0, data.1, ... */
#ifndef SONDE_CAPTURE_STREAM_H
#define SONDE_CAPTURE_STREAM_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

struct sonde_record;
struct capture_stream;

/* Which rings each thread reads, from options.threads; nothing to do without it. SONDE_EARG. */
int capture_streams_plan(struct sonde_record *r);

/* Opens the files, and lets the threads read until capture_streams_stop. */
int capture_streams_start(struct sonde_record *r);

/* Ends the threads when they have taken what is left in the rings; the first failure. */
int capture_streams_stop(struct sonde_record *r);

/* Completes the files. */
int capture_streams_finish(struct sonde_record *r);

/* After a failure: leaves whole records only. */
void capture_streams_salvage(struct sonde_record *r);

uint64_t capture_streams_written(const struct sonde_record *r);
void capture_streams_free(struct sonde_record *r);

#endif
